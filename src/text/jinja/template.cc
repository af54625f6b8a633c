#include "text/jinja/template.h"

#include <utility>

#include "text/jinja/evaluator.h"
#include "text/jinja/lexer.h"
#include "text/jinja/parser.h"

namespace lattice::jinja {
namespace {

std::tm local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  return parts;
}

}  // namespace

Template::Template(std::shared_ptr<const Program> program, std::string name)
    : program_(std::move(program)), name_(std::move(name)) {}

Template Template::parse(std::string_view source, std::string name) {
  auto program = std::make_shared<const Program>(parse_program(source, name));
  return Template(std::move(program), std::move(name));
}

Rendered Template::render(const Value& context, const RenderOptions& options) const {
  const std::function<std::tm()> clock = options.clock ? options.clock : local_time;
  Evaluator evaluator({*program_, context, options.limits, clock});
  try {
    const Text text = evaluator.run();
    return {std::string(text.bytes()), {text.user_spans().begin(), text.user_spans().end()}};
  } catch (const EvalError& error) {
    raise(ErrorCode::kInvalidArgument, "{}: {}", place(name_, evaluator.line()), error.what());
  }
}

}  // namespace lattice::jinja
