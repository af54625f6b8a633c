#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/json.h"

namespace lattice {

/// Reads typed fields of one JSON object and remembers the first error and which keys were read, so
/// that a parser is a plain list of fields with one check at the end:
///
///   ConfigReader reader(root, "config.json");
///   config.hidden_size = reader.require_int("hidden_size", 1, kMaxWidth);
///   config.eps = reader.get_double("layer_norm_eps", 1e-12);
///   if (auto status = reader.finish(); !status) return forward_error(status);
///
/// After an error every getter returns its default. A member that is null counts as absent.
class ConfigReader {
 public:
  /// `object` must outlive the reader; `source` is the file's path, for messages.
  ConfigReader(const Json& object, std::string source);

  bool has(std::string_view key);

  std::int64_t require_int(std::string_view key, std::int64_t min, std::int64_t max);
  std::int64_t get_int(std::string_view key, std::int64_t fallback, std::int64_t min,
                       std::int64_t max);
  /// Finite numbers only.
  double get_double(std::string_view key, double fallback);
  bool get_bool(std::string_view key, bool fallback);
  std::string get_string(std::string_view key, std::string fallback);
  std::string require_string(std::string_view key);

  /// The member's value for the caller to read, or nullptr; marks the key as read.
  const Json* get(std::string_view key);

  /// Marks keys that are known not to change the computation.
  void ignore(std::initializer_list<std::string_view> keys);

  /// Records an error of the caller's own, unless there is one already.
  void set_error(ErrorCode code, std::string message);
  /// kUnsupported, "<source>: <key>: <why>": a setting that would change the computation.
  void refuse(std::string_view key, std::string_view why);
  /// kMalformed, "<source>: <key>: expected <expected>, got <kind>".
  void wrong_type(std::string_view key, std::string_view expected, const Json& got);

  bool ok() const { return !error_.has_value(); }
  Result<void> finish() const;

  /// Keys of the object that nobody read or ignored, in file order.
  std::vector<std::string> unread_keys() const;
  /// Logs a warning for each of them.
  void warn_unread_keys() const;

  const std::string& source() const { return source_; }

 private:
  const Json* find(std::string_view key);
  void missing(std::string_view key, std::string_view expected);

  const Json& object_;
  std::string source_;
  std::set<std::string, std::less<>> read_;
  std::optional<Error> error_;
};

}  // namespace lattice
