#include "backends/metal/simt/call_graph.h"

#include <map>
#include <set>

#include "backends/metal/simt/source_text.h"

namespace lattice::metal::simt {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

struct Function {
  std::size_t offset = 0;
  std::set<std::string, std::less<>> calls;
};
using Functions = std::map<std::string, Function, std::less<>>;

// Every name before a "(" in `text`, with the offset of the bracket.
std::vector<std::pair<std::string_view, std::size_t>> names_before_brackets(std::string_view text) {
  std::vector<std::pair<std::string_view, std::size_t>> found;
  for (std::size_t open = text.find('('); open != kNone; open = text.find('(', open + 1)) {
    std::size_t begin = open;
    while (begin > 0 && is_word_char(text[begin - 1])) --begin;
    if (begin < open) found.emplace_back(text.substr(begin, open - begin), open);
  }
  return found;
}

Functions find_functions(std::string_view blanked) {
  Functions functions;
  std::size_t end_of_last = 0;
  for (const auto& [name, open] : names_before_brackets(blanked)) {
    if (open < end_of_last) continue;  // inside a body
    const std::size_t close = closing_bracket(blanked, open);
    if (close == kNone) break;
    const std::size_t brace = blanked.find_first_not_of(" \n", close + 1);
    if (brace == kNone || blanked[brace] != '{') continue;
    end_of_last = closing_bracket(blanked, brace);
    Function& function = functions[std::string(name)];
    function.offset = open - name.size();
    const std::string_view body = blanked.substr(brace, end_of_last - brace);
    for (const auto& call : names_before_brackets(body)) function.calls.emplace(call.first);
  }
  return functions;
}

bool reaches(const Functions& functions, std::string_view from, std::string_view target,
             std::set<std::string, std::less<>>& seen) {
  const auto found = functions.find(from);
  if (found == functions.end() || !seen.emplace(from).second) return false;
  if (found->second.calls.contains(target)) return true;
  for (const std::string& callee : found->second.calls) {
    if (reaches(functions, callee, target, seen)) return true;
  }
  return false;
}

}  // namespace

std::vector<RecursiveFunction> find_recursion(std::string_view blanked) {
  const Functions functions = find_functions(blanked);
  std::vector<RecursiveFunction> recursive;
  for (const auto& [name, function] : functions) {
    std::set<std::string, std::less<>> seen;
    if (reaches(functions, name, name, seen)) recursive.push_back({name, function.offset});
  }
  return recursive;
}

}  // namespace lattice::metal::simt
