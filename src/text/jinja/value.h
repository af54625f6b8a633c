#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "io/json.h"
#include "text/jinja/text.h"

namespace lattice::jinja {

class Value;
class Dict;
struct Object;

/// A list or a tuple.
struct Sequence {
  std::vector<Value> items;
  std::uint32_t depth = 1;   ///< values nested in it, at most kMaxValueDepth
  std::uint64_t weight = 1;  ///< what comparing or hashing it costs, in steps
  bool is_group = false;     ///< a tuple of groupby, whose fields are also grouper and list
};

/// start, start + step, ... below (or above) stop.
struct Range {
  std::int64_t start = 0, stop = 0, step = 1;
  std::uint64_t size = 0;
};

/// dict.keys(), dict.values() or dict.items().
struct DictView {
  enum class Part : std::uint8_t { kKeys, kValues, kItems };
  std::shared_ptr<const Dict> dict;
  Part part = Part::kKeys;
};

/// An iterator that computes its items when asked, once. `next` gives false at the end.
struct Generator {
  std::function<bool(Value&)> next;
  std::uint32_t depth = 1;
};

/// Why a value is undefined: the message of the error that using it gives.
struct Undefined {
  std::shared_ptr<const std::string> message;
};
struct None {};
struct List {
  std::shared_ptr<const Sequence> data;
};
struct Tuple {
  std::shared_ptr<const Sequence> data;
};

/// A value of the template language. As in the sandbox that chat templates run in, all but
/// namespaces and iterators are immutable; copies share their content. Not thread-safe to copy
/// while another thread renders with a namespace or an iterator in it; plain data is.
class Value {
 public:
  /// In the order of the variant's alternatives.
  enum class Kind : std::uint8_t {
    kUndefined,
    kNone,
    kBool,
    kInt,
    kFloat,
    kString,
    kList,
    kTuple,
    kDict,
    kRange,
    kView,
    kGenerator,
    kObject,
  };

  /// Undefined.
  Value() = default;
  Value(None) : data_(None{}) {}                                          // NOLINT
  Value(bool flag) : data_(flag) {}                                       // NOLINT
  Value(std::int64_t number) : data_(number) {}                           // NOLINT
  Value(double number) : data_(number) {}                                 // NOLINT
  Value(Text text) : data_(std::move(text)) {}                            // NOLINT
  Value(std::shared_ptr<const Dict> dict) : data_(std::move(dict)) {}     // NOLINT
  Value(std::shared_ptr<const Range> range) : data_(std::move(range)) {}  // NOLINT
  Value(std::shared_ptr<Generator> items) : data_(std::move(items)) {}    // NOLINT
  Value(std::shared_ptr<Object> object) : data_(std::move(object)) {}     // NOLINT
  Value(DictView view) : data_(std::move(view)) {}                        // NOLINT
  Value(const char*) = delete;

  /// A string; `user_input` marks it as something the tokenizer must read as plain text.
  static Value string(std::string_view text, bool user_input = false);
  static Value number(std::size_t count) { return Value(static_cast<std::int64_t>(count)); }
  static Value undefined(std::string message);
  /// Errors: EvalError when nested deeper than kMaxValueDepth.
  static Value list(std::vector<Value> items);
  static Value tuple(std::vector<Value> items);
  /// What groupby yields: a tuple whose fields are also called grouper and list.
  static Value group(Value key, Value items);
  /// An iterator over what `next` gives; `depth` is that of the deepest value it holds.
  static Value generator(std::function<bool(Value&)> next, std::uint32_t depth);

  /// The value of a JSON document. With `user_input` all of its strings, keys included, are marked.
  /// Errors: LatticeError(kUnsupported) for an integer that 64 bits with a sign cannot hold.
  static Value from_json(const Json& json, bool user_input);

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is(Kind kind) const { return this->kind() == kind; }
  bool is_undefined() const { return is(Kind::kUndefined); }
  bool is_none() const { return is(Kind::kNone); }
  bool is_string() const { return is(Kind::kString); }
  bool is_sequence() const { return is(Kind::kList) || is(Kind::kTuple); }
  bool is_dict() const { return is(Kind::kDict); }
  /// An int or a bool, which Python counts as one.
  bool is_integer() const { return is(Kind::kInt) || is(Kind::kBool); }
  bool is_number() const { return is_integer() || is(Kind::kFloat); }

  bool boolean() const { return std::get<bool>(data_); }
  /// The value of an int or a bool.
  std::int64_t integer() const;
  /// The value of any number.
  double real() const;
  const Text& text() const { return std::get<Text>(data_); }
  /// The items of a list or tuple.
  const Sequence& sequence() const;
  const Dict& dict() const { return *std::get<std::shared_ptr<const Dict>>(data_); }
  const std::shared_ptr<const Dict>& shared_dict() const {
    return std::get<std::shared_ptr<const Dict>>(data_);
  }
  const Range& range() const { return *std::get<std::shared_ptr<const Range>>(data_); }
  const DictView& view() const { return std::get<DictView>(data_); }
  Generator& generator() const { return *std::get<std::shared_ptr<Generator>>(data_); }
  Object& object() const { return *std::get<std::shared_ptr<Object>>(data_); }
  const std::shared_ptr<Object>& shared_object() const {
    return std::get<std::shared_ptr<Object>>(data_);
  }

  /// The message of an undefined value.
  std::string undefined_message() const;
  /// Python's name for the type: "str", "dict", "NoneType", ...
  std::string_view type_name() const;
  /// How many values are nested in it.
  std::uint32_t depth() const;
  /// The steps that comparing or hashing it takes; saturates.
  std::uint64_t weight() const;
  /// Whether both are the same object, as Python's `is` tells for what templates compare with it.
  bool same_as(const Value& other) const;

 private:
  using Data = std::variant<Undefined, None, bool, std::int64_t, double, Text, List, Tuple,
                            std::shared_ptr<const Dict>, std::shared_ptr<const Range>, DictView,
                            std::shared_ptr<Generator>, std::shared_ptr<Object>>;
  explicit Value(Data data) : data_(std::move(data)) {}
  Data data_;
};

/// One more than the deepest of `items`. Errors: EvalError above kMaxValueDepth.
std::uint32_t depth_above(const std::vector<Value>& items);
std::uint32_t depth_above(std::uint32_t depth);
/// The sum, or the largest number when that is larger.
std::uint64_t add_weights(std::uint64_t a, std::uint64_t b);

/// A dict: keeps the order in which keys were first set. Immutable once shared.
class Dict {
 public:
  using Entry = std::pair<Value, Value>;

  /// Sets `key`, which must be hashable (is_hashable).
  void set(Value key, Value value);
  /// The value of `key`, or nullptr.
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;

  const std::vector<Entry>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }
  std::uint32_t depth() const { return depth_; }
  std::uint64_t weight() const { return weight_; }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t find_index(const Value& key, std::size_t hash) const;
  void rehash();

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // 1 + index, 0 when free; empty for small dicts
  std::uint32_t depth_ = 1;
  std::uint64_t weight_ = 1;
};

}  // namespace lattice::jinja
