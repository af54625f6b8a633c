// One short text again and again: the forward pass allocates nothing once its memory is warm.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "engine/model_impl.h"
#include "support/allocation_counter.h"
#include "support/tiny_models.h"

namespace lattice {
namespace {

struct Subject {
  std::string directory;
  std::string dtype;
  std::size_t num_threads;
};

void PrintTo(const Subject& subject, std::ostream* out) {
  *out << subject.directory << " in " << subject.dtype << " on " << subject.num_threads;
}

class Allocation : public testing::TestWithParam<Subject> {};

std::size_t allocations_of(const auto& call) {
  const std::size_t before = num_allocations();
  call();
  return num_allocations() - before;
}

TEST_P(Allocation, NoneInASteadyForwardPass) {
  const Model model = Model::from_directory(
      tiny_directory(GetParam().directory),
      {.device = "cpu", .dtype = GetParam().dtype, .num_threads = GetParam().num_threads});
  const LoadedModel& loaded = model.impl().model();
  const std::vector<std::int32_t> ids = {2, 17, 33, 48, 64, 80, 96, 112, 3};
  const std::vector<std::int32_t> types(ids.size(), 0);
  const std::vector<std::int32_t> cu_seqlens = {0, static_cast<std::int32_t>(ids.size())};
  const auto pass = [&] {
    ContextPool::Lease lease(*loaded.contexts, cu_seqlens.back());
    Context& context = *lease;
    const Workspace::Scope scratch(context.workspace());
    loaded.body->forward(
        context, {.input_ids = ids, .token_type_ids = types, .layout = {cu_seqlens}},
        context.workspace().matrix(cu_seqlens.back(), loaded.body->traits().hidden_size));
  };
  EXPECT_GT(allocations_of(pass), 0u) << "nothing is counted";  // packs the weights
  pass();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(allocations_of(pass), 0u);
}

// Of a whole call: what the text is cut into, and the result.
TEST_P(Allocation, FewInASteadyCall) {
  const Model model = Model::from_directory(
      tiny_directory(GetParam().directory),
      {.device = "cpu", .dtype = GetParam().dtype, .num_threads = GetParam().num_threads});
  const std::vector<std::string> texts = {"It is late in the day."};
  for (int i = 0; i < 3; ++i) model.embed(texts);
  EXPECT_LE(allocations_of([&] { model.embed(texts); }), 32u);
}

std::string subject_name(const testing::TestParamInfo<Subject>& test) {
  std::string name =
      test.param.directory + "_" + test.param.dtype + "_" + std::to_string(test.param.num_threads);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Subjects, Allocation,
    testing::Values(Subject{"bert-mean", "f32", 1}, Subject{"bert-mean", "f32", 2},
                    Subject{"bert-mean", "q8_0", 2}, Subject{"bert-mean", "bf16", 1},
                    Subject{"qwen3-gqa-4", "f32", 2}, Subject{"qwen3-gqa-4", "q8_0", 1}),
    subject_name);

}  // namespace
}  // namespace lattice
