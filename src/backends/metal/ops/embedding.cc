#include <numeric>
#include <string_view>
#include <vector>

#include "backends/metal/kernels/kernel_params.h"
#include "backends/metal/metal_backend.h"
#include "backends/metal/op_call.h"
#include "tensor/q8_0.h"

namespace lattice::metal {
namespace {

// The rows of a table that a batch asks for, one per token, as they are stored: only they travel.
// f64, which Metal does not have, is rounded to f32.
class GatheredRows {
 public:
  explicit GatheredRows(const EmbeddingTerm& term) : table_(*term.table) {
    for (const std::int32_t id : term.ids) append(id);
  }

  std::span<const std::byte> bytes() const { return bytes_; }
  std::string_view kernel() const {
    if (table_.has_blocks()) return "embedding_q8_0";
    if (table_.dtype() == DType::kBF16) return "embedding_bf16";
    return table_.dtype() == DType::kF16 ? "embedding_f16" : "embedding_f32";
  }

 private:
  void append(std::int64_t id) {
    const std::int64_t cols = table_.dim(1);
    if (table_.has_blocks()) {
      std::vector<Q8WeightBlock> blocks(static_cast<std::size_t>(num_q8_blocks(cols)));
      table_.copy_to_q8_0(id, blocks);
      append(std::as_bytes(std::span(blocks)));
    } else if (table_.dtype() == DType::kF64) {
      std::vector<float> values(static_cast<std::size_t>(cols));
      table_.copy_to_f32(id * cols, values);
      append(std::as_bytes(std::span(values)));
    } else {
      const auto row_bytes = static_cast<std::size_t>(cols) * dtype_size(table_.dtype());
      append(table_.bytes().subspan(static_cast<std::size_t>(id) * row_bytes, row_bytes));
    }
  }
  void append(std::span<const std::byte> row) {
    bytes_.insert(bytes_.end(), row.begin(), row.end());
  }

  const Tensor& table_;
  std::vector<std::byte> bytes_;
};

}  // namespace

void MetalBackend::embedding_lookup(Context&, const EmbeddingLookupArgs& args) const {
  const std::uint32_t rows = to_uint(args.out.rows), cols = to_uint(args.out.cols);
  if (rows == 0 || cols == 0) return;
  std::vector<std::int32_t> places(static_cast<std::size_t>(rows));
  std::iota(places.begin(), places.end(), 0);
  bool is_first = true;
  for (const EmbeddingTerm& term : args.terms) {
    const GatheredRows gathered(term);
    OpCall call(*device_, pipeline(gathered.kernel()));
    call.read(0, gathered.bytes());
    call.read(1, std::span<const std::int32_t>(places));
    call.write(2, args.out, !is_first);
    call.value(3, EmbeddingParams{
                      .hidden_size = cols, .out_stride = cols, .accumulate = is_first ? 0u : 1u});
    call.run({rows}, {threads_for(cols)});
    is_first = false;
  }
}

}  // namespace lattice::metal
