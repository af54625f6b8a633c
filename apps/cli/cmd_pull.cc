#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "cli.h"
#include "io/hub/pull.h"
#include "io/hub/transfer_meter.h"
#include "io/json_writer.h"

namespace lattice::cli {
namespace {

struct PullArguments {
  std::string model;
  std::string endpoint;
  bool quiet = false;
  bool json = false;
};

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

/// Ends the pull at its next step on the first Ctrl-C or SIGTERM; a second one kills.
void watch_signals() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

/// The pull's line on a terminal, redrawn at most ten times a second, and remarks between.
class PullDisplay {
 public:
  explicit PullDisplay(bool quiet)
      : quiet_(quiet), visible_(!quiet && ::isatty(STDERR_FILENO) != 0) {}

  void show(const PullProgress& progress) {
    if (!visible_) return;
    const auto now = TransferMeter::Clock::now();
    meter_.update(progress, now);
    if (now - last_draw_ < std::chrono::milliseconds(100)) return;
    last_draw_ = now;
    draw();
  }

  void remark(std::string_view text) {
    if (quiet_) return;
    clear();
    std::fputs(fmt::format("lattice: {}\n", text).c_str(), stderr);
  }

  void clear() {
    if (drawn_) std::fputs("\r\x1b[K", stderr);
    drawn_ = false;
  }

 private:
  void draw() {
    winsize size = {};
    const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    // One column stays free: some terminals wrap a full line.
    const std::string line = meter_.line(known ? size.ws_col - 1u : 79u);
    std::fputs(("\r\x1b[K" + line).c_str(), stderr);
    std::fflush(stderr);
    drawn_ = true;
  }

  bool quiet_;
  bool visible_;
  bool drawn_ = false;
  TransferMeter meter_;
  TransferMeter::Clock::time_point last_draw_{};
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

HubOptions hub_options(const PullArguments& arguments, PullDisplay& display) {
  HubOptions options;
  if (const std::string endpoint = environment("HF_ENDPOINT"); !endpoint.empty()) {
    options.endpoint = endpoint;
  }
  if (!arguments.endpoint.empty()) options.endpoint = arguments.endpoint;
  options.token = environment("HF_TOKEN");
  options.on_notice = [&display](std::string_view text) { display.remark(text); };
  options.cancel = &interrupted;
  return options;
}

void print_outcome(const RepoRef& ref, const PullOutcome& outcome, const PullArguments& arguments,
                   PullDisplay& display) {
  if (outcome.already_there) {
    display.remark(
        fmt::format("{} is already there ({})", ref.to_string(), human_bytes(outcome.bytes)));
  } else {
    display.remark(fmt::format("pulled {} ({}, {} received)", ref.to_string(),
                               human_bytes(outcome.bytes), human_bytes(outcome.bytes_received)));
  }
  if (!arguments.json) {
    std::printf("%s\n", outcome.path.c_str());
    return;
  }
  JsonWriter json;
  json.begin_object().field("name", ref.repo).field("commit", outcome.commit);
  json.field("path", outcome.path.string()).field("bytes", outcome.bytes);
  json.field("bytes_received", outcome.bytes_received);
  json.field("already_there", outcome.already_there).end_object();
  std::printf("%s\n", json.text().c_str());
}

void run_pull(const PullArguments& arguments) {
  const auto ref = parse_repo_ref(arguments.model);
  if (!ref) throw UsageError(ref.error().message);
  const ModelStore store = value_or_throw(ModelStore::from_environment());
  PullDisplay display(arguments.quiet);
  HttpClientOptions http_options;
  http_options.ca_file = environment("SSL_CERT_FILE");
  http_options.cancel = &interrupted;
  const std::unique_ptr<HttpClient> http = make_http_client(http_options);
  HubClient hub = value_or_throw(HubClient::create(*http, hub_options(arguments, display)));
  watch_signals();
  auto outcome =
      pull_model(hub, store, *ref, [&](const PullProgress& progress) { display.show(progress); });
  display.clear();
  if (!outcome && outcome.error().code == ErrorCode::kCancelled) {
    raise(ErrorCode::kCancelled, "interrupted; to resume, run: lattice pull {}", ref->to_string());
  }
  print_outcome(*ref, value_or_throw(std::move(outcome)), arguments, display);
}

}  // namespace

void add_pull(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("pull", "Download a model from the Hugging Face hub");
  auto arguments = std::make_shared<PullArguments>();
  verb->add_option("model", arguments->model, "org/name, or org/name@REVISION")->required();
  verb->add_option("--endpoint", arguments->endpoint,
                   "The hub's address; default: HF_ENDPOINT, else https://huggingface.co");
  verb->add_flag("--quiet", arguments->quiet, "No progress and no remarks on standard error");
  verb->add_flag("--json", arguments->json, "Print the result as one JSON line");
  verb->footer(
      "Fetches configuration, tokenizer and safetensors files, verifies them, and prints the\n"
      "model's directory. An interrupted pull resumes. Environment: HF_TOKEN (for private and\n"
      "gated models), HF_ENDPOINT, LATTICE_HOME (the store), SSL_CERT_FILE, https_proxy.\n"
      "Example:\n  lattice pull sentence-transformers/all-MiniLM-L6-v2");
  verb->callback([arguments] { run_pull(*arguments); });
}

}  // namespace lattice::cli
