#include "io/safetensors_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include "base/bytes.h"
#include "base/checked_math.h"
#include "io/json.h"

namespace lattice {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::string_view kMetadataKey = "__metadata__";

std::uint64_t read_little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  }
  return value;
}

/// Where the member `key` stands in the JSON `text`, for messages only: the `occurrence`-th place
/// (from 0) where the key is spelled without escapes and followed by a colon; 0 when there is none.
std::size_t find_key(std::string_view text, std::string_view key, int occurrence) {
  const std::string quoted = fmt::format("\"{}\"", key);
  for (std::size_t at = text.find(quoted); at != text.npos; at = text.find(quoted, at + 1)) {
    const std::size_t next = text.find_first_not_of(" \t\r\n", at + quoted.size());
    if (next != text.npos && text[next] == ':' && occurrence-- == 0) return at;
  }
  return 0;
}

class HeaderParser {
 public:
  HeaderParser(std::span<const std::byte> file, const std::string& path)
      : file_(file), path_(path) {}

  Result<SafetensorsHeader> parse() {
    if (auto status = locate_header(); !status) return forward_error(status);
    auto document =
        JsonDocument::parse(text_, fmt::format("[safetensors] {}: header at byte 8", path_));
    if (!document) return forward_error(document);
    std::unordered_set<std::string_view> names;
    for (const JsonMember& member : document->root().members()) {
      if (!names.insert(member.key).second) {
        return error(member.key, "expected one entry, got a duplicate of this name",
                     key_byte(member.key, 1));
      }
      auto status = member.key == kMetadataKey ? read_metadata(member.value) : read_entry(member);
      if (!status) return forward_error(status);
    }
    if (auto status = check_layout(); !status) return forward_error(status);
    return std::move(header_);
  }

 private:
  /// Finds the JSON text. Nothing is allocated from the untrusted length.
  Result<void> locate_header() {
    if (file_.size() < kLengthBytes) {
      return fail(ErrorCode::kMalformed,
                  "[safetensors] {}: expected at least 8 bytes, got {}: the file is truncated",
                  path_, file_.size());
    }
    const std::uint64_t length = read_little_endian(file_);
    constexpr std::string_view kLfsPointer = "version https://git-lfs";
    if (as_text(file_.first(std::min(file_.size(), kLfsPointer.size()))) == kLfsPointer) {
      return fail(ErrorCode::kMalformed,
                  "[safetensors] {}: this is a Git LFS pointer, not the weights: fetch them with "
                  "`git lfs pull` or `lattice pull`",
                  path_);
    }
    if (length > kMaxSafetensorsHeader) {
      return fail(ErrorCode::kMalformed,
                  "[safetensors] {}: expected a header of at most {} bytes, got {} (byte 0)", path_,
                  kMaxSafetensorsHeader, length);
    }
    if (length > file_.size() - kLengthBytes) {
      return fail(ErrorCode::kMalformed,
                  "[safetensors] {}: expected a header of {} bytes after byte 8, got a file of {} "
                  "bytes: the file is truncated or not safetensors",
                  path_, length, file_.size());
    }
    data_begin_ = kLengthBytes + length;
    text_ = as_text(file_.subspan(kLengthBytes, static_cast<std::size_t>(length)));
    if (text_.empty() || text_.front() != '{') {
      return fail(ErrorCode::kMalformed,
                  "[safetensors] {}: expected a JSON object that starts with '{{' (byte 8)", path_);
    }
    return {};
  }

  std::uint64_t key_byte(std::string_view key, int occurrence = 0) const {
    return kLengthBytes + find_key(text_, key, occurrence);
  }

  /// A fault of the entry `name`, whose place in the header is searched for only now.
  tl::unexpected<Error> error(std::string_view name, std::string_view what) const {
    return error(name, what, key_byte(name));
  }

  tl::unexpected<Error> error(std::string_view name, std::string_view what,
                              std::uint64_t byte) const {
    return fail(ErrorCode::kMalformed, "[safetensors] {}: tensor \"{}\": {} (byte {})", path_, name,
                what, byte);
  }

  Result<void> read_metadata(const Json& value) {
    if (!value.is_object()) {
      return error(kMetadataKey, fmt::format("expected an object, got {}", value.kind_name()),
                   key_byte(kMetadataKey));
    }
    for (const JsonMember& member : value.members()) {
      const auto text = member.value.as_string();
      if (!text) {
        return error(
            kMetadataKey,
            fmt::format("{}: expected a string, got {}", member.key, member.value.kind_name()),
            key_byte(member.key));
      }
      if (!header_.metadata.emplace(member.key, *text).second) {
        return error(kMetadataKey, fmt::format("{} occurs twice", member.key),
                     key_byte(member.key, 1));
      }
    }
    return {};
  }

  Result<void> read_entry(const JsonMember& member) {
    if (!member.value.is_object()) {
      return error(member.key, fmt::format("expected an object, got {}", member.value.kind_name()));
    }
    const Json* dtype = nullptr;
    const Json* shape = nullptr;
    const Json* offsets = nullptr;
    for (const JsonMember& field : member.value.members()) {
      const Json** slot = field.key == "dtype"          ? &dtype
                          : field.key == "shape"        ? &shape
                          : field.key == "data_offsets" ? &offsets
                                                        : nullptr;
      if (slot == nullptr || *slot != nullptr) {
        return error(member.key,
                     fmt::format("expected dtype, shape and data_offsets once each, got {} {}",
                                 slot == nullptr ? "an unknown field" : "a second", field.key));
      }
      *slot = &field.value;
    }
    if (dtype == nullptr || !dtype->is_string()) {
      return error(member.key, "dtype: expected a string");
    }
    SafetensorsEntry entry;
    entry.name = member.key;
    entry.dtype_name = *dtype->as_string();
    entry.dtype = parse_dtype(entry.dtype_name);
    if (auto status = read_offsets(entry, offsets); !status) return status;
    if (auto status = read_shape(entry, shape); !status) return status;
    header_.entries.push_back(std::move(entry));
    return {};
  }

  /// Sets begin and end, still checked only against 64 bits and each other.
  Result<void> read_offsets(SafetensorsEntry& entry, const Json* offsets) {
    std::array<std::uint64_t, 2> ends = {};
    const auto items = offsets == nullptr ? std::span<const Json>() : offsets->items();
    bool valid = items.size() == ends.size();
    for (std::size_t i = 0; valid && i < ends.size(); ++i) {
      const auto offset = items[i].as_uint();
      const auto absolute =
          offset ? checked_add(*offset, data_begin_) : std::optional<std::uint64_t>();
      valid = absolute.has_value();
      ends[i] = absolute.value_or(0);
    }
    if (!valid) {
      return error(entry.name, "data_offsets: expected two non-negative 64-bit integers");
    }
    entry.begin = ends[0];
    entry.end = ends[1];
    if (entry.begin > entry.end || entry.end > file_.size()) {
      return error(entry.name,
                   fmt::format("data_offsets: expected begin <= end <= {} bytes of data, got "
                               "[{}, {}]: the file is truncated or corrupt",
                               file_.size() - data_begin_, entry.begin - data_begin_,
                               entry.end - data_begin_));
    }
    return {};
  }

  Result<void> read_shape(SafetensorsEntry& entry, const Json* shape) {
    if (shape == nullptr || !shape->is_array()) {
      return error(entry.name, "shape: expected an array");
    }
    const auto items = shape->items();
    if (items.size() > kMaxSafetensorsRank) {
      return error(entry.name, fmt::format("shape: expected at most {} dimensions, got {}",
                                           kMaxSafetensorsRank, items.size()));
    }
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    std::optional<std::uint64_t> count = 1;
    for (const Json& item : items) {
      const auto dim = item.as_uint();
      if (!dim || *dim > kMax) {
        return error(entry.name, "shape: expected non-negative 63-bit integers");
      }
      count = checked_mul(*count, *dim);
      if (!count || *count > kMax) {
        return error(entry.name, "shape: the number of elements overflows 63 bits");
      }
      entry.shape.push_back(static_cast<std::int64_t>(*dim));
    }
    if (!entry.dtype) return {};
    const auto bytes = checked_mul<std::uint64_t>(*count, dtype_size(*entry.dtype));
    if (!bytes || *bytes != entry.end - entry.begin) {
      return error(
          entry.name,
          fmt::format("expected {} {} to take {} bytes, got {} in data_offsets", entry.dtype_name,
                      shape_string(entry.shape), bytes ? std::to_string(*bytes) : "more than 2^64",
                      entry.end - entry.begin));
    }
    return {};
  }

  /// The ranges must follow one another from the end of the header to the end of the file.
  Result<void> check_layout() {
    auto& entries = header_.entries;
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
      return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    std::uint64_t expected = data_begin_;
    for (const SafetensorsEntry& entry : entries) {
      if (entry.begin != expected) {
        return error(entry.name,
                     fmt::format("expected data at offset {}, got {}: {}", expected - data_begin_,
                                 entry.begin - data_begin_,
                                 entry.begin > expected ? "a gap" : "tensors overlap"),
                     entry.begin);
      }
      expected = entry.end;
    }
    if (expected != file_.size()) {
      return fail(ErrorCode::kMalformed,
                  "[safetensors] {}: expected a file of {} bytes, got {}: {} bytes follow the last "
                  "tensor (byte {})",
                  path_, expected, file_.size(), file_.size() - expected, expected);
    }
    return {};
  }

  std::span<const std::byte> file_;
  const std::string& path_;
  std::uint64_t data_begin_ = 0;
  std::string_view text_;
  SafetensorsHeader header_;
};

}  // namespace

Result<SafetensorsHeader> parse_safetensors_header(std::span<const std::byte> file,
                                                   const std::string& path) {
  return HeaderParser(file, path).parse();
}

}  // namespace lattice
