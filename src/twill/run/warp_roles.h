#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "twill/concurrent/every_trip.h"
#include "twill/concurrent/finding.h"
#include "twill/concurrent/machine.h"
#include "twill/run/compare.h"
#include "twill/run/sizes.h"

/// Modules whose warps have roles, run on the CPU (`concurrent`), and compared with the kernel from
/// which they were made. docs/reference/warp-roles.md describes each step.
namespace twill::run {

/// A module, and the kernel with the results that the module must have. Members are references
/// only.
struct RolesModule {
  const ir::Program& program;
  ir::OpId function;
  const Kernel* against = nullptr;  ///< null: results are not compared
};

/// All CTAs of a grid under one order.
struct RolesTrial {
  std::int64_t wanted = 0;            ///< iterations of the main loop
  std::optional<std::int64_t> trips;  ///< iterations made; empty: no CTA reaches the loop
  execute::Launch launch;
  concurrent::Order order;
  bool tiles = true;  ///< whether tiles were computed
  std::vector<concurrent::Finding> findings;
  std::vector<Output> outputs;
  std::int64_t steps = 0;  ///< ops that roles did; equal on every computer
  double seconds = 0;
};
bool agrees(const RolesTrial& trial);

struct RolesReport {
  std::string module;   ///< names of the texts
  std::string against;  ///< empty: no comparison
  std::size_t roles = 0;
  Tolerances tolerances;
  std::vector<std::int64_t> left_out;  ///< trip counts without arguments
  std::string not_computed;  ///< why tiles were not computed, with the op's place; empty: they were
                             ///< computed
  std::vector<RolesTrial> trials;
};
bool agrees(const RolesReport& report);

/// Trip counts, orders and thoroughness.
struct RolesEffort {
  std::vector<std::int64_t> trips;  ///< iterations of the main loop
  std::uint64_t seed = 1;
  int seeds = 1;          ///< random orders, from `seed` on
  bool tiles = true;      ///< compute tiles, in the first order and the random ones
  bool to_first = false;  ///< end with the first run that has a finding
};

/// Runs the module with arguments for each of `trips`, under several orders: copies late, early and
/// at random, each role first. Arithmetic that cannot be executed, such as inline assembly, is left
/// out if results are not compared and no trip count depends on tiles. Otherwise such arithmetic is
/// a failure at the op's line. Fails if the arguments of the two differ, and if there are no
/// arguments for any of `trips`.
Result<RolesReport> run_roles(const RolesModule& module, const FixedArguments& given,
                              const RolesEffort& effort);

/// Text for people: the findings, with lines, and the verdict.
std::string to_text(const RolesReport& report, const ir::Program& program);
/// JSON of the report, which docs/reference/warp-roles.md describes.
std::string report_json(const RolesReport& report, const ir::Program& program);

/// Conclusion about all runs of a module at once, or the reason why there is none.
struct RolesProof {
  std::string module;
  std::size_t roles = 0;
  std::int64_t at_least = 0;  ///< iterations that every loop is taken to make
  Result<concurrent::EveryTrip> every_trip;
  bool from_one = false;  ///< whether a rule is broken, but only where some loop makes no iteration
  bool is_seen = true;    ///< whether some arguments lead to the finding; else perhaps no arguments
                          ///< do
};
bool is_proven(const RolesProof& proof);
/// Whether the module is proven except for launches without an iteration for which no arguments are
/// known.
bool is_proven_from_one(const RolesProof& proof);
/// Whether a rule is known to be broken.
bool is_broken(const RolesProof& proof);
RolesProof prove_roles(const RolesModule& module, std::int64_t at_least);
std::string to_text(const RolesProof& proof, const ir::Program& program);

/// The function's arguments as parameters of a launch. A descriptor whose sizes and strides do not
/// follow as arguments has none: its tensor is unbounded.
std::vector<emit::Parameter> parameters_of(const ir::Program& program, ir::OpId function);

}  // namespace twill::run
