#include "backends/cpu/cpu_target.h"

#include <fmt/ranges.h>

#include <array>
#include <span>

#include "backends/cpu/kernels/hwy_targets.h"

#include <hwy/detect_targets.h>

namespace lattice {
namespace {

// Every bit that a target's code may use, tested one by one: one bit standing for several has
// crashed other libraries on processors that have a subset.
constexpr std::array kAvx2Needs = {CpuFeature::kSsse3,     CpuFeature::kSse41, CpuFeature::kSse42,
                                   CpuFeature::kPclmulqdq, CpuFeature::kAes,   CpuFeature::kAvx,
                                   CpuFeature::kFma,       CpuFeature::kF16c,  CpuFeature::kBmi1,
                                   CpuFeature::kBmi2,      CpuFeature::kAvx2};
constexpr std::array kAvx512Needs = {CpuFeature::kAvx512f, CpuFeature::kAvx512dq,
                                     CpuFeature::kAvx512bw, CpuFeature::kAvx512vl};
constexpr std::array kAvx512VnniNeeds = {CpuFeature::kAvx512Vnni};
constexpr std::array kAvx512Bf16Needs = {CpuFeature::kAvx512Vnni, CpuFeature::kAvx512Bf16};
constexpr std::array kNeonNeeds = {CpuFeature::kNeon};

struct TargetRow {
  CpuTarget target;
  std::string_view name;
  bool is_compiled;
  std::array<std::span<const CpuFeature>, 3> needs;
};

// Best first.
constexpr std::array<TargetRow, 6> kTargets = {{
    {CpuTarget::kAvx512Bf16,
     "avx512bf16",
     (HWY_TARGETS & HWY_AVX3) != 0,
     {kAvx2Needs, kAvx512Needs, kAvx512Bf16Needs}},
    {CpuTarget::kAvx512Vnni,
     "avx512vnni",
     (HWY_TARGETS & HWY_AVX3) != 0,
     {kAvx2Needs, kAvx512Needs, kAvx512VnniNeeds}},
    {CpuTarget::kAvx512, "avx512", (HWY_TARGETS & HWY_AVX3) != 0, {kAvx2Needs, kAvx512Needs, {}}},
    {CpuTarget::kAvx2, "avx2", (HWY_TARGETS & HWY_AVX2) != 0, {kAvx2Needs, {}, {}}},
    {CpuTarget::kNeon, "neon", (HWY_TARGETS & HWY_NEON) != 0, {kNeonNeeds, {}, {}}},
    {CpuTarget::kScalar, "scalar", (HWY_TARGETS & (HWY_EMU128 | HWY_SCALAR)) != 0, {}},
}};

std::vector<std::string_view> missing_features(const TargetRow& row, const CpuFeatures& features) {
  std::vector<std::string_view> missing;
  for (const auto& group : row.needs) {
    for (const CpuFeature feature : group) {
      if (!features.has(feature)) missing.push_back(cpu_feature_name(feature));
    }
  }
  return missing;
}

}  // namespace

std::string_view cpu_target_name(CpuTarget target) {
  for (const TargetRow& row : kTargets) {
    if (row.target == target) return row.name;
  }
  return "unknown";
}

std::vector<CpuTarget> available_cpu_targets(const CpuFeatures& features) {
  std::vector<CpuTarget> targets;
  for (const TargetRow& row : kTargets) {
    if (row.is_compiled && missing_features(row, features).empty()) targets.push_back(row.target);
  }
  return targets;
}

Result<CpuTarget> select_cpu_target(std::string_view forced, const CpuFeatures& features) {
  const std::vector<CpuTarget> available = available_cpu_targets(features);
  std::vector<std::string_view> names;
  for (const CpuTarget target : available) names.push_back(cpu_target_name(target));
  if (available.empty()) {
    return fail(ErrorCode::kUnavailable, "no CPU target of this library runs on this processor");
  }
  if (forced.empty()) return available.front();
  for (const TargetRow& row : kTargets) {
    if (row.name != forced) continue;
    const auto missing = missing_features(row, features);
    if (!row.is_compiled) {
      return fail(ErrorCode::kUnavailable,
                  "LATTICE_CPU_TARGET={}: not compiled into this library; available: {}", forced,
                  fmt::join(names, ", "));
    }
    if (!missing.empty()) {
      return fail(ErrorCode::kUnavailable,
                  "LATTICE_CPU_TARGET={}: this processor lacks {}; available: {}", forced,
                  fmt::join(missing, ", "), fmt::join(names, ", "));
    }
    return row.target;
  }
  return fail(ErrorCode::kInvalidArgument, "LATTICE_CPU_TARGET: expected one of {}, got \"{}\"",
              fmt::join(names, ", "), forced);
}

}  // namespace lattice
