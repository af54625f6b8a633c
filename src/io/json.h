#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lattice {

struct JsonMember;

/// One node of a parsed JSON document: immutable, two words of payload, owned by its JsonDocument,
/// which must outlive it. Objects keep the order of the file and any duplicate keys.
class Json {
 public:
  enum class Kind : std::uint8_t { kNull, kBool, kInt, kUint, kDouble, kString, kArray, kObject };

  Json() = default;

  Kind kind() const { return kind_; }
  /// "null", "boolean", "integer", "number", "string", "array" or "object", for error messages.
  std::string_view kind_name() const;

  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_object() const { return kind_ == Kind::kObject; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_string() const { return kind_ == Kind::kString; }

  std::optional<bool> as_bool() const;
  /// An integer that fits std::int64_t, or a float with an integral value below 2^53 (1e6).
  std::optional<std::int64_t> as_int() const;
  std::optional<std::uint64_t> as_uint() const;
  /// Any number.
  std::optional<double> as_double() const;
  std::optional<std::string_view> as_string() const;

  /// The elements of an array; empty for any other kind.
  std::span<const Json> items() const;
  /// The members of an object in file order; empty for any other kind.
  std::span<const JsonMember> members() const;
  /// The first member called `key`, or nullptr. Linear in the object's size.
  const Json* find(std::string_view key) const;

 private:
  friend class JsonBuilder;
  Kind kind_ = Kind::kNull;
  std::uint32_t size_ = 0;  // of a string, array or object
  union Value {
    bool boolean;
    std::int64_t integer;
    std::uint64_t uinteger;
    double number;
    const char* string;
    const Json* items;
    const JsonMember* members;
  };
  Value value_ = {.uinteger = 0};
};

struct JsonMember {
  std::string_view key;
  Json value;
};

/// A parsed JSON text: its nodes and strings. Move-only; reading is thread-safe.
class JsonDocument {
 public:
  /// Parses UTF-8 `text`. `source` (a file name) prefixes error messages. Errors: kMalformed for
  /// invalid JSON or UTF-8, nesting deeper than 256 or an array or object of 2^32 members.
  static Result<JsonDocument> parse(std::string_view text, const std::string& source);

  /// Reads and parses a file. Errors: kNotFound, kIo, kMalformed (also when larger than
  /// `max_bytes`).
  static Result<JsonDocument> parse_file(const std::filesystem::path& path,
                                         std::uint64_t max_bytes = std::uint64_t{1} << 30);

  const Json& root() const;

  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;
  ~JsonDocument();

 private:
  struct Storage;
  explicit JsonDocument(std::unique_ptr<Storage> storage);
  std::unique_ptr<Storage> storage_;
};

/// The first key that occurs twice in one object anywhere below `root`, as a dotted path.
std::optional<std::string> find_duplicate_key(const Json& root);

}  // namespace lattice
