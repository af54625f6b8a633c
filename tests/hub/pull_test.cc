// What a pull fetches, where it puts it, and how it answers when the hub says no.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "hub/pull_fixture.h"
#include "io/hub/file_digest.h"

namespace lattice::test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const std::vector<std::string> kTinyFiles = {"config.json", "tokenizer.json", "model.safetensors"};

TEST_F(PullTest, FetchesAModelAndRecordsItsDigests) {
  start();
  const auto outcome = pull();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete(kTinyFiles);
  EXPECT_EQ(outcome->path, store_.commit_directory("org/tiny", kCommit));
  EXPECT_EQ(outcome->commit, kCommit);
  EXPECT_FALSE(outcome->already_there);
  EXPECT_GE(outcome->bytes_received, weights_.size());
  const auto manifest = store_.check_model("org/tiny", kCommit);
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->revision, "main");
  EXPECT_EQ(manifest->endpoint, server_->endpoint());
  for (const ManifestFile& file : manifest->files) {
    const std::string content = read_file(repo_path(file.path));
    Digest digest = Digest::sha256();
    digest.update(std::as_bytes(std::span(content)));
    EXPECT_EQ(file.sha256, digest.finish()) << file.path;
  }
  EXPECT_THAT(waits_, IsEmpty());
}

TEST_F(PullTest, FetchesOnlyTheNeededFiles) {
  const std::vector<std::string> needed = {
      "added_tokens.json",
      "chat_template.jinja",
      "config_sentence_transformers.json",
      "generation_config.json",
      "inference_config.json",
      "merges.txt",
      "modules.json",
      "sentence_bert_config.json",
      "special_tokens_map.json",
      "tokenizer_config.json",
      "vocab.json",
      "vocab.txt",
      "1_Pooling/config.json",
      "2_Dense/config.json",
      "2_Dense/model.safetensors",
  };
  for (const std::string& path : needed) add_file(path, "content of " + path);
  add_file("modules.json",
           R"([{"idx":0,"path":"","type":"sentence_transformers.models.Transformer"},)"
           R"({"idx":1,"path":"1_Pooling","type":"sentence_transformers.models.Pooling"},)"
           R"({"idx":2,"path":"2_Dense","type":"sentence_transformers.models.Dense"},)"
           R"({"idx":3,"path":"3_Normalize","type":"sentence_transformers.models.Normalize"}])");
  for (const std::string path :
       {"README.md", ".gitattributes", "pytorch_model.bin", "picture.png", "onnx/model.onnx",
        "openvino/openvino_model.bin", "model_fp16.safetensors", "other/config.json",
        "2_Dense/pytorch_model.bin", "training_args.bin", "train_script.py"}) {
    add_file(path, "not needed");
  }
  start();
  const auto outcome = pull();
  ASSERT_TRUE(outcome) << outcome.error().message;
  std::vector<std::string> expected = kTinyFiles;
  expected.insert(expected.end(), needed.begin(), needed.end());
  expect_complete(expected);
  EXPECT_THAT(requests("hub", ".bin"), IsEmpty());
}

TEST_F(PullTest, FetchesExactlyTheShardsThatTheIndexNames) {
  remove_file("model.safetensors");
  add_file("model-00001-of-00002.safetensors", noise(5000, 2));
  add_file("model-00002-of-00002.safetensors", noise(6000, 3));
  add_file("consolidated.safetensors", noise(7000, 4));
  add_file("model.safetensors.index.json",
           R"({"metadata":{},"weight_map":{"a":"model-00001-of-00002.safetensors",)"
           R"("b":"model-00002-of-00002.safetensors","c":"model-00001-of-00002.safetensors"}})");
  start();
  const auto outcome = pull();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete({"config.json", "tokenizer.json", "model.safetensors.index.json",
                   "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"});
}

TEST_F(PullTest, ASingleFileWinsOverAnIndex) {
  add_file("model.safetensors.index.json", R"({"weight_map":{"a":"x.safetensors"}})");
  start();
  ASSERT_TRUE(pull());
  expect_complete(kTinyFiles);
}

TEST_F(PullTest, AnIndexNamingAMissingShardFailsBeforeAnyWeights) {
  remove_file("model.safetensors");
  add_file("model-1.safetensors", "x");
  add_file("model.safetensors.index.json",
           R"({"weight_map":{"a":"model-1.safetensors","b":"model-2.safetensors"}})");
  start();
  const Error error = pull_error();
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_THAT(error.message, HasSubstr("model-2.safetensors"));
  expect_nothing_usable();
  EXPECT_THAT(requests("hub", "model-1.safetensors"), IsEmpty());
}

TEST_F(PullTest, AnIndexThatPointsOutsideIsRefused) {
  remove_file("model.safetensors");
  add_file("model.safetensors.index.json", R"({"weight_map":{"a":"../../evil.safetensors"}})");
  start();
  EXPECT_EQ(pull_error().code, ErrorCode::kMalformed);
  expect_nothing_usable();
  EXPECT_FALSE(fs::exists(store_.models_directory() / ".incoming/evil.safetensors"));
}

TEST_F(PullTest, ARepositoryWithoutSafetensorsIsRefusedWithAdvice) {
  remove_file("model.safetensors");
  add_file("pytorch_model.bin", "pickle");
  start();
  const Error error = pull_error();
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_THAT(error.message, HasSubstr("pytorch_model.bin"));
  EXPECT_THAT(error.message, HasSubstr("model.safetensors"));
  expect_nothing_usable();
}

TEST_F(PullTest, ARepositoryWithoutConfigIsRefused) {
  remove_file("config.json");
  start();
  EXPECT_THAT(pull_error().message, HasSubstr("no config.json"));
  expect_nothing_usable();
}

TEST_F(PullTest, ATransformerInAFolderIsFound) {
  remove_file("config.json");
  remove_file("model.safetensors");
  add_file("modules.json",
           R"([{"path":"0_Transformer","type":"sentence_transformers.models.Transformer"}])");
  add_file("0_Transformer/config.json", "{}");
  add_file("0_Transformer/model.safetensors", "weights");
  add_file("0_Transformer/vocab.txt", "a");
  start();
  ASSERT_TRUE(pull());
  expect_complete({"modules.json", "tokenizer.json", "0_Transformer/config.json",
                   "0_Transformer/model.safetensors", "0_Transformer/vocab.txt"});
}

TEST_F(PullTest, ASecondPullFetchesNothing) {
  start();
  ASSERT_TRUE(pull());
  const std::size_t before = server_->requests().size();
  const auto again = pull();
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->already_there);
  EXPECT_EQ(again->bytes_received, 0u);
  EXPECT_EQ(server_->requests().size(), before + 1);  // the API alone
  expect_complete(kTinyFiles);
}

TEST_F(PullTest, ARevisionAndACommitNameTheSameFiles) {
  start(R"("revisions":["refs/pr/1"])");
  ASSERT_TRUE(pull("org/tiny@refs/pr/1"));
  EXPECT_THAT(requests("hub", "/revision/refs/pr/1"), SizeIs(1));
  const auto by_commit = pull("org/tiny@" + kCommit);
  ASSERT_TRUE(by_commit) << by_commit.error().message;
  EXPECT_TRUE(by_commit->already_there);
  EXPECT_TRUE(resolve_model("org/tiny@refs/pr/1", store_));
  // Every file was asked for by the commit, so that a moving branch cannot mix versions.
  for (const SeenRequest& request : requests("hub", ".json")) {
    EXPECT_THAT(request.path, HasSubstr("/resolve/" + kCommit + "/"));
  }
}

TEST_F(PullTest, ADamagedModelIsRepairedFromWhatIsGood) {
  start();
  ASSERT_TRUE(pull());
  fs::resize_file(store_.commit_directory("org/tiny", kCommit) / "tokenizer.json", 3);
  const std::size_t before = server_->requests().size();
  const auto again = pull();
  ASSERT_TRUE(again) << again.error().message;
  expect_complete(kTinyFiles);
  EXPECT_EQ(server_->requests().size(), before + 2);  // the API and the damaged file
}

TEST_F(PullTest, ANewCommitReusesWeightsThatDidNotChange) {
  start();
  ASSERT_TRUE(pull());
  add_file("config.json", R"({"model_type":"bert","changed":true})");
  const std::string newer(40, 'd');
  start(fmt::format(R"("commit":"{}")", newer));  // the last of two keys counts
  const auto outcome = pull();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->commit, newer);
  EXPECT_THAT(requests("hub", "model.safetensors"), IsEmpty());
  EXPECT_TRUE(read_file(outcome->path / "model.safetensors") == weights_);
  EXPECT_EQ(resolve_model("org/tiny", store_).value(), outcome->path);  // "main" has moved
  ASSERT_TRUE(store_.remove({"org/tiny", kCommit}));
  EXPECT_TRUE(read_file(outcome->path / "model.safetensors") == weights_);
  EXPECT_TRUE(store_.check_model("org/tiny", newer));
}

TEST_F(PullTest, FilesOfTheRightLengthAreVerifiedBeforeTheyAreKept) {
  start();
  const fs::path incoming = store_.incoming_directory("org/tiny", kCommit);
  write_file(incoming / "model.safetensors", noise(300'000, 99));
  write_file(incoming / "stray.safetensors", "of an earlier version");
  ASSERT_TRUE(pull());
  expect_complete(kTinyFiles);
}

TEST_F(PullTest, AMirrorWithoutDescriptionsIsAskedFileByFile) {
  start(R"("describe":false)");
  const auto outcome = pull();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete(kTinyFiles);
  EXPECT_THAT(requests("cdn", "model.safetensors"), SizeIs(1));
}

TEST_F(PullTest, AFileWithoutAnyDigestIsNotFetched) {
  start(R"("describe":false,"faults":{"config.json":[{"etag":"\"abc\"","always":true}]})");
  const Error error = pull_error();
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_THAT(error.message, HasSubstr("config.json"));
  expect_nothing_usable();
}

TEST_F(PullTest, UnauthorizedWithoutATokenAdvisesHfToken) {
  start(R"("token":"secret")");
  const Error error = pull_error();
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_THAT(error.message, HasSubstr("401"));
  EXPECT_THAT(error.message, HasSubstr("HF_TOKEN"));
  EXPECT_THAT(error.message, HasSubstr("Invalid username or password"));
  EXPECT_THAT(waits_, IsEmpty());
  expect_nothing_usable();
}

TEST_F(PullTest, AWrongTokenIsSaidToBeWrongAndNotPrinted) {
  start(R"("token":"secret")");
  HubOptions with_token = options();
  with_token.token = "hf_wrong";
  const auto outcome = pull("org/tiny", with_token);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("token in HF_TOKEN is not valid"));
  EXPECT_THAT(outcome.error().message, Not(HasSubstr("hf_wrong")));
}

TEST_F(PullTest, AGatedModelAdvisesToAcceptItsConditions) {
  start(R"("faults":{"config.json":[{"status":403,"headers":{"X-Error-Code":"GatedRepo"}}]})");
  const Error error = pull_error();
  EXPECT_THAT(error.message, HasSubstr("403"));
  EXPECT_THAT(error.message, HasSubstr("accept its conditions"));
  EXPECT_THAT(waits_, IsEmpty());
  expect_nothing_usable();
}

TEST_F(PullTest, AMissingRepositoryAndAMissingRevisionAreToldApart) {
  start();
  Error error = pull_error("org/other");
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_THAT(error.message, HasSubstr("org/other"));
  error = pull_error("org/tiny@v9");
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_THAT(error.message, HasSubstr("no such revision"));
  EXPECT_THAT(error.message, HasSubstr("org/tiny@v9"));
  expect_nothing_usable();
}

TEST_F(PullTest, TextOfTheServerCannotControlTheTerminal) {
  start(R"("faults":{"api":[{"status":404,"body":"{\"error\":\"a\\u001b[2Jb\"}"}]})");
  const std::string message = pull_error().message;
  EXPECT_THAT(message, HasSubstr("a [2Jb"));
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

TEST_F(PullTest, ACancelledPullLeavesWhatTheNextOneResumes) {
  start(R"("faults":{"cdn:model.safetensors":[{"drop_after":100000}]})");
  HubOptions cancelling = options();
  std::atomic<bool> cancel = false;
  cancelling.cancel = &cancel;
  cancelling.sleep = [&](std::chrono::milliseconds) {
    cancel = true;
    return false;
  };
  const auto outcome = pull("org/tiny", cancelling);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kCancelled);
  expect_nothing_usable();
  EXPECT_EQ(fs::file_size(partial("model.safetensors")), 100'000u);
  const auto resumed = pull();
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(resumed->bytes_received, weights_.size() - 100'000);
  expect_complete(kTinyFiles);
}

TEST_F(PullTest, AProcessKilledInMidDownloadLeavesNoModelAndIsResumed) {
  start(R"("faults":{"cdn:model.safetensors":[{"stall_after":100000}]})");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    HubOptions patient = options();
    const std::unique_ptr<HttpClient> http = make_http_client({});
    auto hub = HubClient::create(*http, patient);
    const auto outcome = pull_model(*hub, store_, {"org/tiny", ""}, nullptr);
    ::_exit(outcome ? 0 : 1);
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(100);
  std::error_code error;
  while (fs::file_size(partial("model.safetensors"), error) != 100'000 &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended before it was killed";
  expect_nothing_usable();
  const auto listing = store_.list();
  ASSERT_EQ(listing->unfinished.size(), 1u);
  EXPECT_GE(listing->unfinished[0].bytes, 100'000u);

  const auto resumed = pull();  // the dead process's lock is free
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(resumed->bytes_received, weights_.size() - 100'000);
  expect_complete(kTinyFiles);
  const auto last = requests("cdn", "model.safetensors").back();
  EXPECT_EQ(last.range, "bytes=100000-");
  EXPECT_TRUE(last.if_range.starts_with('"')) << last.if_range;
}

TEST_F(PullTest, TwoPullsOfOneModelAtOnceDownloadItOnce) {
  start(R"("faults":{"cdn:model.safetensors":[{"drop_after":100000}]})");
  std::vector<std::thread> threads;
  std::atomic<int> succeeded = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      HubOptions quiet = options();
      quiet.on_notice = nullptr;
      quiet.sleep = [](std::chrono::milliseconds) { return true; };
      const std::unique_ptr<HttpClient> http = make_http_client(http_options());
      auto hub = HubClient::create(*http, quiet);
      if (pull_model(*hub, store_, {"org/tiny", ""}, nullptr)) ++succeeded;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(succeeded, 4);
  expect_complete(kTinyFiles);
  EXPECT_THAT(requests("cdn", "model.safetensors"), SizeIs(2));  // the drop and its resumption
}

}  // namespace
}  // namespace lattice::test
