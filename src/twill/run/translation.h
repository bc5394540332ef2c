#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "twill/extract/extract.h"
#include "twill/plan/plan.h"
#include "twill/support/diagnostic.h"

/// Comparison of a module with the plan that it was printed from. The module is executed, and each
/// role is compared step by step: memory, mbarriers, products and arithmetic. Why that holds for
/// every trip count: docs/decisions/0013-translation-checked.md.
namespace twill::run {

/// A module and what it was made from. Nothing is owned.
struct Translated {
  const ir::Program& module;
  ir::OpId function;
  const ir::Program& kernel;
  std::span<const extract::OpOrigin> origins;  ///< by problem::OpId: in `kernel`
  const plan::Plan& plan;
  /// By role of the module: the name of the plan's role. Names that no role of the plan has stand
  /// for helpers, which do nothing of the plan.
  std::vector<std::string> roles;
};

struct TranslationCheck {
  std::string difference;   ///< the first one, with its place; empty: there is none
  std::int64_t most = 0;    ///< trips up to which text and plan were compared
  bool every_trip = false;  ///< beyond these, both repeat themselves
};

/// Fails, at the op's line, for modules that cannot be executed.
Result<TranslationCheck> compare_with_plan(const Translated& what);

}  // namespace twill::run
