#include "twill/driver/check_plan.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "twill/plan/json.h"
#include "twill/problem/problem.h"
#include "twill/verify/verify.h"

namespace twill::driver {
namespace {

using Findings = std::vector<plan::Finding>;

void check_schedule(const plan::Plan& plan, Findings& findings) {
  const auto checked = verify::verify(plan.problem, plan.schedule);
  if (checked) return;
  for (const verify::Violation& violation : checked.error()) {
    if (findings.size() == plan::kMostFindings) return;
    findings.push_back({"schedule", violation.rule + ": " + violation.message, {}});
  }
}

/// Checks that the limits recorded in a plan equal those of the machine that the plan names.
class MachineCheck {
 public:
  MachineCheck(const plan::Plan& plan, const machine::Description& machine, Findings& findings)
      : plan_(plan), limits_(plan.limits), machine_(machine), findings_(findings) {}

  void check() {
    const auto threads = 128 * static_cast<double>(plan_.warpgroups.size());
    const int launch = static_cast<int>(machine_.register_file.value / threads) / 8 * 8;
    if (threads > machine_.threads.value) {
      wrong(fmt::format("the plan has {} threads, but a CTA of {} at most {}", threads,
                        machine_.name, machine_.threads.value));
    }
    expect("launch_registers", limits_.launch_registers, launch);
    expect("register_overhead", limits_.register_overhead, machine_.register_overhead.value);
    expect("most_registers", limits_.most_registers, machine_.registers_per_thread.value);
    expect("named_barriers", limits_.named_barriers, machine_.named_barriers.value);
    const auto memories = plan_.problem.memories();
    for (std::size_t m = 0; m < memories.size(); ++m) {
      check_memory(memories[m], m < limits_.reserved.size() ? limits_.reserved[m] : 0);
    }
  }

 private:
  void wrong(std::string message) { findings_.push_back({"machine", std::move(message), {}}); }

  void expect(const char* what, int says, double is) {
    if (says == is) return;
    wrong(fmt::format("the plan says {} {}, but {} has {}", what, says, machine_.name, is));
  }

  void check_memory(const problem::Memory& memory, Amount reserved) {
    const auto known = std::find_if(machine_.memories.begin(), machine_.memories.end(),
                                    [&](const auto& m) { return m.name == memory.name; });
    if (known == machine_.memories.end()) {
      return wrong(fmt::format("the plan has memory {}, which {} does not have", memory.name,
                               machine_.name));
    }
    const Amount all = memory.capacity + reserved;
    if (static_cast<double>(all) <= known->capacity.value) return;
    wrong(fmt::format("the plan has {} of {}, of which {} has {}", all, memory.name, machine_.name,
                      known->capacity.value));
  }

  const plan::Plan& plan_;
  const plan::Limits& limits_;
  const machine::Description& machine_;
  Findings& findings_;
};

/// Checks that fields of a plan which can be derived from others agree with them.
void check_derived(const plan::Plan& plan, Findings& findings) {
  const std::vector<int> needed = plan::registers_needed(plan);
  for (std::size_t r = 0; r < needed.size(); ++r) {
    const plan::Role& role = plan.roles[r];
    if (role.registers == needed[r]) continue;
    findings.push_back({"registers",
                        fmt::format("the plan says that role {} holds {} registers, but its values "
                                    "hold {}",
                                    role.name, role.registers, needed[r]),
                        {}});
  }
  for (std::size_t v = 0; v < plan.schedule.ops.size(); ++v) {
    const problem::GroupId group = plan.schedule.ops[v].group;
    const auto role = plan::role_of(plan, problem::OpId(v));
    if (!role || plan[*role].group == group) continue;
    findings.push_back(
        {"ownership",
         fmt::format("{} is in group {} of the schedule, but role {} does it",
                     plan.problem.ops()[v].name, plan.problem[group].name, plan[*role].name),
         {}});
  }
}

}  // namespace

Result<CheckedPlan> check_plan(const Input& input, const std::string& machine) {
  TWILL_TRY(plan::Plan read, plan::read_plan_json(input.text, input.name));
  CheckedPlan checked;
  const std::string& name = machine.empty() ? read.limits.machine : machine;
  if (!name.empty()) {
    TWILL_TRY(const machine::Machine known, find_machine(name));
    MachineCheck(read, *known, checked.findings).check();
  }
  check_schedule(read, checked.findings);
  auto proven = plan::prove(std::move(read));
  if (!proven) {
    checked.findings.insert(checked.findings.end(), proven.error().begin(), proven.error().end());
    return checked;
  }
  check_derived(proven->plan(), checked.findings);
  if (checked.findings.empty()) checked.plan = *std::move(proven);
  return checked;
}

}  // namespace twill::driver
