#pragma once

#include <utility>

#include "text/jinja/evaluator.h"

namespace lattice::jinja {

class Evaluator::ScopeGuard {
 public:
  ScopeGuard(Evaluator& evaluator, ScopePtr scope)
      : evaluator_(evaluator), previous_(std::exchange(evaluator.scope_, std::move(scope))) {}
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;
  ~ScopeGuard() { evaluator_.scope_ = std::move(previous_); }

 private:
  Evaluator& evaluator_;
  ScopePtr previous_;
};

class Evaluator::Capture {
 public:
  explicit Capture(Evaluator& evaluator)
      : evaluator_(evaluator),
        out_(evaluator.budget_),
        previous_(std::exchange(evaluator.out_, &out_)) {}
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() { evaluator_.out_ = previous_; }

  Text take() { return out_.take(); }

 private:
  Evaluator& evaluator_;
  TextBuilder out_;
  TextBuilder* previous_;
};

}  // namespace lattice::jinja
