#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace lattice {

/// Streaming digest over OpenSSL. Move-only; not thread-safe.
class Digest {
 public:
  static Digest sha256();
  /// git's id of a file of `bytes` bytes: SHA-1 of "blob <bytes>", a NUL and the content.
  static Digest git_blob(std::uint64_t bytes);

  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  ~Digest();

  void update(std::span<const std::byte> data);

  /// The digest in lower-case hexadecimal. The object cannot be updated afterwards.
  std::string finish();

 private:
  struct Context;
  explicit Digest(std::unique_ptr<Context> context);
  std::unique_ptr<Context> context_;
};

}  // namespace lattice
