#include "text_options.h"

namespace lattice::cli {

void add_truncate_options(CLI::App& verb, std::string& truncate, std::size_t& max_length) {
  verb.add_option("--truncate", truncate,
                  "What to do with a text over the limit: error, or drop its end or start")
      ->check(CLI::IsMember({"error", "end", "start"}))
      ->capture_default_str();
  verb.add_option("--max-length", max_length, "A limit below the model's, in tokens");
}

void add_batch_options(CLI::App& verb, std::size_t& batch_tokens, std::string& on_error) {
  verb.add_option("--batch-tokens", batch_tokens, "Most tokens computed at once")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  verb.add_option("--on-error", on_error,
                  "fail: stop at the first bad row; skip: write its error, exit 1 at the end")
      ->check(CLI::IsMember({"fail", "skip"}))
      ->capture_default_str();
}

Truncate parse_truncate(const std::string& name) {
  if (name == "end") return Truncate::kEnd;
  if (name == "start") return Truncate::kStart;
  return Truncate::kError;
}

std::string first_line(const std::string& text) {
  constexpr std::size_t kShown = 100;
  std::size_t end = std::min(text.find('\n'), text.size());
  if (end <= kShown) return text.substr(0, end);
  // Not inside a character of several bytes.
  end = kShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

}  // namespace lattice::cli
