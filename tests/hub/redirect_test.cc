// Redirects, credentials and TLS: who gets to see the token, and where a server may send us.
#include <csignal>
#include <map>

#include "hub/pull_fixture.h"

namespace lattice::test {
namespace {

namespace fs = std::filesystem;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const std::vector<std::string> kTinyFiles = {"config.json", "tokenizer.json", "model.safetensors"};

class RedirectTest : public PullTest {
 protected:
  Result<PullOutcome> pull_with_token(std::string_view token = "hf_secret") {
    HubOptions with_token = options();
    with_token.token = token;
    return pull("org/tiny", with_token);
  }
};

TEST_F(RedirectTest, TheTokenNeverReachesAnotherHost) {
  start(R"("token":"hf_secret","faults":{"cdn:model.safetensors":[{"drop_after":1000}]})");
  const auto outcome = pull_with_token();
  ASSERT_TRUE(outcome) << outcome.error().message;
  expect_complete(kTinyFiles);
  for (const SeenRequest& request : server_->requests()) {
    EXPECT_EQ(request.authorization, request.role == "hub" ? "Bearer hf_secret" : "")
        << request.path;
    EXPECT_EQ(request.encoding, "identity") << request.path;
  }
  EXPECT_THAT(requests("cdn", "model.safetensors"), SizeIs(2));
}

TEST_F(RedirectTest, TheTokenStaysWithTheOwnHost) {
  add_file("moved.json", read_file(repo_path("config.json")));
  start(fmt::format(R"("token":"hf_secret","faults":{{"config.json":)"
                    R"([{{"redirect":"/org/tiny/resolve/{}/moved.json","status":307}}]}})",
                    kCommit));
  const auto outcome = pull_with_token();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(requests("hub", "moved.json").at(0).authorization, "Bearer hf_secret");
}

TEST_F(RedirectTest, ARenamedRepositoryIsFollowed) {
  std::string faults =
      R"("api":[{"redirect":"/api/models/org/tiny/revision/main?blobs=true","status":307}])";
  for (const std::string& name : kTinyFiles) {
    faults += fmt::format(R"(,"{}":[{{"redirect":"/org/tiny/resolve/{}/{}","status":307}}])", name,
                          kCommit, name);
  }
  start(fmt::format(R"("faults":{{{}}})", faults));
  const auto outcome = pull("old/name");
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->path, store_.commit_directory("old/name", kCommit));
  EXPECT_TRUE(read_file(outcome->path / "model.safetensors") == weights_);
}

TEST_F(RedirectTest, ATokenIsNotSentToAnotherHostByTheApiEither) {
  start(R"("faults":{"api":[{"redirect":"{cdn}/blobs/org/tiny/config.json"}]})");
  const auto outcome = pull_with_token();
  ASSERT_FALSE(outcome);  // that is no API answer
  EXPECT_THAT(requests("cdn", "config.json"), SizeIs(1));
  EXPECT_EQ(requests("cdn", "config.json").at(0).authorization, "");
}

TEST_F(RedirectTest, ARedirectLoopIsCut) {
  start(
      R"("faults":{"api":[{"redirect":"{hub}/api/models/org/tiny/revision/main","always":true}]})");
  const Error error = pull_error();
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_THAT(error.message, HasSubstr("redirects"));
  EXPECT_THAT(server_->requests(), SizeIs(11));
  EXPECT_THAT(waits_, IsEmpty());
  expect_nothing_usable();
}

TEST_F(RedirectTest, AnExpiredLinkToTheFileServerIsAskedForAgain) {
  start(R"("faults":{"cdn:model.safetensors":[{"drop_after":1000},{"status":403}]})");
  const auto outcome = pull();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(requests("hub", "model.safetensors"), SizeIs(3));
  EXPECT_EQ(requests("cdn", "model.safetensors").back().range, "bytes=1000-");
  expect_complete(kTinyFiles);
}

TEST_F(RedirectTest, OtherProtocolsAreRefused) {
  for (const std::string url : {"file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x",
                                "http://user:pass@127.0.0.1/"}) {
    start(fmt::format(R"("faults":{{"config.json":[{{"redirect":"{}","always":true}}]}})", url));
    const Error error = pull_error();
    EXPECT_EQ(error.code, ErrorCode::kIo) << url;
    EXPECT_THAT(error.message, HasSubstr("config.json")) << url;
    EXPECT_FALSE(fs::exists(store_.incoming_directory("org/tiny", kCommit) / "config.json"));
    expect_nothing_usable();
  }
}

TEST_F(RedirectTest, HttpsIsRefusedToBecomeHttp) {
  start_tls(R"("token":"hf_secret")");  // the large file's redirect leads to plain http
  const auto outcome = pull_with_token();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kIo);
  EXPECT_THAT(outcome.error().message, HasSubstr("model.safetensors"));
  EXPECT_THAT(outcome.error().message, HasSubstr("from https to http"));
  for (const SeenRequest& request : server_->requests()) EXPECT_EQ(request.role, "hub");
  expect_nothing_usable();
  // The small files came over https, verified.
  EXPECT_TRUE(fs::exists(store_.incoming_directory("org/tiny", kCommit) / "config.json"));
}

TEST_F(RedirectTest, ABrokenTlsConnectionIsRetriedNotFatal) {
  ::signal(SIGPIPE, SIG_DFL);  // OpenSSL may write to a reset connection
  start_tls(R"("faults":{"api":[{"reset":true}],"config.json":[{"drop_after":5},{"reset":true}],)"
            R"("tokenizer.json":[{"close":true},{"reset":true}]})");
  const auto outcome = pull();
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("from https to http"));
  EXPECT_THAT(waits_, SizeIs(Ge(1u)));
  EXPECT_TRUE(fs::exists(store_.incoming_directory("org/tiny", kCommit) / "tokenizer.json"));
}

TEST_F(RedirectTest, AnUntrustedCertificateIsRefusedWithAdvice) {
  start_tls();
  ca_file_.clear();  // the system's authorities do not know the test's certificate
  const Error error = pull_error();
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_THAT(error.message, HasSubstr("certificate"));
  EXPECT_THAT(error.message, HasSubstr("SSL_CERT_FILE"));
  EXPECT_THAT(waits_, IsEmpty());
  EXPECT_THAT(server_->requests(), IsEmpty());
}

/// Answers from a table, without a network.
class FakeHttp final : public HttpClient {
 public:
  TransferResult perform(const HttpRequest& request, HttpSink& sink) override {
    seen.push_back(request);
    TransferResult result = answers.at(request.url);
    if (result.status == TransferStatus::kComplete && !sink.on_head(result.head)) {
      result.status = TransferStatus::kStopped;
    }
    return result;
  }

  void add(const std::string& url, int status, std::string redirect = "") {
    TransferResult result;
    result.status = TransferStatus::kComplete;
    result.head.status = status;
    result.redirect_url = std::move(redirect);
    answers[url] = result;
  }

  std::map<std::string, TransferResult> answers;
  std::vector<HttpRequest> seen;
};

bool has_token(const HttpRequest& request) {
  for (const HttpHeader& header : request.headers) {
    if (header.name == "Authorization") return true;
  }
  return false;
}

TEST(HubClient, TheTokenGoesToTheExactOriginAlone) {
  FakeHttp http;
  HubOptions options;
  options.endpoint = "https://hub.example/";
  options.token = "t";
  auto hub = HubClient::create(http, options);
  ASSERT_TRUE(hub);
  http.add("https://hub.example/a", 302, "https://hub.example.evil/");
  http.add("https://hub.example.evil/", 302, "https://hub.example:8443/");
  http.add("https://hub.example:8443/", 302, "https://HUB.example:443/b");
  http.add("https://HUB.example:443/b", 200);
  ASSERT_TRUE(hub->get_text({"https://hub.example/a", "x", "GET", {}, true}, 10));
  ASSERT_EQ(http.seen.size(), 4u);
  EXPECT_TRUE(has_token(http.seen[0]));
  EXPECT_FALSE(has_token(http.seen[1]));
  EXPECT_FALSE(has_token(http.seen[2]));
  EXPECT_TRUE(has_token(http.seen[3]));
}

TEST(HubClient, HttpsToHttpIsRefusedAtEveryHop) {
  FakeHttp http;
  auto hub = HubClient::create(http, {});
  ASSERT_TRUE(hub);
  http.add("https://huggingface.co/a", 302, "https://cdn.example/a");
  http.add("https://cdn.example/a", 302, "http://cdn.example/a");
  const auto text = hub->get_text({"https://huggingface.co/a", "x", "GET", {}, true}, 10);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("from https to http"));
  EXPECT_THAT(http.seen, SizeIs(2));
}

TEST(HubClient, ABadEndpointOrTokenIsRefused) {
  FakeHttp http;
  for (const std::string endpoint : {"", "huggingface.co", "ftp://x", "https://", "https://u@h",
                                     "https://h?x=1", "https://h:port", "https://h\n"}) {
    HubOptions options;
    options.endpoint = endpoint;
    const auto hub = HubClient::create(http, options);
    ASSERT_FALSE(hub) << endpoint;
    EXPECT_EQ(hub.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(hub.error().message, HasSubstr("HF_ENDPOINT"));
  }
  HubOptions options;
  options.token = "a\r\nX-Evil: 1";
  const auto hub = HubClient::create(http, options);
  ASSERT_FALSE(hub);
  EXPECT_THAT(hub.error().message, Not(HasSubstr("Evil")));
}

TEST(UrlOrigin, NormalizesSchemeHostAndPort) {
  const auto origin = parse_url_origin("HTTPS://Hub.Example/x?y#z");
  ASSERT_TRUE(origin);
  EXPECT_EQ(*origin, (UrlOrigin{"https", "hub.example", "443"}));
  EXPECT_EQ(*parse_url_origin("http://[::1]:81/a"), (UrlOrigin{"http", "[::1]", "81"}));
  EXPECT_EQ(*parse_url_origin("http://h"), (UrlOrigin{"http", "h", "80"}));
  for (const std::string_view url :
       {"", "//h", "http:/h", "http://", "javascript:x", "http://h:1x", "http://a@b", "http://h\\x",
        "http://h /", "http://h:123456"}) {
    EXPECT_FALSE(parse_url_origin(url)) << url;
  }
}

}  // namespace
}  // namespace lattice::test
