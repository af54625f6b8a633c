// Sums of embedding rows for one Highway target.

#if defined(LATTICE_KERNELS_EMBEDDING_LOOKUP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LATTICE_KERNELS_EMBEDDING_LOOKUP_INL_H_
#undef LATTICE_KERNELS_EMBEDDING_LOOKUP_INL_H_
#else
#define LATTICE_KERNELS_EMBEDDING_LOOKUP_INL_H_
#endif

#include <algorithm>
#include <cstring>
#include <span>

#include <hwy/highway.h>
#include "backends/cpu/kernels/vector-inl.h"
#include "ops/embedding_lookup.h"

HWY_BEFORE_NAMESPACE();
namespace lattice {
namespace HWY_NAMESPACE {

HWY_INLINE FloatVec widen(const float* p) { return hn::Load(FloatTag(), p); }

HWY_INLINE FloatVec widen(const Float16* p) {
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
  // Highway's emulation takes infinities and NaN for large numbers.
  HWY_ALIGN float lanes[kLanes];
  for (std::int64_t i = 0; i < kLanes; ++i) lanes[i] = to_float(p[i]);
  return hn::Load(FloatTag(), lanes);
#else
  const hn::Rebind<std::uint16_t, FloatTag> d16;
  const hn::Rebind<hwy::float16_t, FloatTag> df16;
  return hn::PromoteTo(FloatTag(), hn::BitCast(df16, hn::Load(d16, &p->bits)));
#endif
}

HWY_INLINE FloatVec widen(const BFloat16* p) {
  const hn::Rebind<std::uint16_t, FloatTag> d16;
  const hn::RebindToUnsigned<FloatTag> d32;
  const auto bits = hn::PromoteTo(d32, hn::Load(d16, &p->bits));
  return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(bits));
}

/// out (+)= row, a row of `size` Stored values at any alignment.
template <class Stored>
HWY_INLINE void add_row(const std::byte* row, std::int64_t size, bool is_first, float* out) {
  const FloatTag d;
  constexpr std::int64_t kChunk = 256;  // a multiple of every vector size
  HWY_ALIGN Stored chunk[kChunk] = {};
  for (std::int64_t begin = 0; begin < size; begin += kChunk) {
    const std::int64_t count = std::min(kChunk, size - begin);
    std::memcpy(chunk, row + static_cast<std::size_t>(begin) * sizeof(Stored),
                static_cast<std::size_t>(count) * sizeof(Stored));
    float* to = out + begin;
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      const FloatVec v = widen(chunk + i);
      hn::StoreU(is_first ? v : hn::Add(hn::LoadU(d, to + i), v), d, to + i);
    }
    if (i < count) {
      const FloatVec v = widen(chunk + i);
      const FloatVec old = is_first ? hn::Zero(d) : load_partial(to + i, count - i);
      store_partial(is_first ? v : hn::Add(old, v), to + i, count - i);
    }
  }
}

/// add_row for f64, which no published model uses: plain code.
HWY_INLINE void add_row_f64(const std::byte* row, std::int64_t size, bool is_first, float* out) {
  for (std::int64_t i = 0; i < size; ++i) {
    double value = 0.0;
    std::memcpy(&value, row + static_cast<std::size_t>(i) * sizeof(value), sizeof(value));
    out[i] = (is_first ? 0.0f : out[i]) + static_cast<float>(value);
  }
}

/// add_row for Q8_0: each chunk becomes f32 first. `element` is the row's first one in the table.
HWY_INLINE void add_row_of_blocks(const Tensor& table, std::int64_t element, std::int64_t size,
                                  bool is_first, float* out) {
  constexpr std::int64_t kChunk = 8 * kQ8BlockSize;
  HWY_ALIGN float chunk[kChunk];
  for (std::int64_t begin = 0; begin < size; begin += kChunk) {
    const std::int64_t count = std::min(kChunk, size - begin);
    const std::span<float> values(chunk, static_cast<std::size_t>(count));
    table.copy_to_f32(element + begin, values);
    add_row<float>(std::as_bytes(values).data(), count, is_first, out + begin);
  }
}

/// Rows [begin, end).
void embedding_rows(const EmbeddingLookupArgs& args, std::int64_t begin, std::int64_t end) {
  const std::int64_t size = args.out.cols;
  for (std::int64_t t = begin; t < end; ++t) {
    bool is_first = true;
    for (const EmbeddingTerm& term : args.terms) {
      const DType dtype = term.table->dtype();
      const std::int64_t element = term.ids[static_cast<std::size_t>(t)] * size;
      const std::byte* row =
          term.table->bytes().data() + static_cast<std::size_t>(element) * dtype_size(dtype);
      float* out = args.out.row(t);
      if (term.table->has_blocks()) {
        add_row_of_blocks(*term.table, element, size, is_first, out);
      } else if (dtype == DType::kBF16) {
        add_row<BFloat16>(row, size, is_first, out);
      } else if (dtype == DType::kF16) {
        add_row<Float16>(row, size, is_first, out);
      } else if (dtype == DType::kF64) {
        add_row_f64(row, size, is_first, out);
      } else {
        add_row<float>(row, size, is_first, out);
      }
      is_first = false;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace lattice
HWY_AFTER_NAMESPACE();

#endif  // LATTICE_KERNELS_EMBEDDING_LOOKUP_INL_H_
