#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lattice::metal::simt {

/// One parameter of a kernel: `device const float* x [[buffer(0)]]`.
struct KernelParameter {
  std::string type;         ///< "device const float*"
  std::string name;         ///< "x"
  std::string attribute;    ///< "buffer", "thread_position_in_grid", ...
  std::uint32_t index = 0;  ///< of a buffer
  bool is_buffer() const { return attribute == "buffer"; }
  bool is_reference() const { return type.ends_with('&'); }
  /// The value type of a reference: "RowArgs" of "constant RowArgs&".
  std::string value_type() const;
  bool is_read_only() const;
};

/// The head of a kernel function, and where it lies in the source.
struct KernelSignature {
  std::string name;
  std::vector<KernelParameter> parameters;
  std::uint32_t max_threads = 1024;  ///< of [[max_total_threads_per_threadgroup(n)]]
  std::size_t body_begin = 0;        ///< offset of the opening brace
  std::size_t body_end = 0;          ///< offset of the closing brace
  int line = 0;
};

/// The kernels of an MSL source, in order. Errors: kMalformed, naming the line, for a kernel that
/// is no void function or has a parameter without exactly one attribute.
Result<std::vector<KernelSignature>> parse_kernels(std::string_view source);

}  // namespace lattice::metal::simt
