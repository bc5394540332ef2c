#pragma once

#include "twill/plan/draft.h"

/// Internal to the room: the last steps of the construction.
namespace twill::plan {

/// Adds fences to the clusters and sorts the steps of each cluster.
void make_fences(Draft& draft);

/// The buffer in which a role finds a value, by the roles of its writer and its reader.
std::optional<BufferId> read_from(const Plan& plan, OpId value, RoleId writer, RoleId reader);

}  // namespace twill::plan
