#include "golden/generation_golden.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/result.h"
#include "golden/golden_json.h"

namespace lattice {
namespace {

std::filesystem::path generation_dir() { return golden_dir() / "generation"; }

std::vector<GenerationVariant> read_manifest() {
  const JsonDocument document =
      value_or_throw(JsonDocument::parse_file(generation_dir() / "manifest.json"));
  std::vector<GenerationVariant> variants;
  const auto text = [](const Json& json, const char* key) {
    return std::string(member(json, key).as_string().value());
  };
  for (const Json& json : member(document.root(), "variants").items()) {
    variants.push_back({.name = text(json, "name"),
                        .directory = generation_dir() / text(json, "dir"),
                        .golden = generation_dir() / text(json, "golden"),
                        .family = text(json, "family")});
  }
  return variants;
}

}  // namespace

std::vector<double> GenerationGolden::tensor(const std::string& name) const {
  return read_doubles(read_tensor(tensors, name));
}

const std::vector<GenerationVariant>& generation_variants() {
  static const std::vector<GenerationVariant> variants = read_manifest();
  return variants;
}

const GenerationVariant& generation_variant(const std::string& name) {
  const auto& variants = generation_variants();
  const auto found = std::ranges::find(variants, name, &GenerationVariant::name);
  if (found == variants.end()) raise(ErrorCode::kNotFound, "no variant {}", name);
  return *found;
}

GenerationGolden load_generation_golden(const GenerationVariant& variant) {
  GenerationGolden golden;
  const JsonDocument document =
      value_or_throw(JsonDocument::parse_file(variant.golden.string() + ".json"));
  golden.tensors = variant.golden.string() + ".safetensors";
  golden.taps = to_integers<std::size_t>(member(document.root(), "taps"));
  if (const Json* scored = document.root().find("scored")) {
    golden.scored = to_integers<std::size_t>(*scored);
  }
  const std::vector<double> logits = golden.tensor("logits");
  const auto cases = member(document.root(), "cases").items();
  const std::size_t vocab = logits.size() / cases.size();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    GenerationCase c;
    c.ids = to_integers<std::int32_t>(member(cases[i], "ids"));
    const auto first = logits.begin() + static_cast<std::ptrdiff_t>(i * vocab);
    c.logits.assign(first, first + static_cast<std::ptrdiff_t>(vocab));
    if (const Json* greedy = cases[i].find("greedy")) {
      c.greedy = to_integers<std::int32_t>(*greedy);
      for (const Json& gap : member(cases[i], "gaps").items()) {
        c.gaps.push_back(gap.as_double().value());
      }
    }
    if (const Json* next = cases[i].find("next")) {
      c.next = static_cast<std::int32_t>(next->as_int().value());
    }
    golden.cases.push_back(std::move(c));
  }
  return golden;
}

std::vector<float> last_logits(const LanguageModel& model, std::span<const std::int32_t> ids,
                               const std::vector<std::size_t>& passes) {
  const std::unique_ptr<DecoderState> state = model.make_state();
  std::vector<float> logits;
  std::size_t begin = 0;
  for (std::size_t pass = 0; begin < ids.size(); ++pass) {
    const std::size_t size =
        pass < passes.size() ? std::min(passes[pass], ids.size() - begin) : ids.size() - begin;
    const bool last = begin + size == ids.size();
    const LanguageModel::Input input{ids.subspan(begin, size), state.get(), last ? 1 : 0};
    model.forward({&input, 1}, logits);
    begin += size;
  }
  return logits;
}

double max_abs_difference(std::span<const float> got, std::span<const double> expected) {
  if (got.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double worst = 0.0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double difference = std::abs(static_cast<double>(got[i]) - expected[i]);
    if (!(difference <= worst)) worst = difference;  // NaN counts
  }
  return worst;
}

}  // namespace lattice
