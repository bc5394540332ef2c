#include "twill/run/warp_roles.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "twill/concurrent/deciding.h"
#include "twill/concurrent/launches.h"
#include "twill/execute/evaluate.h"
#include "twill/execute/interpreter.h"
#include "twill/ir/operands.h"
#include "twill/support/stopwatch.h"

namespace twill::run {
namespace {

using concurrent::Order;

/// Chosen arguments, and the kernel's results for these.
struct RolesCall {
  std::int64_t wanted = 0;
  std::optional<std::int64_t> trips;
  execute::Launch launch;  ///< by the module's names
  std::unique_ptr<Reference> reference;
};

/// A launch with the module's names in place of the kernel's.
execute::Launch renamed(const execute::Launch& launch, const RolesModule& module) {
  execute::Launch made = launch;
  made.arguments.clear();
  made.arrays.clear();
  const auto from = ir::function_arguments(module.against->text, module.against->function);
  const auto to = ir::function_arguments(module.program, module.function);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::string& name = module.against->text.value(from[i]).name;
    const std::string& new_name = module.program.value(to[i]).name;
    const auto argument = launch.arguments.find(name);
    if (argument != launch.arguments.end()) made.arguments[new_name] = argument->second;
    const auto array = launch.arrays.find(name);
    if (array != launch.arrays.end()) made.arrays[new_name] = array->second;
  }
  return made;
}

/// Checks that module and kernel have equally many arguments, of the same kinds.
Result<void> check_alike(const RolesModule& module) {
  const auto there = parameters_of(module.against->text, module.against->function);
  const auto here = parameters_of(module.program, module.function);
  bool alike = there.size() == here.size();
  for (std::size_t i = 0; alike && i < here.size(); ++i) {
    alike = here[i].kind == there[i].kind && here[i].type == there[i].type &&
            here[i].block == there[i].block;
  }
  if (alike) return {};
  return fail(ir::text_location(module.program, module.function),
              "has other arguments than the kernel to compare with",
              "--against KERNEL takes the kernel that the module was made from");
}

class RolesRun {
 public:
  RolesRun(const RolesModule& module, const FixedArguments& given, std::uint64_t seed)
      : module_(module),
        given_(given),
        seed_(seed),
        deciding_(concurrent::deciding_ops(module.program, module.function)) {}

  Result<std::vector<RolesCall>> calls(const RolesEffort& effort,
                                       std::vector<std::int64_t>& left_out) const {
    const std::vector<std::int64_t>& trips = effort.trips;
    std::vector<RolesCall> calls;
    if (module_.against == nullptr) {
      const std::int64_t most = trips.empty() ? 0 : *std::max_element(trips.begin(), trips.end());
      execute::Launch launch = given_.launch;
      launch.programs = given_.grid.value_or(std::array<std::int64_t, 3>{2, 1, 1});
      TWILL_TRY(const auto launches, concurrent::launches_up_to(module_.program, module_.function,
                                                                launch, most, effort.to_first));
      for (const std::int64_t wanted : trips) {
        const auto [first, end] = launches.equal_range(wanted);
        if (first == end) left_out.push_back(wanted);
        for (auto found = first; found != end; ++found) {
          calls.push_back({wanted, wanted, found->second, nullptr});
        }
      }
      return calls;
    }
    for (const std::int64_t wanted : trips) {
      TWILL_TRY(auto chosen, choose(*module_.against, given_, wanted, seed_));
      const bool again = chosen && std::any_of(calls.begin(), calls.end(), [&](const auto& call) {
                           return call.trips == chosen->trips;
                         });
      if (!chosen) left_out.push_back(wanted);
      if (!chosen || again) continue;
      calls.push_back(
          {wanted, chosen->trips, renamed(chosen->launch, module_), std::move(chosen->reference)});
    }
    return calls;
  }

  Result<RolesTrial> trial(const RolesCall& call, const Order& order, bool tiles,
                           const Tolerances& tolerances) const {
    RolesTrial trial{call.wanted, call.trips, call.launch, order, tiles, {}, {}, 0, 0};
    Stopwatch watch;
    execute::Memory memory(seed_);
    TWILL_TRY(const auto arguments,
              execute::arguments_of(module_.program, module_.function, call.launch, memory));
    concurrent::Findings findings;
    const auto& grid = call.launch.programs;
    for (std::int64_t z = 0; z < grid[2]; ++z) {
      for (std::int64_t y = 0; y < grid[1]; ++y) {
        for (std::int64_t x = 0; x < grid[0]; ++x) {
          concurrent::Options options{order, tiles};
          options.checked = checked_;
          if (deciding_) options.deciding = &*deciding_;
          // Another order takes hardly more steps, except where roles read memory that is not
          // written yet.
          if (module_.against == nullptr) options.most_steps = 5 * concurrent::kMostStepsOfTrial;
          concurrent::Machine machine(module_.program, memory, call.launch, {x, y, z}, options,
                                      findings);
          TWILL_TRY_VOID(machine.run(module_.function, arguments));
          checked_ = true;
          trial.steps += machine.steps();
        }
      }
    }
    trial.findings = findings.all();
    if (call.reference && tiles && trial.findings.empty()) {
      trial.outputs = compare(call.reference->memory, memory, tolerances);
    }
    trial.seconds = watch.lap();
    return trial;
  }

 private:
  const RolesModule& module_;
  const FixedArguments& given_;
  std::uint64_t seed_;
  std::optional<std::set<ir::OpId>> deciding_;
  mutable bool checked_ = false;  ///< types are known to fit
};

/// Roles of the function: the default warps and all partitions.
std::size_t count_roles(const RolesModule& module) {
  std::size_t count = 1;
  for (const ir::OpId id : ir::walk(module.program, module.function)) {
    const ir::Op& op = module.program.op(id);
    if (op.kind == ir::OpKind::warp_roles) count += op.warps.size();
  }
  return count;
}

/// Orders of a report: every role first while copies are late, all copies early, and some orders at
/// random. Tiles are computed in the first order and in the random ones.
std::vector<std::pair<Order, bool>> orders_of(std::size_t roles, std::uint64_t seed, int seeds) {
  std::vector<std::pair<Order, bool>> orders;
  for (std::size_t first = 0; first < roles; ++first) {
    Order late;
    late.first = first;
    orders.emplace_back(late, first == 0);
    Order early = late;
    early.landing = Order::Landing::early;
    orders.emplace_back(early, false);
  }
  for (int s = 0; s < seeds; ++s) {
    Order random;
    random.random = true;
    random.landing = Order::Landing::random;
    random.seed = seed + static_cast<std::uint64_t>(s);
    orders.emplace_back(random, true);
  }
  return orders;
}

}  // namespace

std::vector<emit::Parameter> parameters_of(const ir::Program& program, ir::OpId function) {
  using Kind = emit::Parameter::Kind;
  std::vector<emit::Parameter> parameters;
  const auto arguments = ir::function_arguments(program, function);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const ir::Type type = ir::type_of(program, arguments[i]);
    emit::Parameter made;
    made.name = program.value(arguments[i]).name;
    made.multiple_of = ir::argument_divisor(program, function, i).value_or(1);
    made.type = type->name;
    if (type->kind == ir::TypeKind::pointer) {
      made.kind = Kind::pointer;
      made.type = type->element->name;
    } else if (type->kind == ir::TypeKind::tensordesc) {
      made.kind = Kind::descriptor;
      made.type = type->element->element->name;
      made.block = type->element->shape;
      const int rank = static_cast<int>(made.block.size());
      const bool passed = !execute::descriptor_arguments(program, function, i).sizes.empty();
      for (int d = 1; passed && d <= rank; ++d) {
        made.sizes.push_back(static_cast<int>(i) + d);
        made.strides.push_back(static_cast<int>(i) + rank + d);
      }
    }
    parameters.push_back(std::move(made));
  }
  return parameters;
}

bool is_proven(const RolesProof& proof) {
  return proof.every_trip.has_value() && proof.every_trip->findings.empty();
}

bool is_proven_from_one(const RolesProof& proof) {
  return is_proven(proof) || (proof.from_one && !proof.is_seen);
}

bool is_broken(const RolesProof& proof) {
  return proof.every_trip.has_value() && !proof.every_trip->findings.empty() && proof.is_seen;
}

RolesProof prove_roles(const RolesModule& module, std::int64_t at_least) {
  const auto follow = [&](std::int64_t least) {
    return concurrent::follow_every_trip(module.program, module.function, least);
  };
  RolesProof proof{module.program.file(), count_roles(module), at_least, follow(at_least)};
  if (!proof.every_trip || proof.every_trip->findings.empty()) return proof;
  const auto& found = *proof.every_trip;
  proof.is_seen = found.assumptions.empty() && found.trips.size() <= 1;
  if (at_least == 0) {
    const auto longer = follow(1);
    proof.from_one = longer && longer->findings.empty();
  }
  return proof;
}

Result<RolesReport> run_roles(const RolesModule& module, const FixedArguments& given,
                              const RolesEffort& effort) {
  RolesReport report;
  report.module = module.program.file();
  report.roles = count_roles(module);
  if (module.against != nullptr) {
    TWILL_TRY_VOID(check_alike(module));
    report.against = module.against->text.file();
    report.tolerances = tolerances_of(*module.against);
  }
  const RolesRun run(module, given, effort.seed);
  TWILL_TRY(const auto calls, run.calls(effort, report.left_out));
  for (const RolesCall& call : calls) {
    for (const auto& [order, tiles] : orders_of(report.roles, effort.seed, effort.seeds)) {
      const bool computes = tiles && effort.tiles && report.not_computed.empty();
      Result<RolesTrial> trial = run.trial(call, order, computes, report.tolerances);
      if (!trial && computes && module.against == nullptr) {
        report.not_computed = to_string(trial.error());
        trial = run.trial(call, order, false, report.tolerances);
      }
      // A branch may depend on tiles, for example on their sum.
      if (!trial && !computes) trial = run.trial(call, order, true, report.tolerances);
      if (!trial) return tl::unexpected(trial.error());
      report.trials.push_back(*std::move(trial));
      if (effort.to_first && !report.trials.back().findings.empty()) return report;
    }
  }
  const bool wants_some = std::ranges::any_of(effort.trips, [](std::int64_t it) { return it > 0; });
  // A broken rule may end a run before its first iteration.
  const bool has_some = std::ranges::any_of(
      report.trials, [](const auto& it) { return it.trips != 0 || !it.findings.empty(); });
  if (has_some || (!wants_some && !report.trials.empty())) return report;
  return fail(ir::text_location(module.program, module.function),
              "no arguments were found for which the roles make so many iterations",
              "choose other values: --trips, --arg NAME=VALUE, --grid X,Y,Z");
}

}  // namespace twill::run
