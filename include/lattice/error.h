#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace lattice {

/// What kind of thing went wrong. One table (docs/design.md, "Errors") maps each code to a process
/// exit code and, in a server, to an HTTP status.
enum class ErrorCode {
  kInvalidArgument,  ///< the caller's arguments or input text are wrong
  kNotFound,         ///< a file, model, tensor or name does not exist
  kMalformed,        ///< a file's content breaks its format
  kUnsupported,      ///< well-formed, but a feature lattice does not implement
  kTooLong,          ///< an input exceeds a length limit
  kIo,               ///< the operating system or the network refused
  kUnavailable,      ///< a device or service cannot be used now
  kCancelled,        ///< the caller cancelled the operation
  kInternal,         ///< a fault of lattice itself
};

/// The stable lower-case name of `code`, for example "invalid_argument".
std::string_view error_code_name(ErrorCode code) noexcept;

/// An error: its kind, and a message that names the file, field or input and what was expected.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

/// The exception that ends a public operation. what() is the message.
class LatticeError : public std::runtime_error {
 public:
  explicit LatticeError(Error error) : std::runtime_error(error.message), code_(error.code) {}
  LatticeError(ErrorCode code, const std::string& message)
      : std::runtime_error(message), code_(code) {}

  ErrorCode code() const noexcept { return code_; }
  Error error() const { return Error{code_, what()}; }

 private:
  ErrorCode code_;
};

}  // namespace lattice
