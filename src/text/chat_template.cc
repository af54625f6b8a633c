#include "text/chat_template.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/result.h"
#include "io/json.h"

namespace lattice {
namespace {

struct Source {
  std::string text;
  std::string name;
};

std::string read_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) raise(ErrorCode::kIo, "{}: cannot open", file.string());
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

// A list of {"name": ..., "template": ...}, as some models have for tools or retrieval.
std::optional<std::string> default_of(const Json& named) {
  for (const Json& entry : named.items()) {
    const Json* name = entry.find("name");
    const Json* text = entry.find("template");
    if (name == nullptr || text == nullptr || name->as_string() != "default") continue;
    if (const auto value = text->as_string()) return std::string(*value);
  }
  return std::nullopt;
}

std::optional<Source> read_json_source(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  const JsonDocument document = value_or_throw(JsonDocument::parse_file(file));
  const Json* value = document.root().find("chat_template");
  if (value == nullptr || value->is_null()) return std::nullopt;
  const std::string name = file.filename().string() + ": chat_template";
  if (const auto text = value->as_string()) return Source{std::string(*text), name};
  if (value->is_array()) {
    if (auto text = default_of(*value)) return Source{*std::move(text), name};
  }
  raise(ErrorCode::kMalformed, "{}: chat_template: expected a string or a list with \"default\"",
        file.string());
}

std::optional<Source> find_source(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "chat_template.jinja";
  if (std::filesystem::exists(file)) return Source{read_text(file), "chat_template.jinja"};
  for (const char* name : {"chat_template.json", "tokenizer_config.json"}) {
    if (auto source = read_json_source(directory / name)) return source;
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> special_tokens(const Tokenizer& tokenizer) {
  const SpecialTokenIds& ids = tokenizer.special_token_ids();
  std::vector<std::pair<std::string, std::string>> variables;
  const auto add = [&](const char* name, const std::optional<std::int32_t>& id) {
    if (!id) return;
    if (auto token = tokenizer.id_to_token(*id)) variables.emplace_back(name, *std::move(token));
  };
  add("bos_token", ids.bos);
  add("eos_token", ids.eos);
  add("unk_token", ids.unk);
  add("sep_token", ids.sep);
  add("pad_token", ids.pad);
  add("cls_token", ids.cls);
  add("mask_token", ids.mask);
  return variables;
}

// A role is part of the template's markup ("<|" + role + "|>"), where no text of a user may stand.
void check_role(std::string_view role) {
  constexpr std::size_t kMaxLength = 64;
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  if (role.empty() || role.size() > kMaxLength || !std::ranges::all_of(role, is_plain)) {
    raise(ErrorCode::kInvalidArgument,
          "role: expected 1..{} ASCII letters, digits, \"_\" or \"-\", got \"{}\"", kMaxLength,
          role.substr(0, kMaxLength));
  }
}

}  // namespace

std::optional<ChatTemplate> ChatTemplate::from_directory(const std::filesystem::path& directory,
                                                         const Tokenizer& tokenizer) {
  const std::optional<Source> source = find_source(directory);
  if (!source) return std::nullopt;
  return ChatTemplate(jinja::Template::parse(source->text, source->name),
                      special_tokens(tokenizer));
}

jinja::Rendered ChatTemplate::render(const std::vector<ChatMessage>& messages,
                                     const ChatTemplateOptions& options) const {
  using jinja::Dict;
  using jinja::Value;
  std::vector<Value> list;
  for (const ChatMessage& message : messages) {
    check_role(message.role);
    auto entry = std::make_shared<Dict>();
    entry->set(Value::string("role"), Value::string(message.role));
    entry->set(Value::string("content"), Value::string(message.content, /*user_input=*/true));
    if (message.reasoning_content) {
      entry->set(Value::string("reasoning_content"),
                 Value::string(*message.reasoning_content, /*user_input=*/true));
    }
    list.push_back(Value(std::shared_ptr<const Dict>(std::move(entry))));
  }
  auto context = std::make_shared<Dict>();
  for (const auto& [name, text] : variables_) {
    context->set(Value::string(name), Value::string(text));
  }
  context->set(Value::string("messages"), Value::list(std::move(list)));
  context->set(Value::string("add_generation_prompt"), Value(options.add_generation_prompt));
  if (options.enable_thinking) {
    context->set(Value::string("enable_thinking"), Value(*options.enable_thinking));
  }
  return template_.render(Value(std::shared_ptr<const Dict>(std::move(context))));
}

}  // namespace lattice
