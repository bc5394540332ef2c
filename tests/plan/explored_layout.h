#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "twill/plan/plan.h"

/// Internal to the explorer: facts that stay the same while a plan runs.
namespace twill::plan::testing {

struct Micro {
  const Step* step = nullptr;
  std::int64_t iteration = 0;
  bool second_half = false;  ///< of take, rendezvous and leave
};

/// Part of a warp of one of the CTAs: the loop, or leaving the cluster.
struct ExploredWarp {
  std::vector<Micro> program;
  RoleId role;
  int number = 0;  ///< in the role
  std::size_t cta = 0;
  std::size_t crew = 0;   ///< its role in its CTA, numbered through
  std::size_t comes = 0;  ///< step that it has reached when others need not wait for it to leave
};

/// By OpId: the role of the op.
std::vector<RoleId> roles_of(const Plan& plan);

class ExploredLayout {
 public:
  /// The plan must outlive the layout.
  ExploredLayout(const Plan& plan, std::int64_t trips);

  std::size_t ctas() const { return ctas_; }
  std::size_t crews() const { return ctas_ * plan_.roles.size(); }
  const std::vector<ExploredWarp>& warps() const { return warps_; }
  /// Number of arrivals for which each barrier waits.
  const std::vector<std::int64_t>& counts() const { return counts_; }
  std::size_t barrier(std::size_t cta, ChannelId channel, bool empty, std::int64_t iteration) const;
  /// The barrier of a take or rendezvous.
  std::size_t meeting(const ExploredWarp& warp, const Micro& micro) const;

 private:
  void add_warp(std::size_t cta, RoleId role, int number, std::int64_t trips);
  void add_barriers();

  const Plan& plan_;
  std::size_t ctas_;
  std::vector<ExploredWarp> warps_;
  std::vector<std::int64_t> counts_;
  std::vector<std::size_t> first_barrier_;  // by CTA, then channel
  std::vector<std::size_t> role_barrier_;   // by crew
};

}  // namespace twill::plan::testing
