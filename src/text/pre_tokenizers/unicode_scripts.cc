#include <vector>

#include "text/pre_tokenizers/pre_tokenizers.h"
#include "text/unicode/code_point_table.h"
#include "text/unicode/tables.h"
#include "text/utf8.h"

namespace lattice::pre_tokenizers {
namespace {

using ScriptTable = unicode::CodePointTable<std::uint8_t>;

const ScriptTable& script_table() {
  static const ScriptTable kTable = [] {
    std::vector<ScriptTable::Run> runs;
    for (const std::uint32_t run : unicode::segmentation_data().script_runs) {
      runs.push_back({run >> 8, static_cast<std::uint8_t>(run & 0xFFU)});
    }
    return ScriptTable(runs);
  }();
  return kTable;
}

/// Cuts where the script changes. Characters of no script (space, unassigned) belong to what
/// precedes them; those before the first character of a script are lost, as in the library.
class UnicodeScripts final : public PreTokenizer {
 private:
  void do_split(PreTokenizedText& text) const override {
    const ScriptTable& scripts = script_table();
    const std::string_view source = text.buffer.text;
    auto& out = text.spare_splits;
    out.clear();
    for (const ByteRange split : text.splits) {
      std::uint8_t last = 0;
      std::size_t begin = split.begin;
      for (std::size_t at = split.begin; at < split.end;) {
        const std::size_t here = at;
        const std::uint8_t script = scripts[next_code_point(source, at)];
        if (script == 0 || script == last) continue;
        if (last != 0) out.push_back({begin, here});
        begin = here;
        last = script;
      }
      if (last != 0) out.push_back({begin, split.end});
    }
    text.splits.swap(out);
  }
};

}  // namespace

Made make_unicode_scripts(const Json& json, const std::string& where) {
  const ConfigReader reader(json, where);
  if (auto status = finish_component(reader); !status) return forward_error(status);
  return std::make_unique<UnicodeScripts>();
}

}  // namespace lattice::pre_tokenizers
