#include "backends/metal/simt/fiber.h"

#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "base/result.h"

// A switch saves the registers that a called function must preserve, swaps stacks and restores
// them. A new fiber's stack is laid out as if it had been switched away from at lattice_simt_start.
#if defined(__x86_64__)
asm(R"(
.text
.globl lattice_simt_switch
.hidden lattice_simt_switch
.type lattice_simt_switch, @function
lattice_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size lattice_simt_switch, .-lattice_simt_switch
.globl lattice_simt_start
.hidden lattice_simt_start
.type lattice_simt_start, @function
lattice_simt_start:
  movq %r12, %rdi
  callq *%r13
  ud2
.size lattice_simt_start, .-lattice_simt_start
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl lattice_simt_switch
.hidden lattice_simt_switch
.type lattice_simt_switch, %function
lattice_simt_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x2, sp
  str x2, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size lattice_simt_switch, .-lattice_simt_switch
.globl lattice_simt_start
.hidden lattice_simt_start
.type lattice_simt_start, %function
lattice_simt_start:
  mov x0, x19
  blr x20
  brk #0
.size lattice_simt_start, .-lattice_simt_start
)");
#else
#error "fibers need a context switch for this processor"
#endif

extern "C" void lattice_simt_start();

namespace lattice::metal::simt {

FiberStacks::FiberStacks(std::size_t count) : count_(count) {
  void* memory = mmap(nullptr, count * kStride, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) raise(ErrorCode::kUnavailable, "[simt] no memory for {} stacks", count);
  memory_ = static_cast<std::byte*>(memory);
  for (std::size_t i = 0; i < count; ++i) mprotect(stack(i), kGuard, PROT_NONE);
}

FiberStacks::~FiberStacks() { munmap(memory_, count_ * kStride); }

void* FiberStacks::prepare(std::size_t index, void (*function)(void*), void* argument) const {
  // Tops of stacks a power of two apart would all fall into the same cache sets.
  std::byte* top = stack(index) + kStride - index * 576 % 8192;
  const auto word = [](auto* pointer) { return std::bit_cast<std::uint64_t>(pointer); };
#if defined(__x86_64__)
  // r15, r14, r13, r12, rbx, rbp, the address to return to; the stack is 16-byte aligned after it.
  const std::array<std::uint64_t, 9> frame = {
      0, 0, word(function), word(argument), 0, 0, word(&lattice_simt_start), 0, 0};
#else
  std::array<std::uint64_t, 20> frame = {};  // x19 to x30, d8 to d15
  frame[0] = word(argument);
  frame[1] = word(function);
  frame[11] = word(&lattice_simt_start);
#endif
  std::byte* pointer = top - sizeof(frame);
  std::memcpy(pointer, frame.data(), sizeof(frame));
  return pointer;
}

bool FiberStacks::contains(std::size_t index, const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return at >= stack(index) + kGuard && at < stack(index) + kStride;
}

}  // namespace lattice::metal::simt
