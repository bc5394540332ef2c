#include "twill/driver/verify_module.h"

#include <optional>
#include <utility>

#include "twill/driver/input.h"
#include "twill/driver/run_module.h"
#include "twill/support/in_order.h"

namespace twill::driver {

bool is_module(const Input& input) {
  const auto form = form_of(input);
  return form && *form == Form::ttgir;
}

namespace {

/// Whether a run with arguments also breaks a rule.
bool breaks_when_run(const Input& input) {
  RunModuleRequest request;
  request.module = input;
  request.tiles = false;
  request.to_first = true;
  const auto ran = run_module(request);
  return ran && !run::agrees(ran->report);
}

}  // namespace

Result<VerifiedModule> verify_module(const Input& input, std::int64_t at_least) {
  TWILL_TRY(ir::Program program, read_module(input));
  TWILL_TRY(const ir::OpId function, function_with_roles(program));
  run::RolesProof proof = run::prove_roles({program, function, nullptr}, at_least);
  if (!proof.is_seen) proof.is_seen = breaks_when_run(input);
  return VerifiedModule{std::move(program), std::move(proof)};
}

PrintedCheck check_printed(const std::string& text) {
  RunModuleRequest request;
  request.module = {"printed.ttgir", text};
  request.tiles = false;
  std::optional<Result<RanModule>> runs;
  std::optional<Result<VerifiedModule>> proofs;
  in_order(
      2, 2,
      [&](std::size_t which) {
        if (which == 0) runs.emplace(run_module(request));
        if (which == 1) proofs.emplace(verify_module(request.module));
        return true;
      },
      [](std::size_t, bool) { return true; });
  const Result<RanModule>& ran = *runs;
  const Result<VerifiedModule>& verified = *proofs;
  if (ran && !run::agrees(ran->report)) return {{}, run::to_text(ran->report, ran->program)};
  if (verified && run::is_proven(verified->proof)) return {};
  if (verified && run::is_broken(verified->proof)) {
    return {{}, run::to_text(verified->proof, verified->program)};
  }
  if (!ran) return {"the roles were not executed: " + ran.error().message, {}};
  if (!verified) return {"the roles were not proven: " + verified.error().message, {}};
  return {"the roles were run, and are not proven for every trip count (`twill verify` says why)",
          {},
          true};
}

}  // namespace twill::driver
