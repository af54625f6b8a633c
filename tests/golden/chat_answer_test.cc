// One answer: its thought and its content, what templates refuse, and what a session needs.
#include <gtest/gtest.h>

#include "golden/generator_support.h"
#include "lattice/chat.h"
#include "support/model_copy.h"

namespace lattice {
namespace {

constexpr std::int32_t kEndOfText = 300, kThink = 303, kEndThink = 304;

using Messages = std::vector<ChatMessage>;

/// The pieces of both channels.
struct Channels {
  std::string reasoning, content;
  std::size_t calls = 0;
  OnChatText callback() {
    return [this](ChatChannel channel, std::string_view piece) {
      EXPECT_FALSE(piece.empty());
      (channel == ChatChannel::kReasoning ? reasoning : content) += piece;
      ++calls;
      return true;
    };
  }
};

/// Bytes of a text, with the tokens that tags are.
Ids said(std::string_view before, std::int32_t tag, std::string_view behind) {
  Ids ids = byte_ids(before);
  ids.push_back(tag);
  for (const std::int32_t id : byte_ids(behind)) ids.push_back(id);
  return ids;
}

class ChatAnswers : public testing::Test {
 protected:
  /// The answer to a question without letters, so that the model can be made to say any.
  ChatAnswer answer(const Ids& ids, std::optional<bool> thinking,
                    const std::vector<std::string>& stop = {}) {
    ChatOptions options;
    options.generate = saying(ids);
    options.generate.stop = stop;
    options.enable_thinking = thinking;
    channels_ = {};
    ChatSession session = model_.chat();
    const ChatAnswer got = session.answer({{"user", "?"}}, options, channels_.callback());
    EXPECT_EQ(channels_.reasoning, got.reasoning);
    EXPECT_EQ(channels_.content, got.content);
    return got;
  }

  Model model_ = load_generation_model("tied");
  Channels channels_;
};

TEST_F(ChatAnswers, ThoughtAndContent) {
  const ChatAnswer got = answer(said("HMVW", kEndThink, "YES"), std::nullopt);
  EXPECT_EQ(got.reasoning, "HMVW");
  EXPECT_EQ(got.content, "YES");
  EXPECT_EQ(got.generation.text, "HMVW</think>YES");
  EXPECT_EQ(channels_.calls, 7u);  // each at once
}

TEST_F(ChatAnswers, ACutOffThoughtIsReasoning) {
  for (const std::optional<bool> thinking : {std::optional<bool>(), std::optional(true)}) {
    const ChatAnswer got = answer(byte_ids("HMVW"), thinking);
    EXPECT_EQ(got.reasoning, "HMVW");
    EXPECT_EQ(got.content, "");
    EXPECT_EQ(got.generation.finish_reason, FinishReason::kLength);
  }
}

TEST_F(ChatAnswers, ThinkingOffIsContent) {
  const ChatAnswer got = answer(byte_ids("HMVW"), false);
  EXPECT_EQ(got.reasoning, "");
  EXPECT_EQ(got.content, "HMVW");
}

TEST_F(ChatAnswers, PromptsOfBothModes) {
  const ChatSession session = model_.chat();
  const Messages messages{{"user", "2+2"}};
  const std::string prompt = "<|im_start|>user\n2+2<|im_end|>\n<|im_start|>assistant\n<think>\n";
  EXPECT_EQ(session.render(messages), prompt);
  EXPECT_EQ(session.render(messages, {.generate = {}, .enable_thinking = true}), prompt);
  EXPECT_EQ(session.render(messages, {.generate = {}, .enable_thinking = false}),
            prompt + "\n</think>\n\n");
}

TEST_F(ChatAnswers, AStopTextInTheThoughtOrTheContent) {
  const Ids ids = said("HMVW", kEndThink, "YES");
  EXPECT_EQ(answer(ids, true, {"VW"}).reasoning, "HM");
  const ChatAnswer content = answer(ids, true, {"ES"});
  EXPECT_EQ(content.reasoning, "HMVW");
  EXPECT_EQ(content.content, "Y");
  EXPECT_EQ(content.generation.finish_reason, FinishReason::kStop);
}

TEST_F(ChatAnswers, EndTokensComeFromTheFiles) {
  ChatOptions options;
  options.generate = saying(said("HM", kEndOfText, "V"));
  options.generate.stop_token_ids.reset();
  options.enable_thinking = false;
  ChatSession session = model_.chat();
  const ChatAnswer got = session.answer({{"user", "?"}}, options);
  EXPECT_EQ(got.content, "HM");
  EXPECT_EQ(got.generation.finish_reason, FinishReason::kStop);
}

// A template that leaves it to the model.
TEST_F(ChatAnswers, TheModelOpensItsThoughtItself) {
  const ModelCopy copy = ModelCopy::of(generation_variant("tied").directory);
  copy.write("chat_template.jinja", "{{ messages[0].content }}:");
  const Model model = load_copy(copy);
  ChatSession session = model.chat();
  ChatOptions options;
  options.generate = saying(said("", kThink, "HM"));
  EXPECT_EQ(session.answer({{"user", "?"}}, options).reasoning, "HM");
  options.generate = saying(byte_ids("HM"));
  EXPECT_EQ(session.answer({{"user", "?"}}, options).content, "HM");
}

// What the user writes at the end of a prompt opens no thought.
TEST_F(ChatAnswers, AUsersThinkTagOpensNothing) {
  const ModelCopy copy = ModelCopy::of(generation_variant("tied").directory);
  copy.write("chat_template.jinja", "{{ messages[0].content }}");
  const Model model = load_copy(copy);
  ChatSession session = model.chat();
  ChatOptions options;
  options.generate = saying(byte_ids("HM"));
  EXPECT_EQ(session.answer({{"user", "? <think>"}}, options).content, "HM");
}

// One piece that holds both, or more than the splitter can decide: false ends it all the same.
TEST_F(ChatAnswers, AfterFalseTheCallbackIsNotCalled) {
  for (const auto& [ids, stop, text] : {std::tuple{said("V", kEndThink, "Y"), "V</think>YZ", "VY"},
                                        std::tuple{byte_ids("V<"), "V</", "V<"}}) {
    ChatOptions options;
    options.generate = saying(ids);
    options.generate.stop = std::vector<std::string>{stop};
    std::size_t calls = 0;
    ChatSession session = model_.chat();
    const ChatAnswer got =
        session.answer({{"user", "?"}}, options, [&](ChatChannel, std::string_view) {
          ++calls;
          return false;
        });
    EXPECT_EQ(calls, 1u) << stop;
    EXPECT_EQ(got.reasoning + got.content, text);
  }
}

TEST(ChatRefusals, AModelWithoutATemplateSaysSo) {
  const ModelCopy copy = ModelCopy::of(generation_variant("tied").directory);
  copy.hide_json_member("tokenizer_config.json", "chat_template");
  const Model model = load_copy(copy);
  expect_refused([&] { model.chat(); }, ErrorCode::kUnsupported, "no chat template");
  EXPECT_FALSE(model.generate_ids(varied_ids(3), endless(2)).ids.empty());
}

Model with_template(const ModelCopy& copy, const std::string& source) {
  copy.write("chat_template.jinja", source);
  return load_copy(copy);
}

TEST(ChatRefusals, WhatTheTemplateRefusesIsAnErrorWithItsWords) {
  const ModelCopy copy = ModelCopy::of(generation_variant("tied").directory);
  const Model model =
      with_template(copy,
                    "{% for m in messages %}{% if m.role == 'system' and not loop.first %}"
                    "{{ raise_exception('System message must be at the beginning.') }}{% endif %}"
                    "{{ m.content }}{% endfor %}");
  ChatSession session = model.chat();
  ChatOptions options;
  options.generate = endless(3);
  const Messages late{{"user", "a"}, {"system", "b"}, {"user", "c"}};
  const Messages two{{"system", "a"}, {"system", "b"}, {"user", "c"}};
  for (const Messages& messages : {late, two}) {
    expect_refused([&] { session.answer(messages, options); }, ErrorCode::kInvalidArgument,
                   "System message must be at the beginning.");
    expect_refused([&] { session.render(messages); }, ErrorCode::kInvalidArgument, "beginning");
  }
  EXPECT_EQ(session.answer({{"system", "a"}, {"user", "c"}}, options).generation.ids.size(), 3u);
}

TEST(ChatRefusals, BrokenTemplatesAndEmptyPrompts) {
  const ModelCopy copy = ModelCopy::of(generation_variant("tied").directory);
  const Model broken = with_template(copy, "{% for %}");
  expect_refused([&] { broken.chat(); }, ErrorCode::kMalformed, "chat_template.jinja");
  const Model silent = with_template(copy, "{# nothing #}");
  ChatSession session = silent.chat();
  expect_refused([&] { session.answer({{"user", "a"}}); }, ErrorCode::kInvalidArgument, "prompt");
  expect_refused([&] { session.answer({}); }, ErrorCode::kInvalidArgument, "messages");
}

}  // namespace
}  // namespace lattice
