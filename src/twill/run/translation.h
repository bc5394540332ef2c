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

/// Comparison of a module with the plan from which it was printed. The module is executed, and each
/// role is compared step by step: memory, mbarriers, products and arithmetic. The reason why the
/// comparison covers every trip count: docs/decisions/0013-translation-checked.md.
namespace twill::run {

/// A module, with the kernel and the plan from which it was made. Members are references only.
struct Translated {
  const ir::Program& module;
  ir::OpId function;
  const ir::Program& kernel;
  std::span<const extract::OpOrigin> origins;  ///< by problem::OpId: ops of `kernel`
  const plan::Plan& plan;
  /// Name of the plan's role, by role of the module. Names without a role in the plan stand for
  /// helpers, which do no step of the plan.
  std::vector<std::string> roles;
};

struct TranslationCheck {
  std::string difference;   ///< the first difference, with its place; empty: none
  std::int64_t most = 0;    ///< trips up to which text and plan were compared
  bool every_trip = false;  ///< beyond `most`, text and plan repeat themselves
};

/// Compares the module with the plan. Fails, at the op's line, for modules that cannot be executed.
Result<TranslationCheck> compare_with_plan(const Translated& what);

}  // namespace twill::run
