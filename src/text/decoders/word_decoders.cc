// Decoders that rewrite one token after the other.
#include <array>
#include <optional>

#include "text/decoders/decoders.h"
#include "text/token_span.h"

namespace lattice {
namespace {

// Undoes what English word tokenizers do to punctuation, in this order.
std::string clean_up(std::string text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kRules = {
      {{" .", "."},
       {" ?", "?"},
       {" !", "!"},
       {" ,", ","},
       {" ' ", "'"},
       {" n't", "n't"},
       {" 'm", "'m"},
       {" do not", " don't"},
       {" 's", "'s"},
       {" 've", "'ve"},
       {" 're", "'re"}}};
  if (text.find(' ') == std::string::npos) return text;
  for (const auto& [from, to] : kRules) text = replace_all(text, from, to);
  return text;
}

class WordPieceDecoder final : public TokenDecoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleanup)
      : prefix_(std::move(prefix)), cleanup_(cleanup) {}

  std::unique_ptr<TokenSink> stream(std::unique_ptr<TokenSink> next) const override {
    return std::make_unique<Stage>(*this, std::move(next));
  }

 private:
  class Stage final : public WholeTokenStage {
   public:
    Stage(const WordPieceDecoder& decoder, std::unique_ptr<TokenSink> next)
        : WholeTokenStage(std::move(next)), decoder_(decoder) {}

    void take(std::string_view token) override {
      std::string text(token);
      if (!is_first_) {
        if (token.starts_with(decoder_.prefix_)) {
          text.erase(0, decoder_.prefix_.size());
        } else {
          text.insert(text.begin(), ' ');
        }
      }
      is_first_ = false;
      next().put(decoder_.cleanup_ ? clean_up(std::move(text)) : text, true);
    }

   private:
    const WordPieceDecoder& decoder_;
    bool is_first_ = true;
  };

  std::string prefix_;
  bool cleanup_;
};

class BpeDecoder final : public TokenDecoder {
 public:
  explicit BpeDecoder(std::string suffix) : suffix_(std::move(suffix)) {}

  std::unique_ptr<TokenSink> stream(std::unique_ptr<TokenSink> next) const override {
    return std::make_unique<Stage>(suffix_, std::move(next));
  }

 private:
  class Stage final : public WholeTokenStage {
   public:
    Stage(const std::string& suffix, std::unique_ptr<TokenSink> next)
        : WholeTokenStage(std::move(next)), suffix_(suffix) {}

    void take(std::string_view token) override {
      if (held_) next().put(replace_all(*held_, suffix_, " "), true);
      held_ = token;
    }
    void finish() override {
      if (held_) next().put(replace_all(*held_, suffix_, ""), true);
      next().finish();
    }

   private:
    const std::string& suffix_;
    std::optional<std::string> held_;  // the last token so far
  };

  std::string suffix_;
};

class MetaspaceDecoder final : public TokenDecoder {
 public:
  MetaspaceDecoder(std::string replacement, bool drops_first)
      : replacement_(std::move(replacement)), drops_first_(drops_first) {}

  std::unique_ptr<TokenSink> stream(std::unique_ptr<TokenSink> next) const override {
    return std::make_unique<Stage>(*this, std::move(next));
  }

 private:
  class Stage final : public WholeTokenStage {
   public:
    Stage(const MetaspaceDecoder& decoder, std::unique_ptr<TokenSink> next)
        : WholeTokenStage(std::move(next)), decoder_(decoder), drops_(decoder.drops_first_) {}

    void take(std::string_view token) override {
      next().put(replace_all(token, decoder_.replacement_, drops_ ? "" : " "), true);
      drops_ = false;
    }

   private:
    const MetaspaceDecoder& decoder_;
    bool drops_;
  };

  std::string replacement_;
  bool drops_first_;  // every replacement character of the first token
};

class ReplaceDecoder final : public TokenDecoder {
 public:
  ReplaceDecoder(std::unique_ptr<regex::Pattern> pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}

  std::unique_ptr<TokenSink> stream(std::unique_ptr<TokenSink> next) const override {
    return std::make_unique<Stage>(*this, std::move(next));
  }

 private:
  class Stage final : public WholeTokenStage {
   public:
    Stage(const ReplaceDecoder& decoder, std::unique_ptr<TokenSink> next)
        : WholeTokenStage(std::move(next)), decoder_(decoder) {}

    void take(std::string_view token) override {
      matches_.clear();
      if (!token.empty()) decoder_.pattern_->find_all(token, matches_);
      std::string replaced;
      std::size_t at = 0;
      for (const ByteRange match : matches_) {
        replaced.append(token, at, match.begin - at);
        replaced += decoder_.content_;
        at = match.end;
      }
      replaced.append(token, at);
      next().put(replaced, true);
    }

   private:
    const ReplaceDecoder& decoder_;
    std::vector<ByteRange> matches_;
  };

  std::unique_ptr<regex::Pattern> pattern_;
  std::string content_;
};

class CtcDecoder final : public TokenDecoder {
 public:
  CtcDecoder(std::string pad, std::string delimiter, bool cleanup)
      : pad_(std::move(pad)), delimiter_(std::move(delimiter)), cleanup_(cleanup) {}

  std::unique_ptr<TokenSink> stream(std::unique_ptr<TokenSink> next) const override {
    return std::make_unique<Stage>(*this, std::move(next));
  }

 private:
  class Stage final : public WholeTokenStage {
   public:
    Stage(const CtcDecoder& decoder, std::unique_ptr<TokenSink> next)
        : WholeTokenStage(std::move(next)), decoder_(decoder) {}

    void take(std::string_view token) override {
      if (last_ == token) return;
      last_ = token;
      std::string text = replace_all(token, decoder_.pad_, "");
      if (decoder_.cleanup_) {
        text = replace_all(clean_up(std::move(text)), decoder_.delimiter_, " ");
      }
      if (!text.empty()) next().put(text, true);
    }

   private:
    const CtcDecoder& decoder_;
    std::optional<std::string> last_;
  };

  std::string pad_, delimiter_;
  bool cleanup_;
};

}  // namespace

std::unique_ptr<TokenDecoder> make_wordpiece_decoder(std::string prefix, bool cleanup) {
  return std::make_unique<WordPieceDecoder>(std::move(prefix), cleanup);
}
std::unique_ptr<TokenDecoder> make_bpe_decoder(std::string suffix) {
  return std::make_unique<BpeDecoder>(std::move(suffix));
}
std::unique_ptr<TokenDecoder> make_metaspace_decoder(std::string replacement, bool drops_first) {
  return std::make_unique<MetaspaceDecoder>(std::move(replacement), drops_first);
}
std::unique_ptr<TokenDecoder> make_replace_decoder(std::unique_ptr<regex::Pattern> pattern,
                                                   std::string content) {
  return std::make_unique<ReplaceDecoder>(std::move(pattern), std::move(content));
}
std::unique_ptr<TokenDecoder> make_ctc_decoder(std::string pad, std::string delimiter,
                                               bool cleanup) {
  return std::make_unique<CtcDecoder>(std::move(pad), std::move(delimiter), cleanup);
}

}  // namespace lattice
