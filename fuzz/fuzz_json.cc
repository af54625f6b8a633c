#include <cmath>

#include "fuzz_support.h"
#include "io/config_reader.h"
#include "io/json.h"

namespace lattice {
namespace {

/// Visits every node; returns how many there are.
std::size_t walk(const Json& node) {
  std::size_t count = 1;
  if (const auto text = node.as_string()) fuzz_touch(text->data(), text->size());
  if (const auto number = node.as_double()) fuzz_check(std::isfinite(*number));
  const auto integer = node.as_int();
  fuzz_check(!integer || node.as_double().has_value());
  for (const Json& item : node.items()) count += walk(item);
  for (const JsonMember& member : node.members()) {
    fuzz_touch(member.key.data(), member.key.size());
    fuzz_check(node.find(member.key) != nullptr);
    count += walk(member.value);
  }
  return count;
}

/// Reads the members as every type. A value in range comes back, or finish() tells an error.
void read_config(const Json& root) {
  ConfigReader reader(root, "config.json");
  const std::int64_t layers = reader.require_int("num_hidden_layers", 1, 1000);
  fuzz_check(layers >= 1 && layers <= 1000);
  fuzz_check(std::isfinite(reader.get_double("layer_norm_eps", 1e-12)));
  reader.get_bool("tie_word_embeddings", true);
  reader.get_string("model_type", "");
  reader.require_string("hidden_act");
  reader.get("rope_scaling");
  reader.ignore({"transformers_version"});
  fuzz_check(reader.unread_keys().size() <= root.members().size());
  if (const auto status = reader.finish(); !status) {
    fuzz_check(status.error().message.starts_with("config.json: "));
  }
}

}  // namespace
}  // namespace lattice

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using lattice::fuzz_check;
  const auto document = lattice::JsonDocument::parse(lattice::fuzz_text(data, size), "config.json");
  if (!document) {
    fuzz_check(document.error().message.starts_with("config.json: "));
    return 0;
  }
  fuzz_check(lattice::walk(document->root()) <= size);
  lattice::find_duplicate_key(document->root());
  lattice::read_config(document->root());
  return 0;
}
