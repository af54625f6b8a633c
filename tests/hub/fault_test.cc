// Downloads from a server that breaks off, lies or refuses: each case checks the outcome and what
// is left on the disk.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "hub/pull_fixture.h"

namespace lattice::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::Contains;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::vector<std::string> kTinyFiles = {"config.json", "tokenizer.json", "model.safetensors"};

/// Script members with faults for the weights on the file server.
std::string cdn_faults(std::string_view faults) {
  return fmt::format(R"("faults":{{"cdn:model.safetensors":[{}]}})", faults);
}

class FaultTest : public PullTest {
 protected:
  std::vector<std::string> weight_ranges() const {
    std::vector<std::string> ranges;
    for (const SeenRequest& request : requests("cdn", "model.safetensors")) {
      ranges.push_back(request.range);
    }
    return ranges;
  }
};

TEST_F(FaultTest, ADropInMidBodyIsResumedWhereItBroke) {
  start(cdn_faults(R"({"drop_after":100000},{"drop_after":50000})"));
  const auto outcome = pull();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete(kTinyFiles);
  EXPECT_THAT(weight_ranges(), ElementsAre("", "bytes=100000-", "bytes=150000-"));
  const auto seen = requests("cdn", "model.safetensors");
  EXPECT_TRUE(seen[1].if_range.starts_with('"')) << seen[1].if_range;
  EXPECT_THAT(waits_, SizeIs(2));
  EXPECT_GE(waits_[0], milliseconds(1000));
  EXPECT_LE(waits_[0], milliseconds(1250));
  EXPECT_GE(waits_[1], milliseconds(2000));
}

TEST_F(FaultTest, DropsWithoutEndGiveUpAndLeaveThePartialFile) {
  start(cdn_faults(R"({"drop_after":1000,"always":true})"));
  const Error error = pull_error();
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_THAT(error.message, HasSubstr("org/tiny: model.safetensors"));
  EXPECT_THAT(error.message, HasSubstr("gave up after 4 attempts"));
  EXPECT_THAT(waits_, SizeIs(3));
  EXPECT_EQ(fs::file_size(partial("model.safetensors")), 4000u);
  expect_nothing_usable();
  start();
  ASSERT_TRUE(pull());
  EXPECT_THAT(weight_ranges(), ElementsAre("bytes=4000-"));
  expect_complete(kTinyFiles);
}

TEST_F(FaultTest, ADropOfTheApiOrOfASmallFileIsRetried) {
  start(R"("faults":{"api":[{"close":true},{"drop_after":20}],"config.json":[{"drop_after":5}]})");
  ASSERT_TRUE(pull());
  expect_complete(kTinyFiles);
  EXPECT_THAT(waits_, SizeIs(3));
}

TEST_F(FaultTest, AnEarlyEndWithoutALengthIsResumed) {
  start(cdn_faults(R"({"end_after":1000})"));
  ASSERT_TRUE(pull());
  EXPECT_THAT(weight_ranges(), ElementsAre("", "bytes=1000-"));
  expect_complete(kTinyFiles);
}

TEST_F(FaultTest, ATooShortFileIsFetchedOnceMoreThenRefused) {
  start(cdn_faults(R"({"resize":-10,"always":true})"));
  const Error error = pull_error();
  EXPECT_EQ(error.code, ErrorCode::kMalformed);
  EXPECT_THAT(error.message, HasSubstr("model.safetensors"));
  EXPECT_THAT(error.message, HasSubstr("expected 300000 bytes, got 299990"));
  EXPECT_THAT(weight_ranges(), SizeIs(2));
  expect_no_partial("model.safetensors");
  expect_nothing_usable();
}

TEST_F(FaultTest, ATooLongFileIsFetchedOnceMoreThenRefused) {
  start(cdn_faults(R"({"resize":10,"always":true})"));
  const Error error = pull_error();
  EXPECT_THAT(error.message, HasSubstr("expected 300000 bytes, got 300010"));
  expect_no_partial("model.safetensors");
  expect_nothing_usable();
}

TEST_F(FaultTest, AnEndlessBodyIsCutAtTheExpectedLength) {
  start(cdn_faults(R"({"resize":50000000,"end_after":60000000,"always":true})"));
  const auto outcome = pull();
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("wrong length: expected 300000 bytes"));
  expect_no_partial("model.safetensors");
  expect_nothing_usable();
}

TEST_F(FaultTest, AWrongLengthOnceIsForgiven) {
  start(cdn_faults(R"({"resize":-10})"));
  ASSERT_TRUE(pull());
  expect_complete(kTinyFiles);
}

TEST_F(FaultTest, AWrongHashIsFetchedOnceMoreThenRefused) {
  start(cdn_faults(R"({"corrupt":true,"always":true})"));
  const Error error = pull_error();
  EXPECT_EQ(error.code, ErrorCode::kMalformed);
  EXPECT_THAT(error.message, HasSubstr("org/tiny: model.safetensors: wrong content"));
  EXPECT_THAT(error.message, HasSubstr("expected SHA-256 "));
  EXPECT_THAT(error.message, HasSubstr(", got "));
  EXPECT_THAT(weight_ranges(), ElementsAre("", ""));
  expect_no_partial("model.safetensors");
  EXPECT_FALSE(fs::exists(store_.incoming_directory("org/tiny", kCommit) / "model.safetensors"));
  expect_nothing_usable();
}

TEST_F(FaultTest, AWrongHashOnceIsForgiven) {
  start(cdn_faults(R"({"corrupt":true})"));
  ASSERT_TRUE(pull());
  expect_complete(kTinyFiles);
  EXPECT_THAT(notices_, Contains(HasSubstr("fetching it once more")));
}

TEST_F(FaultTest, AWrongSmallFileIsRefusedByItsGitDigest) {
  start(R"("faults":{"config.json":[{"corrupt":true,"always":true}]})");
  const Error error = pull_error();
  EXPECT_EQ(error.code, ErrorCode::kMalformed);
  EXPECT_THAT(error.message, HasSubstr("config.json: wrong content: expected git SHA-1 "));
  expect_nothing_usable();
}

TEST_F(FaultTest, ACorruptedPartialFileIsFoundAndFetchedAfresh) {
  start(cdn_faults(R"({"drop_after":100000,"always":true})"));
  HubOptions impatient = options();
  impatient.retry.max_attempts = 1;
  ASSERT_FALSE(pull("org/tiny", impatient));
  std::string bytes = read_file(partial("model.safetensors"));
  bytes[5] ^= 1;
  write_file(partial("model.safetensors"), bytes);
  start();
  ASSERT_TRUE(pull());
  EXPECT_THAT(weight_ranges(), ElementsAre("bytes=100000-", ""));
  expect_complete(kTinyFiles);
}

TEST_F(FaultTest, AnIgnoredRangeStartsOver) {
  start(cdn_faults(R"({"drop_after":100000},{"ignore_range":true})"));
  const auto outcome = pull();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->bytes_received, 100'000 + weights_.size() +
                                         fs::file_size(repo_path("config.json")) +
                                         fs::file_size(repo_path("tokenizer.json")));
  expect_complete(kTinyFiles);
}

TEST_F(FaultTest, ARefusedRangeStartsOver) {
  start(cdn_faults(R"({"drop_after":100000},{"refuse_range":true})"));
  ASSERT_TRUE(pull());
  EXPECT_THAT(weight_ranges(), ElementsAre("", "bytes=100000-", ""));
  expect_complete(kTinyFiles);
}

TEST_F(FaultTest, ARangeThatWasNotAskedForStartsOver) {
  start(cdn_faults(R"({"drop_after":100000},{"wrong_range":true})"));
  ASSERT_TRUE(pull());
  EXPECT_THAT(weight_ranges(), ElementsAre("", "bytes=100000-", ""));
  expect_complete(kTinyFiles);
}

TEST_F(FaultTest, ARangeOfAnotherTotalLengthStartsOver) {
  start(cdn_faults(R"({"drop_after":100000},{"content_range":"bytes 100000-299999/400000"})"));
  ASSERT_TRUE(pull());
  EXPECT_THAT(weight_ranges(), ElementsAre("", "bytes=100000-", ""));
  expect_complete(kTinyFiles);
}

TEST_F(FaultTest, AnEtagThatChangedBetweenAttemptsStartsOver) {
  // The server honours If-Range and sends the whole new file ...
  start(cdn_faults(R"({"drop_after":100000},{"etag":"\"other\""})"));
  ASSERT_TRUE(pull());
  expect_complete(kTinyFiles);
  EXPECT_THAT(weight_ranges(), ElementsAre("", "bytes=100000-"));
}

TEST_F(FaultTest, AnEtagThatChangedUnderAnIgnoredIfRangeStartsOver) {
  // ... or it does not, and the part it sends belongs to another file.
  start(cdn_faults(
      R"({"drop_after":100000},{"etag":"\"other\"","honour":false,"new_content":true})"));
  ASSERT_TRUE(pull());
  EXPECT_THAT(weight_ranges(), ElementsAre("", "bytes=100000-", ""));
  expect_complete(kTinyFiles);
}

TEST_F(FaultTest, ContentThatChangedUnderTheSameEtagIsFoundByItsDigest) {
  start(cdn_faults(R"({"drop_after":100000},{"new_content":true})"));
  ASSERT_TRUE(pull());
  EXPECT_THAT(weight_ranges(), ElementsAre("", "bytes=100000-", ""));
  expect_complete(kTinyFiles);
}

TEST_F(FaultTest, AStalledTransferIsGivenUpAndResumed) {
  stall_time_ = std::chrono::seconds(2);
  start(cdn_faults(R"({"stall_after":100000})"));
  ASSERT_TRUE(pull());
  EXPECT_THAT(weight_ranges(), ElementsAre("", "bytes=100000-"));
  EXPECT_THAT(notices_, Contains(HasSubstr("too slow")));
  expect_complete(kTinyFiles);
}

TEST_F(FaultTest, ATricklingServerCountsAsStalled) {
  stall_time_ = std::chrono::seconds(2);
  start(cdn_faults(R"({"trickle":0.1})"));
  ASSERT_TRUE(pull());
  EXPECT_THAT(notices_, Contains(HasSubstr("too slow")));
  expect_complete(kTinyFiles);
}

TEST_F(FaultTest, ServerErrorsAreRetriedWithGrowingDelays) {
  start(R"("faults":{"api":[{"status":500},{"status":502},{"status":503}]})");
  ASSERT_TRUE(pull());
  ASSERT_THAT(waits_, SizeIs(3));
  EXPECT_GE(waits_[1], milliseconds(2000));
  EXPECT_GE(waits_[2], milliseconds(4000));
  expect_complete(kTinyFiles);
}

TEST_F(FaultTest, ServerErrorsWithoutEndNameTheStatus) {
  start(R"("faults":{"api":[{"status":503,"body":"{\"error\":\"maintenance\"}","always":true}]})");
  const Error error = pull_error();
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_THAT(error.message, HasSubstr("503 (maintenance)"));
  EXPECT_THAT(error.message, HasSubstr("gave up after 4 attempts"));
  expect_nothing_usable();
}

TEST_F(FaultTest, TooManyRequestsWaitsAsLongAsItIsTold) {
  start(R"("faults":{"api":[{"status":429,"headers":{"Retry-After":"7"}},)"
        R"({"status":429,"headers":{"RateLimit":"\"api\";r=0;t=11"}},)"
        R"({"status":429,"headers":{"Retry-After":"86400"}}]})");
  ASSERT_TRUE(pull());
  ASSERT_THAT(waits_, SizeIs(3));
  EXPECT_EQ(waits_[0], milliseconds(7000));
  EXPECT_EQ(waits_[1], milliseconds(11'000));
  EXPECT_EQ(waits_[2], milliseconds(300'000));  // the cap
  expect_complete(kTinyFiles);
}

TEST_F(FaultTest, ANotFoundFileIsNotRetried) {
  start(R"("faults":{"config.json":[{"status":404,"headers":{"X-Error-Code":"EntryNotFound"}}]})");
  const Error error = pull_error();
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_THAT(error.message, HasSubstr("config.json"));
  EXPECT_THAT(waits_, IsEmpty());
  expect_nothing_usable();
}

TEST_F(FaultTest, NobodyListeningIsANetworkErrorWithAdvice) {
  start();
  HubOptions nowhere = options();
  server_.reset();
  const auto outcome = pull("org/tiny", nowhere);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kIo);
  EXPECT_THAT(outcome.error().message, HasSubstr("check the network"));
  EXPECT_THAT(waits_, SizeIs(3));
  EXPECT_FALSE(fs::exists(store_.home()));  // nothing was created
}

TEST_F(FaultTest, FileNamesThatLeaveTheDirectoryAreRefused) {
  for (const std::string name :
       {"../../evil.safetensors", "/tmp/evil", "a/../../config.json", "..\\\\evil",
        "\\\\\\\\host\\\\evil", "con\\u0000fig.json", "a\\nb"}) {
    start(fmt::format(R"("info":{{"siblings":[{{"rfilename":"config.json","size":2}},)"
                      R"({{"rfilename":"{}","size":2}}]}})",
                      name));
    const Error error = pull_error();
    EXPECT_EQ(error.code, ErrorCode::kMalformed) << name;
    EXPECT_THAT(error.message, HasSubstr("leaves the directory")) << name;
    EXPECT_FALSE(fs::exists(store_.home())) << name;
  }
}

TEST_F(FaultTest, AModuleFolderThatLeavesTheDirectoryIsRefused) {
  add_file("modules.json", R"([{"path":"../../..","type":"x.Pooling"}])");
  start();
  const Error error = pull_error();
  EXPECT_EQ(error.code, ErrorCode::kMalformed);
  EXPECT_THAT(error.message, HasSubstr("modules.json"));
  expect_nothing_usable();
}

TEST_F(FaultTest, AHugeDeclaredSizeIsRefusedBeforeAnythingIsFetched) {
  const std::string digest(64, 'd');
  const auto declare = [&](std::string_view bytes) {
    start(fmt::format(
        R"("info":{{"siblings":[{{"rfilename":"config.json","size":2,"blobId":"{}"}},)"
        R"({{"rfilename":"model.safetensors","size":{},"lfs":{{"sha256":"{}","size":{}}}}}]}},)"
        R"("faults":{{"config.json":[{{"status":200,"body":"{{}}"}}]}})",
        "9e26dfeeb6e641a33dae4961196235bdb965b21b", bytes, digest, bytes));
  };
  declare("1099511627776");  // 1 TiB: allowed, but it does not fit
  Error error = pull_error();
  EXPECT_EQ(error.code, ErrorCode::kIo) << error.message;
  EXPECT_THAT(error.message, HasSubstr("too full"));
  EXPECT_FALSE(fs::exists(partial("model.safetensors")));
  EXPECT_THAT(requests("hub", "model.safetensors"), IsEmpty());
  for (const std::string_view bytes : {"1099511627777", "18446744073709551615", "-1", "1e30"}) {
    declare(bytes);
    error = pull_error();
    EXPECT_EQ(error.code, ErrorCode::kMalformed) << bytes;
    EXPECT_THAT(error.message, HasSubstr("size")) << bytes;
  }
  expect_nothing_usable();
}

TEST_F(FaultTest, AFullDiskStopsThePullAndKeepsWhatIsThere) {
  start();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // The nearest thing to a full disk that needs no privileges: files may not grow beyond this.
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{200'000, 200'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto outcome = pull();
    const bool named = !outcome && outcome.error().code == ErrorCode::kIo &&
                       outcome.error().message.find("model.safetensors") != std::string::npos &&
                       outcome.error().message.find("cannot write") != std::string::npos;
    ::_exit(named && waits_.empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  expect_nothing_usable();
  EXPECT_EQ(fs::file_size(partial("model.safetensors")), 200'000u);
  ASSERT_TRUE(pull());
  EXPECT_THAT(weight_ranges(), Contains("bytes=200000-"));
  expect_complete(kTinyFiles);
}

TEST_F(FaultTest, AnUnwritableStoreIsNamed) {
  start();
  write_file(store_.home(), "a file where the store should be");
  const Error error = pull_error();
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_THAT(error.message, HasSubstr(store_.home().string()));
}

TEST_F(FaultTest, AnApiAnswerThatIsNotOneIsRefused) {
  for (const std::string_view text :
       {"", "{", "[]", R"({\"sha\":\"x\",\"siblings\":[]})", R"({\"siblings\":[]})",
        R"({\"sha\":3,\"siblings\":[]})", "<html>Sign in to the network</html>"}) {
    start(fmt::format(R"("info_text":"{}")", text));
    const Error error = pull_error();
    EXPECT_EQ(error.code, ErrorCode::kMalformed) << text;
    EXPECT_THAT(error.message, HasSubstr("org/tiny@main")) << text;
  }
  EXPECT_FALSE(fs::exists(store_.home()));
}

TEST_F(FaultTest, EndlessHeadersAreCut) {
  start(R"("faults":{"api":[{"endless_headers":true,"always":true}]})");
  const Error error = pull_error();
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_THAT(error.message, HasSubstr("headers"));
}

}  // namespace
}  // namespace lattice::test
