#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "twill/plan/plan.h"

/// Proves a plan safe, without the code that made it. The steps of all warps are laid out as a
/// happens-before graph, for every trip count from 0 to a bound from the plan. Each rule is checked
/// on that graph. The graph stands for every interleaving, since a plan leaves only speeds open,
/// and the bound for all trip counts beyond it (docs/decisions/0006-plan-proof.md).
namespace twill::plan {

/// A broken rule, with its evidence.
struct Finding {
  /// "well-formed", "ownership", "launch", "registers", "memory", "named-barriers", "deadlock",
  /// "arrivals", "overrun", "phase", "read-before-write", "overwrite", "dependence", "fence",
  /// "groups", "exit". Also "size" for a plan that may be right, but is too large to prove.
  std::string rule;
  std::string message;             ///< one line: steps, barrier, iteration, trip count
  std::vector<std::string> trace;  ///< a circuit of waiting or two unordered steps, a line each
};

/// Size of a proof.
struct ProofSize {
  std::int64_t trips = 0;   ///< every trip count up to this one was laid out
  std::int64_t events = 0;  ///< steps of warps and ends of asynchronous work, all together
  /// Whether a CTA walks tiles of mixed trip counts, and only pairs of successive tiles are
  /// decided. Longer sequences are decided if the tiles are alike or short
  /// (docs/decisions/0006-plan-proof.md, "Many tiles").
  bool some_mixtures = false;
};

/// A plan that obeys all rules for every trip count and every interleaving. Only `prove` makes one.
/// Copies share the plan.
class ProvenPlan {
 public:
  ProvenPlan(const ProvenPlan&) = default;  // no move, which would leave an object without a plan
  ProvenPlan& operator=(const ProvenPlan&) = default;

  const Plan& plan() const { return *plan_; }
  const ProofSize& size() const { return size_; }

 private:
  friend tl::expected<ProvenPlan, std::vector<Finding>> prove(Plan plan);
  ProvenPlan(Plan plan, ProofSize size)
      : plan_(std::make_shared<const Plan>(std::move(plan))), size_(size) {}
  std::shared_ptr<const Plan> plan_;
  ProofSize size_;
};

/// Checks every rule; takes any Plan, from any source. Reports the findings of the smallest trip
/// count with findings, at most kMostFindings. Cost: about events times roles.
tl::expected<ProvenPlan, std::vector<Finding>> prove(Plan plan);

inline constexpr std::size_t kMostFindings = 20;
/// A plan whose proof would lay out more events than this is refused (rule "size").
inline constexpr std::int64_t kMostEvents = 20'000'000;
/// Limits of a plan: warps of a kernel, registers of a thread, copies of a buffer and so on. A plan
/// beyond these limits is refused (rule "well-formed").
inline constexpr int kMostWarps = 32;
inline constexpr int kMostOfAnything = 4096;

/// By RoleId: the most registers per thread that values of the role need at once, by the order of
/// its steps. Precondition: the plan is well-formed.
std::vector<int> registers_needed(const Plan& plan);

}  // namespace twill::plan
