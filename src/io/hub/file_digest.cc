#include "io/hub/file_digest.h"

#include <openssl/evp.h>

#include <array>

#include "base/check.h"

namespace lattice {

struct Digest::Context {
  struct Deleter {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };

  explicit Context(const EVP_MD* kind) : md(EVP_MD_CTX_new()) {
    check(md != nullptr && EVP_DigestInit_ex(md.get(), kind, nullptr) == 1,
          "OpenSSL cannot start a digest");
  }

  std::unique_ptr<EVP_MD_CTX, Deleter> md;
};

Digest::Digest(std::unique_ptr<Context> context) : context_(std::move(context)) {}
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;
Digest::~Digest() = default;

Digest Digest::sha256() { return Digest(std::make_unique<Context>(EVP_sha256())); }

Digest Digest::git_blob(std::uint64_t bytes) {
  Digest digest(std::make_unique<Context>(EVP_sha1()));
  const std::string prefix = fmt::format("blob {}", bytes);
  digest.update(std::as_bytes(std::span(prefix.c_str(), prefix.size() + 1)));  // with its NUL
  return digest;
}

void Digest::update(std::span<const std::byte> data) {
  check(EVP_DigestUpdate(context_->md.get(), data.data(), data.size()) == 1,
        "OpenSSL digest failed");
}

std::string Digest::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes = {};
  unsigned int size = 0;
  check(EVP_DigestFinal_ex(context_->md.get(), bytes.data(), &size) == 1, "OpenSSL digest failed");
  std::string hex;
  for (const unsigned char byte : std::span(bytes).first(size)) hex += fmt::format("{:02x}", byte);
  return hex;
}

}  // namespace lattice
