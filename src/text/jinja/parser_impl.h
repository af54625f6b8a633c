#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/jinja/ast.h"
#include "text/jinja/lexer.h"

namespace lattice::jinja {

/// Recursive descent over the tokens of one template.
class Parser {
 public:
  Parser(std::string_view source, const std::string& name);
  Program run();

 private:
  // Of brackets, signs and block tags inside each other, which bounds the stack.
  static constexpr std::uint32_t kMaxNesting = 150;
  // Of an expression's tree: a + b + c has 2 levels above a.
  static constexpr std::uint32_t kMaxTreeDepth = 300;

  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxNesting) parser_.fail("nested too deeply");
    }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ~Nesting() { --parser_.nesting_; }

   private:
    Parser& parser_;
  };

  // Tokens.
  const Token& current() const { return tokens_[at_]; }
  const Token& look_ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token take();
  bool accept_operator(std::string_view symbol);
  bool accept_name(std::string_view name);
  void expect_operator(std::string_view symbol);
  std::string expect_name();
  void expect(Token::Type type);
  void expect_keyword(std::string_view name);
  [[noreturn]] void fail(std::string_view reason) const { fail_at(current().line, reason); }
  [[noreturn]] void fail_at(std::uint32_t line, std::string_view reason) const;
  [[noreturn]] void unsupported(std::uint32_t line, std::string_view what,
                                std::string_view name) const;
  /// Notes a filter or test that does not exist: an error unless it is in an if.
  void note_missing(std::uint32_t line, std::string_view what, const std::string& name);
  Symbol intern(const std::string& name);

  // Statements.
  Block parse_block(std::initializer_list<std::string_view> ends);
  Block parse_body(std::initializer_list<std::string_view> ends);
  /// A body that ends with `end`, which is taken.
  Block parse_whole_body(std::string_view end);
  void parse_statement(Block& block);
  bool parse_simple_statement(Block& block, const std::string& tag, std::uint32_t line);
  If parse_if();
  ForLoop parse_for();
  void parse_set(Block& block, std::uint32_t line);
  With parse_with();
  FilterBlock parse_filter_block();
  CallBlock parse_call_block();
  MacroDefinition parse_macro();
  void parse_print(Block& block, std::uint32_t line);
  void parse_signature(MacroBody& macro);
  void parse_macro_body(MacroBody& macro, std::string_view end);
  Target parse_target(bool with_namespace, bool until_in);
  Target parse_single_target(bool with_namespace);
  void check_loop_control() const;

  // Expressions, loosest binding first.
  ExprPtr parse_tuple(bool with_conditional, bool until_recursive, bool in_parentheses);
  ExprPtr parse_expression(bool with_conditional = true);
  ExprPtr parse_or();
  ExprPtr parse_and();
  ExprPtr parse_not();
  ExprPtr parse_compare();
  std::optional<Compare::Op> accept_comparison();
  ExprPtr parse_sum();
  ExprPtr parse_concat();
  ExprPtr parse_product();
  ExprPtr parse_power();
  ExprPtr parse_unary(bool with_filter = true);
  ExprPtr parse_primary();
  ExprPtr parse_string();
  ExprPtr parse_number();
  ExprPtr parse_list();
  ExprPtr parse_dict();
  ExprPtr parse_postfix(ExprPtr expr);
  ExprPtr parse_filters_and_tests(ExprPtr expr);
  ExprPtr parse_attribute(ExprPtr object);
  ExprPtr parse_subscript(ExprPtr object);
  ExprPtr parse_call(ExprPtr callee);
  Arguments parse_arguments();
  /// The filters after `input` (null for a block's body), the first without its | if
  /// `inline_first`.
  ExprPtr parse_filters(ExprPtr input, bool inline_first);
  ExprPtr parse_test(ExprPtr input);
  std::string parse_dotted_name();

  template <typename Node>
  ExprPtr make(std::uint32_t line, Node node, std::uint32_t depth) {
    if (depth >= kMaxTreeDepth) fail_at(line, "an expression is nested too deeply");
    return std::make_unique<Expr>(Expr{line, depth + 1, std::move(node)});
  }
  static std::uint32_t depth_of(const std::vector<ExprPtr>& items);
  static std::uint32_t depth_of(const Arguments& arguments);

  std::string name_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Program program_;
  std::map<std::string, Symbol, std::less<>> symbols_;
  struct Missing {
    std::uint32_t line;
    std::string_view what;
    std::string name;
  };
  std::vector<Missing> missing_;
  std::vector<MacroBody*> macros_;  // those around the current place
  std::uint32_t nesting_ = 0;
  std::uint32_t loops_ = 0;         // around, inside the current macro
  std::uint32_t conditionals_ = 0;  // around
};

}  // namespace lattice::jinja
