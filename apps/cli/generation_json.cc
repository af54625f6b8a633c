#include "generation_json.h"

#include <fmt/format.h>

#include "device_report.h"

namespace lattice::cli {
namespace {

void add_logprob(JsonWriter& json, const TokenLogprob& token) {
  json.begin_object().field("id", token.id).field("logprob", token.logprob);
}

void add_logprobs(JsonWriter& json, const std::vector<TokenLogprobs>& logprobs) {
  json.key("logprobs").begin_array();
  for (const TokenLogprobs& token : logprobs) {
    add_logprob(json, token.chosen);
    json.key("top").begin_array();
    for (const TokenLogprob& other : token.top) {
      add_logprob(json, other);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

double rate(std::size_t tokens, double milliseconds) {
  return milliseconds > 0 ? static_cast<double>(tokens) * 1000.0 / milliseconds : 0.0;
}

void add_timings(JsonWriter& json, const GenerateTimings& timings) {
  json.key("timings").begin_object();
  json.field("prompt_tokens", timings.prompt_tokens).field("cached_tokens", timings.cached_tokens);
  json.field("output_tokens", timings.output_tokens);
  json.field("prompt_ms", timings.prompt_ms).field("output_ms", timings.output_ms);
  json.field("drafted_tokens", timings.drafted_tokens);
  json.field("accepted_tokens", timings.accepted_tokens).end_object();
}

}  // namespace

void add_ids(JsonWriter& json, std::string_view key, const std::vector<std::int32_t>& ids) {
  json.key(key).begin_array();
  for (const std::int32_t id : ids) json.value(id);
  json.end_array();
}

void add_generation(JsonWriter& json, const Generation& generation) {
  add_ids(json, "prompt_ids", generation.prompt_ids);
  add_ids(json, "ids", generation.ids);
  json.field("text", generation.text);
  json.field("finish_reason", finish_reason_name(generation.finish_reason));
  add_other_device(json, generation.other_device);
  if (!generation.logprobs.empty()) add_logprobs(json, generation.logprobs);
  add_timings(json, generation.timings);
}

std::string timings_line(const Generation& generation) {
  const GenerateTimings& timings = generation.timings;
  std::string line = fmt::format(
      "{} prompt tokens ({} known) in {:.0f} ms; {} tokens at {:.1f} tokens/s",
      timings.prompt_tokens, timings.cached_tokens, timings.prompt_ms, timings.output_tokens,
      // The first token came with the prompt.
      rate(timings.output_tokens > 0 ? timings.output_tokens - 1 : 0, timings.output_ms));
  if (timings.drafted_tokens > 0) {
    line +=
        fmt::format("; {} of {} drafts accepted", timings.accepted_tokens, timings.drafted_tokens);
  }
  return line + other_device_note(generation.other_device);
}

}  // namespace lattice::cli
