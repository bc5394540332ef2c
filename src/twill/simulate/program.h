#pragma once

#include "twill/plan/plan.h"

/// Internal to the room: steps of a role for some trips, one after the other. Unlike in
/// `plan::unrolled`, they are never all in memory.
namespace twill::simulate {

class Program {
 public:
  enum class Section { prologue, steady, drain, end };

  Program(const plan::Role& role, std::int64_t trips);

  bool at_end() const { return section_ == Section::end; }
  const plan::Step& step() const { return (*steps_)[index_]; }
  /// Iteration that the step belongs to; 0 for steps of the tile.
  std::int64_t iteration() const {
    const bool tile = step().instance.from == plan::Instance::From::tile;
    return tile ? 0 : plan::iteration_of(step().instance, window_, trips_);
  }
  /// Section of the step: before the loop and short paths are prologue, after the loop is drain.
  Section section() const { return section_; }
  void next();

 private:
  enum class At { before, prologue, steady, drain, after, tail };

  void skip_empty();
  void enter_next();
  void enter_after();

  const plan::Role* role_;
  std::int64_t trips_;
  std::int64_t window_ = 0;
  const std::vector<plan::Step>* steps_;
  std::size_t index_ = 0;
  Section section_ = Section::prologue;
  At at_ = At::before;
};

}  // namespace twill::simulate
