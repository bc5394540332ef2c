#include "twill/problem/compute_groups.h"
#include "twill/problem/problem.h"

#include <algorithm>

namespace twill::problem {

int compute_width(const Parts& parts) {
  int widest = 0;
  for (const Group& group : parts.groups) {
    if (!group.loads) widest = std::max(widest, group.warps);
  }
  return widest;
}

bool is_compute_group(const Parts& parts, const Group& group) {
  return !group.loads && group.warps == compute_width(parts);
}

int compute_groups(const Parts& parts) {
  return static_cast<int>(
      std::count_if(parts.groups.begin(), parts.groups.end(),
                    [&](const Group& group) { return is_compute_group(parts, group); }));
}

int compute_ops(const Parts& parts) {
  const std::vector<bool> transfer_ops = transfer_ops_among(parts);
  const int width = compute_width(parts);
  int count = 0;
  for (std::size_t i = 0; i < parts.ops.size(); ++i) {
    const Op& op = parts.ops[i];
    if (!transfer_ops[i] && !op.variable_latency && op.warps == width) ++count;
  }
  return count;
}

std::vector<bool> transfer_ops_among(const Parts& parts) {
  std::vector<bool> out(parts.ops.size(), false);
  for (const Transfer& it : parts.transfers) {
    out[it.store.index()] = true;
    for (const Transfer::Load& load : it.loads) out[load.op.index()] = true;
  }
  return out;
}

int wanted_compute_groups(const Parts& parts) {
  return std::min({parts.minimum_compute_groups, compute_groups(parts), compute_ops(parts)});
}

}  // namespace twill::problem
