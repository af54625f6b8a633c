#include "text/jinja/arguments.h"

#include <algorithm>

#include "text/jinja/compare.h"
#include "text/jinja/repr.h"

namespace lattice::jinja {

Bound::Bound(std::string_view function, const CallArgs& args,
             std::initializer_list<std::string_view> parameters, std::size_t num_required)
    : function_(function), values_(parameters.size()) {
  if (args.positional.size() > parameters.size()) {
    eval_fail("{}() takes at most {} arguments ({} given)", function, parameters.size(),
              args.positional.size());
  }
  for (std::size_t i = 0; i < args.positional.size(); ++i) values_[i] = &args.positional[i];
  for (const auto& [name, value] : args.named) {
    const auto found = std::find(parameters.begin(), parameters.end(), name);
    if (found == parameters.end()) {
      eval_fail("{}() got an unexpected keyword argument {}", function, quote(name));
    }
    const Value*& slot = values_[static_cast<std::size_t>(found - parameters.begin())];
    if (slot != nullptr) {
      eval_fail("{}() got multiple values for argument {}", function, quote(name));
    }
    slot = &value;
  }
  for (std::size_t i = 0; i < num_required; ++i) {
    if (values_[i] == nullptr) {
      eval_fail("{}() is missing the argument {}", function, quote(parameters.begin()[i]));
    }
  }
}

std::int64_t require_integer(const Value& value) {
  if (value.is_undefined()) eval_fail("{}", value.undefined_message());
  if (!value.is_integer()) {
    eval_fail("'{}' object cannot be interpreted as an integer", value.type_name());
  }
  return value.integer();
}

const Text& require_text(const Value& value) {
  if (value.is_undefined()) eval_fail("{}", value.undefined_message());
  if (!value.is_string()) eval_fail("expected a string, got {}", value.type_name());
  return value.text();
}

std::int64_t Bound::integer(std::size_t i, std::int64_t fallback) const {
  return has(i) ? require_integer(at(i)) : fallback;
}

Text Bound::text(std::size_t i, std::string_view fallback) const {
  return has(i) ? require_text(at(i)) : Text(fallback);
}

bool Bound::flag(std::size_t i, bool fallback) const { return has(i) ? truthy(at(i)) : fallback; }

}  // namespace lattice::jinja
