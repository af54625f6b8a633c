#include "text/normalizers/normalizers.h"
#include "text/unicode/normalization.h"

namespace lattice::normalizers {
namespace {

class UnicodeForm final : public Normalizer {
 public:
  explicit UnicodeForm(unicode::Form form) : form_(form) {}
  void normalize(AlignedText& text) const override { unicode::normalize(text, form_); }

 private:
  unicode::Form form_;
};

Made make_form(const Json& json, const std::string& where, unicode::Form form) {
  const ConfigReader reader(json, where);
  if (auto status = finish_component(reader); !status) return forward_error(status);
  return std::make_unique<UnicodeForm>(form);
}

}  // namespace

Made make_nfc(const Json& json, const std::string& where) {
  return make_form(json, where, unicode::Form::kNfc);
}
Made make_nfd(const Json& json, const std::string& where) {
  return make_form(json, where, unicode::Form::kNfd);
}
Made make_nfkc(const Json& json, const std::string& where) {
  return make_form(json, where, unicode::Form::kNfkc);
}
Made make_nfkd(const Json& json, const std::string& where) {
  return make_form(json, where, unicode::Form::kNfkd);
}

}  // namespace lattice::normalizers
