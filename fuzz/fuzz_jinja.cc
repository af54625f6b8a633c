#include "fuzz_support.h"
#include "text/jinja/template.h"

namespace lattice {
namespace {

// Variables as a chat has them, marked as user input.
const jinja::Value& context() {
  static const jinja::Value kContext = [] {
    constexpr std::string_view kJson = R"({
      "messages": [{"role": "system", "content": "Be <b>brief</b>."},
                   {"role": "user", "content": "h\u00e9 \ud83d\ude42 {{ x }}"},
                   {"role": "assistant", "content": null, "tool_calls": [
                     {"id": "a", "function": {"name": "f", "arguments": {"k": [1, 2.5, true]}}}]},
                   {"role": "tool", "content": "  42 "}],
      "tools": [{"function": {"name": "f", "parameters": {"properties": {"k": {"type": "array"}}}}}],
      "n": 3, "x": 0.5, "s": "a,b c\n", "add_generation_prompt": true})";
    const auto document = value_or_throw(JsonDocument::parse(kJson, "context"));
    return jinja::Value::from_json(document.root(), true);
  }();
  return kContext;
}

void check_spans(const jinja::Rendered& rendered) {
  std::size_t end = 0;
  for (const jinja::Span& span : rendered.user_spans) {
    fuzz_check(span.begin < span.end && span.end <= rendered.text.size());
    fuzz_check(end == 0 || span.begin > end);
    end = span.end;
  }
}

/// Whatever the template, it renders within its limits or fails with one of the errors it may give.
void render(std::string_view source) {
  jinja::RenderOptions options;
  options.limits = {.steps = 20'000, .depth = 300, .output_bytes = 1 << 16, .range_size = 1000};
  options.clock = [] { return std::tm{}; };
  try {
    const auto parsed = jinja::Template::parse(source, "fuzz");
    const jinja::Rendered first = parsed.render(context(), options);
    fuzz_check(first.text.size() <= options.limits.output_bytes);
    check_spans(first);
  } catch (const LatticeError& error) {
    fuzz_check(error.code() == ErrorCode::kMalformed || error.code() == ErrorCode::kUnsupported ||
               error.code() == ErrorCode::kInvalidArgument || error.code() == ErrorCode::kTooLong);
  }
}

}  // namespace
}  // namespace lattice

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lattice::render(lattice::fuzz_text(data, size));
  return 0;
}
