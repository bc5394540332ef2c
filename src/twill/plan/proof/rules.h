#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "twill/plan/buffers.h"
#include "twill/plan/proof.h"

/// Internal to the proof.
namespace twill::plan::proof {

/// Gathers findings, at most kMostFindings.
class Findings {
 public:
  void add(std::string rule, std::string message, std::vector<std::string> trace = {});
  bool empty() const { return findings_.empty(); }
  bool full() const { return findings_.size() >= kMostFindings; }
  std::vector<Finding> take() && { return std::move(findings_); }

 private:
  std::vector<Finding> findings_;
};

/// Checks the base of all other rules: ids in range, sizes that match, numbers within limits.
void check_well_formed(const Plan& plan, Findings& findings);
/// Checks rules that need no run: registers of the launch, named barriers, mechanisms of steps,
/// fences of wgmma, and the next two.
void check_static(const Plan& plan, Findings& findings);

/// Checks places: within their memory, large enough, and written by mechanisms that can write
/// there. In kernels of a machine they are aligned. Loop-invariant buffers are apart from all
/// others.
void check_places(const Plan& plan, Findings& findings);
/// Checks accesses to tensor memory: by threads that reach all lanes; by prologue and epilogue ops
/// only to places that no other buffer shares.
void check_tensor_places(const Plan& plan, Findings& findings);

/// Checks loops after the planned loop that continue to use its rings.
void check_ring_loads(const Plan& plan, Findings& findings);

/// Tables that a run uses repeatedly. Precondition: the plan is well-formed.
struct Tables {
  explicit Tables(const Plan& what);

  const Plan& plan;
  std::vector<RoleId> role;  ///< by OpId
  int spread = 0;            ///< the largest spread of all roles
  int deepest = 1;           ///< the largest depth of channels and buffers
  int farthest = 0;          ///< the largest distance of a dependence
};

/// The trip counts that represent all trip counts.
struct Bounds {
  std::int64_t trips = 0;  ///< for one tile
  std::int64_t ends = 0;   ///< for successive tiles: beyond this count, the two ends of a tile are
                           ///< independent
};
/// Trip counts to check. Empty if the steady state can wait for its own future: then a run of
/// `spread + 2 x deepest` trips deadlocks, or the plan is refused.
std::optional<Bounds> trips_to_check(const Tables& tables);

/// Trip counts of successive tiles of a CTA.
using TileTrips = std::vector<std::int64_t>;

}  // namespace twill::plan::proof
