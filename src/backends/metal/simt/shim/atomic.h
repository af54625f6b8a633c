#pragma once

// Relaxed atomics. Threads take turns here, so plain arithmetic is atomic; the host is told, since
// an atomic access does not race with another one.

namespace metal {

enum memory_order { memory_order_relaxed };

template <typename T>
struct atomic {
  T value;
};
using atomic_int = atomic<int>;
using atomic_uint = atomic<uint>;
using atomic_float = atomic<float>;

}  // namespace metal

namespace simt {

template <typename T, typename Update>
inline T update(metal::atomic<T>* object, const void* pc, Update next) {
  runtime->access(&object->value, sizeof(T), sizeof(T), Access::kAtomic, pc);
  const T old = object->value;
  object->value = next(old);
  return old;
}

}  // namespace simt

namespace metal {

#define SIMT_ATOMIC(name, expression)                                                     \
  template <typename T>                                                                   \
  __attribute__((noinline)) T name(volatile atomic<T>* object, T operand, memory_order) { \
    return simt::update(const_cast<atomic<T>*>(object), __builtin_return_address(0),      \
                        [operand]([[maybe_unused]] T old) { return T(expression); });     \
  }
SIMT_ATOMIC(atomic_fetch_add_explicit, old + operand)
SIMT_ATOMIC(atomic_fetch_sub_explicit, old - operand)
SIMT_ATOMIC(atomic_fetch_max_explicit, old > operand ? old : operand)
SIMT_ATOMIC(atomic_fetch_min_explicit, old < operand ? old : operand)
SIMT_ATOMIC(atomic_fetch_or_explicit, old | operand)
SIMT_ATOMIC(atomic_exchange_explicit, operand)
#undef SIMT_ATOMIC

template <typename T>
__attribute__((noinline)) void atomic_store_explicit(volatile atomic<T>* object, T operand,
                                                     memory_order) {
  simt::update(const_cast<atomic<T>*>(object), __builtin_return_address(0),
               [operand](T) { return operand; });
}
template <typename T>
__attribute__((noinline)) T atomic_load_explicit(volatile const atomic<T>* object, memory_order) {
  return simt::update(const_cast<atomic<T>*>(object), __builtin_return_address(0),
                      [](T old) { return old; });
}

}  // namespace metal
