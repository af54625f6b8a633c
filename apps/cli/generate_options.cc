#include "generate_options.h"

#include <charconv>

#include "cli.h"

namespace lattice::cli {
namespace {

std::pair<std::int32_t, float> parse_bias(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::int32_t id = 0;
  float bias = 0;
  const char* end = text.data() + text.size();
  if (equals != std::string::npos) {
    const auto first = std::from_chars(text.data(), text.data() + equals, id);
    const auto second = std::from_chars(text.data() + equals + 1, end, bias);
    if (first.ec == std::errc() && first.ptr == text.data() + equals && second.ec == std::errc() &&
        second.ptr == end) {
      return {id, bias};
    }
  }
  throw UsageError("--logit-bias: expected ID=BIAS, got \"" + text + "\"");
}

}  // namespace

void add_generate_options(CLI::App& verb, GenerateArguments& arguments) {
  GenerateOptions& options = arguments.options;
  SamplingOptions& sampling = options.sampling;
  verb.add_option("--max-tokens", options.max_tokens,
                  "The most tokens to generate; default: max_new_tokens of the model, else 512");
  verb.add_option("--max-context", options.max_context,
                  "The most tokens of prompt and output; default: the model's positions");
  verb.add_option("--temperature", sampling.temperature, "0: the likeliest token (greedy)");
  verb.add_option("--top-k", sampling.top_k, "Keep the k likeliest tokens; 0: all");
  verb.add_option("--top-p", sampling.top_p, "Keep the likeliest tokens of this total probability");
  verb.add_option("--min-p", sampling.min_p,
                  "Drop tokens less likely than this times the likeliest");
  verb.add_option("--repetition-penalty", sampling.repetition_penalty,
                  "Above 1: prefer tokens that prompt and output do not have");
  verb.add_option("--presence-penalty", sampling.presence_penalty,
                  "Subtracted from the logits of tokens in the output");
  verb.add_option("--frequency-penalty", sampling.frequency_penalty,
                  "Subtracted as often as the token is in the output");
  verb.add_option("--logit-bias", arguments.logit_bias, "ID=BIAS, added to a token's logit")
      ->allow_extra_args(false);
  verb.add_option("--seed", sampling.seed, "Of the random numbers; equal seeds give equal texts");
  verb.add_option("--stop", arguments.stop, "End before this text (repeatable)")
      ->allow_extra_args(false);
  verb.add_flag("--ignore-eos", arguments.ignore_eos,
                "Do not end at the model's own stop tokens and texts");
  verb.add_option("--speculation", arguments.speculation,
                  "Guess tokens ahead: none, ngram (what followed the same tokens before), or mtp "
                  "(the model's multi-token prediction head)")
      ->check(CLI::IsMember({"none", "ngram", "mtp"}))
      ->capture_default_str();
  verb.add_option("--max-drafts", options.max_drafts,
                  "Guessed tokens per pass (default: 8 of ngram, 1 of mtp)")
      ->check(CLI::Range(1, 63));
}

GenerateOptions generate_options(const GenerateArguments& arguments, const CLI::App& verb,
                                 const SamplingOptions& defaults) {
  GenerateOptions options = arguments.options;
  SamplingOptions sampling = defaults;
  const SamplingOptions& given = arguments.options.sampling;
  const auto take = [&](const char* name, auto SamplingOptions::* member) {
    if (verb.count(name) > 0) sampling.*member = given.*member;
  };
  take("--temperature", &SamplingOptions::temperature);
  take("--top-k", &SamplingOptions::top_k);
  take("--top-p", &SamplingOptions::top_p);
  take("--min-p", &SamplingOptions::min_p);
  take("--repetition-penalty", &SamplingOptions::repetition_penalty);
  take("--presence-penalty", &SamplingOptions::presence_penalty);
  take("--frequency-penalty", &SamplingOptions::frequency_penalty);
  take("--seed", &SamplingOptions::seed);
  for (const std::string& bias : arguments.logit_bias) {
    sampling.logit_bias.push_back(parse_bias(bias));
  }
  options.sampling = std::move(sampling);
  if (arguments.ignore_eos) {
    options.stop_token_ids.emplace();
    options.stop.emplace();
  }
  if (!arguments.stop.empty()) options.stop = arguments.stop;
  if (arguments.speculation == "ngram") options.speculation = Speculation::kNgram;
  if (arguments.speculation == "mtp") options.speculation = Speculation::kMtp;
  return options;
}

}  // namespace lattice::cli
