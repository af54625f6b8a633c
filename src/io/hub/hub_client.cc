#include "io/hub/hub_client.h"

#include <algorithm>
#include <charconv>
#include <random>
#include <thread>

#include "io/hub/repo_name.h"
#include "io/json.h"

namespace lattice {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kMaxRedirects = 10;
constexpr std::size_t kMaxErrorBody = std::size_t{4} << 10;

bool is_success(int status) { return status >= 200 && status < 300; }

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool is_transient(int status) { return status == 408 || status == 429 || status >= 500; }

/// Hands successful responses to the caller's sink and keeps the beginning of others' bodies, which
/// explain the failure.
class SuccessFilter final : public HttpSink {
 public:
  explicit SuccessFilter(HttpSink& sink) : sink_(sink) {}

  bool on_head(const HttpHead& head) override {
    success_ = is_success(head.status);
    return !success_ || sink_.on_head(head);
  }

  bool on_data(std::span<const std::byte> data) override {
    if (success_) return sink_.on_data(data);
    const std::size_t room = kMaxErrorBody - error_body_.size();
    for (const std::byte byte : data.first(std::min(room, data.size()))) {
      error_body_.push_back(static_cast<char>(byte));
    }
    return error_body_.size() < kMaxErrorBody;
  }

  const std::string& error_body() const { return error_body_; }

 private:
  HttpSink& sink_;
  bool success_ = false;
  std::string error_body_;
};

class TextSink final : public HttpSink {
 public:
  explicit TextSink(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  bool on_head(const HttpHead&) override {
    text_.clear();  // of an earlier attempt
    return true;
  }

  bool on_data(std::span<const std::byte> data) override {
    if (data.size() > max_bytes_ - text_.size()) return false;
    for (const std::byte byte : data) text_.push_back(static_cast<char>(byte));
    return true;
  }

  std::string take() { return std::move(text_); }

 private:
  std::size_t max_bytes_;
  std::string text_;
};

/// What the server says about a failure: a header of the hub, else the "error" of a JSON body.
std::string server_message(const HttpHead& head, std::string_view body) {
  if (const auto message = head.find("x-error-message")) return printable_excerpt(*message);
  const auto document = JsonDocument::parse(body, "error");
  if (!document) return "";
  const Json* error = document->root().find("error");
  const auto text = error == nullptr ? std::nullopt : error->as_string();
  return text ? printable_excerpt(*text) : "";
}

/// The hub's own header on 429: `"api";r=0;t=55` says that the window ends in 55 seconds.
std::optional<seconds> rate_limit_reset(const HttpHead& head) {
  const auto value = head.find("ratelimit");
  if (!value) return std::nullopt;
  const std::size_t at = value->find(";t=");
  if (at == value->npos) return std::nullopt;
  int reset = 0;
  const auto parsed = std::from_chars(value->data() + at + 3, value->data() + value->size(), reset);
  if (parsed.ec != std::errc() || reset < 0) return std::nullopt;
  return seconds(reset);
}

}  // namespace

HubClient::HubClient(HttpClient& http, HubOptions options, UrlOrigin origin)
    : http_(&http), options_(std::move(options)), origin_(std::move(origin)) {}

Result<HubClient> HubClient::create(HttpClient& http, HubOptions options) {
  while (options.endpoint.ends_with('/')) options.endpoint.pop_back();
  auto origin = parse_url_origin(options.endpoint);
  if (!origin || options.endpoint.find_first_of("?#") != std::string::npos) {
    return fail(ErrorCode::kInvalidArgument, "the hub's address (HF_ENDPOINT) \"{}\": {}",
                printable_excerpt(options.endpoint),
                origin ? "expected no query" : origin.error().message);
  }
  const bool bad_token =
      std::ranges::any_of(options.token, [](unsigned char c) { return c <= 0x20 || c >= 0x7F; });
  if (bad_token) {
    return fail(ErrorCode::kInvalidArgument,
                "the token (HF_TOKEN) holds blanks or unprintable characters");
  }
  return HubClient(http, std::move(options), std::move(*origin));
}

void HubClient::notice(std::string_view text) const {
  if (options_.on_notice) options_.on_notice(text);
}

bool HubClient::cancelled() const { return options_.cancel != nullptr && options_.cancel->load(); }

std::vector<HttpHeader> HubClient::headers_for(const HubRequest& request,
                                               const UrlOrigin& target) const {
  std::vector<HttpHeader> headers = request.headers;
  // A compressed body would neither resume nor have the length and digest of the file.
  headers.push_back({"Accept-Encoding", "identity"});
  if (!options_.token.empty() && target == origin_) {
    headers.push_back({"Authorization", "Bearer " + options_.token});
  }
  return headers;
}

HubFailure HubClient::explain_status(const HubRequest& request, const TransferResult& result,
                                     std::string_view body, bool at_endpoint) const {
  const int status = result.head.status;
  HubFailure failure;
  failure.http_status = status;
  failure.retryable = is_transient(status);
  failure.retry_after = result.retry_after;
  if (status == 429 && !failure.retry_after) failure.retry_after = rate_limit_reset(result.head);
  const std::string said = server_message(result.head, body);
  const std::string code(result.head.find("x-error-code").value_or(""));
  std::string text = fmt::format("{}: {} answers {}", request.what,
                                 at_endpoint ? options_.endpoint : "the file server", status);
  if (!said.empty()) text += fmt::format(" ({})", said);
  failure.error.code = ErrorCode::kIo;
  if (!at_endpoint) {
    // Links to the file server expire; the next attempt asks the endpoint for a new one.
    failure.retryable = failure.retryable || status == 401 || status == 403;
  } else if (code == "GatedRepo" || status == 403) {
    text +=
        "; the model is gated or not yours to read: accept its conditions on its page, and set "
        "HF_TOKEN to a token that may read it";
  } else if (status == 401 && options_.token.empty()) {
    text +=
        "; the name is wrong, or the model is private or gated: check the name, or set HF_TOKEN "
        "to a token that may read it";
  } else if (status == 401) {
    text += "; the token in HF_TOKEN is not valid here, or the model does not exist";
  } else if (code == "RevisionNotFound") {
    failure.error.code = ErrorCode::kNotFound;
    text += "; the model has no such revision (branch, tag or commit)";
  } else if (status == 404) {
    failure.error.code = ErrorCode::kNotFound;
    text += "; there is no such model, revision or file";
  }
  if (status == 404) failure.error.code = ErrorCode::kNotFound;
  failure.error.message = std::move(text);
  return failure;
}

HubFailure HubClient::explain_transfer(const HubRequest& request, const TransferResult& result,
                                       const UrlOrigin& target) const {
  HubFailure failure;
  failure.http_status = result.head.status;
  failure.error.code = ErrorCode::kIo;
  failure.retryable = true;
  const std::string detail = printable_excerpt(result.detail);
  std::string& text = failure.error.message;
  switch (result.status) {
    case TransferStatus::kNoConnection:
      text = fmt::format(
          "{}: no connection to {}: {}; check the network (or HF_ENDPOINT and the "
          "proxy settings)",
          request.what, target.host, detail);
      break;
    case TransferStatus::kStalled:
      text = fmt::format("{}: {} is too slow or does not answer: {}", request.what, target.host,
                         detail);
      break;
    case TransferStatus::kUntrusted:
      failure.retryable = false;
      text = fmt::format(
          "{}: the certificate of {} cannot be verified: {}; install the package "
          "ca-certificates, or set SSL_CERT_FILE to a file of trusted certificates",
          request.what, target.host, detail);
      break;
    case TransferStatus::kCancelled:
      failure.retryable = false;
      failure.error = {ErrorCode::kCancelled, request.what + ": cancelled"};
      break;
    case TransferStatus::kRefused:
      failure.retryable = false;
      text = fmt::format("{}: {}", request.what, detail);
      break;
    default:
      text = fmt::format("{}: the connection to {} broke: {}", request.what, target.host, detail);
  }
  return failure;
}

Result<UrlOrigin> HubClient::check_redirect(const HubRequest& request, const UrlOrigin& from,
                                            const std::string& url) const {
  auto target = parse_url_origin(url);
  if (!target) {
    return fail(ErrorCode::kIo, "{}: redirected to {}", request.what, target.error().message);
  }
  if (from.scheme == "https" && target->scheme == "http") {
    return fail(ErrorCode::kIo, "{}: refused a redirect from https to http ({})", request.what,
                target->host);
  }
  return target;
}

tl::expected<HttpHead, HubFailure> HubClient::fetch(const HubRequest& request, HttpSink& sink) {
  std::string url = request.url;
  const auto final_failure = [](Error error) {
    return tl::make_unexpected(HubFailure{std::move(error), 0, false, false, std::nullopt});
  };
  auto target = parse_url_origin(url);
  for (int hop = 0; hop <= kMaxRedirects; ++hop) {
    if (!target) return final_failure(target.error());
    SuccessFilter filter(sink);
    TransferResult result =
        http_->perform({request.method, url, headers_for(request, *target)}, filter);
    const int status = result.head.status;
    if (result.status == TransferStatus::kCancelled || status == 0) {
      return tl::make_unexpected(explain_transfer(request, result, *target));
    }
    if (is_redirect(status) && !result.redirect_url.empty()) {
      auto next = check_redirect(request, *target, result.redirect_url);
      if (!next) return final_failure(next.error());
      if (!request.leave_origin && *next != origin_) return std::move(result.head);
      target = std::move(next);
      url = std::move(result.redirect_url);
      continue;
    }
    if (!is_success(status)) {
      const bool at_endpoint = *target == origin_;
      return tl::make_unexpected(explain_status(request, result, filter.error_body(), at_endpoint));
    }
    if (result.status != TransferStatus::kComplete) {
      HubFailure failure = explain_transfer(request, result, *target);
      failure.by_sink = result.status == TransferStatus::kStopped;
      return tl::make_unexpected(std::move(failure));
    }
    return std::move(result.head);
  }
  return final_failure({ErrorCode::kIo, fmt::format("{}: more than {} redirects in a row",
                                                    request.what, kMaxRedirects)});
}

Result<void> HubClient::wait_to_retry(const HubFailure& failure, int attempt) const {
  if (cancelled()) return fail(ErrorCode::kCancelled, "cancelled");
  if (!failure.retryable) return tl::make_unexpected(failure.error);
  const RetryPolicy& policy = options_.retry;
  if (attempt >= policy.max_attempts) {
    return fail(failure.error.code, "{} (gave up after {} attempts)", failure.error.message,
                attempt);
  }
  milliseconds delay = policy.first_delay;
  for (int i = 1; i < attempt && delay < policy.max_delay; ++i) delay *= 2;
  delay = std::min(delay, policy.max_delay);
  // Many clients that lost one server must not come back in one moment.
  std::minstd_rand random(std::random_device{}());
  delay += delay * std::uniform_int_distribution<int>(0, 25)(random) / 100;
  if (failure.retry_after) {
    delay = std::max(delay, std::min<milliseconds>(*failure.retry_after, policy.max_retry_after));
  }
  notice(fmt::format("retrying in {:.1f} s: {}", static_cast<double>(delay.count()) / 1000.0,
                     failure.error.message));
  if (options_.sleep) {
    if (!options_.sleep(delay)) return fail(ErrorCode::kCancelled, "cancelled");
    return {};
  }
  const auto end = std::chrono::steady_clock::now() + delay;
  while (std::chrono::steady_clock::now() < end) {
    if (cancelled()) return fail(ErrorCode::kCancelled, "cancelled");
    std::this_thread::sleep_for(milliseconds(20));
  }
  return {};
}

Result<std::string> HubClient::get_text(const HubRequest& request, std::size_t max_bytes) {
  TextSink sink(max_bytes);
  for (int attempt = 1;; ++attempt) {
    auto head = fetch(request, sink);
    if (head) return sink.take();
    if (head.error().by_sink) {
      return fail(ErrorCode::kMalformed, "{}: the answer exceeds the limit of {} bytes",
                  request.what, max_bytes);
    }
    if (auto go = wait_to_retry(head.error(), attempt); !go) return forward_error(go);
  }
}

Result<HttpHead> HubClient::get_head(const HubRequest& request) {
  HubRequest head_request = request;
  head_request.method = "HEAD";
  head_request.leave_origin = false;
  TextSink sink(0);
  for (int attempt = 1;; ++attempt) {
    auto head = fetch(head_request, sink);
    if (head) return std::move(*head);
    if (auto go = wait_to_retry(head.error(), attempt); !go) return forward_error(go);
  }
}

}  // namespace lattice
