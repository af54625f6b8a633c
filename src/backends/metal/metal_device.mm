// Device over Metal.framework: the only file that sees Apple's headers. Compiled with ARC, so that
// Objective-C objects are members like any other. Every entry point drains its own autorelease
// pool: the threads of a pool have none, and would keep each command buffer for ever.

#include "backends/metal/metal_device.h"

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"

namespace lattice::metal {
namespace {

constexpr std::size_t kMaxBytes = 4096;        // of setBytes
constexpr std::uint32_t kMaxBufferIndex = 31;  // of [[buffer(index)]]
constexpr MTLResourceOptions kShared = MTLResourceStorageModeShared;
// MTLPipelineOptionBindingInfo, which SDKs before that of macOS 15 call ArgumentInfo.
constexpr auto kWithBindings = static_cast<MTLPipelineOption>(1);

std::string text_of(NSString* text) {
  const char* utf8 = [text UTF8String];
  return utf8 == nullptr ? std::string() : std::string(utf8);
}

NSString* ns_string(std::string_view text) {
  return [[NSString alloc] initWithBytes:text.data()
                                  length:text.size()
                                encoding:NSUTF8StringEncoding];
}

std::string reason(NSError* error) {
  return error == nil ? "no reason given" : text_of([error localizedDescription]);
}

MTLSize size_of(Extent extent) { return MTLSizeMake(extent.x, extent.y, extent.z); }

class MetalBuffer final : public Buffer {
 public:
  MetalBuffer(id<MTLBuffer> buffer, std::size_t num_bytes)
      : buffer_(buffer), num_bytes_(num_bytes) {}
  /// The `num_bytes` from `begin` on of pages that belong to somebody else.
  MetalBuffer(id<MTLBuffer> pages, std::size_t begin, std::size_t num_bytes)
      : buffer_(pages), begin_(begin), num_bytes_(num_bytes), is_read_only_(true) {}

  std::span<std::byte> contents() override {
    check(!is_read_only_, "[metal] a read-only buffer is to be written to");
    return {static_cast<std::byte*>([buffer_ contents]), num_bytes_};
  }
  std::size_t num_bytes() const override { return num_bytes_; }
  bool is_read_only() const override { return is_read_only_; }

  id<MTLBuffer> buffer() const { return buffer_; }
  std::size_t begin() const { return begin_; }

 private:
  id<MTLBuffer> buffer_;
  std::size_t begin_ = 0;
  std::size_t num_bytes_;
  bool is_read_only_ = false;
};

class MetalLibrary final : public Library {
 public:
  explicit MetalLibrary(id<MTLLibrary> library) : library_(library) {}
  id<MTLLibrary> library() const { return library_; }

 private:
  id<MTLLibrary> library_;
};

// A buffer that a kernel touches.
struct KernelBinding {
  std::string name;
  std::uint32_t index = 0;
  std::size_t num_bytes = 0;  // of the type that it points to
  bool is_read_only = false;
};

std::vector<KernelBinding> bindings_of(MTLComputePipelineReflection* reflection) {
  std::vector<KernelBinding> bindings;
  for (id<MTLBinding> binding in [reflection bindings]) {
    if ([binding type] != MTLBindingTypeBuffer || ![binding isUsed]) continue;
    const auto buffer = static_cast<id<MTLBufferBinding>>(binding);
    bindings.push_back({.name = text_of([binding name]),
                        .index = static_cast<std::uint32_t>([binding index]),
                        .num_bytes = [buffer bufferDataSize],
                        .is_read_only = [binding access] == MTLBindingAccessReadOnly});
  }
  return bindings;
}

class MetalPipeline final : public Pipeline {
 public:
  MetalPipeline(std::string_view name, id<MTLComputePipelineState> state,
                std::vector<KernelBinding> bindings)
      : name_(name), state_(state), bindings_(std::move(bindings)) {}

  std::string_view name() const override { return name_; }
  std::uint32_t max_threads_per_threadgroup() const override {
    return static_cast<std::uint32_t>([state_ maxTotalThreadsPerThreadgroup]);
  }
  std::uint32_t threadgroup_bytes() const override {
    return static_cast<std::uint32_t>([state_ staticThreadgroupMemoryLength]);
  }

  id<MTLComputePipelineState> state() const { return state_; }
  const std::vector<KernelBinding>& bindings() const { return bindings_; }

 private:
  std::string name_;
  id<MTLComputePipelineState> state_;
  std::vector<KernelBinding> bindings_;
};

/// Encodes as it goes. What breaks a limit is kept until commit_and_wait(), which then runs
/// nothing.
class MetalCommands final : public Commands {
 public:
  explicit MetalCommands(id<MTLCommandQueue> queue) : queue_(queue) {}
  MetalCommands(const MetalCommands&) = delete;
  MetalCommands& operator=(const MetalCommands&) = delete;
  ~MetalCommands() override { end_encoding(); }

  void set_pipeline(const Pipeline& pipeline) override {
    pipeline_ = dynamic_cast<const MetalPipeline*>(&pipeline);
    check(pipeline_ != nullptr, "[metal] a pipeline of another device");
  }

  void set_buffer(std::uint32_t index, Buffer& buffer, std::size_t offset) override {
    const auto* own = dynamic_cast<const MetalBuffer*>(&buffer);
    check(own != nullptr && index < kMaxBufferIndex, "[metal] buffer {} is of another device",
          index);
    bound_[index] = {.buffer = own, .offset = offset, .bytes = {}};
  }

  void set_bytes(std::uint32_t index, std::span<const std::byte> bytes) override {
    check(!bytes.empty() && bytes.size() <= kMaxBytes && index < kMaxBufferIndex,
          "[metal] {} bytes for buffer {}, 1 to {}", bytes.size(), index, kMaxBytes);
    bound_[index] = {.buffer = nullptr, .offset = 0, .bytes = {bytes.begin(), bytes.end()}};
  }

  void dispatch(Extent threadgroups, Extent threads_per_threadgroup) override {
    if (!state_) return;
    state_ = check_dispatch(threadgroups, threads_per_threadgroup);
    if (!state_) return;
    @autoreleasepool {
      state_ = begin_encoding();
      if (!state_) return;
      [encoder_ setComputePipelineState:pipeline_->state()];
      for (const KernelBinding& binding : pipeline_->bindings()) encode(binding.index);
      [encoder_ dispatchThreadgroups:size_of(threadgroups)
               threadsPerThreadgroup:size_of(threads_per_threadgroup)];
    }
  }

  Result<void> commit_and_wait() override {
    @autoreleasepool {
      end_encoding();
      const id<MTLCommandBuffer> commands = std::exchange(commands_, nil);
      if (auto state = std::exchange(state_, {}); !state) return state;
      if (commands == nil) return {};
      [commands commit];
      [commands waitUntilCompleted];
      if ([commands status] == MTLCommandBufferStatusCompleted) return {};
      return fail(ErrorCode::kUnavailable, "[metal] the GPU failed: {}", reason([commands error]));
    }
  }

 private:
  struct Bound {
    const MetalBuffer* buffer = nullptr;
    std::size_t offset = 0;
    std::vector<std::byte> bytes;  // of set_bytes

    std::size_t num_bytes() const {
      if (buffer == nullptr) return bytes.size();
      return offset < buffer->num_bytes() ? buffer->num_bytes() - offset : 0;
    }
    bool is_read_only() const { return buffer == nullptr || buffer->is_read_only(); }
  };

  Result<void> check_dispatch(Extent threadgroups, Extent threads) const {
    if (pipeline_ == nullptr) return fail(ErrorCode::kInternal, "[metal] no pipeline set");
    const std::uint32_t limit = pipeline_->max_threads_per_threadgroup();
    if (threads.volume() == 0 || threads.volume() > limit) {
      return fail(ErrorCode::kInternal, "[metal] kernel {}: {} threads in a threadgroup, 1 to {}",
                  pipeline_->name(), threads.volume(), limit);
    }
    if (threadgroups.volume() == 0) {
      return fail(ErrorCode::kInternal, "[metal] kernel {}: a grid without threadgroups",
                  pipeline_->name());
    }
    for (const KernelBinding& binding : pipeline_->bindings()) {
      if (auto bound = check_binding(binding); !bound) return bound;
    }
    return {};
  }

  Result<void> check_binding(const KernelBinding& binding) const {
    const Bound& bound = bound_.at(binding.index);
    if (bound.num_bytes() < binding.num_bytes || bound.num_bytes() == 0) {
      return fail(
          ErrorCode::kInternal, "[metal] kernel {}: {} [[buffer({})]] needs {} bytes, {} are bound",
          pipeline_->name(), binding.name, binding.index, binding.num_bytes, bound.num_bytes());
    }
    if (!binding.is_read_only && bound.is_read_only()) {
      return fail(ErrorCode::kInternal,
                  "[metal] kernel {}: {} may be written to, got a constant or wrapped memory",
                  pipeline_->name(), binding.name);
    }
    return {};
  }

  Result<void> begin_encoding() {
    if (encoder_ != nil) return {};
    commands_ = [queue_ commandBuffer];
    // Serial: each dispatch sees what the earlier ones wrote.
    encoder_ = [commands_ computeCommandEncoderWithDispatchType:MTLDispatchTypeSerial];
    if (encoder_ == nil) return fail(ErrorCode::kUnavailable, "[metal] no command buffer left");
    return {};
  }

  void end_encoding() {
    if (encoder_ != nil) [encoder_ endEncoding];
    encoder_ = nil;
  }

  void encode(std::uint32_t index) {
    const Bound& bound = bound_.at(index);
    if (bound.buffer != nullptr) {
      [encoder_ setBuffer:bound.buffer->buffer()
                   offset:bound.buffer->begin() + bound.offset
                  atIndex:index];
    } else {
      [encoder_ setBytes:bound.bytes.data() length:bound.bytes.size() atIndex:index];
    }
  }

  id<MTLCommandQueue> queue_;
  id<MTLCommandBuffer> commands_ = nil;
  id<MTLComputeCommandEncoder> encoder_ = nil;
  const MetalPipeline* pipeline_ = nullptr;
  std::array<Bound, kMaxBufferIndex> bound_ = {};
  Result<void> state_ = {};
};

// Precise functions and no reordering: a NaN must survive, and results stay near the specification.
void require_safe_math(MTLCompileOptions* options) {
#if defined(__MAC_15_0)  // else the SDK does not know it
  if (@available(macOS 15.0, *)) {
    options.mathMode = MTLMathModeSafe;
    options.mathFloatingPointFunctions = MTLMathFloatingPointFunctionsPrecise;
    return;
  }
#endif
  options.fastMathEnabled = NO;
}

class MetalDevice final : public Device {
 public:
  MetalDevice(id<MTLDevice> device, id<MTLCommandQueue> queue)
      : device_(device), queue_(queue), name_(text_of([device name])) {}

  std::string name() const override { return name_; }

  Result<std::unique_ptr<Buffer>> make_buffer(std::size_t num_bytes) override {
    @autoreleasepool {
      id<MTLBuffer> buffer = nil;
      if (num_bytes <= [device_ maxBufferLength]) {
        buffer = [device_ newBufferWithLength:num_bytes options:kShared];
      }
      if (buffer == nil) {
        return fail(ErrorCode::kUnavailable, "[metal] no memory for a buffer of {} bytes",
                    num_bytes);
      }
      return std::make_unique<MetalBuffer>(buffer, num_bytes);
    }
  }

  std::unique_ptr<Buffer> wrap_memory(std::span<const std::byte> bytes,
                                      std::shared_ptr<const void> owner) override {
    @autoreleasepool {
      const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
      const std::size_t begin = std::bit_cast<std::uintptr_t>(bytes.data()) % page;
      const std::size_t length = (begin + bytes.size() + page - 1) / page * page;
      if (bytes.empty() || length > [device_ maxBufferLength]) return nullptr;
      // Kernels are never given this memory to write to.
      void* pages = const_cast<std::byte*>(bytes.data() - begin);
      // The block holds the owner until the last command that uses the buffer is done.
      const id<MTLBuffer> buffer = [device_ newBufferWithBytesNoCopy:pages
                                                              length:length
                                                             options:kShared
                                                         deallocator:^(void*, NSUInteger) {
                                                           static_cast<void>(owner);
                                                         }];
      if (buffer == nil) return nullptr;
      return std::make_unique<MetalBuffer>(buffer, begin, bytes.size());
    }
  }

  Result<std::unique_ptr<Library>> compile(std::string_view source) override {
    @autoreleasepool {
      MTLCompileOptions* options = [[MTLCompileOptions alloc] init];
      options.languageVersion = MTLLanguageVersion3_1;
      require_safe_math(options);
      NSError* error = nil;
      const id<MTLLibrary> library = [device_ newLibraryWithSource:ns_string(source)
                                                           options:options
                                                             error:&error];
      if (library == nil) {
        return fail(ErrorCode::kInternal, "[metal] the kernels do not compile: {}", reason(error));
      }
      return std::make_unique<MetalLibrary>(library);
    }
  }

  Result<std::unique_ptr<Pipeline>> make_pipeline(const Library& library,
                                                  std::string_view name) override {
    const auto* own = dynamic_cast<const MetalLibrary*>(&library);
    check(own != nullptr, "[metal] a library of another device");
    @autoreleasepool {
      const id<MTLFunction> function = [own->library() newFunctionWithName:ns_string(name)];
      if (function == nil) return fail(ErrorCode::kInternal, "[metal] no kernel {}", name);
      NSError* error = nil;
      MTLComputePipelineReflection* reflection = nil;
      const id<MTLComputePipelineState> state =
          [device_ newComputePipelineStateWithFunction:function
                                               options:kWithBindings
                                            reflection:&reflection
                                                 error:&error];
      if (state == nil) {
        return fail(ErrorCode::kInternal, "[metal] kernel {}: {}", name, reason(error));
      }
      return checked_pipeline(
          std::make_unique<MetalPipeline>(name, state, bindings_of(reflection)));
    }
  }

  std::unique_ptr<Commands> make_commands() override {
    return std::make_unique<MetalCommands>(queue_);
  }

 private:
  static Result<std::unique_ptr<Pipeline>> checked_pipeline(
      std::unique_ptr<MetalPipeline> pipeline) {
    const std::size_t width = [pipeline->state() threadExecutionWidth];
    if (width != kSimdWidth) {
      return fail(ErrorCode::kUnavailable, "[metal] kernel {}: SIMD groups of {} threads, not {}",
                  pipeline->name(), width, kSimdWidth);
    }
    if (pipeline->threadgroup_bytes() > kMaxThreadgroupBytes) {
      return fail(ErrorCode::kInternal,
                  "[metal] kernel {}: {} bytes of threadgroup memory, at most {}", pipeline->name(),
                  pipeline->threadgroup_bytes(), kMaxThreadgroupBytes);
    }
    return pipeline;
  }

  id<MTLDevice> device_;
  id<MTLCommandQueue> queue_;
  std::string name_;
};

}  // namespace

Result<std::shared_ptr<Device>> make_metal_device() {
  @autoreleasepool {
    const id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    if (device == nil) return fail(ErrorCode::kUnavailable, "no Metal device in this system");
    const std::string name = text_of([device name]);
    if (@available(macOS 14.0, *)) {
    } else {
      return fail(ErrorCode::kUnavailable, "{}: bfloat needs macOS 14", name);
    }
    if (![device supportsFamily:MTLGPUFamilyApple7]) {
      return fail(ErrorCode::kUnavailable,
                  "{}: the kernels need a GPU of family Apple7 (M1) or later", name);
    }
    const id<MTLCommandQueue> queue = [device newCommandQueue];
    if (queue == nil) return fail(ErrorCode::kUnavailable, "{}: no command queue left", name);
    return std::make_shared<MetalDevice>(device, queue);
  }
}

}  // namespace lattice::metal
