#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "twill/machine/machine.h"
#include "twill/plan/proof/rules.h"
#include "twill/plan/rings.h"
#include "twill/problem/problem.h"

namespace twill::plan::proof {
namespace {

constexpr int kMostPending = 7;  // most wgmma groups in flight

class StaticCheck {
 public:
  StaticCheck(const Plan& plan, Findings& findings) : plan_(plan), findings_(findings) {}

  void check() {
    check_launch();
    check_registers();
    check_budgets();
    check_named_barriers();
    for (const Role& role : plan_.roles) check_steps(role);
    for (const Role& role : plan_.roles) check_tail(role);
    if (plan_.kernel) {
      for (const PartialSum& sum : plan_.kernel->partial_sums) check_partial_sum(sum);
      for (const Whole& whole : plan_.kernel->wholes) check_whole(whole);
    }
  }

 private:
  /// Checks a row sum in parts. Each part belongs to its own threads. So until the parts are added
  /// up, one role must do all ops on them, in its registers.
  void check_partial_sum(const PartialSum& sum) {
    const auto owner = role_of(plan_, sum.sum);
    const auto wrong = [&](OpId op, std::string_view why) {
      findings_.add("ownership",
                    fmt::format("the row sum {} is kept in parts, but {} {}",
                                plan_.problem[sum.sum].name, plan_.problem[op].name, why));
    };
    for (const OpId op : sum.ops) {
      const Value& value = plan_.values[op.index()];
      const bool kept = value.home && plan_[*value.home].residence == Residence::registers;
      if (role_of(plan_, op) != owner) wrong(op, "works on it in another role");
      if (!kept || plan_[*value.home].role != owner) wrong(op, "leaves its value elsewhere");
      if (value.staged) wrong(op, "hands its value to other roles");
    }
    const auto home = plan_.values[sum.sum.index()].home;
    if (home && plan_[*home].depth != 1) wrong(sum.sum, "has several copies");
  }

  /// Checks a whole. A branch replaces all its ops, and an effect needs the results of its ops. So
  /// no op of a role's own may come after the op with which the branch or effect is done.
  void check_whole(const Whole& whole) {
    if (!whole.objection.empty()) return;
    const auto issue = [&](OpId op) { return plan_.schedule.ops[op.index()].issue; };
    std::map<RoleId, Cycles> done;
    for (const OpId last : whole.last) {
      const auto [at, is_new] = done.emplace(*role_of(plan_, last), issue(last));
      if (!is_new) at->second = std::max(at->second, issue(last));
    }
    for (const OpId op : whole.ops) {
      const auto with = done.find(*role_of(plan_, op));
      if (with == done.end() || issue(op) <= with->second) continue;
      findings_.add("ownership", fmt::format("{} is done before {}, which is a part of it",
                                             whole.place.what, plan_.problem[op].name));
    }
  }

  /// Checks the tail: a role may exit only when the sources of its bulk stores have been read. The
  /// tail's own bulk stores come before the wait.
  void check_tail(const Role& role) {
    const auto sends = [&](const Step& step) {
      if (step.kind != StepKind::issue) return false;
      const Mechanism how = step.op ? plan_.mechanisms[step.op->index()]
                                    : plan_.kernel->per_tile_ops[*step.per_tile_op].mechanism;
      return how == Mechanism::bulk_store;
    };
    const auto& steady = role.sections.steady;
    const bool stores = std::any_of(steady.begin(), steady.end(), sends) ||
                        std::any_of(role.after.begin(), role.after.end(), sends) ||
                        std::any_of(role.tail.begin(), role.tail.end(), sends);
    const auto last = std::find_if(role.tail.rbegin(), role.tail.rend(), sends).base();
    const auto from = last == role.tail.begin() ? role.tail.begin() : std::prev(last);
    const bool drains = std::any_of(from, role.tail.end(), [](const Step& step) {
      return step.kind == StepKind::drain_groups && step.queue == Mechanism::bulk_store &&
             step.pending == 0;
    });
    if (stores && !drains) {
      findings_.add("groups",
                    fmt::format("role {} may exit while its bulk stores still read", role.name));
    }
  }

  /// Checks setmaxnreg, which gives and takes from one pool. A request beyond the launch's
  /// registers waits forever.
  void check_launch() {
    std::vector<int> warps(plan_.warpgroups.size() * machine::kWarpsPerWarpgroup, 0);
    for (const Role& role : plan_.roles) {
      for (int w = role.first_warp; w < role.first_warp + role.warps; ++w) {
        const auto warp = static_cast<std::size_t>(w);
        if (warp >= warps.size() || ++warps[warp] > 1) {
          findings_.add("launch",
                        fmt::format("role {} has warp {}, which {}", role.name, w,
                                    warp >= warps.size() ? "does not exist" : "another role has"));
          return;
        }
      }
      const int first = static_cast<int>(role.warpgroup.index()) * machine::kWarpsPerWarpgroup;
      if (role.first_warp < first || role.first_warp >= first + machine::kWarpsPerWarpgroup ||
          (role.warps > 1 && role.warps % machine::kWarpsPerWarpgroup == 0 &&
           role.first_warp != first)) {
        findings_.add("launch", fmt::format("role {} begins at warp {}, outside its warpgroup",
                                            role.name, role.first_warp));
      }
    }
    for (std::size_t g = 0; g < plan_.warpgroups.size(); ++g) {
      const auto first =
          warps.begin() + static_cast<std::ptrdiff_t>(g * machine::kWarpsPerWarpgroup);
      const int used = std::accumulate(first, first + machine::kWarpsPerWarpgroup, 0);
      if (plan_.warpgroups[g].warps == used) continue;
      findings_.add("launch", fmt::format("warpgroup {} has {} warps with a role, not {}", g, used,
                                          plan_.warpgroups[g].warps));
    }
    const Limits& limits = plan_.limits;
    if (limits.launch_registers == 0) return;
    int sum = 0;
    for (const Warpgroup& group : plan_.warpgroups) {
      sum += group.setmaxnreg;
      if (group.setmaxnreg % 8 != 0 || group.setmaxnreg < 24 ||
          group.setmaxnreg > limits.most_registers) {
        findings_.add("launch", fmt::format("setmaxnreg {} is not a multiple of 8 in 24..{}",
                                            group.setmaxnreg, limits.most_registers));
      }
    }
    const int most = limits.launch_registers * static_cast<int>(plan_.warpgroups.size());
    if (sum > most) {
      findings_.add("launch", fmt::format("the setmaxnreg sum to {}, but the launch hands out {}: "
                                          "setmaxnreg would wait forever",
                                          sum, most));
    }
  }

  void check_registers() {
    const std::vector<int> needed = registers_needed(plan_);
    for (std::size_t r = 0; r < plan_.roles.size(); ++r) {
      const Role& role = plan_.roles[r];
      int usable = plan_.problem[role.group].registers;
      const int given = least_given(role);
      if (plan_.limits.launch_registers > 0) {
        usable = std::min(usable, std::max(0, given - plan_.limits.register_overhead));
      }
      if (role.usable > usable) {
        findings_.add("registers", fmt::format("role {} counts on {} registers, but has {}",
                                               role.name, role.usable, usable));
      }
      if (!plan_.problem.in_force(problem::Rule::registers)) continue;
      if (needed[r] > usable) {
        findings_.add("registers",
                      fmt::format("the values of role {} need {} registers, but it has "
                                  "{}",
                                  role.name, needed[r], usable));
      }
    }
  }

  /// Checks that there are registers for all roles of a register budget.
  void check_budgets() {
    if (!plan_.problem.in_force(problem::Rule::registers)) return;
    const std::vector<int> needed = registers_needed(plan_);
    for (const problem::RegisterBudget& budget : plan_.problem.register_budgets()) {
      std::vector<std::int64_t> steps(plan_.problem.groups().size(), budget.steps_for(0));
      for (std::size_t r = 0; r < plan_.roles.size(); ++r) {
        std::int64_t& most = steps[plan_.roles[r].group.index()];
        most = std::max(most, budget.steps_for(needed[r]));
      }
      std::int64_t sum = 0;
      for (const problem::GroupId group : budget.groups) sum += steps[group.index()];
      if (sum <= budget.steps()) continue;
      findings_.add("registers", fmt::format("roles that share {} registers need {}", budget.total,
                                             sum * budget.step));
    }
  }

  /// Least setmaxnreg of the warpgroups that contain warps of a role.
  int least_given(const Role& role) const {
    constexpr int kWarps = 4;
    const auto first = static_cast<std::size_t>(role.warpgroup.index());
    int least = plan_.warpgroups[first].setmaxnreg;
    const auto more = static_cast<std::size_t>((role.warps + kWarps - 1) / kWarps);
    for (std::size_t w = first; w < std::min(first + more, plan_.warpgroups.size()); ++w) {
      least = std::min(least, plan_.warpgroups[w].setmaxnreg);
    }
    return least;
  }

  void check_named_barriers() {
    std::map<int, std::string> users;
    const auto use = [&](int id, const std::string& who) {
      if (id < 1 || id >= plan_.limits.named_barriers) {
        findings_.add("named-barriers", fmt::format("{} uses named barrier {}, outside 1..{}", who,
                                                    id, plan_.limits.named_barriers - 1));
        return;
      }
      const auto [at, fresh] = users.emplace(id, who);
      if (!fresh) {
        findings_.add("named-barriers",
                      fmt::format("{} and {} use named barrier {}", at->second, who, id));
      }
    };
    for (const Channel& channel : plan_.channels) {
      if (channel.kind == ChannelKind::token) use(channel.named_barrier, channel.name);
    }
    for (const Role& role : plan_.roles) {
      const auto meets = [](const std::vector<Step>& steps) {
        return std::any_of(steps.begin(), steps.end(),
                           [](const Step& step) { return step.kind == StepKind::rendezvous; });
      };
      if (meets(role.sections.steady) || meets(role.before) || meets(role.after))
        use(role.named_barrier, role.name);
    }
  }

  RoleId id_of(const Role& role) const {
    return RoleId(static_cast<std::size_t>(&role - plan_.roles.data()));
  }

  /// Checks that the mechanism of each prologue and epilogue op fits the step that starts or
  /// computes it.
  void check_per_tile_ops(const Role& role, const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (!step.per_tile_op) continue;
      const PerTileOp& per_tile_op = plan_.kernel->per_tile_ops[*step.per_tile_op];
      const bool starts = is_asynchronous(per_tile_op.mechanism);
      if (step.kind == StepKind::issue && loader_of(plan_, per_tile_op) == id_of(role)) continue;
      const bool right =
          step.kind == StepKind::stage
              ? per_tile_op.mechanism == Mechanism::bulk_store && step.by == By::every_warp
              : (step.kind == StepKind::issue) == starts &&
                    (step.by == By::one_warp) ==
                        (starts && per_tile_op.mechanism != Mechanism::cp_async);
      if (!right) {
        findings_.add("ownership",
                      fmt::format("{} of role {} is {}, which '{}' by {} does not do",
                                  per_tile_op.what, role.name, name_of(per_tile_op.mechanism),
                                  name_of(step.kind), name_of(step.by)));
      }
      if (is_copy(per_tile_op.mechanism) && !step.channel) {
        findings_.add("arrivals",
                      fmt::format("nothing tells when {} has arrived", per_tile_op.what));
      }
    }
  }

  void check_steps(const Role& role) {
    const Sections& sections = role.sections;
    check_per_tile_ops(role, role.before);
    check_per_tile_ops(role, role.after);
    check_per_tile_ops(role, role.tail);
    check_sequence(role, sections.prologue);
    check_sequence(role, sections.steady);
    check_sequence(role, sections.drain);
    for (const auto& path : sections.short_trips) check_sequence(role, path);
  }

  void check_sequence(const Role& role, const std::vector<Step>& steps) {
    bool fenced = false;
    for (const Step& step : steps) {
      if (step.kind == StepKind::fence && step.fence == Fence::wgmma) {
        fenced = step.by == By::every_warp;
      }
      if (step.kind == StepKind::compute || step.kind == StepKind::stage) fenced = false;
      if (step.kind == StepKind::drain_groups && step.queue == Mechanism::wgmma &&
          step.pending > kMostPending) {
        findings_.add("groups", fmt::format("{} leaves {} wgmma groups in flight; {} may be",
                                            role.name, step.pending, kMostPending));
      }
      if (step.kind == StepKind::compute || step.kind == StepKind::issue) {
        check_execution(role, step, fenced);
      }
    }
  }

  void check_execution(const Role& role, const Step& step, bool fenced) {
    const problem::Op& op = plan_.problem[*step.op];
    const Mechanism how = plan_.mechanisms[step.op->index()];
    if (is_asynchronous(how) != (step.kind == StepKind::issue) ||
        (how == Mechanism::threads && op.asynchronous)) {
      findings_.add("ownership", fmt::format("{} is {}, which '{}' does not do", op.name,
                                             name_of(how), name_of(step.kind)));
    }
    const bool elected =
        is_bulk_load(how) || how == Mechanism::tcgen05 || how == Mechanism::bulk_store;
    if (role.warps > 1 && elected != (step.by == By::one_warp)) {
      findings_.add("ownership",
                    fmt::format("{} of role {} is taken by {} of its {} warps", op.name, role.name,
                                elected ? "each" : "one", role.warps));
    }
    if (is_copy(how) && !step.channel) {
      findings_.add("arrivals", fmt::format("nothing tells when {} has arrived", op.name));
    }
    if (how == Mechanism::wgmma && !fenced) {
      findings_.add("fence",
                    fmt::format("{} is started with no wgmma fence after what its role did "
                                "before",
                                op.name));
    }
    if (plan_.problem.in_force(problem::Rule::width) && op.warps != role.warps) {
      findings_.add("ownership", fmt::format("{} needs {} warps, but role {} has {}", op.name,
                                             op.warps, role.name, role.warps));
    }
  }

  const Plan& plan_;
  Findings& findings_;
};

}  // namespace

void check_static(const Plan& plan, Findings& findings) {
  StaticCheck(plan, findings).check();
  check_ring_loads(plan, findings);
  check_places(plan, findings);
  check_tensor_places(plan, findings);
}

}  // namespace twill::plan::proof
