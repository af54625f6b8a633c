#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace lattice {

/// Instruction-set extensions, one per bit that the processor reports (x86: CPUID; Arm: HWCAP).
enum class CpuFeature : std::uint8_t {
  kSsse3,
  kSse41,
  kSse42,
  kPclmulqdq,
  kAes,
  kAvx,
  kFma,
  kF16c,
  kBmi1,
  kBmi2,
  kAvx2,
  kAvx512f,
  kAvx512dq,
  kAvx512bw,
  kAvx512vl,
  kAvx512Vnni,
  kAvx512Bf16,
  kNeon,
};

/// The features of this machine that both the processor and the operating system (which must save
/// the registers) support. Read once; thread-safe.
class CpuFeatures {
 public:
  static const CpuFeatures& host();

  bool has(CpuFeature feature) const { return (bits_ >> static_cast<unsigned>(feature) & 1u) != 0; }
  /// Names of all features present, spelled as in Linux's /proc/cpuinfo.
  std::vector<std::string_view> names() const;

 private:
  CpuFeatures();
  void set(CpuFeature feature, bool present) {
    bits_ |= static_cast<std::uint32_t>(present) << static_cast<unsigned>(feature);
  }

  std::uint32_t bits_ = 0;
};

/// The feature's name as in Linux's /proc/cpuinfo, for example "avx512_bf16".
std::string_view cpu_feature_name(CpuFeature feature);

}  // namespace lattice
