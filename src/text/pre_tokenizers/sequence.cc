#include <algorithm>
#include <vector>

#include "text/pre_tokenizers/pre_tokenizers.h"

namespace lattice::pre_tokenizers {
namespace {

class Sequence final : public PreTokenizer {
 public:
  explicit Sequence(std::vector<std::unique_ptr<PreTokenizer>> parts) : parts_(std::move(parts)) {}

  bool needs_origin() const override {
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const auto& part) { return part->needs_origin(); });
  }

 private:
  void do_split(PreTokenizedText& text) const override {
    for (const auto& part : parts_) part->split(text);
  }

  std::vector<std::unique_ptr<PreTokenizer>> parts_;
};

}  // namespace

Made make_sequence(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  const Json* list = reader.get("pretokenizers");
  if (list == nullptr || !list->is_array()) {
    return fail(ErrorCode::kMalformed, "{}: pretokenizers: expected an array", where);
  }
  if (auto status = finish_component(reader); !status) return forward_error(status);
  std::vector<std::unique_ptr<PreTokenizer>> parts;
  for (const Json& item : list->items()) {
    const std::string place = fmt::format("{}.pretokenizers[{}]", where, parts.size());
    if (item.is_null())
      return fail(ErrorCode::kMalformed, "{}: expected an object, got null", place);
    auto part = make_pre_tokenizer(item, place);
    if (!part) return forward_error(part);
    parts.push_back(std::move(*part));
  }
  return std::make_unique<Sequence>(std::move(parts));
}

}  // namespace lattice::pre_tokenizers
