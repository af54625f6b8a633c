#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lattice {

struct QuantizeOptions {
  /// Weights beyond this go to another file. The default is that of transformers.
  std::uint64_t max_shard_bytes = 5'000'000'000;
};

/// What quantize_model() wrote.
struct QuantizeReport {
  std::int64_t num_quantized = 0;         ///< tensors now in Q8_0
  std::int64_t num_kept = 0;              ///< tensors stored as they were
  std::uint64_t bytes_before = 0;         ///< of the source's weight files
  std::uint64_t bytes_after = 0;          ///< of the weight files written
  std::vector<std::string> weight_files;  ///< those written, sorted
  /// Weights in other formats that were not copied, sorted; relative to the model's directory.
  std::vector<std::string> skipped_files;
};

/// Writes a copy of the model directory `source` whose matrices are stored in Q8_0, as the
/// directory `target`: linear layers, the token table and a language model's head, as far as the
/// family computes with them in a weight format. All other tensors are copied byte for byte,
/// config.json gets a quantization_config, and all other files but weights in other formats and
/// hidden files are copied. Loading it gives the bits of loading `source` with dtype q8_0. The copy
/// appears when it is complete. Memory: one tensor at most, of a mapped file.
///
/// Throws LatticeError: kInvalidArgument when `target` exists and is not an empty directory, or
/// lies in `source`; kUnsupported for a model that is quantized already, and for values that Q8_0
/// cannot hold; kIo; what loading `source` throws.
QuantizeReport quantize_model(const std::filesystem::path& source,
                              const std::filesystem::path& target,
                              const QuantizeOptions& options = {});

}  // namespace lattice
