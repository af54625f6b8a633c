#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "golden/golden_file.h"
#include "io/json.h"
#include "tensor/tensor.h"

namespace lattice {

/// tests/golden.
std::filesystem::path golden_dir();

// Parts of golden files. They throw LatticeError, or std::bad_optional_access, for a file that is
// not as documented.

const Json& member(const Json& object, const std::string& key);
std::size_t to_size(const Json& value);

template <typename T>
std::vector<T> to_integers(const Json& array) {
  std::vector<T> values;
  for (const Json& item : array.items()) values.push_back(static_cast<T>(item.as_int().value()));
  return values;
}

std::vector<double> read_doubles(const Tensor& tensor);
Tensor read_tensor(const std::filesystem::path& file, const std::string& name);
GoldenCase parse_case(const Json& json);

}  // namespace lattice
