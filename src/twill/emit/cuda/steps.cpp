#include <algorithm>

#include <fmt/format.h>

#include "twill/emit/cuda/role.h"

namespace twill::emit::cuda {

using plan::Instance;
using plan::Step;
using plan::StepKind;

bool is_one_thread(const plan::Plan& plan, const plan::Role& role) {
  const auto copies = [&](const Step& step) {
    if (step.kind != StepKind::issue) return false;
    const plan::Mechanism how = step.op ? plan.mechanisms[step.op->index()]
                                        : plan.kernel->per_tile_ops[*step.per_tile_op].mechanism;
    return how == plan::Mechanism::cp_async;
  };
  const std::vector<Step>&before = role.before, &steady = role.sections.steady;
  return role.warps == 1 && std::none_of(before.begin(), before.end(), copies) &&
         std::none_of(steady.begin(), steady.end(), copies);
}

std::string function_name(const plan::Role& role) { return "role_" + identifier(role.name); }

std::string barrier_name(const plan::Channel& channel, bool full) {
  return identifier(channel.name) + (full ? "_full" : "_empty");
}

std::string RolePrinter::iteration(const Instance& instance) const {
  const auto moved = [&](const std::string& from) {
    if (instance.offset == 0) return from;
    return fmt::format("{} {} {}", from, instance.offset < 0 ? "-" : "+",
                       std::abs(instance.offset));
  };
  switch (instance.from) {
    case Instance::From::first:
      return std::to_string(instance.offset);
    case Instance::From::window:
      return moved("n");
    case Instance::From::last:
      return moved("trips");
    case Instance::From::tile:
      return "";
  }
  return "";
}

std::string RolePrinter::position(const Instance& instance, int depth) {
  const bool tile = instance.from == Instance::From::tile;
  (tile ? tile_positions_ : positions_).insert({depth, instance.offset});
  return fmt::format("{}{}_{}{}", tile ? "t" : "r", depth, instance.offset < 0 ? "m" : "",
                     std::abs(instance.offset));
}

std::string RolePrinter::barrier(const Step& step, bool full) {
  const plan::Channel& channel = plan_[*step.channel];
  const std::string name = "barriers." + barrier_name(channel, full);
  return fmt::format("&{}[{}.slot]", name, position(step.instance, channel.depth));
}

std::string RolePrinter::parity(const Step& step, bool full) {
  const plan::Channel& channel = plan_[*step.channel];
  const int first = full ? channel.full_parity : channel.empty_parity;
  const std::string phase = position(step.instance, channel.depth) + ".phase";
  return first == 0 ? phase : phase + " ^ 1u";
}

std::string RolePrinter::comment(const Step& step) const {
  std::string text;
  if (step.op) {
    const OpId op = *step.op;
    text = view_.plan().problem[op].name;
    const auto& sources = view_.origin(op).sources;
    for (std::size_t i = 0; i < sources.size() && i < 4; ++i) {
      text += (i == 0 ? ": " : ", ") + sources[i].text;
    }
    if (sources.size() > 4) text += ", ...";
    const Cycles interval = plan_.schedule.initiation_interval;
    const Cycles issue = plan_.schedule.ops[op.index()].issue;
    text += fmt::format("; stage {}, cycle {}", issue / interval, issue % interval);
  } else if (step.per_tile_op) {
    text = plan_.kernel->per_tile_ops[*step.per_tile_op].what;
  }
  return text;
}

/// Prints a statement for one thread of the role, or of each of its warps.
void RolePrinter::by(Text& text, const Step& step, const std::string& what) const {
  if (alone()) return text.line(what + ";");
  if (step.by == plan::By::one_warp) return text.line(fmt::format("if (leader) {};", what));
  text.line("__syncwarp();");
  text.line(fmt::format("if (twill::elect_one()) {};", what));
}

Result<void> RolePrinter::synchronize(Text& text, const Step& step) {
  const plan::Channel& channel = plan_[*step.channel];
  const bool full = step.kind != StepKind::acquire && step.kind != StepKind::release;
  if (channel.kind == plan::ChannelKind::token) {
    text.line(fmt::format("twill::named_{}({}, {});  // {}",
                          step.kind == StepKind::take ? "sync" : "arrive", channel.named_barrier,
                          32 * channel.full_arrivals, channel.name));
    return {};
  }
  if (step.arrival == plan::Arrival::asynchronous) {
    return fail({view_.input()}, "cannot be printed as CUDA: sm_90a has no tcgen05");
  }
  const std::string at = barrier(step, full);
  switch (step.kind) {
    case StepKind::acquire:
    case StepKind::wait:
      // By `one_warp`, the leader alone waits. The other threads need no wait, and would perhaps
      // look after the phase has ended.
      text.line(fmt::format("{}twill::barrier_wait({}, {});",
                            step.by == plan::By::one_warp && !alone() ? "if (leader) " : "", at,
                            parity(step, full)));
      return {};
    case StepKind::peek:
      return {};  // a test whose result is unused
    case StepKind::expect:
      by(text, step, fmt::format("twill::barrier_expect({}, {})", at, channel.bytes));
      return {};
    default:
      if (step.kind == StepKind::release && channel.scope == plan::Scope::cluster) {
        by(text, step, fmt::format("twill::barrier_arrive_cluster<kCluster>({})", at));
        return {};
      }
      by(text, step, fmt::format("twill::barrier_arrive({})", at));
      return {};
  }
}

Result<void> RolePrinter::fence(Text& text, const Steps& steps, std::size_t index) {
  switch (steps[index].fence) {
    case plan::Fence::proxy:
      text.line("twill::fence_proxy_async();");
      return {};
    case plan::Fence::wgmma:
      text.line("twill::wgmma_fence();");
      return {};
    case plan::Fence::pin:
      // The statement ends the basic block, so that ptxas cannot move later instructions above
      // earlier ones.
      text.line(
          "twill::barrier_wait(&barriers.open, 1u);  // never waits: keeps ptxas from moving code");
      return {};
    default:
      return fail({view_.input()}, "cannot be printed as CUDA: a fence for tcgen05 work");
  }
}

void RolePrinter::drain(Text& text, const Step& step, Point& point) {
  if (step.queue == plan::Mechanism::bulk_store) {
    by(text, step,
       fmt::format("twill::bulk_wait{}<{}>()", step.reads_only ? "_read" : "", step.pending));
    return;
  }
  text.line(fmt::format("twill::wgmma_wait<{}>();", step.pending));
  while (point.in_flight.size() > static_cast<std::size_t>(step.pending)) {
    text.line(fmt::format("twill::settle({});", point.in_flight.front().result->name));
    point.in_flight.erase(point.in_flight.begin());
  }
}

Result<void> RolePrinter::step(Text& text, const Steps& steps, std::size_t index, Point& point) {
  const Step& at = steps[index];
  if (at.drains_first) {
    return fail({view_.input()},
                "cannot be printed as CUDA: " + comment(at) + " runs in few of the iterations");
  }
  switch (at.kind) {
    case StepKind::compute:
      return at.per_tile_op ? compute_per_tile(text, at, point) : compute(text, at, point);
    case StepKind::issue: {
      if (at.per_tile_op) {
        const auto& per_tile_op = plan_.kernel->per_tile_ops[*at.per_tile_op];
        if (per_tile_op.mechanism == plan::Mechanism::bulk_store) return issue_store(text, at);
        if (per_tile_op.mechanism == plan::Mechanism::cp_async) return issue_copy(text, at);
        return issue_load(text, at);
      }
      const plan::Mechanism mechanism = plan_.mechanisms[at.op->index()];
      if (mechanism == plan::Mechanism::wgmma) return issue_product(text, at, point);
      if (plan::is_bulk_load(mechanism)) return issue_load(text, at);
      if (mechanism == plan::Mechanism::cp_async) return issue_copy(text, at);
      return view_.refuse(
          view_.origin(*at.op).sources.front().op,
          "is done by " + std::string(plan::name_of(mechanism)) + ", which is not printed");
    }
    case StepKind::stage:
      return at.per_tile_op ? stage_store(text, at, point) : stage_value(text, at, point);
    case StepKind::drain_groups:
      drain(text, at, point);
      return {};
    case StepKind::rendezvous:
      text.line(fmt::format("twill::named_sync({}, {});", role_.named_barrier, 32 * role_.warps));
      return {};
    case StepKind::fence:
      return fence(text, steps, index);
    case StepKind::leave:
      return {};  // done by all warps at the end of the kernel, also by those without a role
    default:
      return synchronize(text, at);
  }
}

}  // namespace twill::emit::cuda
