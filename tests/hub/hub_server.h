#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace lattice::test {

/// A request that the server saw.
struct SeenRequest {
  std::string role;  ///< "hub" or "cdn"
  std::string method;
  std::string path;
  std::string authorization;
  std::string range;
  std::string if_range;
  std::string encoding;
};

/// Runs tests/hub/server.py until the scope ends.
class HubServer {
 public:
  struct Options {
    std::filesystem::path root;    ///< the repositories
    std::filesystem::path script;  ///< see server.py
    std::filesystem::path log;
    std::filesystem::path cert;  ///< with key: the hub speaks https
    std::filesystem::path key;
  };

  explicit HubServer(const Options& options);
  HubServer(const HubServer&) = delete;
  HubServer& operator=(const HubServer&) = delete;
  ~HubServer();

  /// "http://127.0.0.1:PORT"
  const std::string& endpoint() const { return endpoint_; }

  /// All requests so far, in order.
  std::vector<SeenRequest> requests() const;

 private:
  std::filesystem::path log_;
  std::string endpoint_;
  pid_t process_ = -1;
  int input_ = -1;
};

/// Runs a program from PATH to its end and returns its exit code, or -1.
int run_program(const std::vector<std::string>& arguments);

}  // namespace lattice::test
