#include "backends/cpu/packed_linear.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/cpu_backend.h"

namespace lattice {
namespace {

// Source pages are given back in steps of this size: large enough that the system call and the
// pages cut in two at the ends do not matter, small against any model.
constexpr std::size_t kDiscardBytes = std::size_t{1} << 20;

// Whether every value is a bfloat16 number: not where reads go through Q8_0 blocks.
bool all_bfloat16(std::span<const LinearPart> parts) {
  return std::ranges::all_of(parts, [](const LinearPart& part) {
    return part.weight.dtype() == DType::kBF16 && !part.weight.has_blocks();
  });
}

std::int64_t total_rows(std::span<const LinearPart> parts) {
  std::int64_t rows = 0;
  for (const LinearPart& part : parts) rows += part.weight.dim(0);
  return rows;
}

// Rows of a weight from `row` on, as many as fit `out`, in the form that its panels are made of.
void copy_rows(const Tensor& weight, std::int64_t row, std::span<float> out) {
  weight.copy_to_f32(row * weight.dim(1), out);
}
void copy_rows(const Tensor& weight, std::int64_t row, std::span<Q8WeightBlock> out) {
  weight.copy_to_q8_0(row, out);
}

// Reads the rows of all parts as one stacked matrix, front to back from `first_row`. A row has
// `row_size` Elements: floats, or blocks.
template <class Element>
class RowReader {
 public:
  RowReader(std::span<const LinearPart> parts, std::int64_t first_row, std::int64_t row_size)
      : parts_(parts), row_size_(row_size) {
    row_ = first_row;
    while (part_ < parts_.size() && row_ >= parts_[part_].weight.dim(0)) {
      row_ -= parts_[part_].weight.dim(0);
      ++part_;
    }
    kept_from_ = row_;
  }

  // Reads out.size() / row_size rows; those beyond the last row are zeros.
  void read(std::span<Element> out) {
    while (!out.empty() && part_ < parts_.size()) {
      const Tensor& weight = parts_[part_].weight;
      const std::int64_t wanted = static_cast<std::int64_t>(out.size()) / row_size_;
      const std::int64_t rows = std::min(wanted, weight.dim(0) - row_);
      const auto count = static_cast<std::size_t>(rows * row_size_);
      copy_rows(weight, row_, out.first(count));
      out = out.subspan(count);
      row_ += rows;
      discard_behind(row_ == weight.dim(0));
      if (row_ == weight.dim(0)) {
        ++part_;
        row_ = kept_from_ = 0;
      }
    }
    std::fill(out.begin(), out.end(), Element{});
  }

  std::int64_t row_size() const { return row_size_; }

 private:
  void discard_behind(bool at_end) {
    const Tensor done = parts_[part_].weight.slice_rows(kept_from_, row_);
    if (!at_end && done.num_bytes() < kDiscardBytes) return;
    done.discard();
    kept_from_ = row_;
  }

  std::span<const LinearPart> parts_;
  std::int64_t row_size_;
  std::size_t part_ = 0;
  std::int64_t row_ = 0;        // the next row of that part
  std::int64_t kept_from_ = 0;  // the first row of it that was not discarded yet
};

// Calls pack(rows, p) with the rows of each of `num_panels` panels.
template <class Element, class Pack>
void for_each_panel(RowReader<Element> reader, std::int64_t panel_cols, std::int64_t num_panels,
                    const Pack& pack) {
  AlignedBuffer<Element> rows(static_cast<std::size_t>(panel_cols * reader.row_size()));
  for (std::int64_t p = 0; p < num_panels; ++p) {
    reader.read(rows.span());
    pack(rows.data(), p);
  }
}

}  // namespace

CpuLinear::CpuLinear(ThreadPool& pool, std::span<const LinearPart> parts, WeightFormat format,
                     const GemmKernels& kernels)
    : kernels_(kernels),
      format_(format),
      k_(parts.front().weight.dim(1)),
      n_(total_rows(parts)),
      depth_((k_ + kernels.depth_step - 1) / kernels.depth_step),
      num_panels_((n_ + kernels.panel_cols - 1) / kernels.panel_cols),
      panel_bytes_(depth_ * kernels.panel_cols * kernels.column_bytes),
      panels_(static_cast<std::size_t>(num_panels_ * panel_bytes_)),
      bias_(static_cast<std::size_t>(num_panels_ * kernels.panel_cols)) {
  pack_bias(parts);
  const auto num_tasks = static_cast<std::int64_t>(pool.num_threads());
  pool.parallel_for(pool.num_threads(), [&](std::size_t task, std::size_t) {
    const auto t = static_cast<std::int64_t>(task);
    pack_panels(parts, num_panels_ * t / num_tasks, num_panels_ * (t + 1) / num_tasks);
  });
  // The pages that two threads or steps shared.
  for (const LinearPart& part : parts) part.weight.discard();
}

void CpuLinear::pack_bias(std::span<const LinearPart> parts) {
  std::fill_n(bias_.data(), bias_.size(), 0.0f);
  std::size_t row = 0;
  for (const LinearPart& part : parts) {
    const auto rows = static_cast<std::size_t>(part.weight.dim(0));
    if (part.bias) part.bias->copy_to_f32(0, bias_.span().subspan(row, rows));
    row += rows;
  }
}

void CpuLinear::pack_panels(std::span<const LinearPart> parts, std::int64_t begin,
                            std::int64_t end) {
  if (begin == end || k_ == 0) return;
  const std::int64_t cols = kernels_.panel_cols;
  const auto panel = [&](std::int64_t p) { return panels_.data() + (begin + p) * panel_bytes_; };
  if (format_ == WeightFormat::kQ8_0) {
    for_each_panel(RowReader<Q8WeightBlock>(parts, begin * cols, depth_), cols, end - begin,
                   [&](const Q8WeightBlock* rows, std::int64_t p) {
                     pack_panel_q8_0(rows, cols, depth_, kernels_.group_size, panel(p));
                   });
  } else {
    for_each_panel(
        RowReader<float>(parts, begin * cols, k_), cols, end - begin,
        [&](const float* rows, std::int64_t p) { kernels_.pack_panel(rows, cols, k_, panel(p)); });
  }
}

std::shared_ptr<const PackedLinear> CpuBackend::pack_linear(ThreadPool& pool,
                                                            std::span<const LinearPart> parts,
                                                            WeightFormat format) const {
  const GemmKernels* kernels = nullptr;
  switch (format) {
    case WeightFormat::kF32:
      kernels = all_bfloat16(parts) ? gemm_f32_bf16_kernels(target_) : gemm_f32_kernels(target_);
      break;
    case WeightFormat::kBF16:
      kernels = gemm_bf16_kernels(target_);
      break;
    case WeightFormat::kQ8_0:
      kernels = gemm_q8_0_kernels(target_);
      break;
  }
  return std::make_shared<const CpuLinear>(pool, parts, format, *kernels);
}

}  // namespace lattice
