#pragma once

#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/budget.h"
#include "text/jinja/value.h"

namespace lattice::jinja {

struct Program;

struct RenderOptions {
  /// The local time that strftime_now() writes.
  std::function<std::tm()> clock;  // the system's when empty
  Limits limits;
};

/// What a template wrote.
struct Rendered {
  std::string text;
  /// The bytes of `text` that came from strings marked as user input: sorted, disjoint, not
  /// touching. A special token that overlaps one was written by the user, not by the template.
  std::vector<Span> user_spans;
};

/// A chat template in the Jinja language, with the environment Hugging Face transformers gives its
/// templates: jinja2's immutable sandbox, trim_blocks, lstrip_blocks, break and continue,
/// {% generation %}, raise_exception, strftime_now and a tojson that does not escape HTML.
///
///   const Template chat = Template::parse(source, "tokenizer_config.json");
///   auto context = std::make_shared<Dict>();
///   context->set(Value::string("messages"), Value::from_json(messages, /*user_input=*/true));
///   context->set(Value::string("add_generation_prompt"), true);
///   const Rendered prompt = chat.render(Value(std::shared_ptr<const Dict>(context)));
///
/// Immutable; rendering is thread-safe.
class Template {
 public:
  /// `name` prefixes messages. Errors: LatticeError(kMalformed) with the line and the reason,
  /// kUnsupported naming a tag, filter or test that is not implemented.
  static Template parse(std::string_view source, std::string name);

  /// Renders with the variables of `context`, a dict. Errors: LatticeError(kInvalidArgument) with
  /// just its message when the template calls raise_exception, and with the line and the reason
  /// for a mistake; kTooLong naming the limit that was exceeded; kUnsupported.
  Rendered render(const Value& context, const RenderOptions& options = {}) const;

 private:
  Template(std::shared_ptr<const Program> program, std::string name);

  std::shared_ptr<const Program> program_;
  std::string name_;
};

}  // namespace lattice::jinja
