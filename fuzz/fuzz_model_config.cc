// Loads a whole model whose configuration files are edited by the input, and embeds with it.
//
// The model is the committed tiny BERT with a Dense module. Each line of the input edits one file:
// a letter that chooses it, then `key=value` to set a member to any JSON text, as in
//   chidden_size=1e9
// The capital letter replaces the whole file by the rest of the line.
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <vector>

#include "base/log.h"
#include "fuzz_support.h"
#include "io/json.h"
#include "io/json_text.h"
#include "lattice/model.h"

namespace lattice {
namespace {

namespace fs = std::filesystem;

struct EditedFile {
  char letter;
  const char* name;
};

constexpr std::array<EditedFile, 7> kFiles = {{{'c', "config.json"},
                                               {'d', "2_Dense/config.json"},
                                               {'k', "tokenizer_config.json"},
                                               {'m', "modules.json"},
                                               {'p', "1_Pooling/config.json"},
                                               {'s', "sentence_bert_config.json"},
                                               {'t', "config_sentence_transformers.json"}}};

std::string to_text(const Json& node) {
  std::string text;
  if (node.is_object()) {
    for (const JsonMember& member : node.members()) {
      text += (text.empty() ? "" : ",") + json_quote(member.key) + ":" + to_text(member.value);
    }
    return "{" + text + "}";
  }
  if (node.is_array()) {
    for (const Json& item : node.items()) text += (text.empty() ? "" : ",") + to_text(item);
    return "[" + text + "]";
  }
  if (const auto string = node.as_string()) return json_quote(*string);
  if (const auto boolean = node.as_bool()) return *boolean ? "true" : "false";
  if (const auto integer = node.as_int()) return std::to_string(*integer);
  if (const auto number = node.as_double()) return fmt::format("{}", *number);
  return "null";
}

/// One configuration file: its members as committed, and their edits.
struct FileText {
  std::vector<std::pair<std::string, std::string>> members;
  std::string whole;  // used instead of the members when not empty

  explicit FileText(const fs::path& path) {
    const JsonDocument document = value_or_throw(JsonDocument::parse_file(path));
    if (!document.root().is_object()) whole = to_text(document.root());
    for (const JsonMember& member : document.root().members()) {
      members.emplace_back(member.key, to_text(member.value));
    }
  }

  void set(std::string_view key, std::string_view value) {
    for (auto& [name, text] : members) {
      if (name == key) {
        text = value;
        return;
      }
    }
    members.emplace_back(key, value);
  }

  std::string text() const {
    if (!whole.empty()) return whole;
    std::string text;
    for (const auto& [name, value] : members) {
      text += (text.empty() ? "" : ",") + json_quote(name) + ":" + value;
    }
    return "{" + text + "}";
  }
};

/// A copy of the model's directory: links to the large files, the configuration written anew.
class ModelCopy {
 public:
  ModelCopy() : original_(fs::path(LATTICE_SOURCE_DIR) / "tests/golden/tiny/bert-dense-tanh") {
    set_log_sink([](LogLevel, std::string_view) {});
    std::string pattern = (fs::temp_directory_path() / "lattice_fuzz_XXXXXX").string();
    fuzz_check(::mkdtemp(pattern.data()) != nullptr);
    directory_ = pattern;
    for (const char* folder : {"1_Pooling", "2_Dense"}) fs::create_directory(directory_ / folder);
    for (const char* name :
         {"model.safetensors", "tokenizer.json", "vocab.txt", "2_Dense/model.safetensors"}) {
      fs::create_symlink(original_ / name, directory_ / name);
    }
    for (const EditedFile& file : kFiles) {
      originals_.emplace(file.letter, FileText(original_ / file.name));
    }
  }
  ModelCopy(const ModelCopy&) = delete;
  ModelCopy& operator=(const ModelCopy&) = delete;
  ~ModelCopy() {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }

  const fs::path& directory() const { return directory_; }

  void write(std::string_view edits) const {
    std::map<char, FileText> files = originals_;
    while (!edits.empty()) {
      const std::string_view line = edits.substr(0, edits.find('\n'));
      edits.remove_prefix(std::min(edits.size(), line.size() + 1));
      edit(files, line);
    }
    for (const EditedFile& file : kFiles) {
      std::ofstream(directory_ / file.name, std::ios::binary) << files.at(file.letter).text();
    }
  }

 private:
  static void edit(std::map<char, FileText>& files, std::string_view line) {
    if (line.empty()) return;
    const char letter = static_cast<char>(line[0] | 0x20);
    const auto file = files.find(letter);
    if (file == files.end()) return;
    if (letter != line[0]) {
      file->second.whole = line.substr(1);
      return;
    }
    const std::size_t equals = line.find('=');
    if (equals != line.npos) file->second.set(line.substr(1, equals - 1), line.substr(equals + 1));
  }

  fs::path original_;
  fs::path directory_;
  std::map<char, FileText> originals_;
};

/// Embeds two texts together and one alone: finite, of the promised length, and equal.
void embed(const Model& model) {
  const std::array<std::string, 2> texts = {"the cat sat on the sofa", "it is late"};
  EmbedOptions options;
  options.truncate = Truncate::kEnd;
  const Embeddings both = model.embed(texts, options);
  fuzz_check(both.size() == 2 && both.dimensions() == model.dimensions(options));
  for (const float value : both.values()) fuzz_check(std::isfinite(value));
  const Embeddings alone = model.embed(std::span(texts).last(1), options);
  fuzz_check(std::memcmp(alone[0].data(), both[1].data(), both[1].size_bytes()) == 0);
}

}  // namespace
}  // namespace lattice

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const lattice::ModelCopy copy;
  copy.write(lattice::fuzz_text(data, size));
  try {
    lattice::embed(lattice::Model::from_directory(copy.directory(), {.num_threads = 1}));
  } catch (const lattice::LatticeError& error) {
    lattice::fuzz_check(error.code() != lattice::ErrorCode::kInternal);
    lattice::fuzz_check(*error.what() != '\0');
  }
  return 0;
}
