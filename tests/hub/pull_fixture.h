#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hub/hub_server.h"
#include "io/hub/pull.h"
#include "unit/io/hub_test_util.h"

namespace lattice::test {

inline const std::string kCommit(40, 'c');

/// A store, a repository "org/tiny" and a server that obeys `script`.
class PullTest : public testing::Test {
 protected:
  PullTest();

  /// Adds a file to the repository.
  void add_file(std::string_view path, std::string_view content,
                std::string_view repo = "org/tiny");
  /// Removes one.
  void remove_file(std::string_view path) { std::filesystem::remove(repo_path(path)); }
  std::filesystem::path repo_path(std::string_view path) const {
    return home_.path() / "root/org/tiny" / path;
  }

  /// Starts the server with `members` added to its script, as `"faults":{"api":[...]}`.
  void start(std::string_view members = "");
  void start_tls(std::string_view members = "");

  /// Options for the server: recorded instead of real waits, notices kept.
  HubOptions options();
  HttpClientOptions http_options() const;

  Result<PullOutcome> pull(std::string_view ref = "org/tiny");
  Result<PullOutcome> pull(std::string_view ref, const HubOptions& options);

  /// The error of a pull that must fail.
  Error pull_error(std::string_view ref = "org/tiny");

  /// Checks that the model is complete, usable and equal to `paths` of the repository, and that
  /// nothing else is in the store.
  void expect_complete(const std::vector<std::string>& paths);
  /// Checks that no model can be listed or resolved.
  void expect_nothing_usable();
  /// Checks that no unfinished file of the download is left: neither bytes nor ETag of `path`.
  void expect_no_partial(std::string_view path);

  std::filesystem::path partial(std::string_view path) const {
    return store_.incoming_directory("org/tiny", kCommit) / (std::string(path) + ".partial");
  }

  /// Requests for `path` with the given role.
  std::vector<SeenRequest> requests(std::string_view role, std::string_view path_end) const;

  TemporaryDirectory home_;
  // Proxies of the environment are not for the test's own server.
  ScopedEnvironment no_proxy_{"no_proxy", "127.0.0.1"};
  ModelStore store_{home_.path() / "store"};
  std::string weights_;  ///< content of model.safetensors
  std::unique_ptr<HubServer> server_;
  std::vector<std::chrono::milliseconds> waits_;
  std::vector<std::string> notices_;
  std::filesystem::path ca_file_;
  /// Longer than a busy machine delays a good answer; tests of stalls shorten it.
  std::chrono::seconds stall_time_{20};
};

/// `bytes` bytes that compress badly and repeat nowhere.
std::string noise(std::size_t bytes, std::uint32_t seed);

}  // namespace lattice::test
