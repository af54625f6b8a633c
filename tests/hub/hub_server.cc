#include "hub/hub_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "base/check.h"
#include "io/json.h"

extern char** environ;

namespace lattice::test {
namespace {

std::vector<char*> to_argv(std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  return argv;
}

/// Reads up to the first newline.
std::string read_line(int fd) {
  std::string line;
  char c = 0;
  while (::read(fd, &c, 1) == 1 && c != '\n') line.push_back(c);
  return line;
}

std::string text_of(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  return std::string(value == nullptr ? "" : value->as_string().value_or(""));
}

}  // namespace

HubServer::HubServer(const Options& options) : log_(options.log) {
  std::vector<std::string> arguments = {LATTICE_PYTHON, LATTICE_TEST_DATA_DIR "/hub/server.py",
                                        "--root",       options.root.string(),
                                        "--script",     options.script.string(),
                                        "--log",        options.log.string()};
  if (!options.cert.empty()) {
    arguments.insert(arguments.end(),
                     {"--cert", options.cert.string(), "--key", options.key.string()});
  }
  std::array<int, 2> input = {};
  std::array<int, 2> output = {};
  check(::pipe2(input.data(), O_CLOEXEC) == 0 && ::pipe2(output.data(), O_CLOEXEC) == 0, "pipe");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  const int status = ::posix_spawnp(&process_, arguments[0].c_str(), &actions, nullptr,
                                    to_argv(arguments).data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(input[0]);
  ::close(output[1]);
  input_ = input[1];
  check(status == 0, "cannot start {}", arguments[0]);
  const std::string line = read_line(output[0]);
  ::close(output[0]);
  check(!line.empty(), "the hub server did not start");
  endpoint_ = fmt::format("{}://127.0.0.1:{}", options.cert.empty() ? "http" : "https",
                          line.substr(0, line.find(' ')));
}

HubServer::~HubServer() {
  ::close(input_);  // the server ends with its input
  int status = 0;
  ::waitpid(process_, &status, 0);
}

std::vector<SeenRequest> HubServer::requests() const {
  std::vector<SeenRequest> seen;
  std::ifstream in(log_);
  for (std::string line; std::getline(in, line);) {
    const auto document = JsonDocument::parse(line, "log");
    check(document.has_value(), "bad line in the server's log: {}", line);
    const Json& root = document->root();
    seen.push_back({text_of(root, "role"), text_of(root, "method"), text_of(root, "path"),
                    text_of(root, "authorization"), text_of(root, "range"),
                    text_of(root, "if_range"), text_of(root, "encoding")});
  }
  return seen;
}

int run_program(const std::vector<std::string>& arguments) {
  std::vector<std::string> copy = arguments;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = -1;
  const int status =
      ::posix_spawnp(&process, copy[0].c_str(), &actions, nullptr, to_argv(copy).data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  int result = -1;
  if (status != 0 || ::waitpid(process, &result, 0) < 0) return -1;
  return WIFEXITED(result) ? WEXITSTATUS(result) : -1;
}

}  // namespace lattice::test
