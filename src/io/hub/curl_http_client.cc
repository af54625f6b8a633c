#include <curl/curl.h>
#include <signal.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <mutex>

#include "base/check.h"
#include "io/hub/http_client.h"
#include "lattice/version.h"

namespace lattice {
namespace {

constexpr std::size_t kMaxHeaderBytes = std::size_t{256} << 10;
constexpr long kReceiveBufferBytes = 256L << 10;

struct SlistDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Slist = std::unique_ptr<curl_slist, SlistDeleter>;

struct EasyDeleter {
  void operator()(CURL* handle) const;
};

/// Keeps this thread from being killed by a write to a broken TLS connection: OpenSSL writes
/// without MSG_NOSIGNAL. Other threads and the process's disposition are left alone.
class SigpipeGuard {
 public:
  SigpipeGuard() {
    was_pending_ = is_pending();
    sigset_t pipe = pipe_set();
    ::pthread_sigmask(SIG_BLOCK, &pipe, &old_mask_);
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;
  ~SigpipeGuard() {
    if (!was_pending_ && is_pending()) {
      const sigset_t pipe = pipe_set();
      int signal = 0;
      ::sigwait(&pipe, &signal);
    }
    ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
  }

 private:
  // The functions on sets are macros on some systems: they take no "::".
  static sigset_t pipe_set() {
    sigset_t set;
    static_cast<void>(sigemptyset(&set));
    static_cast<void>(sigaddset(&set, SIGPIPE));
    return set;
  }
  static bool is_pending() {
    sigset_t pending;
    static_cast<void>(sigemptyset(&pending));
    ::sigpending(&pending);
    return sigismember(&pending, SIGPIPE) == 1;
  }

  bool was_pending_ = false;
  sigset_t old_mask_ = {};
};

/// The state of one transfer, reached from libcurl's callbacks.
struct Transfer {
  HttpSink& sink;
  const std::atomic<bool>* cancel;
  HttpHead head;
  std::size_t header_bytes = 0;
  bool head_delivered = false;
  bool stopped = false;
  bool headers_too_long = false;
};

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

/// "HTTP/1.1 200 OK" or "HTTP/2 200".
int parse_status_line(std::string_view line) {
  const std::size_t space = line.find(' ');
  int status = 0;
  if (space != line.npos) {
    std::from_chars(line.data() + space + 1, line.data() + line.size(), status);
  }
  return status;
}

void add_header(std::string_view line, HttpHead& head) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return;
  HttpHeader header{std::string(trim(line.substr(0, colon))),
                    std::string(trim(line.substr(colon + 1)))};
  std::ranges::transform(header.name, header.name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  head.headers.push_back(std::move(header));
}

std::size_t on_header(char* data, std::size_t, std::size_t size, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  const std::string_view line(data, size);
  transfer.header_bytes += size;
  if (transfer.header_bytes > kMaxHeaderBytes) {
    transfer.headers_too_long = true;
    return 0;
  }
  if (transfer.head_delivered) return size;  // trailers of a chunked body
  if (line.starts_with("HTTP/")) {
    transfer.head = HttpHead{parse_status_line(line), {}};
  } else if (!trim(line).empty()) {
    add_header(line, transfer.head);
  } else if (transfer.head.status >= 200) {  // not "100 Continue"
    transfer.head_delivered = true;
    transfer.stopped = !transfer.sink.on_head(transfer.head);
    if (transfer.stopped) return 0;
  }
  return size;
}

std::size_t on_body(char* data, std::size_t, std::size_t size, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  transfer.stopped = !transfer.sink.on_data(std::as_bytes(std::span(data, size)));
  return transfer.stopped ? 0 : size;
}

int on_progress(void* context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto& transfer = *static_cast<Transfer*>(context);
  return transfer.cancel != nullptr && transfer.cancel->load() ? 1 : 0;
}

TransferStatus status_of(CURLcode code, const Transfer& transfer) {
  switch (code) {
    case CURLE_OK:
      return TransferStatus::kComplete;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
      return TransferStatus::kNoConnection;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return TransferStatus::kUntrusted;
    case CURLE_OPERATION_TIMEDOUT:
      return TransferStatus::kStalled;
    case CURLE_ABORTED_BY_CALLBACK:
      return TransferStatus::kCancelled;
    case CURLE_WRITE_ERROR:
      return transfer.stopped ? TransferStatus::kStopped : TransferStatus::kRefused;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_OUT_OF_MEMORY:
      return TransferStatus::kRefused;
    default:
      return TransferStatus::kDropped;
  }
}

// Closing a TLS connection writes to it, too.
void EasyDeleter::operator()(CURL* handle) const {
  const SigpipeGuard guard;
  curl_easy_cleanup(handle);
}

class CurlHttpClient final : public HttpClient {
 public:
  explicit CurlHttpClient(const HttpClientOptions& options)
      : options_(options), handle_(curl_easy_init()) {
    check(handle_ != nullptr, "libcurl cannot make a handle");
  }

  TransferResult perform(const HttpRequest& request, HttpSink& sink) override {
    CURL* const handle = handle_.get();
    Transfer transfer{sink, options_.cancel, {}, 0, false, false, false};
    std::array<char, CURL_ERROR_SIZE> reason = {};
    curl_easy_reset(handle);  // keeps connections
    const Slist headers = make_headers(request);
    configure(request, transfer);
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, reason.data());
    const SigpipeGuard guard;
    const CURLcode code = curl_easy_perform(handle);
    TransferResult result;
    result.status = status_of(code, transfer);
    if (code != CURLE_OK) {
      result.detail = reason[0] != '\0' ? reason.data() : curl_easy_strerror(code);
    }
    if (transfer.headers_too_long) {
      result.detail = "the response's headers exceed 256 KiB";
    }
    result.head = std::move(transfer.head);
    read_info(result);
    return result;
  }

 private:
  static Slist make_headers(const HttpRequest& request) {
    Slist list;
    for (const HttpHeader& header : request.headers) {
      const std::string line = header.name + ": " + header.value;
      curl_slist* const longer = curl_slist_append(list.get(), line.c_str());
      check(longer != nullptr, "libcurl is out of memory");
      static_cast<void>(list.release());
      list.reset(longer);
    }
    return list;
  }

  void configure(const HttpRequest& request, Transfer& transfer) {
    CURL* const handle = handle_.get();
    curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(handle, CURLOPT_NOBODY, request.method == "HEAD" ? 1L : 0L);
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(options_.connect_timeout.count()));
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, options_.stall_bytes_per_second);
    curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME,
                     static_cast<long>(options_.stall_time.count()));
    curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, kReceiveBufferBytes);
    const std::string agent = std::string("lattice/") + version();
    curl_easy_setopt(handle, CURLOPT_USERAGENT, agent.c_str());
    if (!options_.ca_file.empty()) {
      curl_easy_setopt(handle, CURLOPT_CAINFO, options_.ca_file.c_str());
    }
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &transfer);
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  }

  void read_info(TransferResult& result) {
    const char* redirect = nullptr;
    curl_easy_getinfo(handle_.get(), CURLINFO_REDIRECT_URL, &redirect);
    if (redirect != nullptr) result.redirect_url = redirect;
    curl_off_t retry_after = 0;
    curl_easy_getinfo(handle_.get(), CURLINFO_RETRY_AFTER, &retry_after);
    if (result.head.find("retry-after")) {
      result.retry_after = std::chrono::seconds(std::max<curl_off_t>(retry_after, 0));
    }
  }

  HttpClientOptions options_;
  std::unique_ptr<CURL, EasyDeleter> handle_;
};

}  // namespace

std::optional<std::string_view> HttpHead::find(std::string_view name) const {
  for (const HttpHeader& header : headers) {
    if (header.name == name) return header.value;
  }
  return std::nullopt;
}

std::unique_ptr<HttpClient> make_http_client(const HttpClientOptions& options) {
  static std::once_flag initialized;
  std::call_once(initialized, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  return std::make_unique<CurlHttpClient>(options);
}

}  // namespace lattice
