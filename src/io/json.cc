#include "io/json.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <unordered_set>
#include <vector>

#include "base/bytes.h"
#include "base/mapped_file.h"

namespace lattice {
namespace {

constexpr std::size_t kMaxDepth = 256;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether the decimal digits spell a number above 2^64 - 1.
bool exceeds_uint64(std::string_view digits) {
  constexpr std::string_view kMax = "18446744073709551615";
  return digits.size() > kMax.size() || (digits.size() == kMax.size() && digits > kMax);
}

// simdjson refuses integers above 64 bits, which JSON allows and Hugging Face files hold (a
// model_max_length of 10^30): the same text with such integers written as floats.
std::string write_huge_integers_as_floats(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (text[at] == '"') {
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
      out += text.substr(at, end - at);
    } else if (is_digit(text[at])) {
      while (end < text.size() && is_digit(text[end])) ++end;
      const bool in_float = (at > 0 && (text[at - 1] == '.' || text[at - 1] == '+')) ||
                            (end < text.size() && (text[end] == '.' || (text[end] | 32) == 'e'));
      out += text.substr(at, end - at);
      if (!in_float && exceeds_uint64(text.substr(at, end - at))) out += ".0";
    } else {
      out += text[at];
    }
    at = end;
  }
  return out;
}

}  // namespace

struct JsonDocument::Storage {
  simdjson::dom::parser parser;  // owns the strings
  std::deque<std::vector<Json>> arrays;
  std::deque<std::vector<JsonMember>> objects;
  Json root;
};

/// Copies simdjson's tape into Json nodes.
class JsonBuilder {
 public:
  JsonBuilder(std::deque<std::vector<Json>>& arrays, std::deque<std::vector<JsonMember>>& objects)
      : arrays_(arrays), objects_(objects) {}

  Json build(simdjson::dom::element element) {
    using simdjson::dom::element_type;
    switch (element.type()) {
      case element_type::ARRAY:
        return build_array(element.get_array().value_unsafe());
      case element_type::OBJECT:
        return build_object(element.get_object().value_unsafe());
      case element_type::STRING:
        return build_string(element.get_string().value_unsafe());
      case element_type::INT64:
        return make(Json::Kind::kInt, {.integer = element.get_int64().value_unsafe()});
      case element_type::UINT64:
        return make(Json::Kind::kUint, {.uinteger = element.get_uint64().value_unsafe()});
      case element_type::DOUBLE:
        return make(Json::Kind::kDouble, {.number = element.get_double().value_unsafe()});
      case element_type::BOOL:
        return make(Json::Kind::kBool, {.boolean = element.get_bool().value_unsafe()});
      case element_type::NULL_VALUE:
        break;
    }
    return Json();
  }

 private:
  static Json make(Json::Kind kind, Json::Value value, std::size_t size = 0) {
    Json node;
    node.kind_ = kind;
    node.size_ = static_cast<std::uint32_t>(size);
    node.value_ = value;
    return node;
  }

  static Json build_string(std::string_view text) {
    return make(Json::Kind::kString, {.string = text.data()}, text.size());
  }

  // deque: growth never moves the vectors that nodes point into.
  Json build_array(simdjson::dom::array array) {
    std::vector<Json> items;
    items.reserve(array.size());
    for (const simdjson::dom::element element : array) items.push_back(build(element));
    arrays_.push_back(std::move(items));
    const std::vector<Json>& kept = arrays_.back();
    return make(Json::Kind::kArray, {.items = kept.data()}, kept.size());
  }

  Json build_object(simdjson::dom::object object) {
    std::vector<JsonMember> members;
    members.reserve(object.size());
    for (const auto field : object) members.push_back({field.key, build(field.value)});
    objects_.push_back(std::move(members));
    const std::vector<JsonMember>& kept = objects_.back();
    return make(Json::Kind::kObject, {.members = kept.data()}, kept.size());
  }

  std::deque<std::vector<Json>>& arrays_;
  std::deque<std::vector<JsonMember>>& objects_;
};

std::string_view Json::kind_name() const {
  switch (kind_) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "boolean";
    case Kind::kInt:
    case Kind::kUint:
      return "integer";
    case Kind::kDouble:
      return "number";
    case Kind::kString:
      return "string";
    case Kind::kArray:
      return "array";
    case Kind::kObject:
      return "object";
  }
  return "null";
}

std::optional<bool> Json::as_bool() const {
  if (kind_ != Kind::kBool) return std::nullopt;
  return value_.boolean;
}

std::optional<std::int64_t> Json::as_int() const {
  if (kind_ == Kind::kInt) return value_.integer;
  if (kind_ == Kind::kDouble && std::trunc(value_.number) == value_.number &&
      std::abs(value_.number) < 0x1p53) {
    return static_cast<std::int64_t>(value_.number);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Json::as_uint() const {
  if (kind_ == Kind::kUint) return value_.uinteger;
  if (kind_ == Kind::kInt && value_.integer >= 0) {
    return static_cast<std::uint64_t>(value_.integer);
  }
  return std::nullopt;
}

std::optional<double> Json::as_double() const {
  if (kind_ == Kind::kDouble) return value_.number;
  if (kind_ == Kind::kInt) return static_cast<double>(value_.integer);
  if (kind_ == Kind::kUint) return static_cast<double>(value_.uinteger);
  return std::nullopt;
}

std::optional<std::string_view> Json::as_string() const {
  if (kind_ != Kind::kString) return std::nullopt;
  return std::string_view(value_.string, size_);
}

std::span<const Json> Json::items() const {
  if (kind_ != Kind::kArray) return {};
  return {value_.items, size_};
}

std::span<const JsonMember> Json::members() const {
  if (kind_ != Kind::kObject) return {};
  return {value_.members, size_};
}

const Json* Json::find(std::string_view key) const {
  for (const JsonMember& member : members()) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

JsonDocument::JsonDocument(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

const Json& JsonDocument::root() const { return storage_->root; }

Result<JsonDocument> JsonDocument::parse(std::string_view text, const std::string& source) {
  // simdjson's own limit is 2^32 - 1 bytes; counts below then fit 32 bits.
  if (text.size() >= std::numeric_limits<std::uint32_t>::max()) {
    return fail(ErrorCode::kMalformed, "{}: {} bytes of JSON exceed the limit of 4 GiB", source,
                text.size());
  }
  // simdjson copies the text even when there is none, and an empty view may point nowhere.
  if (text.empty()) {
    return fail(ErrorCode::kMalformed, "{}: invalid JSON: {}", source,
                simdjson::error_message(simdjson::EMPTY));
  }
  auto storage = std::make_unique<Storage>();
  if (storage->parser.allocate(text.size(), kMaxDepth) != simdjson::SUCCESS) {
    return fail(ErrorCode::kMalformed, "{}: not enough memory to parse {} bytes of JSON", source,
                text.size());
  }
  simdjson::dom::element root;
  // The text is copied once into padded memory.
  auto error = storage->parser.parse(text.data(), text.size(), true).get(root);
  if (error == simdjson::NUMBER_ERROR) {
    const std::string rewritten = write_huge_integers_as_floats(text);
    error = storage->parser.parse(rewritten.data(), rewritten.size(), true).get(root);
  }
  if (error != simdjson::SUCCESS) {
    return fail(ErrorCode::kMalformed, "{}: invalid JSON: {}", source,
                simdjson::error_message(error));
  }
  storage->root = JsonBuilder(storage->arrays, storage->objects).build(root);
  return JsonDocument(std::move(storage));
}

Result<JsonDocument> JsonDocument::parse_file(const std::filesystem::path& path,
                                              std::uint64_t max_bytes) {
  auto file = MappedFile::open(path);
  if (!file) return forward_error(file);
  const auto bytes = file->bytes();
  if (bytes.size() > max_bytes) {
    return fail(ErrorCode::kMalformed, "{}: {} bytes exceed the limit of {}", path.string(),
                bytes.size(), max_bytes);
  }
  return parse(as_text(bytes), path.string());
}

std::optional<std::string> find_duplicate_key(const Json& root) {
  std::unordered_set<std::string_view> seen;
  for (const JsonMember& member : root.members()) {
    if (!seen.insert(member.key).second) return std::string(member.key);
  }
  for (const JsonMember& member : root.members()) {
    if (auto inner = find_duplicate_key(member.value)) {
      return std::string(member.key) + "." + *inner;
    }
  }
  for (const Json& item : root.items()) {
    if (auto inner = find_duplicate_key(item)) return inner;
  }
  return std::nullopt;
}

}  // namespace lattice
