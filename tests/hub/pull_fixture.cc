#include "hub/pull_fixture.h"

#include <random>
#include <set>

namespace lattice::test {

namespace fs = std::filesystem;

std::string noise(std::size_t bytes, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::string out(bytes, '\0');
  for (char& c : out) c = static_cast<char>(random() & 0xFF);
  return out;
}

PullTest::PullTest() : weights_(noise(300'000, 1)) {
  add_file("config.json", R"({"model_type":"bert"})");
  add_file("tokenizer.json", R"({"version":"1.0"})");
  add_file("model.safetensors", weights_);
}

void PullTest::add_file(std::string_view path, std::string_view content, std::string_view repo) {
  write_file(home_.path() / "root" / repo / path, content);
}

void PullTest::start(std::string_view members) {
  const std::string separator = members.empty() ? "" : ",";
  write_file(home_.path() / "script.json",
             fmt::format(R"({{"commit":"{}"{}{}}})", kCommit, separator, members));
  server_.reset();
  HubServer::Options server{
      home_.path() / "root", home_.path() / "script.json", home_.path() / "log.jsonl", {}, {}};
  fs::remove(server.log);
  if (!ca_file_.empty()) {
    server.cert = ca_file_;
    server.key = home_.path() / "key.pem";
  }
  server_ = std::make_unique<HubServer>(server);
}

void PullTest::start_tls(std::string_view members) {
  ca_file_ = home_.path() / "cert.pem";
  ASSERT_EQ(
      run_program({"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                   "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                   (home_.path() / "key.pem").string(), "-out", ca_file_.string()}),
      0);
  start(members);
}

HubOptions PullTest::options() {
  HubOptions options;
  options.endpoint = server_->endpoint();
  options.retry.max_attempts = 4;
  options.sleep = [this](std::chrono::milliseconds wait) {
    waits_.push_back(wait);
    return true;
  };
  options.on_notice = [this](std::string_view text) { notices_.emplace_back(text); };
  return options;
}

HttpClientOptions PullTest::http_options() const {
  HttpClientOptions options;
  options.connect_timeout = std::chrono::seconds(20);
  options.stall_time = stall_time_;
  options.stall_bytes_per_second = 1000;
  options.ca_file = ca_file_.string();
  return options;
}

Result<PullOutcome> PullTest::pull(std::string_view ref) { return pull(ref, options()); }

Result<PullOutcome> PullTest::pull(std::string_view ref, const HubOptions& options) {
  const auto parsed = parse_repo_ref(ref);
  if (!parsed) return tl::make_unexpected(parsed.error());
  const std::unique_ptr<HttpClient> http = make_http_client(http_options());
  auto hub = HubClient::create(*http, options);
  if (!hub) return forward_error(hub);
  PullProgress last;
  auto outcome = pull_model(*hub, store_, *parsed, [&](const PullProgress& progress) {
    EXPECT_LE(progress.bytes_done, progress.bytes_total);
    last = progress;
  });
  if (outcome && !outcome->already_there) {
    EXPECT_EQ(last.bytes_done, last.bytes_total);
    EXPECT_EQ(last.bytes_total, outcome->bytes);
  }
  return outcome;
}

Error PullTest::pull_error(std::string_view ref) {
  const auto outcome = pull(ref);
  EXPECT_FALSE(outcome) << "expected the pull to fail";
  return outcome ? Error{ErrorCode::kInternal, "succeeded"} : outcome.error();
}

void PullTest::expect_complete(const std::vector<std::string>& paths) {
  const auto directory = resolve_model("org/tiny", store_);
  ASSERT_TRUE(directory) << directory.error().message;
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(*directory)) {
    if (entry.is_regular_file()) found.insert(fs::relative(entry.path(), *directory).string());
  }
  std::set<std::string> expected(paths.begin(), paths.end());
  expected.insert(std::string(kManifestName));
  EXPECT_EQ(found, expected);
  for (const std::string& path : paths) {
    EXPECT_TRUE(read_file(*directory / path) == read_file(repo_path(path))) << path;
  }
  const auto listing = store_.list();
  ASSERT_TRUE(listing);
  ASSERT_EQ(listing->models.size(), 1u);
  EXPECT_EQ(listing->models[0].problem, "");
  EXPECT_TRUE(listing->unfinished.empty());
}

void PullTest::expect_nothing_usable() {
  const auto listing = store_.list();
  ASSERT_TRUE(listing);
  EXPECT_TRUE(listing->models.empty());
  EXPECT_FALSE(resolve_model("org/tiny", store_));
}

void PullTest::expect_no_partial(std::string_view path) {
  EXPECT_FALSE(fs::exists(partial(path)));
  fs::path etag = partial(path);
  EXPECT_FALSE(fs::exists(etag.replace_extension(".etag")));
}

std::vector<SeenRequest> PullTest::requests(std::string_view role,
                                            std::string_view path_end) const {
  std::vector<SeenRequest> matching;
  for (const SeenRequest& request : server_->requests()) {
    if (request.role == role && request.path.ends_with(path_end)) matching.push_back(request);
  }
  return matching;
}

}  // namespace lattice::test
