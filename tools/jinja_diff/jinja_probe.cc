// Renders templates for tools/jinja_diff/compare.py: reads lines of {"template", "context"} and
// writes one line for each: {"text"} or {"error", "message"}.
#include <fmt/format.h>

#include <iostream>
#include <string>

#include "io/json.h"
#include "io/json_writer.h"
#include "text/jinja/template.h"

namespace {

std::tm fixed_time() {
  std::tm time{};
  time.tm_year = 124;
  time.tm_mon = 6;
  time.tm_mday = 26;
  time.tm_wday = 5;
  time.tm_yday = 207;
  time.tm_hour = 9;
  time.tm_min = 5;
  time.tm_sec = 3;
  return time;
}

std::string answer(const std::string& line) {
  using namespace lattice;
  JsonWriter out;
  out.begin_object();
  try {
    const JsonDocument document = value_or_throw(JsonDocument::parse(line, "input"));
    const auto context = jinja::Value::from_json(*document.root().find("context"), true);
    const auto source = *document.root().find("template")->as_string();
    const auto rendered =
        jinja::Template::parse(source, "template").render(context, {fixed_time, {}});
    out.field("text", rendered.text);
  } catch (const LatticeError& error) {
    out.field("error", error_code_name(error.code())).field("message", std::string(error.what()));
  }
  return out.end_object().take();
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) std::cout << answer(line) << "\n" << std::flush;
  return 0;
}
