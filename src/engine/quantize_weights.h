#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "engine/quantize.h"
#include "io/weight_files.h"

namespace lattice {

/// Writes the tensors of `weights` to model.safetensors in `directory`, or to shards with an index
/// when the source has shards or the file would be larger than `max_shard_bytes`. A shard never
/// joins tensors of several source files. The tensors called in `quantized`, floating-point
/// matrices, are stored in Q8_0. Adds to the report's tensors, weight_files and bytes. Throws
/// LatticeError: kIo; kUnsupported naming the tensor for values that Q8_0 cannot hold.
void write_quantized_weights(const WeightFiles& weights, const std::set<std::string>& quantized,
                             const std::filesystem::path& directory, const QuantizeOptions& options,
                             QuantizeReport& report);

}  // namespace lattice
