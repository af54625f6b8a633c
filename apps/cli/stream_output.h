#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "line_sink.h"

namespace lattice::cli {

/// Text on standard output as it comes, each piece at once. A reader that went away (head) ends the
/// program quietly.
class StreamOutput {
 public:
  StreamOutput() : out_(open_stdout_lines()) {}

  /// Always true, as the callbacks of the library want it. Throws LatticeError(kIo).
  bool write(std::string_view piece) {
    out_->write(std::string(piece));
    out_->flush();
    return true;
  }

 private:
  std::unique_ptr<LineSink> out_;
};

/// All of a file, "-" for standard input. Throws LatticeError(kIo); kTooLong above 64 MiB.
std::string read_whole_text(const std::string& file);

}  // namespace lattice::cli
