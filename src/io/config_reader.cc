#include "io/config_reader.h"

#include <cmath>

#include "base/log.h"

namespace lattice {

ConfigReader::ConfigReader(const Json& object, std::string source)
    : object_(object), source_(std::move(source)) {
  if (!object.is_object()) {
    set_error(ErrorCode::kMalformed,
              fmt::format("{}: expected a JSON object, got {}", source_, object.kind_name()));
  }
}

const Json* ConfigReader::find(std::string_view key) {
  read_.emplace(key);
  if (error_) return nullptr;
  const Json* found = nullptr;
  for (const JsonMember& member : object_.members()) {
    if (member.key != key) continue;
    if (found != nullptr) {
      set_error(ErrorCode::kMalformed, fmt::format("{}: {} occurs twice", source_, key));
      return nullptr;
    }
    found = &member.value;
  }
  return found == nullptr || found->is_null() ? nullptr : found;
}

const Json* ConfigReader::get(std::string_view key) { return find(key); }

bool ConfigReader::has(std::string_view key) { return find(key) != nullptr; }

void ConfigReader::missing(std::string_view key, std::string_view expected) {
  set_error(ErrorCode::kMalformed,
            fmt::format("{}: {} is missing (expected {})", source_, key, expected));
}

void ConfigReader::refuse(std::string_view key, std::string_view why) {
  set_error(ErrorCode::kUnsupported, fmt::format("{}: {}: {}", source_, key, why));
}

void ConfigReader::warn_unread_keys() const {
  for (const std::string& key : unread_keys()) {
    log_warning("{}: unknown key \"{}\" is ignored", source_, key);
  }
}

void ConfigReader::wrong_type(std::string_view key, std::string_view expected, const Json& got) {
  set_error(ErrorCode::kMalformed,
            fmt::format("{}: {}: expected {}, got {}", source_, key, expected, got.kind_name()));
}

std::int64_t ConfigReader::get_int(std::string_view key, std::int64_t fallback, std::int64_t min,
                                   std::int64_t max) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  const auto integer = value->as_int();
  if (!integer && value->kind() != Json::Kind::kUint) {
    wrong_type(key, "an integer", *value);
    return fallback;
  }
  if (!integer || *integer < min || *integer > max) {
    const std::string got = integer ? std::to_string(*integer) : std::to_string(*value->as_uint());
    set_error(ErrorCode::kMalformed, fmt::format("{}: {}: expected an integer in {}..{}, got {}",
                                                 source_, key, min, max, got));
    return fallback;
  }
  return *integer;
}

std::int64_t ConfigReader::require_int(std::string_view key, std::int64_t min, std::int64_t max) {
  if (find(key) == nullptr && !error_) missing(key, "an integer");
  return get_int(key, min, min, max);
}

double ConfigReader::get_double(std::string_view key, double fallback) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  const auto number = value->as_double();
  if (!number || !std::isfinite(*number)) {
    wrong_type(key, "a finite number", *value);
    return fallback;
  }
  return *number;
}

bool ConfigReader::get_bool(std::string_view key, bool fallback) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  const auto boolean = value->as_bool();
  if (!boolean) wrong_type(key, "true or false", *value);
  return boolean.value_or(fallback);
}

std::string ConfigReader::get_string(std::string_view key, std::string fallback) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  const auto text = value->as_string();
  if (!text) {
    wrong_type(key, "a string", *value);
    return fallback;
  }
  return std::string(*text);
}

std::string ConfigReader::require_string(std::string_view key) {
  if (find(key) == nullptr && !error_) missing(key, "a string");
  return get_string(key, "");
}

void ConfigReader::ignore(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) read_.emplace(key);
}

void ConfigReader::set_error(ErrorCode code, std::string message) {
  if (!error_) error_ = Error{code, std::move(message)};
}

Result<void> ConfigReader::finish() const {
  if (error_) return tl::make_unexpected(*error_);
  return {};
}

std::vector<std::string> ConfigReader::unread_keys() const {
  std::vector<std::string> keys;
  for (const JsonMember& member : object_.members()) {
    if (!read_.contains(member.key)) keys.emplace_back(member.key);
  }
  return keys;
}

}  // namespace lattice
