#include "backends/metal/op_call.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace lattice::metal {
namespace {

// Metal has no empty buffers.
constexpr std::size_t kMinBufferBytes = 4;
constexpr std::int64_t kMaxThreads = 256;

std::size_t matrix_bytes(std::int64_t rows, std::int64_t cols) {
  to_uint(rows * cols);
  return static_cast<std::size_t>(rows * cols) * sizeof(float);
}

// Copies rows between a matrix and the same rows without gaps.
template <typename Copy>
void for_each_row(std::int64_t rows, std::int64_t cols, std::byte* packed, Copy copy) {
  const std::size_t row_bytes = static_cast<std::size_t>(cols) * sizeof(float);
  for (std::int64_t r = 0; r < rows; ++r) {
    copy(r, packed + static_cast<std::size_t>(r) * row_bytes, row_bytes);
  }
}

void copy_in(const ConstMatrix& matrix, std::byte* packed) {
  for_each_row(matrix.rows, matrix.cols, packed,
               [&](std::int64_t r, std::byte* to, std::size_t bytes) {
                 std::memcpy(to, matrix.row(r), bytes);
               });
}

}  // namespace

OpCall::OpCall(Device& device, const Pipeline& pipeline)
    : device_(device), commands_(device.make_commands()) {
  commands_->set_pipeline(pipeline);
}

Buffer& OpCall::make_buffer(std::size_t num_bytes) {
  buffers_.push_back(value_or_throw(device_.make_buffer(std::max(num_bytes, kMinBufferBytes))));
  return *buffers_.back();
}

void OpCall::bind(std::uint32_t index, std::span<const std::byte> bytes) {
  Buffer& buffer = make_buffer(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.contents().data(), bytes.data(), bytes.size());
  commands_->set_buffer(index, buffer, 0);
}

void OpCall::read(std::uint32_t index, ConstMatrix matrix) {
  Buffer& buffer = make_buffer(matrix_bytes(matrix.rows, matrix.cols));
  copy_in(matrix, buffer.contents().data());
  commands_->set_buffer(index, buffer, 0);
}

void OpCall::write(std::uint32_t index, MutMatrix matrix, bool is_input) {
  Buffer& buffer = make_buffer(matrix_bytes(matrix.rows, matrix.cols));
  if (is_input) copy_in(matrix, buffer.contents().data());
  commands_->set_buffer(index, buffer, 0);
  outputs_.push_back({&buffer, matrix});
}

void OpCall::run(Extent threadgroups, Extent threads) {
  commands_->dispatch(threadgroups, threads);
  value_or_throw(commands_->commit_and_wait());
  for (const Output& output : outputs_) {
    for_each_row(output.matrix.rows, output.matrix.cols, output.buffer->contents().data(),
                 [&](std::int64_t r, const std::byte* from, std::size_t bytes) {
                   std::memcpy(output.matrix.row(r), from, bytes);
                 });
  }
}

std::uint32_t threads_for(std::int64_t size) {
  const std::int64_t whole = (size + kSimdWidth - 1) / kSimdWidth * kSimdWidth;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(whole, kSimdWidth, kMaxThreads));
}

std::uint32_t to_uint(std::int64_t value) {
  if (value < 0 || value > std::numeric_limits<std::uint32_t>::max()) {
    raise(ErrorCode::kTooLong, "[metal] {} does not fit into a kernel argument", value);
  }
  return static_cast<std::uint32_t>(value);
}

}  // namespace lattice::metal
