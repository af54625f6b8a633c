#pragma once

// After the kernels: what turns a launch into the arguments of a kernel, and the functions that
// instrumented code calls. None of it is instrumented itself.
#pragma clang attribute push(__attribute__((no_sanitize("thread", "bounds", "alignment"))), \
                             apply_to = function)

namespace simt {

/// A bound buffer as the pointer that the kernel declares.
struct AsPointer {
  void* data;
  template <typename T>
  operator T*() const {
    return static_cast<T*>(data);
  }
};

/// A bound buffer as the reference that the kernel declares.
struct AsReference {
  void* data;
  template <typename T>
  operator T&() const {
    return *static_cast<T*>(data);
  }
};

/// An index as the scalar or vector of uint or ushort that the kernel declares.
struct AsIndex {
  unsigned x, y, z;
  operator uint() const { return x; }
  operator ushort() const { return ushort(x); }
  operator metal::vec<uint, 2>() const { return metal::make<uint, 2>(x, y); }
  operator metal::vec<uint, 3>() const { return metal::make<uint, 3>(x, y, z); }
  operator metal::vec<ushort, 2>() const { return metal::make<ushort, 2>(x, y); }
  operator metal::vec<ushort, 3>() const { return metal::make<ushort, 3>(x, y, z); }
};

inline AsIndex index3(const unsigned (&values)[3]) { return {values[0], values[1], values[2]}; }
inline unsigned volume(const unsigned (&values)[3]) { return values[0] * values[1] * values[2]; }

// One function per MSL attribute, named like it.
#define SIMT_INDEX(name, expression) \
  inline AsIndex name([[maybe_unused]] const Invocation& in) { return expression; }
SIMT_INDEX(thread_position_in_threadgroup, index3(in.thread_in_threadgroup))
SIMT_INDEX(threadgroup_position_in_grid, index3(in.threadgroup_in_grid))
SIMT_INDEX(threads_per_threadgroup, index3(in.threads_per_threadgroup))
SIMT_INDEX(threadgroups_per_grid, index3(in.threadgroups_per_grid))
SIMT_INDEX(thread_index_in_threadgroup, (AsIndex{in.thread_index, 0, 0}))
SIMT_INDEX(thread_index_in_simdgroup, (AsIndex{in.thread_index % 32, 0, 0}))
SIMT_INDEX(simdgroup_index_in_threadgroup, (AsIndex{in.thread_index / 32, 0, 0}))
SIMT_INDEX(threads_per_simdgroup, (AsIndex{32, 0, 0}))
SIMT_INDEX(simdgroups_per_threadgroup,
           (AsIndex{(volume(in.threads_per_threadgroup) + 31) / 32, 0, 0}))
inline AsIndex thread_position_in_grid(const Invocation& in) {
  unsigned at[3];
  for (int i = 0; i < 3; ++i) {
    at[i] = in.threadgroup_in_grid[i] * in.threads_per_threadgroup[i] + in.thread_in_threadgroup[i];
  }
  return index3(at);
}
inline AsIndex threads_per_grid(const Invocation& in) {
  unsigned size[3];
  for (int i = 0; i < 3; ++i) {
    size[i] = in.threadgroups_per_grid[i] * in.threads_per_threadgroup[i];
  }
  return index3(size);
}
#undef SIMT_INDEX

}  // namespace simt

extern "C" {

#define SIMT_HOOK(name, size, alignment, kind)                          \
  void __tsan_##name(const void* address) {                             \
    simt::runtime->access(address, size, alignment, simt::Access::kind, \
                          __builtin_return_address(0));                 \
  }
#define SIMT_HOOKS(size)                          \
  SIMT_HOOK(read##size, size, size, kRead)        \
  SIMT_HOOK(write##size, size, size, kWrite)      \
  SIMT_HOOK(unaligned_read##size, size, 1, kRead) \
  SIMT_HOOK(unaligned_write##size, size, 1, kWrite)
SIMT_HOOKS(1)
SIMT_HOOKS(2)
SIMT_HOOKS(4)
SIMT_HOOKS(8)
SIMT_HOOKS(16)
#undef SIMT_HOOKS
#undef SIMT_HOOK

void __tsan_init() {}

void* __tsan_memcpy(void* to, const void* from, unsigned long count) {
  simt::runtime->access(from, unsigned(count), 1, simt::Access::kRead, __builtin_return_address(0));
  simt::runtime->access(to, unsigned(count), 1, simt::Access::kWrite, __builtin_return_address(0));
  return __builtin_memcpy(to, from, count);
}
void* __tsan_memmove(void* to, const void* from, unsigned long count) {
  simt::runtime->access(from, unsigned(count), 1, simt::Access::kRead, __builtin_return_address(0));
  simt::runtime->access(to, unsigned(count), 1, simt::Access::kWrite, __builtin_return_address(0));
  return __builtin_memmove(to, from, count);
}
void* __tsan_memset(void* to, int value, unsigned long count) {
  simt::runtime->access(to, unsigned(count), 1, simt::Access::kWrite, __builtin_return_address(0));
  return __builtin_memset(to, value, count);
}

// Undefined-behaviour checks: both kinds of data begin with the place in the source.
void __ubsan_handle_out_of_bounds(const simt::Site* site, unsigned long) {
  simt::runtime->fault("index outside the bounds of an array", *site);
}
void __ubsan_handle_type_mismatch_v1(const simt::Site* site, unsigned long) {
  simt::runtime->fault("misaligned pointer", *site);
}

// Provided by the linker; absent when no kernel has a threadgroup array.
extern __attribute__((weak, visibility("hidden"))) simt::ThreadgroupArray __start_simt_arrays[];
extern __attribute__((weak, visibility("hidden"))) simt::ThreadgroupArray __stop_simt_arrays[];
extern __attribute__((weak, visibility("hidden"))) char __start_simt_memory[];
extern __attribute__((weak, visibility("hidden"))) char __stop_simt_memory[];
extern __attribute__((visibility("hidden"))) char __ehdr_start;
extern __attribute__((visibility("hidden"))) char _end;

}  // extern "C"

namespace simt {

inline Module describe(const KernelRow* rows, unsigned num_rows) {
  return {rows,
          num_rows,
          __start_simt_arrays,
          unsigned(__stop_simt_arrays - __start_simt_arrays),
          &__ehdr_start,
          &_end,
          __start_simt_memory,
          __stop_simt_memory,
          &runtime};
}

}  // namespace simt

#pragma clang attribute pop
