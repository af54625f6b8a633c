#include "text/normalizers/normalizers.h"
#include "text/text_rewriter.h"

namespace lattice::normalizers {
namespace {

class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string prefix) : prefix_(std::move(prefix)) {}

  void normalize(AlignedText& text) const override {
    if (!text.text.empty()) prepend_text(text, prefix_);
  }

 private:
  std::string prefix_;
};

}  // namespace

Made make_prepend(const Json& json, const std::string& where) {
  ConfigReader reader(json, where);
  std::string prefix = reader.require_string("prepend");
  if (auto status = finish_component(reader); !status) return forward_error(status);
  return std::make_unique<Prepend>(std::move(prefix));
}

}  // namespace lattice::normalizers
