#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lattice {

struct HttpHeader {
  std::string name;
  std::string value;
};

struct HttpRequest {
  std::string method = "GET";  ///< GET or HEAD
  std::string url;             ///< absolute, http or https
  std::vector<HttpHeader> headers;
};

/// What precedes the body of a response.
struct HttpHead {
  int status = 0;
  std::vector<HttpHeader> headers;  ///< names in lower case

  /// The first header called `name` (in lower case).
  std::optional<std::string_view> find(std::string_view name) const;
};

/// Receives one response. Returning false stops the transfer (TransferStatus::kStopped).
class HttpSink {
 public:
  virtual ~HttpSink() = default;
  /// Once, before any data.
  virtual bool on_head(const HttpHead& head) = 0;
  /// Each piece of the body, in order.
  virtual bool on_data(std::span<const std::byte> data) = 0;
};

enum class TransferStatus {
  kComplete,      ///< the whole response arrived, as far as its own framing says
  kNoConnection,  ///< the name could not be resolved, or nobody answers there
  kUntrusted,     ///< the server's certificate cannot be verified
  kDropped,       ///< the connection broke
  kStalled,       ///< the transfer became too slow
  kStopped,       ///< the sink returned false
  kCancelled,     ///< the caller's flag was set
  kRefused,       ///< the request cannot be made: bad URL, other protocol, oversized headers
};

struct TransferResult {
  TransferStatus status = TransferStatus::kRefused;
  std::string detail;        ///< the reason, in words, unless complete
  HttpHead head;             ///< status 0 when none arrived
  std::string redirect_url;  ///< absolute target of a 3xx response's Location, or empty
  std::optional<std::chrono::seconds> retry_after;  ///< from a Retry-After header, either form
};

/// One HTTP exchange: no redirects, no retries, no credentials but the given headers. Not
/// thread-safe; connections are reused between calls.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  virtual TransferResult perform(const HttpRequest& request, HttpSink& sink) = 0;
};

struct HttpClientOptions {
  std::chrono::milliseconds connect_timeout{15'000};
  /// A transfer slower than this many bytes/s for stall_time is given up.
  long stall_bytes_per_second = 512;
  std::chrono::seconds stall_time{30};
  /// A file of trusted certificates in place of the system's, or empty.
  std::string ca_file;
  /// Set by another thread or a signal handler to end the transfer; may be null.
  const std::atomic<bool>* cancel = nullptr;
};

/// A client over libcurl. Proxies are taken from the environment (https_proxy, no_proxy, ...).
std::unique_ptr<HttpClient> make_http_client(const HttpClientOptions& options);

}  // namespace lattice
