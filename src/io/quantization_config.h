#pragma once

#include <string>

#include "base/result.h"
#include "io/config_reader.h"
#include "io/weight_files.h"

namespace lattice {

/// What config.json's `quantization_config` says of the stored weights.
enum class StoredQuantization {
  kNone,
  kQ8_0,  ///< lattice's own: matrices in Q8_0 (io/q8_0_metadata.h), other tensors as they were
};

/// Reads the member `quantization_config` of a model's config; absent or null is kNone. Sets the
/// reader's error, kUnsupported by name, for another program's quantization and for any key or
/// value that lattice does not write.
StoredQuantization read_quantization(ConfigReader& reader);

/// {"quant_method": "lattice", ...}: the member that read_quantization() reads as kQ8_0.
std::string q8_0_quantization_config();

/// Checks that the files hold Q8_0 tensors if and only if the config says so. Opens every shard.
/// `config_path` names the config in messages. Errors: kMalformed naming file and tensor; those of
/// WeightFiles::find.
Result<void> check_quantization(StoredQuantization stored, const WeightFiles& weights,
                                const std::string& config_path);

}  // namespace lattice
