#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lattice {

/// Tensor name -> name of the shard that holds it, relative to the model's directory.
using WeightMap = std::map<std::string, std::string, std::less<>>;

/// Reads the text of a model.safetensors.index.json; `source` names it in messages. Shard names
/// are path-safe (check_relative_name) and end in ".safetensors". Errors: kMalformed, for a
/// duplicate tensor name too.
Result<WeightMap> parse_weight_index(std::string_view text, const std::string& source);

/// Reads an index file of at most 256 MiB. Errors: also kNotFound and kIo.
Result<WeightMap> read_weight_index(const std::filesystem::path& path);

}  // namespace lattice
