#include <algorithm>
#include <array>
#include <charconv>

#include "base/parse_double.h"
#include "text/jinja/parser_impl.h"

namespace lattice::jinja {

using Type = Token::Type;

std::uint32_t Parser::depth_of(const std::vector<ExprPtr>& items) {
  std::uint32_t depth = 0;
  for (const ExprPtr& item : items) depth = std::max(depth, item->depth);
  return depth;
}

std::uint32_t Parser::depth_of(const Arguments& arguments) {
  std::uint32_t depth = depth_of(arguments.positional);
  for (const auto& [name, value] : arguments.named) depth = std::max(depth, value->depth);
  if (arguments.spread) depth = std::max(depth, arguments.spread->depth);
  if (arguments.named_spread) depth = std::max(depth, arguments.named_spread->depth);
  return depth;
}

ExprPtr Parser::parse_tuple(bool with_conditional, bool until_recursive, bool in_parentheses) {
  const std::uint32_t line = current().line;
  std::vector<ExprPtr> items;
  bool is_tuple = false;
  while (true) {
    if (!items.empty()) expect_operator(",");
    if (current().is(Type::kVariableEnd) || current().is(Type::kBlockEnd) ||
        current().is_operator(")") || (until_recursive && current().is_name("recursive"))) {
      break;
    }
    items.push_back(parse_expression(with_conditional));
    if (!current().is_operator(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !items.empty()) return std::move(items[0]);
  if (!is_tuple && !in_parentheses) {
    fail(fmt::format("expected an expression, got {}", describe(current())));
  }
  const std::uint32_t depth = depth_of(items);
  return make(line, TupleExpr{std::move(items)}, depth);
}

ExprPtr Parser::parse_expression(bool with_conditional) {
  const Nesting nesting(*this);
  if (!with_conditional) return parse_or();
  std::uint32_t line = current().line;
  const std::size_t missing_before = missing_.size();
  ExprPtr then = parse_or();
  while (accept_name("if")) {
    missing_.resize(missing_before);
    ++conditionals_;
    ExprPtr test = parse_or();
    ExprPtr otherwise = accept_name("else") ? parse_expression() : nullptr;
    --conditionals_;
    const std::uint32_t depth =
        std::max({then->depth, test->depth, otherwise ? otherwise->depth : 0});
    then = make(line, Conditional{std::move(test), std::move(then), std::move(otherwise)}, depth);
    line = current().line;
  }
  return then;
}

ExprPtr Parser::parse_or() {
  const std::uint32_t line = current().line;
  ExprPtr left = parse_and();
  while (accept_name("or")) {
    ExprPtr right = parse_and();
    const std::uint32_t depth = std::max(left->depth, right->depth);
    left = make(line, Logical{false, std::move(left), std::move(right)}, depth);
  }
  return left;
}

ExprPtr Parser::parse_and() {
  const std::uint32_t line = current().line;
  ExprPtr left = parse_not();
  while (accept_name("and")) {
    ExprPtr right = parse_not();
    const std::uint32_t depth = std::max(left->depth, right->depth);
    left = make(line, Logical{true, std::move(left), std::move(right)}, depth);
  }
  return left;
}

ExprPtr Parser::parse_not() {
  const std::uint32_t line = current().line;
  if (!accept_name("not")) return parse_compare();
  const Nesting nesting(*this);
  ExprPtr operand = parse_not();
  const std::uint32_t depth = operand->depth;
  return make(line, Unary{Unary::Op::kNot, std::move(operand)}, depth);
}

std::optional<Compare::Op> Parser::accept_comparison() {
  static constexpr std::array<std::pair<std::string_view, Compare::Op>, 6> kOperators = {
      {{"==", Compare::Op::kEq},
       {"!=", Compare::Op::kNe},
       {"<", Compare::Op::kLt},
       {"<=", Compare::Op::kLe},
       {">", Compare::Op::kGt},
       {">=", Compare::Op::kGe}}};
  for (const auto& [symbol, op] : kOperators) {
    if (accept_operator(symbol)) return op;
  }
  if (accept_name("in")) return Compare::Op::kIn;
  if (current().is_name("not") && look_ahead().is_name("in")) {
    take();
    take();
    return Compare::Op::kNotIn;
  }
  return std::nullopt;
}

ExprPtr Parser::parse_compare() {
  const std::uint32_t line = current().line;
  ExprPtr first = parse_sum();
  std::uint32_t depth = first->depth;
  std::vector<std::pair<Compare::Op, ExprPtr>> rest;
  while (const auto op = accept_comparison()) {
    rest.emplace_back(*op, parse_sum());
    depth = std::max(depth, rest.back().second->depth);
  }
  if (rest.empty()) return first;
  return make(line, Compare{std::move(first), std::move(rest)}, depth);
}

ExprPtr Parser::parse_sum() {
  const std::uint32_t line = current().line;
  ExprPtr left = parse_concat();
  while (current().is_operator("+") || current().is_operator("-")) {
    const BinaryOp op = take().text == "+" ? BinaryOp::kAdd : BinaryOp::kSubtract;
    ExprPtr right = parse_concat();
    const std::uint32_t depth = std::max(left->depth, right->depth);
    left = make(line, Binary{op, std::move(left), std::move(right)}, depth);
  }
  return left;
}

ExprPtr Parser::parse_concat() {
  const std::uint32_t line = current().line;
  std::vector<ExprPtr> parts;
  parts.push_back(parse_product());
  while (accept_operator("~")) parts.push_back(parse_product());
  if (parts.size() == 1) return std::move(parts[0]);
  const std::uint32_t depth = depth_of(parts);
  return make(line, Concat{std::move(parts)}, depth);
}

ExprPtr Parser::parse_product() {
  static constexpr std::array<std::pair<std::string_view, BinaryOp>, 4> kOperators = {
      {{"*", BinaryOp::kMultiply},
       {"/", BinaryOp::kDivide},
       {"//", BinaryOp::kFloorDivide},
       {"%", BinaryOp::kModulo}}};
  const std::uint32_t line = current().line;
  ExprPtr left = parse_power();
  while (true) {
    const auto found = std::find_if(kOperators.begin(), kOperators.end(), [&](const auto& entry) {
      return current().is_operator(entry.first);
    });
    if (found == kOperators.end()) return left;
    take();
    ExprPtr right = parse_power();
    const std::uint32_t depth = std::max(left->depth, right->depth);
    left = make(line, Binary{found->second, std::move(left), std::move(right)}, depth);
  }
}

ExprPtr Parser::parse_power() {
  const std::uint32_t line = current().line;
  ExprPtr left = parse_unary();
  while (accept_operator("**")) {
    ExprPtr right = parse_unary();
    const std::uint32_t depth = std::max(left->depth, right->depth);
    left = make(line, Binary{BinaryOp::kPower, std::move(left), std::move(right)}, depth);
  }
  return left;
}

ExprPtr Parser::parse_unary(bool with_filter) {
  const std::uint32_t line = current().line;
  ExprPtr expr;
  if (current().is_operator("-") || current().is_operator("+")) {
    const Nesting nesting(*this);
    const Unary::Op op = take().text == "-" ? Unary::Op::kMinus : Unary::Op::kPlus;
    ExprPtr operand = parse_unary(false);
    const std::uint32_t depth = operand->depth;
    expr = make(line, Unary{op, std::move(operand)}, depth);
  } else {
    expr = parse_primary();
  }
  expr = parse_postfix(std::move(expr));
  return with_filter ? parse_filters_and_tests(std::move(expr)) : std::move(expr);
}

ExprPtr Parser::parse_primary() {
  const std::uint32_t line = current().line;
  switch (current().type) {
    case Type::kName: {
      const std::string name = take().text;
      if (name == "true" || name == "True") return make(line, Literal{true}, 0);
      if (name == "false" || name == "False") return make(line, Literal{false}, 0);
      if (name == "none" || name == "None") return make(line, Literal{None{}}, 0);
      const Symbol symbol = intern(name);
      for (MacroBody* macro : macros_) {
        macro->uses_caller |= symbol == kCaller;
        macro->uses_kwargs |= symbol == kKwargs;
        macro->uses_varargs |= symbol == kVarargs;
      }
      return make(line, Name{symbol}, 0);
    }
    case Type::kString:
      return parse_string();
    case Type::kInteger:
    case Type::kFloat:
      return parse_number();
    default:
      break;
  }
  if (accept_operator("(")) {
    ExprPtr inside = parse_tuple(true, false, true);
    expect_operator(")");
    return inside;
  }
  if (current().is_operator("[")) return parse_list();
  if (current().is_operator("{")) return parse_dict();
  fail(fmt::format("unexpected {}", describe(current())));
}

ExprPtr Parser::parse_string() {
  const std::uint32_t line = current().line;
  std::string text;
  while (current().is(Type::kString)) text += take().text;
  return make(line, Literal{Text(text)}, 0);
}

ExprPtr Parser::parse_number() {
  const Token token = take();
  const std::string& digits = token.text;
  const char* end = digits.data() + digits.size();
  if (token.is(Type::kFloat)) {
    double number = 0;
    const auto result = parse_double(digits.data(), end, number);
    if (result.ec == std::errc::result_out_of_range) {
      // Too large is infinite, too small is zero.
      const std::size_t exponent = digits.find_first_of("eE");
      const bool small = exponent != std::string::npos && digits[exponent + 1] == '-';
      number = small ? 0.0 : std::numeric_limits<double>::infinity();
    }
    return make(token.line, Literal{number}, 0);
  }
  int base = 10;
  const char* begin = digits.data();
  if (digits.size() > 2 && digits[0] == '0' && digits[1] > '9') {
    const char letter = static_cast<char>(digits[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'o' ? 8 : 2;
    begin += 2;
  }
  std::int64_t number = 0;
  if (std::from_chars(begin, end, number, base).ec != std::errc()) {
    raise(ErrorCode::kUnsupported, "{}: the integer {} does not fit 64 bits",
          place(name_, token.line), digits);
  }
  return make(token.line, Literal{number}, 0);
}

ExprPtr Parser::parse_list() {
  const std::uint32_t line = current().line;
  expect_operator("[");
  std::vector<ExprPtr> items;
  while (!current().is_operator("]")) {
    if (!items.empty()) expect_operator(",");
    if (current().is_operator("]")) break;
    items.push_back(parse_expression());
  }
  expect_operator("]");
  const std::uint32_t depth = depth_of(items);
  return make(line, ListExpr{std::move(items)}, depth);
}

ExprPtr Parser::parse_dict() {
  const std::uint32_t line = current().line;
  expect_operator("{");
  DictExpr dict;
  std::uint32_t depth = 0;
  while (!current().is_operator("}")) {
    if (!dict.entries.empty()) expect_operator(",");
    if (current().is_operator("}")) break;
    ExprPtr key = parse_expression();
    expect_operator(":");
    ExprPtr value = parse_expression();
    depth = std::max({depth, key->depth, value->depth});
    dict.entries.emplace_back(std::move(key), std::move(value));
  }
  expect_operator("}");
  return make(line, std::move(dict), depth);
}

}  // namespace lattice::jinja
