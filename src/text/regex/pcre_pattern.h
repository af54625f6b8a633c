#pragma once

#include <memory>
#include <string_view>

#include "text/regex/pattern.h"

struct pcre2_real_code_8;

namespace lattice::regex {

/// A PCRE2 program, compiled just in time where that is possible.
class PcrePattern final : public Pattern {
 public:
  /// `pattern` in PCRE2's syntax, made by translate_to_pcre(). Errors: kUnsupported with PCRE2's
  /// message.
  static Result<std::unique_ptr<PcrePattern>> compile(std::string_view pattern);

  void find_all(std::string_view subject, std::vector<ByteRange>& matches) const override;

 private:
  struct FreeCode {
    void operator()(pcre2_real_code_8* code) const;
  };

  PcrePattern(pcre2_real_code_8* code, bool has_jit) : code_(code), has_jit_(has_jit) {}

  std::unique_ptr<pcre2_real_code_8, FreeCode> code_;
  bool has_jit_;
};

}  // namespace lattice::regex
