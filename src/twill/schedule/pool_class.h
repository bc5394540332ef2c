#pragma once

#include <string>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"

namespace twill::schedule {

/// Class of ops and of the groups that may run them. The rules `width` and `load-group`, as far as
/// in force, split ops and pool into independent classes.
struct PoolClass {
  std::string description;  ///< "groups of 4 warps", "load groups of 1 warp", "all groups"
  std::vector<OpId> ops;    ///< ascending
  std::vector<GroupId>
      groups;  ///< ascending; every op of the class may run in each, and only there
};

/// All classes with an op or a group, narrow classes first, load groups last.
std::vector<PoolClass> pool_classes(const problem::Problem& problem);

}  // namespace twill::schedule
