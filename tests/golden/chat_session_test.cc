// Conversations: what a session keeps of earlier turns must never show in an answer.
#include <gtest/gtest.h>

#include <random>

#include "golden/generator_support.h"
#include "lattice/chat.h"

namespace lattice {
namespace {

using Messages = std::vector<ChatMessage>;

const char* const kVariants[] = {"tied", "v-heads-4", "qwen3-untied"};

ChatOptions short_answers(std::size_t max_tokens = 4) {
  ChatOptions options;
  options.generate = endless(max_tokens);
  return options;
}

/// About one token a character.
std::string words(std::size_t count, std::size_t seed = 0) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += static_cast<char>('A' + (i * i + seed * 7 + i / 26) % 26);
  }
  return text;
}

/// The session's answer, which must be that of a session without a past.
ChatAnswer answer_like_a_fresh_one(const Model& model, ChatSession& session,
                                   const Messages& messages, const ChatOptions& options) {
  ChatAnswer got = session.answer(messages, options);
  ChatSession fresh = model.chat();
  const ChatAnswer expected = fresh.answer(messages, options);
  EXPECT_EQ(expected.generation.timings.cached_tokens, 0u);
  expect_same(got.generation, expected.generation,
              std::to_string(messages.size()) + " messages, " +
                  std::to_string(got.generation.timings.cached_tokens) + " tokens known");
  EXPECT_EQ(got.content, expected.content);
  EXPECT_EQ(got.reasoning, expected.reasoning);
  return got;
}

void add_turn(Messages& messages, const ChatAnswer& answer, const std::string& question) {
  messages.push_back({"assistant", answer.content});
  messages.push_back({"user", question});
}

// The end of the first prompt at each place of a chunk.
TEST(ChatSession, TurnsHaveTheBitsOfAFreshSession) {
  for (const char* variant : kVariants) {
    const Model model = load_generation_model(variant);
    for (std::size_t length = 90; length < 90 + 64; ++length) {
      ChatSession session = model.chat();
      Messages messages{{"user", words(length)}};
      const ChatAnswer first = answer_like_a_fresh_one(model, session, messages, short_answers());
      add_turn(messages, first, "more");
      const ChatAnswer second = answer_like_a_fresh_one(model, session, messages, short_answers());
      // The template takes back "<think>\n"; a recurrent state goes back to the last snapshot.
      EXPECT_GE(second.generation.timings.cached_tokens + 18,
                first.generation.timings.prompt_tokens)
          << variant << ", " << length;
      EXPECT_LT(second.generation.timings.cached_tokens, second.generation.timings.prompt_tokens);
    }
  }
}

TEST(ChatSession, LongConversations) {
  for (const char* variant : kVariants) {
    const Model model = load_generation_model(variant);
    ChatSession session = model.chat();
    ChatOptions options = short_answers(40);
    options.enable_thinking = false;
    options.generate.speculation = Speculation::kNgram;
    Messages messages{{"system", words(30)}, {"user", words(20)}};
    std::size_t known = 0, computed = 0;
    for (std::size_t turn = 0; turn < 8; ++turn) {
      const ChatAnswer answer = answer_like_a_fresh_one(model, session, messages, options);
      known += answer.generation.timings.cached_tokens;
      computed += answer.generation.timings.prompt_tokens - answer.generation.timings.cached_tokens;
      add_turn(messages, answer, words(10 + turn, turn));
    }
    EXPECT_GT(known, computed) << variant;
  }
}

// Whatever happens to a conversation between two answers.
TEST(ChatSession, AnyEditAnywhere) {
  for (const char* variant : {"tied", "qwen3-untied"}) {
    const Model model = load_generation_model(variant);
    std::mt19937 random(7);
    ChatSession session = model.chat();
    Messages messages{{"user", words(70)}};
    for (int step = 0; step < 60; ++step) {
      const ChatAnswer answer =
          answer_like_a_fresh_one(model, session, messages, short_answers(1 + random() % 30));
      switch (random() % 6) {
        case 0:  // a completely different one
          messages = {{"user", words(random() % 150, random() % 50)}};
          break;
        case 1:  // shorter
          messages.resize(1 + random() % messages.size());
          break;
        case 2: {  // an edit in the middle
          std::string& text = messages[random() % messages.size()].content;
          text.insert(random() % (text.size() + 1), "!");
          break;
        }
        case 3:  // the same again
          break;
        default:
          add_turn(messages, answer, words(random() % 60, random() % 50));
      }
      if (messages.size() > 9) messages.resize(3);
    }
  }
}

// One token more each time: every way to meet the end of what is known.
TEST(ChatSession, PromptsThatGrowAndShrinkByATokenAtATime) {
  const Model model = load_generation_model("tied");
  ChatSession session = model.chat();
  const auto step = [&](std::size_t length) {
    answer_like_a_fresh_one(model, session, {{"user", words(length)}}, short_answers(2));
  };
  for (std::size_t length = 30; length < 120; ++length) step(length);
  for (std::size_t length = 120; length > 30; --length) step(length);
}

TEST(ChatSession, TheSamePromptAgainIsKnown) {
  for (const char* variant : kVariants) {
    const Model model = load_generation_model(variant);
    ChatSession session = model.chat();
    const Messages messages{{"user", words(150)}};
    const std::size_t length = answer_like_a_fresh_one(model, session, messages, short_answers())
                                   .generation.timings.prompt_tokens;
    const ChatAnswer again = answer_like_a_fresh_one(model, session, messages, short_answers());
    EXPECT_GE(again.generation.timings.cached_tokens + 16, length) << variant;
  }
}

class ChatSessionFaults : public testing::TestWithParam<const char*> {
 protected:
  /// Answers, lets something go wrong, goes on.
  template <typename Fault>
  void expect_usable_after(Fault fault) {
    for (const std::size_t length : {20u, 60u, 64u, 100u, 101u, 130u}) {
      ChatSession session = model_.chat();
      Messages messages{{"user", words(length)}};
      const ChatAnswer first = answer_like_a_fresh_one(model_, session, messages, short_answers());
      add_turn(messages, first, words(20));
      fault(session, messages);
      answer_like_a_fresh_one(model_, session, messages, short_answers(30));
      fault(session, messages);
      messages.resize(1);
      answer_like_a_fresh_one(model_, session, messages, short_answers(30));
    }
  }

  Model model_ = load_generation_model(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Families, ChatSessionFaults, testing::Values("tied", "qwen3-untied"),
                         [](const auto& test) {
                           return std::string(test.param) == "tied" ? "qwen3_5" : "qwen3";
                         });

TEST_P(ChatSessionFaults, CancelledAnswers) {
  expect_usable_after([](ChatSession& session, const Messages& messages) {
    std::size_t calls = 0;
    const ChatAnswer answer = session.answer(
        messages, short_answers(50), [&](ChatChannel, std::string_view) { return ++calls < 3; });
    EXPECT_EQ(answer.generation.finish_reason, FinishReason::kCancelled);
    EXPECT_EQ(calls, 3u) << "called again after it asked to end";
  });
}

TEST_P(ChatSessionFaults, ExceptionsOfTheCallback) {
  expect_usable_after([](ChatSession& session, const Messages& messages) {
    ChatOptions options = short_answers(50);
    options.generate.speculation = Speculation::kNgram;
    std::size_t calls = 0;
    EXPECT_THROW(session.answer(messages, options,
                                [&](ChatChannel, std::string_view) -> bool {
                                  if (++calls == 9) throw std::domain_error("no more");
                                  return true;
                                }),
                 std::domain_error);
  });
}

TEST_P(ChatSessionFaults, RefusedOptionsAndMessages) {
  expect_usable_after([](ChatSession& session, const Messages& messages) {
    ChatOptions options;
    options.generate.stop = std::vector<std::string>{""};
    EXPECT_THROW(session.answer(messages, options), LatticeError);
    options = {};
    options.generate.max_context = 10;
    EXPECT_THROW(session.answer(messages, options), LatticeError);
    EXPECT_THROW(session.answer({}), LatticeError);
    EXPECT_THROW(session.answer({{"user", "\xFF"}}), LatticeError);
  });
}

TEST(ChatSessionRefusals, LeaveWhatIsKnown) {
  const Model model = load_generation_model("tied");
  ChatSession session = model.chat();
  Messages messages{{"user", words(150)}};
  session.answer(messages, short_answers());
  ChatOptions bad = short_answers();
  bad.generate.stop = {""};
  EXPECT_THROW(session.answer({{"user", "something else"}}, bad), LatticeError);
  EXPECT_GT(session.answer(messages, short_answers()).generation.timings.cached_tokens, 100u);
}

}  // namespace
}  // namespace lattice
