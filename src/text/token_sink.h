#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace lattice {

/// Takes the tokens of a text one after the other and passes on, as early as it can, what becomes
/// of them. One text at a time; not thread-safe.
class TokenSink {
 public:
  virtual ~TokenSink() = default;

  /// The next part of the current token, which may be empty; `ends_token`: its last one.
  virtual void put(std::string_view part, bool ends_token) = 0;
  /// There are no more tokens: passes on what was held back.
  virtual void finish() = 0;
};

/// A sink that feeds another one.
class TokenStage : public TokenSink {
 public:
  explicit TokenStage(std::unique_ptr<TokenSink> next) : next_(std::move(next)) {}
  void finish() override { next_->finish(); }

 protected:
  TokenSink& next() { return *next_; }

 private:
  std::unique_ptr<TokenSink> next_;
};

/// A stage that looks at whole tokens: their parts are put together first.
class WholeTokenStage : public TokenStage {
 public:
  using TokenStage::TokenStage;

  void put(std::string_view part, bool ends_token) final {
    if (ends_token && parts_.empty()) return take(part);
    parts_ += part;
    if (!ends_token) return;
    take(parts_);
    parts_.clear();
  }

 protected:
  /// A token, valid during the call.
  virtual void take(std::string_view token) = 0;

 private:
  std::string parts_;
};

}  // namespace lattice
