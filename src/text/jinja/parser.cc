#include "text/jinja/parser.h"

#include <algorithm>
#include <array>

#include "text/jinja/parser_impl.h"
#include "text/jinja/scope_analysis.h"

namespace lattice::jinja {

using Type = Token::Type;

Parser::Parser(std::string_view source, const std::string& name)
    : name_(name), tokens_(tokenize(source, name)) {
  for (const char* known : {"loop", "caller", "kwargs", "varargs"}) intern(known);
}

Program Parser::run() {
  program_.body = parse_block({});
  if (!missing_.empty()) unsupported(missing_[0].line, missing_[0].what, missing_[0].name);
  analyze_scopes(program_);
  return std::move(program_);
}

Symbol Parser::intern(const std::string& name) {
  const auto [entry, added] = symbols_.try_emplace(name, static_cast<Symbol>(symbols_.size()));
  if (added) program_.names.push_back(name);
  return entry->second;
}

void Parser::fail_at(std::uint32_t line, std::string_view reason) const {
  raise(ErrorCode::kMalformed, "{}: {}", place(name_, line), reason);
}

void Parser::unsupported(std::uint32_t line, std::string_view what, std::string_view name) const {
  raise(ErrorCode::kUnsupported, "{}: the {} '{}' is not supported", place(name_, line), what,
        name);
}

void Parser::note_missing(std::uint32_t line, std::string_view what, const std::string& name) {
  if (conditionals_ == 0) missing_.push_back({line, what, name});
}

Token Parser::take() {
  Token token = current();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool Parser::accept_operator(std::string_view symbol) {
  if (!current().is_operator(symbol)) return false;
  take();
  return true;
}

bool Parser::accept_name(std::string_view name) {
  if (!current().is_name(name)) return false;
  take();
  return true;
}

void Parser::expect_operator(std::string_view symbol) {
  if (!accept_operator(symbol)) {
    fail(fmt::format("expected '{}', got {}", symbol, describe(current())));
  }
}

std::string Parser::expect_name() {
  if (!current().is(Type::kName)) fail(fmt::format("expected a name, got {}", describe(current())));
  return take().text;
}

void Parser::expect(Token::Type type) {
  if (!current().is(type)) {
    fail(fmt::format("expected {}, got {}", describe({type, 0, ""}), describe(current())));
  }
  take();
}

void Parser::expect_keyword(std::string_view name) {
  if (!accept_name(name)) fail(fmt::format("expected '{}', got {}", name, describe(current())));
}

Block Parser::parse_block(std::initializer_list<std::string_view> ends) {
  const Nesting nesting(*this);
  Block block;
  while (true) {
    const std::uint32_t line = current().line;
    switch (current().type) {
      case Type::kEnd:
        if (ends.size() == 0) return block;
        fail(fmt::format("the template ends before '{}'", *(ends.end() - 1)));
      case Type::kData:
        block.push_back({line, OutputText{Text(take().text)}});
        break;
      case Type::kVariableBegin: {
        take();
        ExprPtr value = parse_tuple(true, false, false);
        expect(Type::kVariableEnd);
        block.push_back({line, OutputExpr{std::move(value)}});
        break;
      }
      default:
        take();  // {%
        if (current().is(Type::kName) &&
            std::find(ends.begin(), ends.end(), current().text) != ends.end()) {
          return block;
        }
        parse_statement(block);
        expect(Type::kBlockEnd);
    }
  }
}

Block Parser::parse_body(std::initializer_list<std::string_view> ends) {
  accept_operator(":");
  expect(Type::kBlockEnd);
  return parse_block(ends);
}

Block Parser::parse_whole_body(std::string_view end) {
  Block body = parse_body({end});
  take();
  return body;
}

void Parser::parse_statement(Block& block) {
  const std::uint32_t line = current().line;
  const std::string tag = expect_name();
  if (parse_simple_statement(block, tag, line)) return;
  if (tag == "if") {
    block.push_back({line, parse_if()});
  } else if (tag == "for") {
    block.push_back({line, parse_for()});
  } else if (tag == "macro") {
    block.push_back({line, parse_macro()});
  } else if (tag == "call") {
    block.push_back({line, parse_call_block()});
  } else if (tag == "filter") {
    block.push_back({line, parse_filter_block()});
  } else if (tag == "with") {
    block.push_back({line, parse_with()});
  } else if (tag == "generation") {
    // Marks what the model wrote, for training; the body is a scope of its own.
    const std::uint32_t loops = std::exchange(loops_, 0);
    block.push_back({line, With{{}, parse_whole_body("endgeneration"), {}}});
    loops_ = loops;
  } else if (tag.starts_with("end") || tag == "else" || tag == "elif") {
    fail_at(line, fmt::format("'{}' without its beginning", tag));
  } else {
    unsupported(line, "tag", tag);
  }
}

bool Parser::parse_simple_statement(Block& block, const std::string& tag, std::uint32_t line) {
  if (tag == "set") {
    parse_set(block, line);
  } else if (tag == "print") {
    parse_print(block, line);
  } else if (tag == "break") {
    check_loop_control();
    block.push_back({line, Break{}});
  } else if (tag == "continue") {
    check_loop_control();
    block.push_back({line, Continue{}});
  } else {
    return false;
  }
  return true;
}

void Parser::check_loop_control() const {
  if (loops_ == 0) fail("break or continue outside a loop");
}

If Parser::parse_if() {
  ++conditionals_;
  If node;
  while (true) {
    ExprPtr test = parse_tuple(false, false, false);
    node.branches.emplace_back(std::move(test), parse_body({"elif", "else", "endif"}));
    const bool is_elif = current().text == "elif";
    const bool is_else = current().text == "else";
    take();
    if (is_elif) continue;
    if (is_else) node.otherwise = parse_whole_body("endif");
    break;
  }
  --conditionals_;
  return node;
}

ForLoop Parser::parse_for() {
  ForLoop node;
  node.target = parse_target(false, true);
  expect_keyword("in");
  node.iterable = parse_tuple(false, true, false);
  if (accept_name("if")) node.condition = parse_expression();
  node.recursive = accept_name("recursive");
  ++loops_;
  node.body = parse_body({"else", "endfor"});
  --loops_;
  if (take().text == "else") node.otherwise = parse_whole_body("endfor");
  return node;
}

void Parser::parse_set(Block& block, std::uint32_t line) {
  Target target = parse_target(true, false);
  if (accept_operator("=")) {
    block.push_back({line, Set{std::move(target), parse_tuple(true, false, false)}});
    return;
  }
  ExprPtr filter = parse_filters(nullptr, false);
  Block body = parse_whole_body("endset");
  block.push_back({line, SetBlock{std::move(target), std::move(filter), std::move(body), {}}});
}

With Parser::parse_with() {
  With node;
  while (!current().is(Type::kBlockEnd)) {
    if (!node.assignments.empty()) expect_operator(",");
    Target target = parse_target(false, false);
    expect_operator("=");
    node.assignments.emplace_back(std::move(target), parse_expression());
  }
  node.body = parse_whole_body("endwith");
  return node;
}

FilterBlock Parser::parse_filter_block() {
  FilterBlock node;
  node.filter = parse_filters(nullptr, true);
  node.body = parse_whole_body("endfilter");
  return node;
}

CallBlock Parser::parse_call_block() {
  CallBlock node;
  const std::uint32_t line = current().line;
  node.caller = std::make_shared<MacroBody>();
  node.caller->name = "caller";
  if (current().is_operator("(")) parse_signature(*node.caller);
  node.call = parse_expression();
  if (!std::holds_alternative<Call>(node.call->node)) fail_at(line, "expected a call");
  parse_macro_body(*node.caller, "endcall");
  return node;
}

MacroDefinition Parser::parse_macro() {
  MacroDefinition node;
  node.macro = std::make_shared<MacroBody>();
  node.macro->name = expect_name();
  node.symbol = intern(node.macro->name);
  parse_signature(*node.macro);
  parse_macro_body(*node.macro, "endmacro");
  return node;
}

void Parser::parse_signature(MacroBody& macro) {
  expect_operator("(");
  while (!current().is_operator(")")) {
    if (!macro.parameters.empty()) expect_operator(",");
    Parameter parameter;
    parameter.name = expect_name();
    parameter.symbol = intern(parameter.name);
    if (accept_operator("=")) {
      parameter.fallback = parse_expression();
    } else if (!macro.parameters.empty() && macro.parameters.back().fallback) {
      fail("a parameter without a default follows one with a default");
    }
    macro.parameters.push_back(std::move(parameter));
  }
  take();
}

void Parser::parse_macro_body(MacroBody& macro, std::string_view end) {
  const std::uint32_t loops = std::exchange(loops_, 0);
  macros_.push_back(&macro);
  macro.body = parse_whole_body(end);
  macros_.pop_back();
  loops_ = loops;
}

void Parser::parse_print(Block& block, std::uint32_t line) {
  bool first = true;
  while (!current().is(Type::kBlockEnd)) {
    if (!first) expect_operator(",");
    first = false;
    block.push_back({line, OutputExpr{parse_expression()}});
  }
}

Target Parser::parse_single_target(bool with_namespace) {
  static constexpr std::array<std::string_view, 6> kConstants = {"true",  "True", "false",
                                                                 "False", "none", "None"};
  const Nesting nesting(*this);
  if (accept_operator("(")) {
    Target target = parse_target(with_namespace, false);
    expect_operator(")");
    return target;
  }
  if (!current().is(Type::kName)) {
    fail(fmt::format("cannot assign to {}", describe(current())));
  }
  Target target;
  const std::string name = take().text;
  if (std::find(kConstants.begin(), kConstants.end(), name) != kConstants.end()) {
    fail(fmt::format("cannot assign to '{}'", name));
  }
  target.symbol = intern(name);
  if (with_namespace && accept_operator(".")) target.attribute = expect_name();
  return target;
}

Target Parser::parse_target(bool with_namespace, bool until_in) {
  Target tuple;
  while (true) {
    if (!tuple.items.empty()) expect_operator(",");
    if (current().is(Type::kVariableEnd) || current().is(Type::kBlockEnd) ||
        current().is_operator(")") || (until_in && current().is_name("in"))) {
      break;
    }
    tuple.items.push_back(parse_single_target(with_namespace));
    if (!current().is_operator(",")) {
      if (tuple.items.size() > 1 || tuple.is_tuple) break;
      return std::move(tuple.items[0]);
    }
    tuple.is_tuple = true;
  }
  if (tuple.items.empty()) fail("expected a name to assign to");
  tuple.is_tuple = true;
  return tuple;
}

Program parse_program(std::string_view source, const std::string& name) {
  return Parser(source, name).run();
}

}  // namespace lattice::jinja
