#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "text/jinja/arithmetic.h"
#include "text/jinja/builtins.h"
#include "text/jinja/value.h"

namespace lattice::jinja {

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using Block = std::vector<Stmt>;

/// A name of the template, as an index into Program::names.
using Symbol = std::uint32_t;
/// The names that are undefined until a scope sets them (scope_analysis.h).
using Names = std::vector<Symbol>;

// Expressions ---------------------------------------------------------------------------------

struct Literal {
  Value value;
};
struct Name {
  Symbol symbol;
};
struct TupleExpr {
  std::vector<ExprPtr> items;
};
struct ListExpr {
  std::vector<ExprPtr> items;
};
struct DictExpr {
  std::vector<std::pair<ExprPtr, ExprPtr>> entries;
};
struct Unary {
  enum class Op : std::uint8_t { kNot, kMinus, kPlus };
  Op op;
  ExprPtr operand;
};
struct Binary {
  BinaryOp op;
  ExprPtr left, right;
};
/// a ~ b ~ c
struct Concat {
  std::vector<ExprPtr> parts;
};
/// a and b, a or b
struct Logical {
  bool is_and;
  ExprPtr left, right;
};
/// a < b <= c
struct Compare {
  enum class Op : std::uint8_t { kEq, kNe, kLt, kLe, kGt, kGe, kIn, kNotIn };
  ExprPtr first;
  std::vector<std::pair<Op, ExprPtr>> rest;
};
/// then if test else otherwise
struct Conditional {
  ExprPtr test, then;
  ExprPtr otherwise;  ///< may be null
};
struct Attribute {
  ExprPtr object;
  std::string name;
};
struct Item {
  ExprPtr object, key;
};
struct Slice {
  ExprPtr object;
  ExprPtr start, stop, step;  ///< each may be null
};
struct Arguments {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> named;
  ExprPtr spread, named_spread;  ///< *spread, **named_spread; each may be null
};
struct Call {
  ExprPtr callee;
  Arguments arguments;
};
/// input|name(arguments)
struct FilterExpr {
  ExprPtr input;  ///< null where a filter block's or block assignment's body goes
  const FilterEntry* filter;
  Arguments arguments;
  std::string name;  ///< when there is no such filter: an error if it is ever reached
};
/// input is name(arguments)
struct TestExpr {
  ExprPtr input;
  const TestEntry* test;
  Arguments arguments;
  std::string name;
};

struct Expr {
  std::uint32_t line = 0;
  std::uint32_t depth = 1;  ///< of the tree below it
  std::variant<Literal, Name, TupleExpr, ListExpr, DictExpr, Unary, Binary, Concat, Logical,
               Compare, Conditional, Attribute, Item, Slice, Call, FilterExpr, TestExpr>
      node;
};

// Statements ----------------------------------------------------------------------------------

/// What is assigned to: a name, a namespace's attribute, or a tuple of such.
struct Target {
  Symbol symbol = 0;
  std::string attribute;  ///< of the namespace called `symbol`, if not empty
  bool is_tuple = false;
  std::vector<Target> items;
};

struct OutputText {
  Text text;
};
struct OutputExpr {
  ExprPtr value;
};
struct If {
  std::vector<std::pair<ExprPtr, Block>> branches;
  Block otherwise;
};
struct ForLoop {
  Target target;
  ExprPtr iterable;
  ExprPtr condition;  ///< may be null
  bool recursive = false;
  Block body, otherwise;
  Names unset, otherwise_unset;
};
struct Set {
  Target target;
  ExprPtr value;
};
/// {% set x | filter %}body{% endset %}
struct SetBlock {
  Target target;
  ExprPtr filter;  ///< may be null
  Block body;
  Names unset;
};
struct Parameter {
  Symbol symbol;
  std::string name;
  ExprPtr fallback;  ///< may be null
};
/// What a macro or the body of a call block does.
struct MacroBody {
  std::string name;
  std::vector<Parameter> parameters;
  Block body;
  Names unset;
  bool uses_caller = false, uses_kwargs = false, uses_varargs = false;
};
struct MacroDefinition {
  Symbol symbol;
  std::shared_ptr<MacroBody> macro;
};
struct CallBlock {
  std::shared_ptr<MacroBody> caller;
  ExprPtr call;
};
struct FilterBlock {
  ExprPtr filter;
  Block body;
  Names unset;
};
/// {% with a = 1 %}; {% generation %} is one without assignments.
struct With {
  std::vector<std::pair<Target, ExprPtr>> assignments;
  Block body;
  Names unset;
};
struct Break {};
struct Continue {};

struct Stmt {
  std::uint32_t line = 0;
  std::variant<OutputText, OutputExpr, If, ForLoop, Set, SetBlock, MacroDefinition, CallBlock,
               FilterBlock, With, Break, Continue>
      node;
};

/// Names that mean something to the evaluator, at the front of Program::names.
enum WellKnown : Symbol { kLoop, kCaller, kKwargs, kVarargs, kNumWellKnown };

/// A parsed template.
struct Program {
  std::vector<std::string> names;
  Block body;
  Names unset;
};

}  // namespace lattice::jinja
