#include "base/cpu_features.h"

#include <array>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace lattice {
namespace {

// Where CPUID reports a feature, and which registers the operating system must save for it.
enum class Register : std::uint8_t { kEax, kEbx, kEcx, kEdx };
enum class Saved : std::uint8_t { kSse, kYmm, kZmm, kNotX86 };

struct FeatureRow {
  CpuFeature feature;
  std::string_view name;
  unsigned leaf;
  unsigned subleaf;
  Register source;
  unsigned bit;
  Saved saved;
};

// Bit numbers: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID.
constexpr std::array<FeatureRow, 18> kFeatures = {{
    {CpuFeature::kSsse3, "ssse3", 1, 0, Register::kEcx, 9, Saved::kSse},
    {CpuFeature::kSse41, "sse4_1", 1, 0, Register::kEcx, 19, Saved::kSse},
    {CpuFeature::kSse42, "sse4_2", 1, 0, Register::kEcx, 20, Saved::kSse},
    {CpuFeature::kPclmulqdq, "pclmulqdq", 1, 0, Register::kEcx, 1, Saved::kSse},
    {CpuFeature::kAes, "aes", 1, 0, Register::kEcx, 25, Saved::kSse},
    {CpuFeature::kAvx, "avx", 1, 0, Register::kEcx, 28, Saved::kYmm},
    {CpuFeature::kFma, "fma", 1, 0, Register::kEcx, 12, Saved::kYmm},
    {CpuFeature::kF16c, "f16c", 1, 0, Register::kEcx, 29, Saved::kYmm},
    {CpuFeature::kBmi1, "bmi1", 7, 0, Register::kEbx, 3, Saved::kSse},
    {CpuFeature::kBmi2, "bmi2", 7, 0, Register::kEbx, 8, Saved::kSse},
    {CpuFeature::kAvx2, "avx2", 7, 0, Register::kEbx, 5, Saved::kYmm},
    {CpuFeature::kAvx512f, "avx512f", 7, 0, Register::kEbx, 16, Saved::kZmm},
    {CpuFeature::kAvx512dq, "avx512dq", 7, 0, Register::kEbx, 17, Saved::kZmm},
    {CpuFeature::kAvx512bw, "avx512bw", 7, 0, Register::kEbx, 30, Saved::kZmm},
    {CpuFeature::kAvx512vl, "avx512vl", 7, 0, Register::kEbx, 31, Saved::kZmm},
    {CpuFeature::kAvx512Vnni, "avx512_vnni", 7, 0, Register::kEcx, 11, Saved::kZmm},
    {CpuFeature::kAvx512Bf16, "avx512_bf16", 7, 1, Register::kEax, 5, Saved::kZmm},
    {CpuFeature::kNeon, "asimd", 0, 0, Register::kEax, 0, Saved::kNotX86},
}};

#if defined(__x86_64__) || defined(__i386__)

// XCR0: bits 1 and 2 say that XMM and YMM state is saved, bits 5 to 7 the AVX-512 state.
std::uint64_t saved_state() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned kOsxsave = 1u << 27;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kOsxsave) == 0) return 0;
  unsigned low = 0;
  unsigned high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<std::uint64_t>(high) << 32 | low;
}

bool is_saved(Saved saved, std::uint64_t state) {
  constexpr std::uint64_t kYmmState = 0x06;
  constexpr std::uint64_t kZmmState = 0xE6;
  switch (saved) {
    case Saved::kSse:
      return true;
    case Saved::kYmm:
      return (state & kYmmState) == kYmmState;
    case Saved::kZmm:
      return (state & kZmmState) == kZmmState;
    case Saved::kNotX86:
      break;
  }
  return false;
}

bool cpuid_bit(const FeatureRow& row) {
  std::array<unsigned, 4> registers{};
  if (__get_cpuid_count(row.leaf, row.subleaf, &registers[0], &registers[1], &registers[2],
                        &registers[3]) == 0) {
    return false;
  }
  // Sub-leaves beyond the highest one repeat or hold garbage; leaf 7 names its highest in EAX.
  if (row.leaf == 7 && row.subleaf > 0) {
    std::array<unsigned, 4> first{};
    __get_cpuid_count(7, 0, &first[0], &first[1], &first[2], &first[3]);
    if (first[0] < row.subleaf) return false;
  }
  return (registers[static_cast<std::size_t>(row.source)] >> row.bit & 1u) != 0;
}

bool is_present(const FeatureRow& row, std::uint64_t state) {
  return is_saved(row.saved, state) && cpuid_bit(row);
}

#else

std::uint64_t saved_state() { return 0; }

// Advanced SIMD is part of the 64-bit Arm base architecture.
bool is_present([[maybe_unused]] const FeatureRow& row, std::uint64_t) {
#if defined(__aarch64__)
  return row.feature == CpuFeature::kNeon;
#else
  return false;
#endif
}

#endif

}  // namespace

CpuFeatures::CpuFeatures() {
  const std::uint64_t state = saved_state();
  for (const FeatureRow& row : kFeatures) set(row.feature, is_present(row, state));
}

const CpuFeatures& CpuFeatures::host() {
  static const CpuFeatures features;
  return features;
}

std::vector<std::string_view> CpuFeatures::names() const {
  std::vector<std::string_view> present;
  for (const FeatureRow& row : kFeatures) {
    if (has(row.feature)) present.push_back(row.name);
  }
  return present;
}

std::string_view cpu_feature_name(CpuFeature feature) {
  for (const FeatureRow& row : kFeatures) {
    if (row.feature == feature) return row.name;
  }
  return "unknown";
}

}  // namespace lattice
