#include "base/arm_features.h"

#include <array>

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace lattice {

#if defined(__aarch64__) && defined(__linux__)

namespace {

struct HwcapRow {
  CpuFeature feature;
  unsigned long entry;  // of the auxiliary vector
  unsigned long bit;
};

// Source: Documentation/arch/arm64/elf_hwcaps.rst of Linux.
constexpr std::array<HwcapRow, 7> kHwcaps = {{
    {CpuFeature::kNeon, AT_HWCAP, HWCAP_ASIMD},
    {CpuFeature::kArmAtomics, AT_HWCAP, HWCAP_ATOMICS},
    {CpuFeature::kArmCrc32, AT_HWCAP, HWCAP_CRC32},
    {CpuFeature::kArmRdm, AT_HWCAP, HWCAP_ASIMDRDM},
    {CpuFeature::kArmDotprod, AT_HWCAP, HWCAP_ASIMDDP},
    {CpuFeature::kArmI8mm, AT_HWCAP2, HWCAP2_I8MM},
    {CpuFeature::kArmBf16, AT_HWCAP2, HWCAP2_BF16},
}};

}  // namespace

bool arm_has(CpuFeature feature) {
  for (const HwcapRow& row : kHwcaps) {
    if (row.feature == feature) return (::getauxval(row.entry) & row.bit) != 0;
  }
  return false;
}

#elif defined(__aarch64__) && defined(__APPLE__)

namespace {

struct SysctlRow {
  CpuFeature feature;
  const char* name;
};

// Source: "Determining instruction set characteristics" in Apple's documentation of the kernel.
constexpr std::array<SysctlRow, 7> kSysctls = {{
    {CpuFeature::kNeon, "hw.optional.AdvSIMD"},
    {CpuFeature::kArmAtomics, "hw.optional.arm.FEAT_LSE"},
    {CpuFeature::kArmCrc32, "hw.optional.armv8_crc32"},
    {CpuFeature::kArmRdm, "hw.optional.arm.FEAT_RDM"},
    {CpuFeature::kArmDotprod, "hw.optional.arm.FEAT_DotProd"},
    {CpuFeature::kArmI8mm, "hw.optional.arm.FEAT_I8MM"},
    {CpuFeature::kArmBf16, "hw.optional.arm.FEAT_BF16"},
}};

}  // namespace

bool arm_has(CpuFeature feature) {
  for (const SysctlRow& row : kSysctls) {
    if (row.feature != feature) continue;
    int value = 0;
    std::size_t size = sizeof(value);
    return ::sysctlbyname(row.name, &value, &size, nullptr, 0) == 0 && value != 0;
  }
  return false;
}

#elif defined(__aarch64__)

// Advanced SIMD is part of the 64-bit base architecture.
bool arm_has(CpuFeature feature) { return feature == CpuFeature::kNeon; }

#else

bool arm_has(CpuFeature) { return false; }

#endif

}  // namespace lattice
