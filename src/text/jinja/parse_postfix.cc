#include <algorithm>
#include <array>

#include "text/jinja/parser_impl.h"

namespace lattice::jinja {

using Type = Token::Type;

ExprPtr Parser::parse_postfix(ExprPtr expr) {
  while (true) {
    if (current().is_operator(".")) {
      expr = parse_attribute(std::move(expr));
    } else if (current().is_operator("[")) {
      expr = parse_subscript(std::move(expr));
    } else if (current().is_operator("(")) {
      expr = parse_call(std::move(expr));
    } else {
      return expr;
    }
  }
}

ExprPtr Parser::parse_filters_and_tests(ExprPtr expr) {
  while (true) {
    if (current().is_operator("|")) {
      expr = parse_filters(std::move(expr), false);
    } else if (current().is_name("is")) {
      expr = parse_test(std::move(expr));
    } else if (current().is_operator("(")) {
      expr = parse_call(std::move(expr));
    } else {
      return expr;
    }
  }
}

ExprPtr Parser::parse_attribute(ExprPtr object) {
  const std::uint32_t line = current().line;
  take();  // .
  const std::uint32_t depth = object->depth;
  if (current().is(Type::kInteger)) {
    ExprPtr key = parse_number();
    return make(line, Item{std::move(object), std::move(key)}, depth);
  }
  if (!current().is(Type::kName)) fail("expected a name or a number after '.'");
  return make(line, Attribute{std::move(object), take().text}, depth);
}

ExprPtr Parser::parse_subscript(ExprPtr object) {
  const std::uint32_t line = current().line;
  take();  // [
  const auto at_end = [&] { return current().is_operator("]") || current().is_operator(","); };
  ExprPtr parts[3];
  bool is_slice = false;
  std::vector<ExprPtr> keys;
  bool is_tuple = current().is_operator("]");
  while (!current().is_operator("]")) {
    if (!keys.empty()) {
      expect_operator(",");
      is_tuple = true;
    }
    ExprPtr key = current().is_operator(":") ? nullptr : parse_expression();
    if (current().is_operator(":")) {
      is_slice = true;
      take();
      parts[0] = std::move(key);
      if (!current().is_operator(":") && !at_end()) parts[1] = parse_expression();
      if (accept_operator(":") && !at_end()) parts[2] = parse_expression();
      if (!current().is_operator("]")) fail("a slice cannot be part of a tuple");
      if (is_tuple) fail("a slice cannot be part of a tuple");
      break;
    }
    keys.push_back(std::move(key));
  }
  expect_operator("]");
  if (is_slice) {
    std::uint32_t depth = object->depth;
    for (const ExprPtr& part : parts) depth = std::max(depth, part ? part->depth : 0);
    return make(
        line,
        Slice{std::move(object), std::move(parts[0]), std::move(parts[1]), std::move(parts[2])},
        depth);
  }
  std::uint32_t depth = depth_of(keys);
  ExprPtr key = is_tuple ? make(line, TupleExpr{std::move(keys)}, depth) : std::move(keys[0]);
  depth = std::max(object->depth, key->depth);
  return make(line, Item{std::move(object), std::move(key)}, depth);
}

ExprPtr Parser::parse_call(ExprPtr callee) {
  const std::uint32_t line = current().line;
  Arguments arguments = parse_arguments();
  const std::uint32_t depth = std::max(callee->depth, depth_of(arguments));
  return make(line, Call{std::move(callee), std::move(arguments)}, depth);
}

Arguments Parser::parse_arguments() {
  const std::uint32_t line = current().line;
  const auto ensure = [&](bool fine) {
    if (!fine) fail_at(line, "these arguments are in an order that is not allowed");
  };
  expect_operator("(");
  Arguments arguments;
  bool first = true;
  while (!current().is_operator(")")) {
    if (!first) {
      expect_operator(",");
      if (current().is_operator(")")) break;
    }
    first = false;
    if (accept_operator("*")) {
      ensure(!arguments.spread && !arguments.named_spread);
      arguments.spread = parse_expression();
    } else if (accept_operator("**")) {
      ensure(!arguments.named_spread);
      arguments.named_spread = parse_expression();
    } else if (current().is(Type::kName) && look_ahead().is_operator("=")) {
      ensure(!arguments.named_spread);
      std::string name = take().text;
      take();
      const bool repeated = std::any_of(arguments.named.begin(), arguments.named.end(),
                                        [&](const auto& entry) { return entry.first == name; });
      if (repeated) fail(fmt::format("the argument '{}' is given twice", name));
      arguments.named.emplace_back(std::move(name), parse_expression());
    } else {
      ensure(!arguments.spread && !arguments.named_spread && arguments.named.empty());
      arguments.positional.push_back(parse_expression());
    }
  }
  expect_operator(")");
  return arguments;
}

std::string Parser::parse_dotted_name() {
  std::string name = expect_name();
  while (accept_operator(".")) name += "." + expect_name();
  return name;
}

ExprPtr Parser::parse_filters(ExprPtr input, bool inline_first) {
  while (inline_first || current().is_operator("|")) {
    if (!inline_first) take();
    inline_first = false;
    const std::uint32_t line = current().line;
    std::string name = parse_dotted_name();
    const FilterEntry* filter = find_filter(name);
    if (filter == nullptr) note_missing(line, "filter", name);
    Arguments arguments;
    if (current().is_operator("(")) arguments = parse_arguments();
    const std::uint32_t depth = std::max(input ? input->depth : 0, depth_of(arguments));
    input = make(line, FilterExpr{std::move(input), filter, std::move(arguments), std::move(name)},
                 depth);
  }
  return input;
}

ExprPtr Parser::parse_test(ExprPtr input) {
  const std::uint32_t line = take().line;  // is
  const bool negated = accept_name("not");
  std::string name = parse_dotted_name();
  const TestEntry* test = find_test(name);
  if (test == nullptr) note_missing(line, "test", name);
  Arguments arguments;
  const bool has_argument = current().is(Type::kName) || current().is(Type::kString) ||
                            current().is(Type::kInteger) || current().is(Type::kFloat) ||
                            current().is_operator("[") || current().is_operator("{");
  if (current().is_operator("(")) {
    arguments = parse_arguments();
  } else if (has_argument && !current().is_name("else") && !current().is_name("or") &&
             !current().is_name("and")) {
    if (current().is_name("is")) fail("tests cannot be chained with is");
    arguments.positional.push_back(parse_postfix(parse_primary()));
  }
  std::uint32_t depth = std::max(input->depth, depth_of(arguments));
  ExprPtr expr =
      make(line, TestExpr{std::move(input), test, std::move(arguments), std::move(name)}, depth);
  if (!negated) return expr;
  depth = expr->depth;
  return make(line, Unary{Unary::Op::kNot, std::move(expr)}, depth);
}

}  // namespace lattice::jinja
