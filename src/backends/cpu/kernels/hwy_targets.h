// Include this before any Highway header in every file that uses Highway: which targets are
// compiled must be the same everywhere.
#pragma once

// SSSE3 and SSE4 are skipped to save build time, AVX3_DL is broken in Highway 1.0.3 (it asks for
// AVX-VNNI, which Zen 4 and Ice Lake lack), and SVE cannot hold vectors in arrays.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
