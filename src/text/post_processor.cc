#include "text/post_processor.h"

#include <optional>
#include <span>
#include <variant>

#include "io/config_reader.h"
#include "text/vocabulary.h"

namespace lattice {
namespace {

constexpr std::size_t kMaxPieces = 1024;
constexpr int kMaxDepth = 16;

using Piece = AssemblyPlan::Piece;
using Source = AssemblyPlan::Source;
// The library passes a list of encodings from component to component; each is a list of pieces.
using Encodings = std::vector<std::vector<Piece>>;

struct TemplatePiece {
  std::optional<std::size_t> sequence;  // 0 or 1; a special token otherwise
  std::int32_t type_id = 0;
  std::vector<std::int32_t> ids;
};

struct TemplateStep {
  std::vector<TemplatePiece> pieces[2];  // single, pair
};

struct BertStep {
  std::int32_t cls = 0, sep = 0;
};

struct RobertaStep {
  std::int32_t cls = 0, sep = 0;
  bool trim_offsets = true, add_prefix_space = true;
};

struct ByteLevelStep {
  bool trim_offsets = true, add_prefix_space = true;
};

}  // namespace

struct PostProcessor::Step {
  std::variant<TemplateStep, BertStep, RobertaStep, ByteLevelStep> part;
};

namespace {

Piece special(std::vector<std::int32_t> ids, std::int32_t type_id) {
  return {Source::kSpecial, type_id, std::move(ids), {}};
}

void add_trims(Encodings& encodings, bool add_prefix_space) {
  for (auto& encoding : encodings) {
    bool at_start = true;
    for (Piece& piece : encoding) {
      if (piece.source == Source::kSpecial) {
        at_start = at_start && piece.ids.empty();
      } else {
        piece.trims.push_back({add_prefix_space, at_start});
        at_start = false;
      }
    }
  }
}

void set_type_ids(std::vector<Piece>& encoding, std::int32_t type_id) {
  for (Piece& piece : encoding) piece.type_id = type_id;
}

Encodings apply_template(const TemplateStep& step, Encodings in, bool add_special_tokens) {
  Encodings out;
  for (const TemplatePiece& piece : step.pieces[in.size() - 1]) {
    if (piece.sequence) {
      auto& encoding = in[*piece.sequence];
      set_type_ids(encoding, piece.type_id);
      out.push_back(encoding);
    } else if (add_special_tokens) {
      out.push_back({special(piece.ids, piece.type_id)});
    }
  }
  return out;
}

// [CLS] A [SEP] and B [SEP]; RoBERTa puts a second separator before B.
void wrap(Encodings& encodings, std::int32_t cls, std::int32_t sep, bool is_roberta) {
  for (std::size_t i = 0; i < encodings.size(); ++i) {
    auto& encoding = encodings[i];
    const std::int32_t type_id = i == 0 || is_roberta ? 0 : 1;
    if (i == 0) encoding.insert(encoding.begin(), special({cls}, 0));
    if (i > 0 && is_roberta) encoding.insert(encoding.begin(), special({sep}, 0));
    encoding.push_back(special({sep}, type_id));
  }
}

Result<Encodings> apply(const PostProcessor::Step& step, Encodings encodings,
                        bool add_special_tokens, const std::string& where) {
  if (const auto* templated = std::get_if<TemplateStep>(&step.part)) {
    if (encodings.empty() || encodings.size() > 2) {
      return fail(ErrorCode::kUnsupported, "{}: a template after another template", where);
    }
    return apply_template(*templated, std::move(encodings), add_special_tokens);
  }
  if (const auto* bert = std::get_if<BertStep>(&step.part)) {
    if (add_special_tokens) wrap(encodings, bert->cls, bert->sep, false);
  } else if (const auto* roberta = std::get_if<RobertaStep>(&step.part)) {
    if (roberta->trim_offsets) add_trims(encodings, roberta->add_prefix_space);
    for (auto& encoding : encodings) set_type_ids(encoding, 0);
    if (add_special_tokens) wrap(encodings, roberta->cls, roberta->sep, true);
  } else if (const auto* byte_level = std::get_if<ByteLevelStep>(&step.part)) {
    if (byte_level->trim_offsets) add_trims(encodings, byte_level->add_prefix_space);
  }
  return encodings;
}

Result<AssemblyPlan> make_plan(std::span<const PostProcessor::Step> steps, bool pair,
                               bool add_special_tokens, const std::string& where) {
  Encodings encodings = {{{Source::kFirst, 0, {}, {}}}};
  if (pair) encodings.push_back({{Source::kSecond, 1, {}, {}}});
  for (const auto& step : steps) {
    auto next = apply(step, std::move(encodings), add_special_tokens, where);
    if (!next) return forward_error(next);
    encodings = std::move(*next);
  }
  AssemblyPlan plan;
  for (auto& encoding : encodings) {
    for (Piece& piece : encoding) plan.pieces.push_back(std::move(piece));
  }
  if (plan.pieces.size() > kMaxPieces) {
    return fail(ErrorCode::kUnsupported, "{}: more than {} pieces", where, kMaxPieces);
  }
  return plan;
}

std::size_t count_added(const PostProcessor::Step& step, bool pair) {
  if (const auto* templated = std::get_if<TemplateStep>(&step.part)) {
    std::size_t count = 0;
    for (const auto& piece : templated->pieces[pair ? 1 : 0]) count += piece.ids.size();
    return count;
  }
  if (std::holds_alternative<BertStep>(step.part)) return pair ? 3 : 2;
  if (std::holds_alternative<RobertaStep>(step.part)) return pair ? 4 : 2;
  return 0;
}

Result<std::int32_t> read_id(const Json& json, const std::string& where) {
  const auto id = json.as_int();
  if (!id || *id < 0 || *id > Vocabulary::kMaxId) {
    return fail(ErrorCode::kMalformed, "{}: expected a token id", where);
  }
  return static_cast<std::int32_t>(*id);
}

Result<std::vector<std::int32_t>> read_special(const Json* specials, std::string_view name,
                                               const std::string& where) {
  const Json* entry = specials == nullptr ? nullptr : specials->find(name);
  const Json* ids = entry == nullptr ? nullptr : entry->find("ids");
  if (ids == nullptr || !ids->is_array() || ids->items().size() > kMaxPieces) {
    return fail(ErrorCode::kMalformed, "{}: special_tokens[\"{}\"].ids: missing", where, name);
  }
  std::vector<std::int32_t> out;
  for (const Json& item : ids->items()) {
    auto id = read_id(item, fmt::format("{}: special_tokens[\"{}\"].ids", where, name));
    if (!id) return forward_error(id);
    out.push_back(*id);
  }
  return out;
}

Result<TemplatePiece> read_piece(const Json& json, const Json* specials, bool pair,
                                 const std::string& where) {
  TemplatePiece piece;
  const Json* sequence = json.find("Sequence");
  const Json* body = sequence != nullptr ? sequence : json.find("SpecialToken");
  const Json* id = body == nullptr ? nullptr : body->find("id");
  const Json* type_id = body == nullptr ? nullptr : body->find("type_id");
  const auto name = id == nullptr ? std::nullopt : id->as_string();
  const auto type = type_id == nullptr ? std::nullopt : type_id->as_int();
  if (!name || !type || *type < 0 || *type > INT32_MAX) {
    return fail(ErrorCode::kMalformed,
                "{}: expected {{\"Sequence\" or \"SpecialToken\": {{\"id\", \"type_id\"}}}}",
                where);
  }
  piece.type_id = static_cast<std::int32_t>(*type);
  if (sequence == nullptr) {
    auto ids = read_special(specials, *name, where);
    if (!ids) return forward_error(ids);
    piece.ids = std::move(*ids);
    return piece;
  }
  if (*name != "A" && *name != "B") {
    return fail(ErrorCode::kMalformed, "{}: Sequence.id: expected A or B, got \"{}\"", where,
                *name);
  }
  piece.sequence = *name == "A" ? 0 : 1;
  if (piece.sequence == 1 && !pair) {
    return fail(ErrorCode::kMalformed, "{}: Sequence B in the template of one text", where);
  }
  return piece;
}

Result<PostProcessor::Step> read_template(ConfigReader& reader) {
  TemplateStep step;
  const Json* specials = reader.get("special_tokens");
  for (const bool pair : {false, true}) {
    const char* key = pair ? "pair" : "single";
    const Json* list = reader.get(key);
    if (list == nullptr || !list->is_array() || list->items().size() > kMaxPieces) {
      return fail(ErrorCode::kMalformed, "{}: {}: expected an array", reader.source(), key);
    }
    for (const Json& item : list->items()) {
      auto& pieces = step.pieces[pair ? 1 : 0];
      auto piece = read_piece(item, specials, pair,
                              fmt::format("{}: {}[{}]", reader.source(), key, pieces.size()));
      if (!piece) return forward_error(piece);
      pieces.push_back(std::move(*piece));
    }
  }
  return PostProcessor::Step{std::move(step)};
}

// ["[SEP]", 102]
Result<std::int32_t> read_named_id(ConfigReader& reader, std::string_view key) {
  const Json* json = reader.get(key);
  if (json == nullptr || json->items().size() != 2 || !json->items()[0].is_string()) {
    return fail(ErrorCode::kMalformed, "{}: {}: expected [\"token\", id]", reader.source(), key);
  }
  return read_id(json->items()[1], fmt::format("{}: {}[1]", reader.source(), key));
}

Result<PostProcessor::Step> read_bert_or_roberta(ConfigReader& reader, bool is_roberta) {
  auto cls = read_named_id(reader, "cls");
  if (!cls) return forward_error(cls);
  auto sep = read_named_id(reader, "sep");
  if (!sep) return forward_error(sep);
  const bool trim_offsets = reader.get_bool("trim_offsets", true);
  const bool add_prefix_space = reader.get_bool("add_prefix_space", true);
  if (auto status = reader.finish(); !status) return forward_error(status);
  if (!is_roberta) return PostProcessor::Step{BertStep{*cls, *sep}};
  return PostProcessor::Step{RobertaStep{*cls, *sep, trim_offsets, add_prefix_space}};
}

Result<void> read_steps(const Json& json, const std::string& where, int depth,
                        std::vector<PostProcessor::Step>& steps) {
  if (depth > kMaxDepth || steps.size() > kMaxPieces) {
    return fail(ErrorCode::kMalformed, "{}: nested too deeply or too long", where);
  }
  ConfigReader reader(json, where);
  const std::string type = reader.require_string("type");
  if (auto status = reader.finish(); !status) return status;
  if (type == "Sequence") {
    const Json* list = reader.get("processors");
    if (list == nullptr || !list->is_array()) {
      return fail(ErrorCode::kMalformed, "{}: processors: expected an array", where);
    }
    for (std::size_t i = 0; i < list->items().size(); ++i) {
      const std::string item = fmt::format("{}.processors[{}]", where, i);
      if (auto status = read_steps(list->items()[i], item, depth + 1, steps); !status) {
        return status;
      }
    }
    return {};
  }
  Result<PostProcessor::Step> step =
      fail(ErrorCode::kUnsupported, "{}: unknown post-processor \"{}\"", where, type);
  if (type == "TemplateProcessing") step = read_template(reader);
  if (type == "BertProcessing") step = read_bert_or_roberta(reader, false);
  if (type == "RobertaProcessing") step = read_bert_or_roberta(reader, true);
  if (type == "ByteLevel") {
    const bool trim_offsets = reader.get_bool("trim_offsets", true);
    const bool add_prefix_space = reader.get_bool("add_prefix_space", true);
    if (auto status = reader.finish(); !status) return status;
    step = PostProcessor::Step{ByteLevelStep{trim_offsets, add_prefix_space}};
  }
  if (!step) return forward_error(step);
  steps.push_back(std::move(*step));
  return {};
}

}  // namespace

PostProcessor::PostProcessor() {
  for (const bool special_tokens : {false, true}) {
    plans_[0][special_tokens ? 1 : 0].pieces = {{Source::kFirst, 0, {}, {}}};
    plans_[1][special_tokens ? 1 : 0].pieces = {{Source::kFirst, 0, {}, {}},
                                                {Source::kSecond, 1, {}, {}}};
  }
}

Result<PostProcessor> PostProcessor::make(const Json& json, const std::string& where) {
  if (json.is_null()) return PostProcessor();
  std::vector<Step> steps;
  if (auto status = read_steps(json, where, 0, steps); !status) return forward_error(status);
  return from_steps(steps, where);
}

PostProcessor PostProcessor::bert(std::int32_t cls, std::int32_t sep) {
  return value_or_throw(from_steps({Step{BertStep{cls, sep}}}, "BertProcessing"));
}

Result<PostProcessor> PostProcessor::from_steps(const std::vector<Step>& steps,
                                                const std::string& where) {
  PostProcessor processor;
  for (const bool pair : {false, true}) {
    for (const bool add_special_tokens : {false, true}) {
      auto plan = make_plan(steps, pair, add_special_tokens, where);
      if (!plan) return forward_error(plan);
      processor.plans_[pair ? 1 : 0][add_special_tokens ? 1 : 0] = std::move(*plan);
    }
    for (const Step& step : steps) processor.num_added_[pair ? 1 : 0] += count_added(step, pair);
  }
  return processor;
}

}  // namespace lattice
