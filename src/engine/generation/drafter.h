#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lattice {

/// Guesses the tokens to come of one sequence, for the model to check together. What is guessed
/// changes how fast a text is generated and never the text. One thread at a time.
class Drafter {
 public:
  Drafter() = default;
  Drafter(const Drafter&) = delete;
  Drafter& operator=(const Drafter&) = delete;
  virtual ~Drafter() = default;

  /// Appends tokens of the prompt or the output. They must be final: a guess that was refused must
  /// never be among them.
  virtual void accept(std::span<const std::int32_t> ids) = 0;

  /// Whether it goes by the model's hidden states.
  virtual bool wants_hidden() const { return false; }
  /// The last hidden states [n, hidden_size] of the n accepted tokens behind those whose states it
  /// has been given.
  virtual void accept_hidden(std::span<const float> /*rows*/) {}

  /// At most `max_tokens` tokens that may follow the accepted ones.
  virtual std::vector<std::int32_t> propose(std::size_t max_tokens) = 0;
};

}  // namespace lattice
