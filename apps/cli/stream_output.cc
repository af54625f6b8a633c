#include "stream_output.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "base/result.h"

namespace lattice::cli {

std::string read_whole_text(const std::string& file) {
  constexpr std::size_t kMost = std::size_t{64} << 20;
  std::ifstream opened;
  std::istream* stream = &std::cin;
  if (file != "-") {
    opened.open(file, std::ios::binary);
    if (!opened) raise(ErrorCode::kIo, "{}: cannot open: {}", file, std::strerror(errno));
    stream = &opened;
  }
  std::string text;
  char buffer[1 << 16];
  while (stream->read(buffer, sizeof(buffer)) || stream->gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(stream->gcount()));
    if (text.size() > kMost) raise(ErrorCode::kTooLong, "{}: more than {} bytes", file, kMost);
  }
  if (stream->bad()) raise(ErrorCode::kIo, "{}: reading failed", file);
  return text;
}

}  // namespace lattice::cli
