#include <vector>

#include "text/normalizers/normalizers.h"

namespace lattice::normalizers {
namespace {

class Sequence final : public Normalizer {
 public:
  explicit Sequence(std::vector<std::unique_ptr<Normalizer>> parts) : parts_(std::move(parts)) {}

  void normalize(AlignedText& text) const override {
    for (const auto& part : parts_) part->normalize(text);
  }

 private:
  std::vector<std::unique_ptr<Normalizer>> parts_;
};

}  // namespace

Made make_sequence(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  const Json* list = reader.get("normalizers");
  if (list == nullptr || !list->is_array()) {
    return fail(ErrorCode::kMalformed, "{}: normalizers: expected an array", where);
  }
  if (auto status = finish_component(reader); !status) return forward_error(status);
  std::vector<std::unique_ptr<Normalizer>> parts;
  for (const Json& item : list->items()) {
    const std::string place = fmt::format("{}.normalizers[{}]", where, parts.size());
    if (item.is_null())
      return fail(ErrorCode::kMalformed, "{}: expected an object, got null", place);
    auto part = make_normalizer(item, place);
    if (!part) return forward_error(part);
    parts.push_back(std::move(*part));
  }
  return std::make_unique<Sequence>(std::move(parts));
}

}  // namespace lattice::normalizers
