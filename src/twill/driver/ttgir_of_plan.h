#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/driver/emit_ttgir.h"
#include "twill/driver/kernel.h"

/// Internal to the driver: prints the TTGIR of a given plan. No other plan is searched for.
namespace twill::driver {

/// The text of a plan, with its judgement.
struct PrintedTtgir {
  std::string text;                             ///< text without the story; empty without a plan
  std::vector<std::string> notes = {};          ///< for people
  std::vector<std::string> reasons = {};        ///< reasons why its code would not be good
  int missing = 0;                              ///< registers that roles need beyond their own
  std::size_t short_roles = 0;                  ///< number of roles with missing registers, by the
                                                ///< estimate
  std::vector<std::string> roles = {};          ///< names of the tree's roles
  std::optional<plan::ProvenPlan> plan = {};    ///< the plan with fewer copies than the answer's
  std::optional<plan::ProvenPlan> stored = {};  ///< the plan of the tree

  bool is_good() const { return reasons.empty(); }
};

/// Prints a plan, and judges the code that a compiler would make of it. Roles must have `margin`
/// registers beyond the estimate. Precondition: the outcome belongs to a kernel, and the choice
/// names a spelling.
Result<PrintedTtgir> print_ttgir(const Reading& reading, const report::Outcome& outcome,
                                 const plan::ProvenPlan& plan, const TtgirChoice& choice,
                                 int margin);

/// Door of TTGIR, in any spelling.
const Door& ttgir_door();

/// The same schedule with a tile for each CTA; nullopt if it has no such plan.
Result<std::optional<PlannedLoop>> with_one_tile(const Request& given, const PlannedLoop& planned);

/// Whether the plan's CTAs run one after the other, so that one can begin while another ends. The
/// request must not fix the number of CTAs on an SM.
bool may_share_an_sm(const Request& request, const PlannedLoop& planned);

}  // namespace twill::driver
