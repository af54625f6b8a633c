#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/hub/http_client.h"
#include "io/hub/url_origin.h"

namespace lattice {

/// How often and how patiently a failed transfer is tried again.
struct RetryPolicy {
  int max_attempts = 6;                         ///< in a row without progress
  std::chrono::milliseconds first_delay{1000};  ///< doubles with each attempt
  std::chrono::milliseconds max_delay{30'000};
  /// A server's Retry-After is obeyed up to this.
  std::chrono::milliseconds max_retry_after{300'000};
};

struct HubOptions {
  /// Scheme, host and, for a mirror, a path prefix. http only when given explicitly here.
  std::string endpoint = "https://huggingface.co";
  /// Sent as a bearer token to the endpoint's own origin only; empty for none.
  std::string token;
  RetryPolicy retry;
  /// Waits and returns true, or returns false when cancelled. Empty: sleeps, watching `cancel`.
  std::function<bool(std::chrono::milliseconds)> sleep;
  /// Receives remarks for the user, such as "retrying in 4 s: ..."; may be empty.
  std::function<void(std::string_view)> on_notice;
  /// Set from outside to end the operation with kCancelled; may be null.
  const std::atomic<bool>* cancel = nullptr;
};

/// Why one attempt at a request failed.
struct HubFailure {
  Error error;
  int http_status = 0;     ///< 0 when no response arrived
  bool retryable = false;  ///< a later attempt may succeed
  bool by_sink = false;    ///< the caller's sink stopped the transfer and knows why
  std::optional<std::chrono::seconds> retry_after;
};

/// A request to the hub. `what` names it in messages: "org/name: config.json".
struct HubRequest {
  std::string url;
  std::string what;
  std::string method = "GET";
  std::vector<HttpHeader> headers;
  /// Follow redirects to other origins; when false, such a redirect's own head is the answer.
  bool leave_origin = true;
};

/// Requests to one hub: credentials, redirects, retries and the meaning of status codes. Redirects
/// are followed at most ten deep, never from https to http, and the token goes to the endpoint's
/// origin alone. Not thread-safe.
class HubClient {
 public:
  /// `http` must outlive the client. Errors: kInvalidArgument for a bad endpoint or token.
  static Result<HubClient> create(HttpClient& http, HubOptions options);

  /// One attempt. The sink sees only a 2xx response. A success is a complete 2xx response (or a
  /// redirect's head, see HubRequest::leave_origin).
  tl::expected<HttpHead, HubFailure> fetch(const HubRequest& request, HttpSink& sink);

  /// The body of a GET, with retries. Errors: kMalformed beyond `max_bytes`, those of fetch.
  Result<std::string> get_text(const HubRequest& request, std::size_t max_bytes);

  /// The head of a HEAD request answered by the endpoint itself, with retries.
  Result<HttpHead> get_head(const HubRequest& request);

  const HubOptions& options() const { return options_; }
  void notice(std::string_view text) const;
  bool cancelled() const;

  /// Waits before attempt number `attempt` + 1 (the first failure is attempt 1), as long as the
  /// failure's Retry-After or the policy says. Errors: the failure's own when it is final or the
  /// attempts are used up; kCancelled.
  Result<void> wait_to_retry(const HubFailure& failure, int attempt) const;

 private:
  HubClient(HttpClient& http, HubOptions options, UrlOrigin origin);

  std::vector<HttpHeader> headers_for(const HubRequest& request, const UrlOrigin& target) const;
  HubFailure explain_status(const HubRequest& request, const TransferResult& result,
                            std::string_view body, bool at_endpoint) const;
  HubFailure explain_transfer(const HubRequest& request, const TransferResult& result,
                              const UrlOrigin& target) const;
  Result<UrlOrigin> check_redirect(const HubRequest& request, const UrlOrigin& from,
                                   const std::string& url) const;

  HttpClient* http_;
  HubOptions options_;
  UrlOrigin origin_;
};

}  // namespace lattice
