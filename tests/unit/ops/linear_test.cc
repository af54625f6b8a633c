#include <cmath>
#include <optional>
#include <utility>

#include "unit/ops/op_test.h"

namespace lattice {
namespace {

/// Largest error for operands in [-1, 1): one f32 chain over K, whose partial sums grow like
/// sqrt(K). Both formats are compared with a reference that rounds its operands alike.
double tolerance(std::int64_t k) { return 8e-8 * static_cast<double>(k + 20); }

LinearPart random_part(std::int64_t n, std::int64_t k, bool has_bias, Numbers& numbers) {
  LinearPart part{Tensor::from_floats({n, k}, numbers.vector(n * k))};
  if (has_bias) part.bias = Tensor::from_floats({n}, numbers.vector(n));
  return part;
}

using Packed = std::shared_ptr<const PackedLinear>;

Packed pack(Context& context, const std::vector<LinearPart>& parts, WeightFormat format) {
  return context.backend().pack_linear(context.threads(), parts, format);
}

class LinearTest : public OpTest {
 protected:
  struct Shape {
    std::int64_t m, n, k;
  };

  void compare(const Shape& shape, WeightFormat format, Activation activation, bool residual) {
    SCOPED_TRACE(::testing::Message()
                 << "M " << shape.m << " N " << shape.n << " K " << shape.k << ' '
                 << weight_format_name(format) << ' ' << activation_name(activation));
    Numbers numbers(static_cast<std::uint32_t>(shape.m * 10007 + shape.n * 101 + shape.k));
    const std::vector<LinearPart> parts{random_part(shape.n, shape.k, true, numbers)};
    const Grid x(shape.m, shape.k, numbers);
    const Grid added(shape.m, shape.n, numbers, 7);
    Grid got(shape.m, shape.n);
    Grid expected(shape.m, shape.n);
    for (auto [context, out] : {std::pair{&this->context(), &got}, {&reference(), &expected}}) {
      const Packed packed = pack(*context, parts, format);
      linear(*context, {.weight = packed.get(),
                        .x = x.view(),
                        .out = out->view(),
                        .activation = activation,
                        .residual = residual ? std::optional(added.view()) : std::nullopt});
    }
    expect_near(got, expected, tolerance(shape.k));
    got.expect_margins_untouched();
  }
};
LATTICE_FOR_EACH_BACKEND(LinearTest);

constexpr WeightFormat kFormats[] = {WeightFormat::kF32, WeightFormat::kBF16, WeightFormat::kQ8_0};

TEST_P(LinearTest, EveryNumberOfRows) {
  for (const WeightFormat format : kFormats) {
    for (std::int64_t m = 0; m <= 40; ++m)
      compare({m, 35, 24}, format, Activation::kIdentity, false);
  }
}

TEST_P(LinearTest, EveryWidth) {
  for (const WeightFormat format : kFormats) {
    for (std::int64_t n = 1; n <= 67; ++n) {
      for (const std::int64_t m : {1, 2, 5})
        compare({m, n, 9}, format, Activation::kIdentity, true);
    }
    for (const std::int64_t n : {128, 129, 255, 256, 300}) {
      for (const std::int64_t m : {1, 2, 13}) compare({m, n, 9}, format, Activation::kGelu, true);
    }
  }
}

TEST_P(LinearTest, EveryDepth) {
  for (const WeightFormat format : kFormats) {
    for (std::int64_t k = 1; k <= 67; ++k) {
      for (const std::int64_t m : {1, 2, 5})
        compare({m, 18, k}, format, Activation::kIdentity, false);
    }
  }
}

TEST_P(LinearTest, ModelShapes) {
  for (const WeightFormat format : kFormats) {
    compare({37, 384, 384}, format, Activation::kIdentity, true);
    compare({25, 1536, 384}, format, Activation::kGelu, false);
    compare({25, 384, 1536}, format, Activation::kIdentity, true);
    compare({3, 768, 3072}, format, Activation::kIdentity, true);
  }
}

TEST_P(LinearTest, ManyRows) {
  for (const WeightFormat format : kFormats)
    compare({700, 40, 33}, format, Activation::kGelu, true);
}

TEST_P(LinearTest, EveryActivation) {
  for (const WeightFormat format : kFormats) {
    for (std::size_t i = 0; i < kNumActivations; ++i) {
      compare({7, 37, 20}, format, static_cast<Activation>(i), false);
      compare({7, 37, 20}, format, static_cast<Activation>(i), true);
    }
  }
}

// Kept as they are stored, in half the memory, they give the bits of the same numbers in f32.
TEST_P(LinearTest, StoredSixteenBitsInF32AreExact) {
  Numbers numbers(17);
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    for (const std::int64_t k : {1, 7, 64, 301}) {
      constexpr std::int64_t kN = 37;
      std::vector<std::uint16_t> stored;
      std::vector<float> values;
      for (const float value : numbers.vector(kN * k)) {
        const bool is_bf16 = dtype == DType::kBF16;
        stored.push_back(is_bf16 ? to_bfloat16(value).bits : to_float16(value).bits);
        values.push_back(is_bf16 ? to_float(BFloat16{stored.back()})
                                 : to_float(Float16{stored.back()}));
      }
      const auto bytes = std::as_bytes(std::span(stored));
      const LinearPart narrow{Tensor(dtype, {kN, k}, bytes.data(), nullptr)};
      const LinearPart wide{Tensor::from_floats({kN, k}, values)};
      const Packed packed = pack(context(), {narrow}, WeightFormat::kF32);
      const Packed expected_packed = pack(context(), {wide}, WeightFormat::kF32);
      // A GPU leaves weights where they are, or copies them as they are stored.
      const std::size_t most =
          is_gpu() ? narrow.weight.num_bytes() + sizeof(float) : expected_packed->num_bytes();
      EXPECT_LE(packed->num_bytes(), most);
      for (const std::int64_t rows : {1, 2, 9, 65}) {
        const Grid x(rows, k, numbers);
        Grid got(rows, kN);
        Grid expected(rows, kN);
        linear(context(), {.weight = packed.get(), .x = x.view(), .out = got.view()});
        linear(context(), {.weight = expected_packed.get(), .x = x.view(), .out = expected.view()});
        for (std::int64_t r = 0; r < rows; ++r) expect_same_bits(got, r, expected, r);
      }
    }
  }
}

TEST_P(LinearTest, PartsOfEveryDtypeStack) {
  Numbers numbers(5);
  constexpr std::int64_t kK = 21;
  // f64, f16 and bf16 tensors hold the numbers i / 8, which all of them can.
  std::vector<LinearPart> parts;
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    const std::int64_t n = 5 + static_cast<std::int64_t>(parts.size()) * 9;
    auto bytes = std::make_shared<std::vector<std::byte>>();
    for (std::int64_t i = 0; i < n * kK; ++i) {
      const float value = static_cast<float>(numbers.below(17) - 8) / 8.0f;
      const auto append = [&bytes](auto stored) {
        const auto* begin = reinterpret_cast<const std::byte*>(&stored);
        bytes->insert(bytes->end(), begin, begin + sizeof(stored));
      };
      if (dtype == DType::kF32) append(value);
      if (dtype == DType::kF64) append(static_cast<double>(value));
      if (dtype == DType::kBF16) append(to_bfloat16(value));
      if (dtype == DType::kF16) {
        // i / 8 for |i| <= 8 in binary16: take the exponent and mantissa from f32.
        const auto bits = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
        const std::uint32_t half = magnitude == 0 ? 0 : (magnitude >> 13) - (112u << 10);
        append(static_cast<std::uint16_t>(half | (bits >> 16 & 0x8000u)));
      }
    }
    class Bytes : public TensorStorage {
     public:
      explicit Bytes(std::shared_ptr<std::vector<std::byte>> held) : held_(std::move(held)) {}

     private:
      std::shared_ptr<std::vector<std::byte>> held_;
    };
    LinearPart part{Tensor(dtype, {n, kK}, bytes->data(), std::make_shared<const Bytes>(bytes))};
    if (parts.size() % 2 == 0) part.bias = Tensor::from_floats({n}, numbers.vector(n));
    parts.push_back(std::move(part));
  }
  const Grid x(6, kK, numbers);
  for (const WeightFormat format : kFormats) {
    const Packed packed = pack(context(), parts, format);
    const Packed expected_packed = pack(reference(), parts, format);
    ASSERT_EQ(packed->out_features(), 5 + 14 + 23 + 32);
    ASSERT_EQ(packed->in_features(), kK);
    ASSERT_EQ(packed->format(), format);
    EXPECT_GT(packed->num_bytes(), 0u);
    Grid got(6, packed->out_features());
    Grid expected(6, packed->out_features());
    linear(context(), {.weight = packed.get(), .x = x.view(), .out = got.view()});
    linear(reference(), {.weight = expected_packed.get(), .x = x.view(), .out = expected.view()});
    expect_near(got, expected, tolerance(kK));
  }
}

TEST_P(LinearTest, ResidualMayBeTheOutput) {
  Numbers numbers(6);
  const std::vector<LinearPart> parts{random_part(45, 17, true, numbers)};
  const Grid x(19, 17, numbers);
  Grid in_place(19, 45, numbers);
  const Grid added = in_place;
  Grid apart(19, 45);
  const Packed packed = pack(context(), parts, WeightFormat::kF32);
  LinearArgs args{.weight = packed.get(), .x = x.view(), .out = apart.view()};
  args.residual = added.view();
  linear(context(), args);
  args.residual = in_place.view();
  args.out = in_place.view();
  linear(context(), args);
  for (std::int64_t r = 0; r < 19; ++r) expect_same_bits(in_place, r, apart, r);
}

TEST_P(LinearTest, NanAndInfinityStayInTheirRow) {
  Numbers numbers(7);
  const std::vector<LinearPart> parts{random_part(40, 30, true, numbers)};
  for (const WeightFormat format : kFormats) {
    const Packed packed = pack(context(), parts, format);
    for (const float bad : {kNan, kInf, -kInf}) {
      const Grid clean(15, 30, numbers);
      Grid dirty = clean;
      dirty.at(6, 29) = bad;
      Grid expected(15, 40);
      Grid got(15, 40);
      linear(context(), {.weight = packed.get(), .x = clean.view(), .out = expected.view()});
      linear(context(), {.weight = packed.get(), .x = dirty.view(), .out = got.view()});
      for (std::int64_t r = 0; r < 15; ++r) {
        if (r != 6) expect_same_bits(got, r, expected, r);
      }
      for (std::int64_t c = 0; c < 40; ++c) ASSERT_FALSE(std::isfinite(got.at(6, c))) << c;
    }
  }
}

// A row's bits: alone, in batches of 2 to 64, at any position, with 1, 2 and 3 threads. On a GPU,
// which multiplies few rows with another kernel, its values.
TEST_P(LinearTest, BitsDoNotDependOnTheBatch) {
  constexpr std::int64_t kRows = 64;
  for (const WeightFormat format : kFormats) {
    for (const auto& [n, k] : {std::pair<std::int64_t, std::int64_t>{300, 201}, {33, 1025}}) {
      Numbers numbers(8);
      const std::vector<LinearPart> parts{random_part(n, k, true, numbers)};
      const Grid x(kRows, k, numbers);
      const Packed packed = pack(context(), parts, format);
      const auto run = [&, out_features = n](Context& with, const Grid& input) {
        Grid out(input.rows(), out_features);
        linear(with, {.weight = packed.get(),
                      .x = input.view(),
                      .out = out.view(),
                      .activation = Activation::kGelu});
        return out;
      };
      const Grid expected = run(context(), x);
      const auto expect_same = [&, depth = k](const Grid& got, std::int64_t got_row,
                                              std::int64_t row) {
        if (!is_gpu()) return expect_same_bits(got, got_row, expected, row);
        expect_near(got.select({got_row}), expected.select({row}), tolerance(depth));
      };
      for (std::int64_t r = 0; r < kRows; ++r) expect_same(run(context(), x.select({r})), 0, r);
      if (is_gpu()) continue;  // threads and positions do not matter to it
      for (const std::size_t num_threads : {1u, 2u, 3u}) {
        const auto with = make_context(GetParam(), num_threads);
        for (const std::int64_t batch : {2, 3, 5, 12, 13, 31, 64}) {
          auto order = shuffled(kRows, numbers);
          order.resize(static_cast<std::size_t>(batch));
          const Grid got = run(*with, x.select(order));
          for (std::int64_t r = 0; r < batch; ++r) {
            expect_same_bits(got, r, expected, order[static_cast<std::size_t>(r)]);
          }
        }
      }
    }
  }
}

TEST_P(LinearTest, RepeatedCallsAllocateNoScratch) {
  Numbers numbers(9);
  const std::vector<LinearPart> parts{random_part(64, 128, true, numbers)};
  const Packed packed = pack(context(), parts, WeightFormat::kF32);
  const Grid x(300, 128, numbers);
  Grid out(300, 64);
  const LinearArgs args{.weight = packed.get(), .x = x.view(), .out = out.view()};
  linear(context(), args);
  const std::size_t capacity = context().workspace().capacity();
  for (int i = 0; i < 3; ++i) linear(context(), args);
  EXPECT_EQ(context().workspace().capacity(), capacity);
}

}  // namespace
}  // namespace lattice
