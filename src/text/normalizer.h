#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "io/json.h"
#include "text/aligned_text.h"

namespace lattice {

/// One `normalizer` component of a tokenizer.json, exactly as Hugging Face `tokenizers` runs it.
/// Immutable: one instance serves any number of threads.
class Normalizer {
 public:
  virtual ~Normalizer() = default;

  /// Rewrites `text` in place, in time linear in its size. Throws LatticeError when a regular
  /// expression of the tokenizer file exceeds its match limits on this text.
  virtual void normalize(AlignedText& text) const = 0;
};

/// Builds the normalizer that `json` describes; nullptr for JSON null. `where` names the place for
/// messages, as in "tokenizer.json: normalizer". Errors: kUnsupported for an unknown type or a
/// regular expression that cannot be honoured, kMalformed for wrong fields; both name the path.
/// The result does not refer to `json`.
Result<std::unique_ptr<Normalizer>> make_normalizer(const Json& json, const std::string& where);

}  // namespace lattice
