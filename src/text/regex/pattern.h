#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/component_json.h"
#include "text/token_span.h"

namespace lattice::regex {

/// Something to search texts for. Immutable and usable from many threads at once.
class Pattern {
 public:
  virtual ~Pattern() = default;

  /// Appends to `matches` the byte ranges of the successive matches in `subject`, valid UTF-8.
  /// Matches do not overlap; an empty one is skipped where the previous match ended. Anchors and
  /// look-around see `subject` only. Throws LatticeError(kTooLong) when a regular expression
  /// exceeds its match limits, which a pattern that backtracks linearly never does.
  virtual void find_all(std::string_view subject, std::vector<ByteRange>& matches) const = 0;
};

/// Compiles a pattern of a tokenizer file. A regular expression that is exactly one of the known
/// word-splitting ones gets a hand-written scanner, all others run on PCRE2. `where` prefixes
/// messages. Errors: as translate_to_pcre(), and kUnsupported for what PCRE2 refuses (look-behind
/// of unbounded length).
Result<std::unique_ptr<Pattern>> compile(const TextPattern& pattern, const std::string& where);

/// The same without the hand-written scanners.
Result<std::unique_ptr<Pattern>> compile_generic(std::string_view regular_expression,
                                                 const std::string& where);

}  // namespace lattice::regex
