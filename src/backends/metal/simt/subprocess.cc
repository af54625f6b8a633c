#include "backends/metal/simt/subprocess.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace lattice::metal::simt {
namespace {

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> chunk;
  for (;;) {
    const ssize_t count = read(descriptor, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

Result<ProcessResult> run_process(const std::vector<std::string>& command) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::kUnavailable, "[simt] no pipe: {}", std::strerror(errno));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<std::string> copies = command;
  std::vector<char*> arguments;
  for (std::string& text : copies) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int code = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  ProcessResult result;
  if (code == 0) result.output = read_all(ends[0]);
  close(ends[0]);
  if (code != 0) {
    return fail(ErrorCode::kUnavailable, "[simt] cannot start {}: {}", command[0],
                std::strerror(code));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace lattice::metal::simt
