// Faults planted in the real kernels, one at a time: each barrier is needed, and the workloads that
// the backend runs show when it is missing; a loop that goes one too far is seen in every group.

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "backends/metal/msl_parts.h"
#include "backends/metal/msl_source.h"
#include "unit/backends/metal/edited_device.h"
#include "unit/backends/metal/workloads.h"

namespace lattice::metal {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

// Text of one file of kernels that is replaced by another.
struct PlantedEdit {
  std::string name;
  std::string file;  ///< without ".metal"
  std::string from;
  std::string to;
  std::size_t occurrence = 0;  ///< of `from` in the file
};

void PrintTo(const PlantedEdit& edit, std::ostream* out) { *out << edit.name; }

// `source` with the edit, if it has the file; fails the test if the file does not have the text.
std::string apply(const PlantedEdit& edit, std::string source) {
  std::size_t at = source.find("#line 1 \"" + edit.file + ".metal\"");
  if (at == std::string::npos) return source;
  const std::size_t end = source.find("#line 1", at + 1);
  for (std::size_t i = 0; i <= edit.occurrence; ++i) at = source.find(edit.from, at + 1);
  EXPECT_LT(at, end) << edit.from << " is not in " << edit.file;
  return at < end ? source.replace(at, edit.from.size(), edit.to) : source;
}

std::shared_ptr<Device> device_with(const PlantedEdit& edit, std::uint32_t seed) {
  const auto kind = seed == 0 ? simt::ScheduleKind::kFifo : simt::ScheduleKind::kPriority;
  return std::make_shared<EditedDevice>(
      [edit](std::string source) { return apply(edit, std::move(source)); },
      simt::SimtOptions{.checked = true, .schedule = kind, .seed = seed});
}

// What the device reports when it runs the workloads, those of `file` first; empty: nothing.
std::string report_of(const PlantedEdit& edit, std::uint32_t seed) {
  std::vector<Workload> order(workloads().begin(), workloads().end());
  std::ranges::partition(order, [&](const Workload& w) { return w.group == edit.file; });
  for (const Workload& workload : order) {
    try {
      workload.run(device_with(edit, seed));
    } catch (const LatticeError& error) {
      return error.what();
    }
  }
  return "";
}

class Unchanged : public ::testing::TestWithParam<Workload> {};
INSTANTIATE_TEST_SUITE_P(Kernels, Unchanged, ::testing::ValuesIn(workloads()),
                         [](const auto& test) { return std::string(test.param.group); });

TEST_P(Unchanged, IsNotFlagged) {
  for (const std::uint32_t seed : {0u, 1u}) {
    const PlantedEdit none{
        .name = "", .file = std::string(GetParam().group), .from = "kernel ", .to = "kernel "};
    EXPECT_NO_THROW(GetParam().run(device_with(none, seed)));
  }
}

// What weakens the barrier `text`: to leave it out, or where it orders both address spaces, one.
std::vector<std::string> weaker(const std::string& text) {
  const std::string both = "mem_flags::mem_threadgroup | mem_flags::mem_device";
  const std::size_t at = text.find(both);
  if (at == std::string::npos) return {""};
  std::vector<std::string> edits = {""};
  for (const char* one : {"mem_flags::mem_threadgroup", "mem_flags::mem_device"}) {
    edits.push_back(std::string(text).replace(at, both.size(), one));
  }
  return edits;
}

// Every barrier of every kernel and helper with each of its weaker forms.
std::vector<PlantedEdit> all_barriers() {
  std::vector<PlantedEdit> barriers;
  for (const MslPart& part : msl_parts()) {
    if (!part.name.ends_with(".metal")) continue;
    const std::string file(part.name.substr(0, part.name.size() - 6));
    std::map<std::string, std::size_t> seen;
    for (std::size_t at = part.text.find("_barrier("); at != std::string_view::npos;
         at = part.text.find("_barrier(", at + 1)) {
      const std::size_t begin = part.text.rfind(' ', at) + 1;
      const std::string barrier(part.text.substr(begin, part.text.find(';', at) - begin));
      for (const std::string& weak : weaker(barrier)) {
        barriers.push_back({.name = file + "_" + std::to_string(barriers.size() + 1),
                            .file = file,
                            .from = barrier,
                            .to = weak,
                            .occurrence = seen[barrier]});
      }
      ++seen[barrier];
    }
  }
  return barriers;
}

std::string edit_name(const ::testing::TestParamInfo<PlantedEdit>& info) { return info.param.name; }

class Barrier : public ::testing::TestWithParam<PlantedEdit> {};
INSTANTIATE_TEST_SUITE_P(Kernels, Barrier, ::testing::ValuesIn(all_barriers()), edit_name);

TEST_P(Barrier, IsMissedWhenItIsGone) {
  for (const std::uint32_t seed : {0u, 1u}) {
    EXPECT_THAT(report_of(GetParam(), seed), AnyOf(HasSubstr("race"), HasSubstr("nobody wrote")));
  }
}

TEST(Barriers, AreFound) { EXPECT_GE(all_barriers().size(), 15u); }

const std::vector<PlantedEdit> kOffByOnes = {
    {"EmbeddingRow", "embedding", "i < params.hidden_size", "i <= params.hidden_size"},
    {"RmsNormRow", "norm", "i < size;", "i <= size;"},
    {"LayerNormRow", "norm", "i < params.size; i += num_threads) {\n    sum +=",
     "i <= params.size; i += num_threads) {\n    sum +="},
    {"Rotation", "qk_norm_rope", "i < params.rotary_half", "i <= params.rotary_half"},
    {"AttentionKeys", "attention", "base + lane < keys.y", "base + lane <= keys.y"},
    {"AttentionValues", "attention", "j < count", "j <= count"},
    {"ShortGemmDepth", "gemm_short", "i < params.depth", "i <= params.depth"},
    {"ShortGemmRows", "gemm_short", "first_row + r < params.num_rows)",
     "first_row + r <= params.num_rows)"},
    {"TileRows", "gemm_tiled", "row < size.y", "row <= size.y"},
    {"TileStore", "gemm_tiled", "row < params.num_rows", "row <= params.num_rows"},
    {"QuantizedColumn", "q8_0", "column < params.depth ?", "column <= params.depth ?"},
    {"QuantizedBlocks", "q8_0", "block < num_blocks", "block <= num_blocks"},
    {"Activation", "elementwise", "column >= params.num_columns", "column > params.num_columns"},
    {"Convolution", "elementwise", "channel >= params.channels", "channel > params.channels"},
    {"NewTokens", "delta_rule", "i < num_rows; i += num_sg", "i <= num_rows; i += num_sg"},
    {"ScoredTokens", "delta_rule", "i < num_rows; ++i", "i <= num_rows; ++i"},
    {"FoldedTokens", "delta_rule", "j < kDeltaChunk; ++j", "j <= kDeltaChunk; ++j"},
    {"Steps", "delta_rule_steps", "i < view.num_rows", "i <= view.num_rows"},
    {"TileTokens", "delta_rule_chunks", "i >= view.num_old && i < view.num_rows",
     "i >= view.num_old && i <= view.num_rows"},
    {"PooledColumn", "pool", "column >= params.hidden_size", "column > params.hidden_size"},
    {"PooledRows", "pool", "row < end", "row <= end"},
    {"Argmax", "pool", "i < params.size; i += num_threads", "i <= params.size; i += num_threads"},
};

class OffByOne : public ::testing::TestWithParam<PlantedEdit> {};
INSTANTIATE_TEST_SUITE_P(Kernels, OffByOne, ::testing::ValuesIn(kOffByOnes), edit_name);

TEST_P(OffByOne, IsCaught) { EXPECT_THAT(report_of(GetParam(), 0), HasSubstr("[simt] kernel ")); }

}  // namespace
}  // namespace lattice::metal
