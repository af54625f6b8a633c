#pragma once

// What the host and a compiled kernel library know of one another. Included by both, so it includes
// nothing and has only plain structs.

namespace lattice::metal::simt {

/// A place in a kernel's source.
struct Site {
  const char* file = nullptr;
  unsigned line = 0;
  unsigned column = 0;
};

/// How the lanes of a SIMD group trade values at a collective operation.
enum class Exchange : unsigned {
  kNone,       ///< they only meet
  kCombine,    ///< Request::combine sees all lanes at once
  kShuffle,    ///< each lane names its source
  kBroadcast,  ///< all lanes name the same source
  kUp,         ///< from `argument` lanes below; lanes at the edge keep their own value
  kDown,       ///< from `argument` lanes above; lanes at the edge keep their own value
  kXor,        ///< from lane index ^ argument
};

/// Memory that a barrier orders: a bit per address space.
inline constexpr unsigned kFenceThreadgroup = 1;
inline constexpr unsigned kFenceDevice = 2;

/// One thread's arrival at a barrier or collective operation.
struct Request {
  const char* name = "";  ///< as in the source: "simd_sum"
  Site site = {};
  Exchange exchange = Exchange::kNone;
  unsigned size = 0;  ///< bytes of *in and *out
  const void* in = nullptr;
  void* out = nullptr;
  unsigned long long argument = 0;  ///< equal in all lanes, except for kShuffle
  void (*combine)(const Request* const* lanes, unsigned count) = nullptr;
  unsigned fence = 0;  ///< kFence bits
};

enum class Access : unsigned { kRead, kWrite, kAtomic };

/// What the host does for a running thread. The functions return only if the thread may go on.
struct Runtime {
  void (*barrier)(const Request& request);
  void (*collective)(const Request& request);
  /// Bytes [address, address + size), of which the code assumes that `alignment` divides the
  /// address.
  void (*access)(const void* address, unsigned size, unsigned alignment, Access kind,
                 const void* pc);
  void (*fault)(const char* what, Site site);
};

/// Where a thread is in its grid.
struct Invocation {
  void* const* buffers;
  unsigned thread_in_threadgroup[3];
  unsigned threadgroup_in_grid[3];
  unsigned threads_per_threadgroup[3];
  unsigned threadgroups_per_grid[3];
  unsigned thread_index;
};

/// A kernel parameter with [[buffer(index)]].
struct Binding {
  unsigned index;
  const char* name;
  bool is_read_only;
  unsigned long long value_bytes;  ///< size of a struct passed by reference, 0 for an array
};

struct KernelRow {
  const char* name;
  void (*entry)(const Invocation& invocation);
  const Binding* bindings;
  unsigned num_bindings;
  unsigned max_threads;  ///< [[max_total_threads_per_threadgroup]], or 1024
};

/// A threadgroup array in the body of `kernel`.
struct ThreadgroupArray {
  const char* kernel;
  const char* name;
  char* data;
  unsigned long long size;
};

/// What a compiled library exports through simt_module().
struct Module {
  const KernelRow* kernels;
  unsigned num_kernels;
  const ThreadgroupArray* arrays;
  unsigned num_arrays;
  const char* image_begin;
  const char* image_end;
  const char* threadgroup_begin;  ///< section with all threadgroup arrays and gaps between them
  const char* threadgroup_end;
  const Runtime** runtime;  ///< set by the host before anything runs
};

}  // namespace lattice::metal::simt
