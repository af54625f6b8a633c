#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/model_directory.h"

namespace lattice {

/// The kinds of sentence-transformers modules that lattice runs.
enum class ModuleKind { kTransformer, kPooling, kDense, kNormalize, kLayerNorm, kLogitScore };

/// One step of modules.json.
struct ModuleEntry {
  ModuleKind kind;
  ModelDirectory directory;  ///< where its config.json and weights lie
  std::string path;          ///< as modules.json spells it, for messages
};

/// Reads modules.json. Classes are recognised by the last component of their dotted path, so that
/// old and new spellings are the same. Empty when the file is absent. Throws LatticeError:
/// kUnsupported naming an unknown class, kMalformed for a chain that does not start with a
/// Transformer or a path that leaves the directory.
std::vector<ModuleEntry> load_module_list(const ModelDirectory& directory);

/// Whether the modules begin as an embedding model's do: a Transformer, then a Pooling.
bool is_embedding_chain(std::span<const ModuleEntry> modules);

/// Throws LatticeError unless the modules are an embedding model's: a Transformer, a Pooling, and
/// neither of them again.
void check_embedding_modules(std::span<const ModuleEntry> modules, const std::string& file);

}  // namespace lattice
