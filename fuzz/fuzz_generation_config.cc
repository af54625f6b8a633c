// Reads a generation_config.json: what is accepted can be generated with, what is not is refused by
// the file's name.
#include <algorithm>
#include <fstream>

#include "base/log.h"
#include "base/result.h"
#include "engine/generation/generation_config.h"
#include "fuzz_support.h"

namespace lattice {
namespace {

constexpr std::int64_t kVocabSize = 1000;

/// A directory that holds the one file.
class ConfigDirectory {
 public:
  ConfigDirectory() {
    set_log_sink([](LogLevel, std::string_view) {});
    std::string pattern = (std::filesystem::temp_directory_path() / "lattice_fuzz_XXXXXX").string();
    fuzz_check(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ConfigDirectory(const ConfigDirectory&) = delete;
  ConfigDirectory& operator=(const ConfigDirectory&) = delete;
  ~ConfigDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  void write(std::string_view text) const {
    std::ofstream(path_ / "generation_config.json", std::ios::binary) << text;
  }

 private:
  std::filesystem::path path_;
};

void check_config(const GenerationConfig& config) {
  const auto& ids = config.eos_token_ids.value;
  fuzz_check(!config.eos_token_ids.source.empty());
  fuzz_check(std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end());
  for (const std::int32_t id : ids) fuzz_check(id >= 0 && id < kVocabSize);
  if (config.stop_strings) {
    for (const std::string& stop : config.stop_strings->value) fuzz_check(!stop.empty());
  }
  validate(default_sampling(config), kVocabSize);
}

}  // namespace
}  // namespace lattice

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const lattice::ConfigDirectory directory;
  static const auto config = lattice::value_or_throw(
      lattice::JsonDocument::parse(R"({"eos_token_id": 7})", "config.json"));
  directory.write(lattice::fuzz_text(data, size));
  lattice::GenerationConfig parsed;
  try {
    parsed =
        lattice::load_generation_config(directory.path(), {config.root(), 3}, lattice::kVocabSize);
  } catch (const lattice::LatticeError& error) {
    lattice::fuzz_check(error.code() != lattice::ErrorCode::kInternal);
    lattice::fuzz_check(std::string_view(error.what()).find("generation_config.json") !=
                        std::string_view::npos);
    return 0;
  }
  lattice::check_config(parsed);
  return 0;
}
