#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/hub/hub_api.h"
#include "io/hub/hub_client.h"

namespace lattice {

/// How far a pull has come.
struct PullProgress {
  std::string_view file;  ///< the one being fetched
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_total = 0;     ///< of the files known to be needed so far
  std::uint64_t bytes_received = 0;  ///< over the network, whether they were of use or not
};

/// Counts bytes over all files of a pull and reports each change.
class ProgressCounter {
 public:
  explicit ProgressCounter(std::function<void(const PullProgress&)> report)
      : report_(std::move(report)) {}

  void begin_file(std::string_view path) {
    progress_.file = path;
    report();
  }
  void add_total(std::uint64_t bytes) { progress_.bytes_total += bytes; }
  void add_done(std::uint64_t bytes) {
    progress_.bytes_done += bytes;
    report();
  }
  /// Takes back bytes that have to be fetched again.
  void take_back(std::uint64_t bytes) { progress_.bytes_done -= bytes; }
  void add_received(std::uint64_t bytes) { progress_.bytes_received += bytes; }
  std::uint64_t received() const { return progress_.bytes_received; }

 private:
  void report() const {
    if (report_) report_(progress_);
  }
  std::function<void(const PullProgress&)> report_;
  PullProgress progress_;
};

/// What to fetch and where to.
struct FileDownload {
  HubFile file;  ///< verifiable()
  std::string url;
  std::string what;  ///< names the file in messages: "org/name: model.safetensors"
  std::filesystem::path target;
};

/// Brings `download.target` to the content that the hub describes and returns its SHA-256. A file
/// that is already there is kept when its length and digest are right. Otherwise the bytes go to
/// "<target>.partial" (its ETag to "<target>.etag"), which a later call resumes with a range
/// request; it is renamed to the target after its length and digest are verified. Content that
/// fails verification is deleted and fetched once more. Errors: those of HubClient; kMalformed
/// naming the file, what was expected and what came; kIo when the disk is full or not writable.
Result<std::string> download_file(HubClient& hub, const FileDownload& download,
                                  ProgressCounter& progress);

}  // namespace lattice
