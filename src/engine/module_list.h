#pragma once

#include <string>
#include <vector>

#include "io/model_directory.h"

namespace lattice {

/// The kinds of sentence-transformers modules that lattice runs.
enum class ModuleKind { kTransformer, kPooling, kDense, kNormalize, kLayerNorm };

/// One step of modules.json.
struct ModuleEntry {
  ModuleKind kind;
  ModelDirectory directory;  ///< where its config.json and weights lie
  std::string path;          ///< as modules.json spells it, for messages
};

/// Reads modules.json. Classes are recognised by the last component of their dotted path, so that
/// old and new spellings are the same. Empty when the file is absent. Throws LatticeError:
/// kUnsupported naming an unknown class, kMalformed for a chain that does not start with a
/// Transformer followed by a Pooling, or a path that leaves the directory.
std::vector<ModuleEntry> load_module_list(const ModelDirectory& directory);

}  // namespace lattice
