#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "ops/context.h"
#include "support/forwarding_backend.h"

namespace lattice {

/// A backend that is the CPU backend, and computes every linear layer a second time with
/// `specification`, on the very same inputs. So a whole forward pass is checked product by product:
/// what one backend rounds otherwise in an early layer says nothing about the later ones.
class CheckingBackend final : public ForwardingBackend {
 public:
  explicit CheckingBackend(std::shared_ptr<const Backend> specification)
      : specification_(std::move(specification)) {}

  /// Greatest |tested - specified| / max(1, |specified|) so far, and how many products there were.
  double worst() const { return worst_; }
  std::size_t num_products() const { return num_products_; }

  std::shared_ptr<const PackedLinear> pack_linear(ThreadPool& pool,
                                                  std::span<const LinearPart> parts,
                                                  WeightFormat format) const override {
    return std::make_shared<const Pair>(ForwardingBackend::pack_linear(pool, parts, format),
                                        specification_->pack_linear(pool, parts, format));
  }

  void linear(Context& context, const LinearArgs& args) const override {
    const auto& pair = dynamic_cast<const Pair&>(*args.weight);
    std::vector<float> expected(static_cast<std::size_t>(args.out.rows * args.out.cols));
    LinearArgs specified = args;
    specified.weight = pair.specified.get();
    specified.out = MutMatrix(expected.data(), args.out.rows, args.out.cols);
    specification_->linear(context, specified);  // first: out may be the residual
    LinearArgs tested = args;
    tested.weight = pair.tested.get();
    ForwardingBackend::linear(context, tested);
    for (std::int64_t r = 0; r < args.out.rows; ++r) {
      for (std::int64_t c = 0; c < args.out.cols; ++c) {
        const auto wanted = static_cast<double>(specified.out.row(r)[c]);
        const double difference = std::abs(static_cast<double>(args.out.row(r)[c]) - wanted) /
                                  std::max(1.0, std::abs(wanted));
        if (!(difference <= worst_)) worst_ = difference;  // NaN counts
      }
    }
    ++num_products_;
  }

 private:
  struct Pair final : PackedLinear {
    Pair(std::shared_ptr<const PackedLinear> tested_in,
         std::shared_ptr<const PackedLinear> specified_in)
        : tested(std::move(tested_in)), specified(std::move(specified_in)) {}
    std::int64_t in_features() const override { return tested->in_features(); }
    std::int64_t out_features() const override { return tested->out_features(); }
    WeightFormat format() const override { return tested->format(); }
    std::size_t num_bytes() const override { return tested->num_bytes(); }

    std::shared_ptr<const PackedLinear> tested;
    std::shared_ptr<const PackedLinear> specified;
  };

  std::shared_ptr<const Backend> specification_;
  mutable double worst_ = 0.0;
  mutable std::size_t num_products_ = 0;
};

}  // namespace lattice
