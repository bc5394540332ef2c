#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "twill/plan/draft.h"

namespace twill::plan {
namespace {

/// The op of each part that is issued last; the first of equals. Where parts have ops of their own,
/// an op on all rows does not count.
std::vector<OpId> last_of_parts(const Draft& draft, const Setting& setting,
                                const std::vector<OpId>& ops) {
  std::map<int, OpId> last;
  for (const OpId op : ops) {
    const auto [at, is_new] = last.emplace(part_of(setting, op), op);
    if (!is_new && draft.issue(op) > draft.issue(at->second)) at->second = op;
  }
  if (last.size() > 1) last.erase(-1);
  std::vector<OpId> found;
  for (const auto& [part, op] : last) found.push_back(op);
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<OpId> first_product(const Draft& draft) {
  for (std::size_t v = 0; v < draft.plan.mechanisms.size(); ++v) {
    const Mechanism how = draft.plan.mechanisms[v];
    if (how == Mechanism::wgmma || how == Mechanism::tcgen05) return OpId(v);
  }
  return std::nullopt;
}

/// Places an effect after the last op that it needs, or with the first product.
void place_effect(const Draft& draft, const Setting& setting, const WholeRequest& request,
                  Whole& whole) {
  whole.placing = Placing::behind;
  whole.ops = request.needs;
  whole.last = last_of_parts(draft, setting, whole.ops);
  const bool in_flight = std::any_of(whole.ops.begin(), whole.ops.end(), [&](OpId op) {
    const Mechanism how = draft.mechanism(op);
    return how != Mechanism::threads && how != Mechanism::scoreboard;
  });
  if (in_flight && whole.objection.empty()) {
    whole.objection =
        "is an effect of a tile while that is loaded or multiplied: compute something of it first";
  }
  if (!whole.last.empty()) return;
  if (const auto product = first_product(draft)) {
    whole.last = {*product};
  } else if (whole.objection.empty()) {
    whole.objection = "is an effect that no step of the plan has";
  }
}

/// Reason why a branch cannot be done with its last ops: an access in it would be too late for the
/// plan's channels and meetings. Empty if the branch can.
std::string objection_to_branch(const Draft& draft, const std::vector<OpId>& ops) {
  const auto stands_in_it = [&](OpId op) {
    return std::find(ops.begin(), ops.end(), op) != ops.end();
  };
  for (const problem::Dependence& it : draft.plan.problem.dependences()) {
    if (!it.through_memory || (!stands_in_it(it.from) && !stands_in_it(it.to))) continue;
    return fmt::format(
        "is a branch in which accesses keep an order in global memory ({} before {}), which is not "
        "printed as TTGIR yet: use a mask in place of the branch",
        draft.op(it.from).name, draft.op(it.to).name);
  }
  return {};
}

}  // namespace

void make_wholes(Draft& draft, const Setting& setting) {
  if (!draft.plan.kernel) return;
  for (const WholeRequest& request : setting.wholes) {
    Whole whole = request.what;
    std::copy_if(request.within.begin(), request.within.end(), std::back_inserter(whole.ops),
                 [&](OpId op) { return !is_copy(draft.mechanism(op)); });
    if (whole.placing != Placing::within) {
      // outside the loop
    } else if (!whole.ops.empty()) {
      whole.last = last_of_parts(draft, setting, whole.ops);
      if (whole.objection.empty()) whole.objection = objection_to_branch(draft, request.within);
    } else if (request.acts) {
      place_effect(draft, setting, request, whole);
    } else {
      continue;  // copies run ahead, under the branch's condition
    }
    draft.plan.kernel->wholes.push_back(std::move(whole));
  }
}

}  // namespace twill::plan
