#include <algorithm>
#include <iterator>
#include <utility>

#include "twill/plan/draft.h"

namespace twill::plan {
namespace {

/// Ops that work on the same rows as `sum`.
std::vector<OpId> ops_of_part(const Setting& setting, const RowSum& row_sum, OpId sum) {
  const int part = part_of(setting, sum);
  std::vector<OpId> ops;
  std::copy_if(row_sum.ops.begin(), row_sum.ops.end(), std::back_inserter(ops), [&](OpId op) {
    const int its = part_of(setting, op);
    return part < 0 || its < 0 || its == part;
  });
  return ops;
}

/// Whether the value of an op stays in the registers of a role.
bool stays_in(const Draft& draft, RoleId role, OpId op) {
  const Value& value = draft.plan.values[op.index()];
  if (draft.role[op.index()] != role || !value.home || value.staged) return false;
  return draft.plan[*value.home].residence == Residence::registers;
}

}  // namespace

void make_partial_sums(Draft& draft, const Setting& setting) {
  if (!draft.plan.kernel) return;
  for (const RowSum& row_sum : setting.row_sums) {
    for (const OpId sum : row_sum.sums) {
      const RoleId role = draft.role[sum.index()];
      std::vector<OpId> ops = ops_of_part(setting, row_sum, sum);
      const bool own =
          std::all_of(ops.begin(), ops.end(), [&](OpId op) { return stays_in(draft, role, op); });
      if (!own || draft.plan[*draft.home(sum)].depth != 1) continue;
      draft.plan.kernel->partial_sums.push_back(
          {sum, std::move(ops), row_sum.reduction, row_sum.addition});
    }
  }
}

}  // namespace twill::plan
