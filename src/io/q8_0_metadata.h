#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "io/safetensors_header.h"

namespace lattice {

// Q8_0 tensors in safetensors files, which have no such dtype: a tensor "w" of N rows and K columns
// is stored as U8 [N, ceil(K / 32) * 34], the blocks of tensor/q8_0.h, and the file's __metadata__
// says so:  "lattice.q8_0.w": "[N, K]".

/// The key of __metadata__ that declares the tensor `name`.
std::string q8_0_metadata_key(std::string_view name);

/// Gives the tensors that the header's metadata declares their type and logical shape: kQ8_0
/// [N, K]. `path` names the file in messages. Errors: kMalformed, naming the tensor, for a
/// declaration without its tensor, a shape that is not two positive integers, and a tensor that is
/// not U8 of the shape that the declared one needs.
Result<void> apply_q8_0_metadata(SafetensorsHeader& header, const std::string& path);

}  // namespace lattice
