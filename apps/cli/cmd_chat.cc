#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>

#include "base/result.h"
#include "cli.h"
#include "generate_options.h"
#include "generation_json.h"
#include "interrupt.h"
#include "io/json_writer.h"
#include "stream_output.h"

namespace lattice::cli {
namespace {

struct ChatArguments {
  ModelArguments model;
  GenerateArguments generate;
  std::string system;
  std::string message;
  bool think = false;
  bool no_think = false;
  bool json = false;
};

constexpr const char* kHelp =
    "/clear          forget the conversation (the system message stays)\n"
    "/system TEXT    set the system message and forget the conversation\n"
    "/think on|off   let the model think before it answers, or not\n"
    "/undo           take the last question and its answer back\n"
    "/history        show the conversation\n"
    "/exit           leave (Ctrl-D too); Ctrl-C ends an answer\n";

/// Shows an answer as it comes, its thoughts set apart.
class AnswerDisplay {
 public:
  void show(ChatChannel channel, std::string_view piece) {
    const bool reasoning = channel == ChatChannel::kReasoning;
    if (reasoning && !thinking_) out_.write(styled_ ? "\033[2m" : "[thinking]\n");
    if (!reasoning && thinking_) end_thought();
    thinking_ = reasoning;
    out_.write(piece);
  }
  void finish() {
    if (thinking_ && styled_) out_.write("\033[0m");
    out_.write("\n");
  }

 private:
  void end_thought() { out_.write(styled_ ? "\033[0m\n\n" : "\n[answer]\n"); }

  StreamOutput out_;
  bool styled_ = ::isatty(STDOUT_FILENO) != 0;
  bool thinking_ = false;
};

/// Answers on standard output; what it cost goes to standard error unless `quiet`.
ChatAnswer show_answer(ChatSession& session, const std::vector<ChatMessage>& messages,
                       const ChatOptions& options, bool quiet) {
  AnswerDisplay display;
  ChatAnswer answer =
      session.answer(messages, options, [&](ChatChannel channel, std::string_view piece) {
        display.show(channel, piece);
        return true;
      });
  display.finish();
  if (!quiet) std::fprintf(stderr, "%s\n", timings_line(answer.generation).c_str());
  return answer;
}

/// An interactive conversation, line by line from standard input.
class Conversation {
 public:
  Conversation(ChatSession session, ChatOptions options, const ChatArguments& arguments)
      : session_(std::move(session)), options_(std::move(options)), quiet_(arguments.model.quiet) {
    options_.generate.cancelled = InterruptGuard::interrupted;
    set_system(arguments.system);
  }

  void run() {
    const bool terminal = ::isatty(STDIN_FILENO) != 0;
    if (terminal) std::fprintf(stderr, "Ask away; /help lists commands.\n");
    std::string line;
    while (true) {
      if (terminal) std::fputs("> ", stderr);
      if (!std::getline(std::cin, line)) return;
      if (line.empty()) continue;
      if (line.front() != '/') {
        ask(line);
      } else if (!command(line)) {
        return;
      }
    }
  }

 private:
  void set_system(const std::string& text) {
    messages_.clear();
    if (!text.empty()) messages_.push_back({"system", text});
  }

  bool has_system() const { return !messages_.empty() && messages_.front().role == "system"; }

  void ask(const std::string& question) {
    messages_.push_back({"user", question});
    const InterruptGuard guard;
    try {
      const ChatAnswer answer = show_answer(session_, messages_, options_, quiet_);
      messages_.push_back(
          {"assistant", answer.content,
           answer.reasoning.empty() ? std::nullopt : std::optional(answer.reasoning)});
    } catch (const LatticeError& error) {
      messages_.pop_back();
      std::fprintf(stderr, "lattice: error: %s\n", error.what());
    }
  }

  // False to leave.
  bool command(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string name = line.substr(0, space);
    const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
    if (name == "/exit" || name == "/quit") return false;
    if (name == "/clear") {
      set_system(has_system() ? messages_.front().content : "");
    } else if (name == "/system") {
      set_system(rest);
    } else if (name == "/think" && (rest == "on" || rest == "off")) {
      options_.enable_thinking = rest == "on";
    } else if (name == "/undo") {
      undo();
    } else if (name == "/history") {
      for (const ChatMessage& message : messages_) {
        std::fprintf(stderr, "%s: %s\n", message.role.c_str(), message.content.c_str());
      }
    } else if (name == "/help") {
      std::fputs(kHelp, stderr);
    } else {
      std::fprintf(stderr, "unknown command \"%s\"; /help lists what there is\n", line.c_str());
    }
    return true;
  }

  void undo() {
    const std::size_t kept = has_system() ? 1 : 0;
    while (messages_.size() > kept) {
      const bool question = messages_.back().role == "user";
      messages_.pop_back();
      if (question) return;
    }
  }

  ChatSession session_;
  ChatOptions options_;
  bool quiet_;
  std::vector<ChatMessage> messages_;
};

void answer_one(ChatSession session, const ChatOptions& options, const ChatArguments& arguments) {
  std::vector<ChatMessage> messages;
  if (!arguments.system.empty()) messages.push_back({"system", arguments.system});
  messages.push_back({"user", arguments.message});
  if (!arguments.json) {
    show_answer(session, messages, options, arguments.model.quiet);
    return;
  }
  const ChatAnswer answer = session.answer(messages, options);
  JsonWriter json;
  json.begin_object().field("reasoning", answer.reasoning).field("content", answer.content);
  add_generation(json, answer.generation);
  json.end_object();
  StreamOutput().write(json.take() + "\n");
}

void run_chat(const ChatArguments& arguments, const CLI::App& verb) {
  if (arguments.json && verb.count("--message") == 0) throw UsageError("--json needs --message");
  const Model model = load_model(arguments.model);
  ChatOptions options;
  options.generate = generate_options(arguments.generate, verb, model.default_sampling());
  if (arguments.think) options.enable_thinking = true;
  if (arguments.no_think) options.enable_thinking = false;
  if (verb.count("--message") > 0) return answer_one(model.chat(), options, arguments);
  Conversation(model.chat(), options, arguments).run();
}

}  // namespace

void add_chat(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("chat", "Talk to a model with its own chat template");
  auto arguments = std::make_shared<ChatArguments>();
  add_model_arguments(*verb, arguments->model);
  verb->add_option("--system", arguments->system, "The system message");
  CLI::Option* think = verb->add_flag("--think", arguments->think, "Let the model think first");
  verb->add_flag("--no-think", arguments->no_think, "Answer at once")->excludes(think);
  verb->add_option("--message", arguments->message, "Answer this one message and end");
  verb->add_flag("--json", arguments->json, "One JSON object instead of the text as it comes");
  add_generate_options(*verb, arguments->generate);
  verb->footer(
      "Sampling options that are not given come from the model's generation_config.json.\n"
      "Example:\n  lattice chat -m MODEL\n"
      "  lattice chat -m MODEL --no-think --message \"What is the capital of France?\"");
  verb->callback([arguments, verb] { run_chat(*arguments, *verb); });
}

}  // namespace lattice::cli
