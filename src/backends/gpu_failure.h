#pragma once

namespace lattice {

/// What becomes of a pass whose GPU fails: the CPU goes on, or the error is thrown.
enum class OnGpuFailure { kUseCpu, kThrow };

}  // namespace lattice
