#include "io/hub/model_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "hub_test_util.h"
#include "io/json.h"
#include "io/json_text.h"

namespace lattice {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kCommitA(40, 'a');
const std::string kCommitB(40, 'b');

class ModelStoreTest : public testing::Test {
 protected:
  /// Publishes a model of one weights file through the store, as a pull does.
  void add(const std::string& repo, const std::string& revision, const std::string& commit,
           const std::string& content = "weights") {
    const fs::path incoming = store_.incoming_directory(repo, commit);
    test::write_file(incoming / "model.safetensors", content);
    ModelManifest manifest{repo, revision, commit, "https://hub", "2026-01-31T12:00:00Z", {}};
    manifest.files.push_back({"model.safetensors", content.size(), std::string(64, '0')});
    test::write_file(incoming / kManifestName, manifest_to_json(manifest));
    const auto status = store_.publish(incoming, manifest);
    ASSERT_TRUE(status) << status.error().message;
  }

  Error find_error(const std::string& name) {
    auto found = resolve_model(name, store_);
    return found ? Error{ErrorCode::kInternal, "found"} : found.error();
  }

  test::TemporaryDirectory home_;
  ModelStore store_{home_.path() / "store"};
};

TEST_F(ModelStoreTest, PublishMakesAModelThatResolves) {
  add("org/name", "main", kCommitA);
  for (const std::string& name : {std::string("org/name"), std::string("org/name@main"),
                                  "org/name@" + kCommitA, "org/name@" + kCommitA.substr(0, 7)}) {
    const auto path = resolve_model(name, store_);
    ASSERT_TRUE(path) << name << ": " << path.error().message;
    EXPECT_EQ(*path, store_.home() / "models" / "org--name" / kCommitA);
  }
  EXPECT_FALSE(fs::exists(store_.incoming_directory("org/name", kCommitA)));
}

TEST_F(ModelStoreTest, AnExistingDirectoryWins) {
  add("org/name", "main", kCommitA);
  const fs::path directory = home_.path() / "mine";
  fs::create_directories(directory);
  const auto path = resolve_model(directory.string(), store_);
  ASSERT_TRUE(path);
  EXPECT_EQ(*path, directory);
}

TEST_F(ModelStoreTest, AMissingModelSaysWhatWasLookedForAndHowToPullIt) {
  const Error error = find_error("org/other@v1");
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_THAT(error.message, HasSubstr("org/other@v1"));
  EXPECT_THAT(error.message, HasSubstr(store_.models_directory().string()));
  EXPECT_THAT(error.message, HasSubstr("lattice pull org/other@v1"));
}

TEST_F(ModelStoreTest, AFileOrANonsenseNameIsRefused) {
  test::write_file(home_.path() / "file.safetensors", "x");
  EXPECT_THAT(find_error((home_.path() / "file.safetensors").string()).message,
              HasSubstr("is a file"));
  EXPECT_EQ(find_error("../../etc").code, ErrorCode::kNotFound);
  EXPECT_EQ(find_error("").code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(find_error(std::string("a\0b", 3)).code, ErrorCode::kInvalidArgument);
}

TEST_F(ModelStoreTest, MainWinsAndAnAmbiguousNameIsRefused) {
  add("org/name", "v1", kCommitA);
  EXPECT_EQ(resolve_model("org/name", store_).value().filename(), kCommitA);  // the only one
  add("org/name", "v2", kCommitB);
  const Error error = find_error("org/name");
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr(kCommitB));
  EXPECT_EQ(resolve_model("org/name@v2", store_).value().filename(), kCommitB);
  EXPECT_EQ(find_error("org/name@v3").code, ErrorCode::kNotFound);
  ASSERT_TRUE(store_.write_ref("org/name", "main", kCommitA));
  EXPECT_EQ(resolve_model("org/name", store_).value().filename(), kCommitA);
}

TEST_F(ModelStoreTest, AnUnfinishedDownloadIsNoModel) {
  test::write_file(store_.incoming_directory("org/name", kCommitA) / "model.safetensors", "wei");
  EXPECT_EQ(find_error("org/name").code, ErrorCode::kNotFound);
  const auto listing = store_.list();
  ASSERT_TRUE(listing);
  EXPECT_TRUE(listing->models.empty());
  ASSERT_EQ(listing->unfinished.size(), 1u);
  EXPECT_EQ(listing->unfinished[0].repo, "org/name");
  EXPECT_EQ(listing->unfinished[0].bytes, 3u);
}

TEST_F(ModelStoreTest, ADamagedModelIsNamedNotUsed) {
  add("org/name", "main", kCommitA);
  const fs::path weights = store_.commit_directory("org/name", kCommitA) / "model.safetensors";
  test::write_file(weights, "weigh");
  Error error = find_error("org/name");
  EXPECT_EQ(error.code, ErrorCode::kMalformed);
  EXPECT_THAT(error.message, HasSubstr("expected 7 bytes, got 5"));
  fs::remove(weights);
  error = find_error("org/name");
  EXPECT_THAT(error.message, HasSubstr("model.safetensors is missing"));
  EXPECT_THAT(store_.list().value().models[0].problem, HasSubstr("is missing"));
}

TEST_F(ModelStoreTest, ListShowsModelsWithRevisionsAndSizes) {
  EXPECT_TRUE(store_.list().value().models.empty());
  add("org/name", "main", kCommitA);
  ASSERT_TRUE(store_.write_ref("org/name", "refs/pr/1", kCommitA));
  add("name", "main", kCommitB, "12345");
  test::write_file(store_.models_directory() / "not a model" / kCommitA / "x", "x");
  const auto listing = store_.list();
  ASSERT_TRUE(listing);
  ASSERT_EQ(listing->models.size(), 2u);
  EXPECT_EQ(listing->models[0].repo, "name");
  EXPECT_EQ(listing->models[0].bytes, 5u);
  EXPECT_EQ(listing->models[1].repo, "org/name");
  EXPECT_THAT(listing->models[1].revisions, ElementsAre("main", "refs/pr/1"));
  EXPECT_EQ(listing->models[1].pulled_at, "2026-01-31T12:00:00Z");
  EXPECT_EQ(listing->models[1].problem, "");
}

TEST_F(ModelStoreTest, RemoveDeletesTheModelAndItsUnfinishedDownloads) {
  add("org/name", "main", kCommitA);
  add("org/kept", "main", kCommitA);
  test::write_file(store_.incoming_directory("org/name", kCommitB) / "x", "123");
  const auto removed = store_.remove({"org/name", ""});
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_GT(removed->bytes, 10u);
  EXPECT_FALSE(fs::exists(store_.repo_directory("org/name")));
  EXPECT_FALSE(fs::exists(store_.models_directory() / ".incoming" / "org--name"));
  EXPECT_TRUE(fs::is_empty(store_.models_directory() / ".trash"));
  EXPECT_TRUE(resolve_model("org/kept", store_));
  EXPECT_EQ(store_.remove({"org/name", ""}).error().code, ErrorCode::kNotFound);
}

TEST_F(ModelStoreTest, RemovingANameKeepsACommitThatAnotherNameNeeds) {
  add("org/name", "main", kCommitA);
  ASSERT_TRUE(store_.write_ref("org/name", "a", kCommitA));  // also how the commit begins
  ASSERT_TRUE(store_.remove({"org/name", "a"}));
  EXPECT_TRUE(resolve_model("org/name@main", store_));
  EXPECT_EQ(find_error("org/name@a").code, ErrorCode::kNotFound);
  add("org/name", "v2", kCommitB);
  ASSERT_TRUE(store_.remove({"org/name", kCommitA}));
  EXPECT_EQ(find_error("org/name@main").code, ErrorCode::kNotFound);
  EXPECT_TRUE(resolve_model("org/name@v2", store_));
  ASSERT_TRUE(store_.remove({"org/name", "v2"}));
  EXPECT_FALSE(fs::exists(store_.repo_directory("org/name")));
}

TEST_F(ModelStoreTest, AnUnfinishedDownloadIsRemovedByItsCommitAlone) {
  add("org/name", "main", kCommitA);
  test::write_file(store_.incoming_directory("org/name", kCommitB) / "x", "123");
  const auto removed = store_.remove({"org/name", kCommitB});
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(removed->bytes, 3u);
  EXPECT_TRUE(store_.list().value().unfinished.empty());
  EXPECT_TRUE(resolve_model("org/name", store_));
  EXPECT_EQ(store_.remove({"org/name", kCommitB}).error().code, ErrorCode::kNotFound);
}

TEST_F(ModelStoreTest, RemoveRefusesWhileAPullHoldsTheLock) {
  add("org/name", "main", kCommitA);
  const auto lock = store_.try_lock("org/name");
  ASSERT_TRUE(lock) << lock.error().message;
  EXPECT_EQ(store_.remove({"org/name", ""}).error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(resolve_model("org/name", store_));
}

TEST_F(ModelStoreTest, RemoveNeverFollowsASymbolicLink) {
  const fs::path outside = home_.path() / "outside";
  test::write_file(outside / kCommitA / "precious", "x");
  fs::create_directories(store_.models_directory());
  fs::create_directory_symlink(outside, store_.models_directory() / "org--name");
  EXPECT_EQ(store_.remove({"org/name", ""}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(fs::exists(outside / kCommitA / "precious"));
  add("org/real", "main", kCommitA);
  fs::create_directory_symlink(outside, store_.commit_directory("org/real", kCommitA) / "link");
  ASSERT_TRUE(store_.remove({"org/real", ""}));
  EXPECT_TRUE(fs::exists(outside / kCommitA / "precious"));
}

TEST(ModelStoreLocation, FollowsTheEnvironment) {
  const test::ScopedEnvironment home("HOME", "/h");
  {
    const test::ScopedEnvironment lattice("LATTICE_HOME", "/x");
    EXPECT_EQ(ModelStore::from_environment().value().home(), "/x");
  }
  const test::ScopedEnvironment lattice("LATTICE_HOME", std::nullopt);
  {
    const test::ScopedEnvironment data("XDG_DATA_HOME", "/d");
    EXPECT_EQ(ModelStore::from_environment().value().home(), "/d/lattice");
  }
  for (const auto& value : {std::optional<std::string>(), std::optional<std::string>("relative")}) {
    const test::ScopedEnvironment data("XDG_DATA_HOME", value);
    EXPECT_EQ(ModelStore::from_environment().value().home(), "/h/.local/share/lattice");
  }
}

TEST(ModelManifest, RoundTripsAndRefusesUnsafeContent) {
  ModelManifest manifest{"org/name", "a\"b", kCommitA, "https://h", "2026-01-31T12:00:00Z", {}};
  manifest.files = {{"a/b.json", 12, std::string(64, '1')}, {"c", 0, std::string(64, '2')}};
  const auto back = parse_manifest(manifest_to_json(manifest), "m");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->revision, "a\"b");
  EXPECT_EQ(back->files.size(), 2u);
  EXPECT_EQ(back->total_bytes(), 12u);
  const auto refused = [&](auto change) {
    ModelManifest copy = manifest;
    change(copy);
    return !parse_manifest(manifest_to_json(copy), "m");
  };
  EXPECT_TRUE(refused([](ModelManifest& m) { m.files[0].path = "../x"; }));
  EXPECT_TRUE(refused([](ModelManifest& m) { m.files[0].path = "c"; }));
  EXPECT_TRUE(refused([](ModelManifest& m) { m.files[0].sha256 = "1"; }));
  EXPECT_TRUE(refused([](ModelManifest& m) { m.commit = "../../x"; }));
  EXPECT_TRUE(refused([](ModelManifest& m) { m.repo = "../x"; }));
  EXPECT_FALSE(parse_manifest("{}", "m"));
  EXPECT_FALSE(parse_manifest("[]", "m"));
}

TEST(SystemError, NamesTheFileAndAFullDisk) {
  const Error full = system_error("/a/b", "write", ENOSPC);
  EXPECT_EQ(full.code, ErrorCode::kIo);
  EXPECT_EQ(full.message, "/a/b: cannot write: the disk is full");
  EXPECT_EQ(system_error("/a/b", "open", EACCES).message, "/a/b: cannot open: Permission denied");
}

TEST(JsonQuote, EscapesWhatJsonRequires) {
  const std::string text("a\"\\\n\t\x01\0é", 9);
  const auto document = JsonDocument::parse(json_quote(text), "t");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(document->root().as_string(), text);
}

}  // namespace
}  // namespace lattice
