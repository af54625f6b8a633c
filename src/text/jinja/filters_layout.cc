#include "text/jinja/arguments.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/filters.h"
#include "text/jinja/repr.h"
#include "text/jinja/text_layout.h"
#include "text/jinja/text_search.h"

namespace lattice::jinja {
namespace {

Value center_filter(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("center", args, {"width"});
  return center(to_text(input, evaluator.budget()), bound.integer(0, 80), Text(" "),
                evaluator.budget());
}

Value indent(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("indent", args, {"width", "first", "blank"});
  Budget& budget = evaluator.budget();
  TextBuilder space(budget);
  if (bound.has(0) && bound.at(0).is_string()) {
    space.append(bound.at(0).text());
  } else {
    const std::int64_t width = bound.integer(0, 4);
    if (width > 0) space.pad(static_cast<std::size_t>(width));
  }
  const Text indention = space.take();
  const Text& text = require_text(input);
  std::vector<Text> lines = split_lines(text, false);
  // A line end after the text counts as the end of a last, empty line.
  if (text.empty() ||
      split_lines(text.slice_bytes(text.byte_of(text.length() - 1), text.size()), false)[0]
          .empty()) {
    lines.emplace_back();
  }
  budget.step(lines.size());
  TextBuilder out(budget);
  if (bound.flag(1, false)) out.append(indention);
  const bool blank = bound.flag(2, false);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) {
      out.append("\n");
      if (blank || !lines[i].empty()) out.append(indention);
    }
    out.append(lines[i]);
  }
  return out.take();
}

Value truncate(Evaluator& evaluator, const Value& input, const CallArgs& args) {
  const Bound bound("truncate", args, {"length", "killwords", "end", "leeway"});
  const std::int64_t length = bound.integer(0, 255);
  const Text end = bound.text(2, "...");
  const std::int64_t leeway = bound.is_absent(3) ? 5 : bound.integer(3, 5);
  const auto end_length = static_cast<std::int64_t>(end.length());
  if (length < end_length) eval_fail("expected length >= {}, got {}", end_length, length);
  if (leeway < 0) eval_fail("expected leeway >= 0, got {}", leeway);
  const auto size = size_of(input);
  if (!size) eval_fail("object of type '{}' has no len()", input.type_name());
  if (static_cast<std::int64_t>(*size) - leeway <= length) return input;
  const Text& text = require_text(input);
  Text kept = text.slice_bytes(0, text.byte_of(static_cast<std::size_t>(length - end_length)));
  if (!bound.flag(1, false)) kept = split_right(kept, " ", 1)[0];
  TextBuilder out(evaluator.budget());
  out.append(kept);
  out.append(end);
  return out.take();
}

constexpr FilterEntry kFilters[] = {
    {"center", center_filter},
    {"indent", indent},
    {"truncate", truncate},
};

}  // namespace

std::span<const FilterEntry> layout_filters() { return kFilters; }

}  // namespace lattice::jinja
