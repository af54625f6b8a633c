#include "io/hub/file_download.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <vector>

#include "io/atomic_file.h"
#include "io/hub/file_digest.h"
#include "io/hub/repo_name.h"
#include "io/hub/store_files.h"

namespace lattice {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxEtagBytes = 1024;
/// A failure after fewer new bytes than this counts as one without progress.
constexpr std::uint64_t kProgressBytes = std::uint64_t{1} << 20;
constexpr std::size_t kReadBytes = std::size_t{1} << 18;

/// The digests of a file's content: the one the hub gave, and always SHA-256 for the manifest.
class Verifier {
 public:
  explicit Verifier(const HubFile& file) : file_(&file), sha256_(Digest::sha256()) {
    if (file.sha256.empty()) git_ = Digest::git_blob(file.bytes);
  }

  void update(std::span<const std::byte> data) {
    sha256_.update(data);
    if (git_) git_->update(data);
  }

  /// The SHA-256 if the content is right; else an error. Ends the verifier.
  Result<std::string> finish(const std::string& what) {
    std::string sha256 = sha256_.finish();
    const std::string got = git_ ? git_->finish() : sha256;
    const std::string& expected = git_ ? file_->git_sha1 : file_->sha256;
    if (got != expected) {
      return fail(ErrorCode::kMalformed, "{}: wrong content: expected {} {}, got {}", what,
                  git_ ? "git SHA-1" : "SHA-256", expected, got);
    }
    return sha256;
  }

 private:
  const HubFile* file_;
  Digest sha256_;
  std::optional<Digest> git_;
};

/// Feeds the first `bytes` of an open file to the verifier.
Result<void> read_into(Verifier& verifier, int fd, std::uint64_t bytes, const fs::path& path) {
  std::vector<std::byte> buffer(kReadBytes);
  std::uint64_t offset = 0;
  while (offset < bytes) {
    const std::size_t want = std::min<std::uint64_t>(buffer.size(), bytes - offset);
    const ssize_t count = ::pread(fd, buffer.data(), want, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return tl::make_unexpected(system_error(path, "read", errno));
    if (count == 0) return fail(ErrorCode::kIo, "{}: became shorter", path.string());
    verifier.update(std::span(buffer).first(static_cast<std::size_t>(count)));
    offset += static_cast<std::uint64_t>(count);
  }
  return {};
}

struct ContentRange {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> total;
};

/// "bytes 100-199/200" or "bytes 100-199/*".
std::optional<ContentRange> parse_content_range(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  ContentRange range;
  const auto first = std::from_chars(text.data(), text.data() + text.size(), range.first);
  const std::size_t slash = text.find('/');
  if (first.ec != std::errc() || slash == text.npos) return std::nullopt;
  const std::string_view total = text.substr(slash + 1);
  if (total == "*") return range;
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(total.data(), total.data() + total.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != total.data() + total.size()) return std::nullopt;
  range.total = value;
  return range;
}

std::optional<std::uint64_t> content_length(const HttpHead& head) {
  const auto text = head.find("content-length");
  std::uint64_t value = 0;
  if (!text) return std::nullopt;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), value);
  if (parsed.ec != std::errc()) return std::nullopt;
  return value;
}

/// What stopped a transfer on our side.
enum class Stop {
  kNone,
  kRestart,    ///< what is on disk does not belong to what the server has now
  kBadLength,  ///< the server's length is not the file's
  kDisk,       ///< the file cannot be written
};

/// Writes one response to the partial file, from its end or from the start as the server decides.
class PartialFile final : public HttpSink {
 public:
  PartialFile(const FileDownload& download, ProgressCounter& progress)
      : download_(download),
        progress_(progress),
        path_(download.target.string() + ".partial"),
        etag_path_(download.target.string() + ".etag"),
        verifier_(download.file) {}

  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() override { progress_.take_back(size_); }

  /// Opens what an earlier attempt left. Errors: kIo.
  Result<void> open() {
    if (auto made = make_directories(path_.parent_path()); !made) return made;
    fd_ = FileDescriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!fd_.valid()) return tl::make_unexpected(system_error(path_, "open", errno));
    struct stat info = {};
    if (::fstat(fd_.get(), &info) != 0) {
      return tl::make_unexpected(system_error(path_, "stat", errno));
    }
    const auto bytes = static_cast<std::uint64_t>(info.st_size);
    if (bytes > download_.file.bytes) return start_over();
    if (auto read = read_into(verifier_, fd_.get(), bytes, path_); !read) return read;
    size_ = bytes;
    progress_.add_done(bytes);
    if (auto etag = read_small_file(etag_path_, kMaxEtagBytes)) etag_ = *etag;
    return {};
  }

  /// Forgets all bytes. Errors: kIo.
  Result<void> start_over() {
    progress_.take_back(size_);
    size_ = 0;
    etag_.clear();
    verifier_ = Verifier(download_.file);
    std::error_code ignored;
    fs::remove(etag_path_, ignored);
    if (::ftruncate(fd_.get(), 0) != 0) {
      return tl::make_unexpected(system_error(path_, "truncate", errno));
    }
    return {};
  }

  std::vector<HttpHeader> range_headers() const {
    if (size_ == 0) return {};
    std::vector<HttpHeader> headers = {{"Range", fmt::format("bytes={}-", size_)}};
    // Only a strong tag may stand in If-Range (RFC 9110, 13.1.5).
    const bool plain = std::ranges::all_of(etag_, [](char c) { return c > 0x20 && c < 0x7F; });
    if (etag_.starts_with('"') && plain) headers.push_back({"If-Range", etag_});
    return headers;
  }

  bool on_head(const HttpHead& head) override {
    stop_ = Stop::kNone;
    const std::string etag(head.find("etag").value_or(""));
    if (head.status == 206) {
      const auto range = parse_content_range(head.find("content-range").value_or(""));
      const bool fits = range && range->first == size_ &&
                        range->total.value_or(download_.file.bytes) == download_.file.bytes;
      const bool changed = !etag.empty() && !etag_.empty() && etag != etag_;
      if (!fits || changed) return stop(Stop::kRestart);
    } else if (size_ > 0 && !note(start_over())) {
      return stop(Stop::kDisk);
    }
    const auto length = content_length(head);
    if (length && *length != download_.file.bytes - size_) {
      announced_ = *length + size_;
      return stop(Stop::kBadLength);
    }
    if (size_ == 0 && !etag.empty() && etag.size() <= kMaxEtagBytes) {
      etag_ = etag;
      if (!note(write_file_atomically(etag_path_, etag_))) return stop(Stop::kDisk);
    }
    return true;
  }

  bool on_data(std::span<const std::byte> data) override {
    progress_.add_received(data.size());
    if (data.size() > download_.file.bytes - size_) {
      announced_ = size_ + data.size();
      return stop(Stop::kBadLength);
    }
    while (!data.empty()) {
      const ssize_t count =
          ::pwrite(fd_.get(), data.data(), data.size(), static_cast<off_t>(size_));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        error_ = system_error(path_, "write", errno);
        return stop(Stop::kDisk);
      }
      const auto written = data.first(static_cast<std::size_t>(count));
      verifier_.update(written);
      size_ += written.size();
      progress_.add_done(written.size());
      data = data.subspan(written.size());
    }
    return true;
  }

  /// Verifies a complete file and gives it its name; deletes it when it is wrong (kMalformed).
  Result<std::string> finish() {
    auto sha256 = verifier_.finish(download_.what);
    if (!sha256) {
      discard();
      return sha256;
    }
    if (::fsync(fd_.get()) != 0) return tl::make_unexpected(system_error(path_, "sync", errno));
    if (auto closed = fd_.close(path_); !closed) return forward_error(closed);
    if (::rename(path_.c_str(), download_.target.c_str()) != 0) {
      return tl::make_unexpected(
          system_error(download_.target, "rename the download to it", errno));
    }
    std::error_code ignored;
    fs::remove(etag_path_, ignored);
    size_ = 0;  // done for good: the destructor takes nothing back
    return sha256;
  }

  /// Deletes the bytes.
  void discard() {
    progress_.take_back(size_);
    size_ = 0;
    std::error_code ignored;
    fs::remove(path_, ignored);
    fs::remove(etag_path_, ignored);
  }

  std::uint64_t size() const { return size_; }
  bool complete() const { return size_ == download_.file.bytes; }
  Stop stopped_by() const { return stop_; }
  std::uint64_t announced() const { return announced_; }
  const Error& error() const { return error_; }

 private:
  bool stop(Stop reason) {
    stop_ = reason;
    return false;
  }

  bool note(Result<void> status) {
    if (!status) error_ = status.error();
    return status.has_value();
  }

  const FileDownload& download_;
  ProgressCounter& progress_;
  fs::path path_;
  fs::path etag_path_;
  Verifier verifier_;
  FileDescriptor fd_;
  std::uint64_t size_ = 0;
  std::string etag_;
  Stop stop_ = Stop::kNone;
  std::uint64_t announced_ = 0;
  Error error_;
};

/// Fetches until the partial file has its full length. Errors: kMalformed for a wrong length (the
/// partial file is deleted); those of HubClient and the disk (the partial file stays).
Result<void> fill(HubClient& hub, const FileDownload& download, PartialFile& partial) {
  std::uint64_t best = partial.size();
  for (int attempt = 1; !partial.complete();) {
    const HubRequest request{download.url, download.what, "GET", partial.range_headers(), true};
    auto head = hub.fetch(request, partial);
    HubFailure failure;
    if (head) {
      if (partial.complete()) break;
      failure.error = {ErrorCode::kMalformed,
                       fmt::format("{}: wrong length: expected {} bytes, got {}", download.what,
                                   download.file.bytes, partial.size())};
      failure.retryable = true;
    } else {
      failure = std::move(head.error());
    }
    if (failure.by_sink && partial.stopped_by() == Stop::kDisk) {
      return tl::make_unexpected(partial.error());
    }
    if (failure.by_sink && partial.stopped_by() == Stop::kBadLength) {
      partial.discard();
      return fail(ErrorCode::kMalformed, "{}: wrong length: expected {} bytes, got {}",
                  download.what, download.file.bytes, partial.announced());
    }
    if (failure.by_sink || failure.http_status == 416) {
      failure.error = {ErrorCode::kIo, fmt::format("{}: the server has another version of it now, "
                                                   "or answers a range that was not asked for",
                                                   download.what)};
      failure.retryable = true;
      if (auto status = partial.start_over(); !status) return status;
      best = 0;
    }
    if (partial.size() >= best + kProgressBytes) {
      best = partial.size();
      attempt = 1;
    }
    if (auto go = hub.wait_to_retry(failure, attempt); !go) return go;
    ++attempt;
  }
  return {};
}

/// The digest of a file that is already in place, if it is the right one.
std::optional<std::string> verify_existing(const FileDownload& download) {
  const FileDescriptor fd(::open(download.target.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat info = {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (static_cast<std::uint64_t>(info.st_size) != download.file.bytes) return std::nullopt;
  Verifier verifier(download.file);
  if (!read_into(verifier, fd.get(), download.file.bytes, download.target)) return std::nullopt;
  const auto sha256 = verifier.finish(download.what);
  if (!sha256) return std::nullopt;
  return *sha256;
}

}  // namespace

Result<std::string> download_file(HubClient& hub, const FileDownload& download,
                                  ProgressCounter& progress) {
  if (auto sha256 = verify_existing(download)) {
    progress.add_done(download.file.bytes);
    return *sha256;
  }
  for (int round = 1;; ++round) {
    PartialFile partial(download, progress);
    if (auto opened = partial.open(); !opened) return forward_error(opened);
    Result<std::string> sha256 = std::string();
    if (auto filled = fill(hub, download, partial); !filled) {
      sha256 = forward_error(filled);
    } else {
      sha256 = partial.finish();
    }
    if (sha256 || sha256.error().code != ErrorCode::kMalformed || round == 2) return sha256;
    hub.notice(fmt::format("{}; fetching it once more", sha256.error().message));
  }
}

}  // namespace lattice
