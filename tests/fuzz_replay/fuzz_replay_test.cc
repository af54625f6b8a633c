// Replays the committed fuzz corpora: what a fuzzer once found stays fixed, in every build.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fuzz_targets.h"

namespace lattice {
namespace {

std::vector<std::filesystem::path> corpus_files(const char* name) {
  const auto directory = std::filesystem::path(LATTICE_SOURCE_DIR) / "fuzz" / "corpus" / name;
  std::vector<std::filesystem::path> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Runs one input; a finding ends the process, after gtest has printed the input's name.
class ReplayTest : public ::testing::Test {
 public:
  ReplayTest(const FuzzTarget& target, std::filesystem::path input)
      : target_(target), input_(std::move(input)) {}

  void TestBody() override {
    std::ifstream file(input_, std::ios::binary);
    ASSERT_TRUE(file.good()) << input_;
    const std::string content(std::istreambuf_iterator<char>(file), {});
    // An exact copy on the heap, so that the sanitizer sees a read past its end.
    const std::vector<std::uint8_t> bytes(content.begin(), content.end());
    EXPECT_EQ(target_.run(bytes.data(), bytes.size()), 0);
  }

 private:
  const FuzzTarget& target_;
  std::filesystem::path input_;
};

/// What a fuzzer tries before any seed; as a fuzzer gives it, without an address.
class EmptyInputTest : public ::testing::Test {
 public:
  explicit EmptyInputTest(const FuzzTarget& target) : target_(target) {}
  void TestBody() override { EXPECT_EQ(target_.run(nullptr, 0), 0); }

 private:
  const FuzzTarget& target_;
};

/// A target without a corpus would replay nothing and look like a pass.
class CorpusTest : public ::testing::Test {
 public:
  explicit CorpusTest(std::size_t size) : size_(size) {}
  void TestBody() override { EXPECT_GT(size_, 0u) << "the corpus is empty or missing"; }

 private:
  std::size_t size_;
};

/// The factories return the common base: all tests of a gtest suite share one fixture type.
void register_target(const FuzzTarget& target) {
  const auto files = corpus_files(target.name);
  ::testing::RegisterTest(
      target.name, "HasACorpus", nullptr, nullptr, __FILE__, __LINE__,
      [size = files.size()]() -> ::testing::Test* { return new CorpusTest(size); });
  ::testing::RegisterTest(target.name, "EmptyInput", nullptr, nullptr, __FILE__, __LINE__,
                          [&target]() -> ::testing::Test* { return new EmptyInputTest(target); });
  for (const auto& file : files) {
    ::testing::RegisterTest(
        target.name, file.filename().c_str(), nullptr, nullptr, __FILE__, __LINE__,
        [&target, file]() -> ::testing::Test* { return new ReplayTest(target, file); });
  }
}

}  // namespace
}  // namespace lattice

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (const lattice::FuzzTarget& target : lattice::fuzz_targets()) {
    lattice::register_target(target);
  }
  return RUN_ALL_TESTS();
}
