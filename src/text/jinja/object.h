#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "text/jinja/iterate.h"
#include "text/jinja/value.h"

namespace lattice::jinja {

class Evaluator;
struct Scope;
struct MacroBody;
struct ForLoop;

/// The evaluated arguments of a call.
struct CallArgs {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

using FunctionCode = Value (*)(Evaluator&, const CallArgs&);
using MethodCode = Value (*)(Evaluator&, const Value& self, const CallArgs&);

/// namespace(): the one mutable object. The Evaluator empties all of them in the end, so that
/// namespaces that hold each other are freed.
struct Namespace {
  Dict attributes;
};

/// A function of the language, such as range.
struct Function {
  std::string_view name;
  FunctionCode code = nullptr;
};

/// What a type's method is called and does.
struct MethodEntry {
  std::string_view name;
  MethodCode code = nullptr;
};

/// A method of a value, such as "abc".upper.
struct Method {
  const MethodEntry* entry = nullptr;  ///< of a static table
  Value self;
};

/// A macro and the scope it was defined in.
struct Macro {
  const MacroBody* body = nullptr;
  std::shared_ptr<Scope> scope;
};

/// The variable `loop`.
struct Loop {
  Cursor cursor;
  std::optional<std::size_t> known_size;  ///< of the iterable, when it has one
  std::optional<Value> after, current, before, last_changed;
  std::int64_t index0 = -1;
  std::int64_t depth0 = 0;
  const ForLoop* recursive = nullptr;
  std::shared_ptr<Scope> scope;  ///< around the loop, for a recursive call

  bool next(Value& item);
  bool peek();
  std::int64_t length();
};

/// cycler(): gives its items in turn.
struct Cycler {
  std::vector<Value> items;
  std::size_t position = 0;
};

/// joiner(): empty at first, then the separator.
struct Joiner {
  Text separator;
  bool used = false;
};

/// What has identity or can be called.
struct Object {
  std::variant<Namespace, Function, Method, Macro, Loop, Cycler, Joiner> data;
  std::uint32_t depth = 0;  ///< of the values it keeps for good
};

/// Python's name for the type of `object`.
std::string_view object_type_name(const Object& object);

Value make_function(std::string_view name, FunctionCode code);
Value make_method(const MethodEntry& entry, const Value& self);

}  // namespace lattice::jinja
