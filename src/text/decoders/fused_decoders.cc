// Decoders that pass on a token before it ends.
#include <algorithm>

#include "text/decoders/decoders.h"

namespace lattice {
namespace {

class FuseDecoder final : public TokenDecoder {
 public:
  std::unique_ptr<TokenSink> stream(std::unique_ptr<TokenSink> next) const override {
    return std::make_unique<Stage>(std::move(next));
  }

 private:
  class Stage final : public TokenStage {
   public:
    using TokenStage::TokenStage;
    void put(std::string_view part, bool) override { next().put(part, false); }
    void finish() override {
      next().put("", true);
      next().finish();
    }
  };
};

class StripDecoder final : public TokenDecoder {
 public:
  StripDecoder(std::string content, std::size_t start, std::size_t stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}

  std::unique_ptr<TokenSink> stream(std::unique_ptr<TokenSink> next) const override {
    return std::make_unique<Stage>(*this, std::move(next));
  }

 private:
  // Parts end between characters, so that none cuts through `content`.
  class Stage final : public TokenStage {
   public:
    Stage(const StripDecoder& decoder, std::unique_ptr<TokenSink> next)
        : TokenStage(std::move(next)), decoder_(decoder), to_skip_(decoder.start_) {}

    void put(std::string_view part, bool ends_token) override {
      const std::string& content = decoder_.content_;
      while (to_skip_ > 0 && part.starts_with(content)) {
        part.remove_prefix(content.size());
        --to_skip_;
      }
      if (!part.empty()) {
        to_skip_ = 0;
        put_all_but_the_end(part);
      }
      if (!ends_token) return;
      next().put("", true);
      to_skip_ = decoder_.start_;
      num_held_ = 0;
    }

   private:
    void put_all_but_the_end(std::string_view part) {
      std::size_t num_last = 0;
      std::string_view rest = part;
      for (; rest.ends_with(decoder_.content_); ++num_last) {
        rest.remove_suffix(decoder_.content_.size());
      }
      if (rest.empty()) {
        num_last += num_held_;
      } else {
        put_contents(num_held_);
        next().put(rest, false);
      }
      num_held_ = std::min(num_last, decoder_.stop_);
      put_contents(num_last - num_held_);
    }
    void put_contents(std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) next().put(decoder_.content_, false);
    }

    const StripDecoder& decoder_;
    std::size_t to_skip_;
    std::size_t num_held_ = 0;  // contents that may be the token's end
  };

  std::string content_;  // one character
  std::size_t start_, stop_;
};

}  // namespace

std::unique_ptr<TokenDecoder> make_fuse_decoder() { return std::make_unique<FuseDecoder>(); }
std::unique_ptr<TokenDecoder> make_strip_decoder(std::string content, std::size_t start,
                                                 std::size_t stop) {
  return std::make_unique<StripDecoder>(std::move(content), start, stop);
}

}  // namespace lattice
