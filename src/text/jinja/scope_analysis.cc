#include "text/jinja/scope_analysis.h"

#include <algorithm>
#include <array>

#include "text/jinja/overloaded.h"

namespace lattice::jinja {
namespace {

// What a scope does with a name first.
enum class Use : std::uint8_t { kNone, kParameter, kReads, kSets };

struct Mark {
  Use use = Use::kNone;
  bool is_set = false;
};

struct Frame {
  const Frame* parent = nullptr;
  std::vector<Mark> marks = {};  // by Symbol

  bool knows(Symbol symbol) const {
    return marks[symbol].use != Use::kNone || (parent != nullptr && parent->knows(symbol));
  }
};

void add_names(const Target& target, std::vector<Symbol>& names) {
  if (!target.is_tuple) return names.push_back(target.symbol);
  for (const Target& item : target.items) add_names(item, names);
}

class ScopeAnalysis {
 public:
  explicit ScopeAnalysis(std::size_t num_names) : num_names_(num_names) {}

  // Analyzes a scope with the statements `block`, and those in it.
  void analyze(Block& block, std::vector<Symbol>& unset, const Frame* parent,
               const std::vector<Symbol>& parameters = {}) {
    Frame frame{parent, std::vector<Mark>(num_names_)};
    for (const Symbol symbol : parameters) frame.marks[symbol].use = Use::kParameter;
    visit(block, frame);
    for (Symbol symbol = 0; symbol < num_names_; ++symbol) {
      if (frame.marks[symbol].use == Use::kSets) unset.push_back(symbol);
    }
    descend(block, frame);
  }

 private:
  static void read(Symbol symbol, Frame& frame) {
    if (!frame.knows(symbol)) frame.marks[symbol].use = Use::kReads;
  }

  static void set(Symbol symbol, Frame& frame) {
    Mark& mark = frame.marks[symbol];
    mark.is_set = true;
    if (mark.use != Use::kNone) return;
    mark.use = frame.knows(symbol) ? Use::kReads : Use::kSets;
  }

  static void assign(const Target& target, Frame& frame) {
    if (target.is_tuple) {
      for (const Target& item : target.items) assign(item, frame);
    } else if (target.attribute.empty()) {
      set(target.symbol, frame);
    } else {
      read(target.symbol, frame);
    }
  }

  // What the statements read and set in their own scope, in order.
  static void visit(const Block& block, Frame& frame) {
    for (const Stmt& stmt : block) {
      std::visit(Overloaded{[&](const OutputExpr& node) { visit(node.value, frame); },
                            [&](const If& node) { visit_if(node, frame); },
                            [&](const ForLoop& node) { visit(node.iterable, frame); },
                            [&](const Set& node) {
                              visit(node.value, frame);
                              assign(node.target, frame);
                            },
                            [&](const SetBlock& node) { assign(node.target, frame); },
                            [&](const MacroDefinition& node) { set(node.symbol, frame); },
                            [&](const CallBlock& node) { visit(node.call, frame); },
                            [&](const FilterBlock& node) { visit(node.filter, frame); },
                            [&](const With& node) {
                              for (const auto& entry : node.assignments) visit(entry.second, frame);
                            },
                            [](const auto&) {}},
                 stmt.node);
    }
  }

  // As jinja2 counts them, an if has three branches: its body, all elifs, and else.
  static void visit_if(const If& node, Frame& frame) {
    visit(node.branches[0].first, frame);
    std::array<Frame, 3> branches = {frame, frame, frame};
    visit(node.branches[0].second, branches[0]);
    for (std::size_t i = 1; i < node.branches.size(); ++i) {
      visit_elif(node.branches[i].first, node.branches[i].second, branches[1]);
    }
    visit(node.otherwise, branches[2]);
    merge(branches, frame);
  }

  static void visit_elif(const ExprPtr& test, const Block& body, Frame& frame) {
    visit(test, frame);
    std::array<Frame, 3> branches = {frame, frame, frame};
    visit(body, branches[0]);
    merge(branches, frame);
  }

  static void merge(const std::array<Frame, 3>& branches, Frame& frame) {
    for (std::size_t i = 0; i < frame.marks.size(); ++i) {
      Mark merged = frame.marks[i];
      int num_sets = 0;
      for (const Frame& branch : branches) {
        const Mark& mark = branch.marks[i];
        if (mark.is_set && !frame.marks[i].is_set) ++num_sets;
        if (mark.use != Use::kNone) merged.use = mark.use;
        merged.is_set |= mark.is_set;
      }
      if (num_sets == 1 || num_sets == 2) merged.use = Use::kReads;
      frame.marks[i] = merged;
    }
  }

  static void visit(const ExprPtr& expr, Frame& frame) {
    if (expr) visit(*expr, frame);
  }
  static void visit(const std::vector<ExprPtr>& exprs, Frame& frame) {
    for (const ExprPtr& expr : exprs) visit(expr, frame);
  }
  static void visit(const Arguments& arguments, Frame& frame) {
    visit(arguments.positional, frame);
    for (const auto& entry : arguments.named) visit(entry.second, frame);
    visit(arguments.spread, frame);
    visit(arguments.named_spread, frame);
  }
  template <typename... Exprs>
  static void visit_all(Frame& frame, const Exprs&... exprs) {
    (visit(exprs, frame), ...);
  }

  static void visit(const Expr& expr, Frame& frame) {
    std::visit(
        Overloaded{[](const Literal&) {}, [&](const Name& node) { read(node.symbol, frame); },
                   [&](const TupleExpr& node) { visit(node.items, frame); },
                   [&](const ListExpr& node) { visit(node.items, frame); },
                   [&](const DictExpr& node) {
                     for (const auto& [key, value] : node.entries) visit_all(frame, key, value);
                   },
                   [&](const Unary& node) { visit(node.operand, frame); },
                   [&](const Binary& node) { visit_all(frame, node.left, node.right); },
                   [&](const Concat& node) { visit(node.parts, frame); },
                   [&](const Logical& node) { visit_all(frame, node.left, node.right); },
                   [&](const Compare& node) {
                     visit(node.first, frame);
                     for (const auto& entry : node.rest) visit(entry.second, frame);
                   },
                   [&](const Conditional& node) {
                     visit_all(frame, node.test, node.then, node.otherwise);
                   },
                   [&](const Attribute& node) { visit(node.object, frame); },
                   [&](const Item& node) { visit_all(frame, node.object, node.key); },
                   [&](const Slice& node) {
                     visit_all(frame, node.object, node.start, node.stop, node.step);
                   },
                   [&](const Call& node) { visit_all(frame, node.callee, node.arguments); },
                   [&](const FilterExpr& node) { visit_all(frame, node.input, node.arguments); },
                   [&](const TestExpr& node) { visit_all(frame, node.input, node.arguments); }},
        expr.node);
  }

  // Analyzes the scopes inside the statements of `frame`.
  void descend(Block& block, const Frame& frame) {
    for (Stmt& stmt : block) {
      std::visit(
          Overloaded{[&](If& node) {
                       for (auto& entry : node.branches) descend(entry.second, frame);
                       descend(node.otherwise, frame);
                     },
                     [&](ForLoop& node) {
                       std::vector<Symbol> parameters = {kLoop};
                       add_names(node.target, parameters);
                       analyze(node.body, node.unset, &frame, parameters);
                       analyze(node.otherwise, node.otherwise_unset, &frame);
                     },
                     [&](SetBlock& node) { analyze(node.body, node.unset, &frame); },
                     [&](FilterBlock& node) { analyze(node.body, node.unset, &frame); },
                     [&](With& node) {
                       std::vector<Symbol> parameters;
                       for (const auto& entry : node.assignments) {
                         add_names(entry.first, parameters);
                       }
                       analyze(node.body, node.unset, &frame, parameters);
                     },
                     [&](MacroDefinition& node) { analyze_macro(*node.macro, frame); },
                     [&](CallBlock& node) { analyze_macro(*node.caller, frame); }, [](auto&) {}},
          stmt.node);
    }
  }

  void analyze_macro(MacroBody& macro, const Frame& frame) {
    std::vector<Symbol> parameters;
    for (const Parameter& parameter : macro.parameters) parameters.push_back(parameter.symbol);
    if (macro.uses_caller) parameters.push_back(kCaller);
    if (macro.uses_kwargs) parameters.push_back(kKwargs);
    if (macro.uses_varargs) parameters.push_back(kVarargs);
    analyze(macro.body, macro.unset, &frame, parameters);
  }

  std::size_t num_names_;
};

}  // namespace

void analyze_scopes(Program& program) {
  ScopeAnalysis(program.names.size()).analyze(program.body, program.unset, nullptr);
}

}  // namespace lattice::jinja
