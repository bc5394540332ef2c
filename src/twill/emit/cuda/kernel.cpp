#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "twill/emit/cuda/host.h"
#include "twill/emit/cuda/maps.h"
#include "twill/emit/cuda/orders.h"
#include "twill/emit/cuda/resources.h"
#include "twill/emit/cuda/role.h"
#include "twill/emit/cuda/shared_tiles.h"
#include "twill/emit/cuda/text.h"
#include "twill/emit/cuda/view.h"
#include "twill/ir/source_words.h"
#include "twill/ir/user_function.h"

namespace twill::emit {
namespace cuda {
namespace {

constexpr int kWarpsOfWarpgroup = 4;

bool has_pins(const plan::Plan& plan) {
  const auto pins = [](const std::vector<plan::Step>& steps) {
    return std::any_of(steps.begin(), steps.end(), [](const plan::Step& step) {
      return step.kind == plan::StepKind::fence && step.fence == plan::Fence::pin;
    });
  };
  return std::any_of(plan.roles.begin(), plan.roles.end(), [&](const plan::Role& role) {
    const plan::Sections& it = role.sections;
    return pins(it.prologue) || pins(it.steady) || pins(it.drain) ||
           std::any_of(it.short_trips.begin(), it.short_trips.end(), pins);
  });
}

void print_barriers(Text& text, const plan::Plan& plan) {
  text.line("/// The mbarriers of all channels, one per slot.");
  text.open("struct Barriers");
  for (const plan::Channel& channel : plan.channels) {
    if (channel.kind == plan::ChannelKind::token) continue;
    text.line(fmt::format("uint64_t {}[{}];", barrier_name(channel, true), channel.depth));
    if (channel.empty_arrivals > 0) {
      text.line(fmt::format("uint64_t {}[{}];", barrier_name(channel, false), channel.depth));
    }
  }
  if (has_pins(plan)) {
    text.line(
        "uint64_t open;  // no thread arrives: a wait for the phase before its first one passes");
  }
  text.close(";");
  text.blank();
}

void print_initialization(Text& text, const View& view, const Maps& maps) {
  const plan::Plan& plan = view.plan();
  text.open("if (threadIdx.x == 0)");
  for (const plan::Channel& channel : plan.channels) {
    if (channel.kind == plan::ChannelKind::token) continue;
    text.open(fmt::format("for (int slot = 0; slot < {}; ++slot)", channel.depth));
    text.line(fmt::format("twill::barrier_init(&barriers.{}[slot], {});",
                          barrier_name(channel, true), channel.full_arrivals));
    if (channel.empty_arrivals > 0) {
      text.line(fmt::format("twill::barrier_init(&barriers.{}[slot], {});",
                            barrier_name(channel, false), channel.empty_arrivals));
    }
    text.close();
  }
  if (has_pins(plan)) text.line("twill::barrier_init(&barriers.open, 1);");
  text.line("twill::barrier_init_fence();");
  for (const Maps::Map& map : maps.all()) {
    text.line(fmt::format("twill::prefetch_map(&args.{});", Maps::name_of(view, map)));
  }
  text.close();
}

/// Prints the dispatch of warps to roles. The roles of a warpgroup share its register budget.
void print_dispatch(Text& text, const plan::Plan& plan) {
  text.line("const int warp = twill::warp_index();");
  for (std::size_t g = 0; g < plan.warpgroups.size(); ++g) {
    const plan::Warpgroup& group = plan.warpgroups[g];
    const int first = kWarpsOfWarpgroup * static_cast<int>(g);
    const std::string head = fmt::format("if (warp < {})", first + kWarpsOfWarpgroup);
    g == 0 ? text.open(head) : text.otherwise("else " + head);
    if (group.setmaxnreg > 0) {
      const bool raises = group.setmaxnreg > plan.limits.launch_registers;
      text.line(
          fmt::format("twill::registers_{}<{}>();", raises ? "raise" : "drop", group.setmaxnreg));
    }
    for (const plan::Role& role : plan.roles) {
      if (role.warpgroup.index() != g) continue;
      const std::string call = fmt::format("{}(args, smem, barriers);", function_name(role));
      if (is_one_thread(plan, role)) {
        text.line(fmt::format("if (warp == {} && twill::elect_one()) {}", role.first_warp, call));
      } else if (role.warps == 1) {
        text.line(fmt::format("if (warp == {}) {}", role.first_warp, call));
      } else {
        text.line(call);
      }
    }
  }
  text.close();
}

Result<void> check(const View& view) {
  TWILL_TRY_VOID(check_target(view.program()));
  TWILL_TRY_VOID(check_orders(view));
  TWILL_TRY_VOID(check_operands(view));
  for (const plan::Role& role : view.plan().roles) {
    if (role.warps == 1 || role.warps == kWarpsOfWarpgroup) continue;
    return view.refuse(view.loop().op,
                       fmt::format("has a role of {} warps, {}, and wgmma fragments lie in four",
                                   role.warps, role.name));
  }
  const problem::Problem& problem = view.plan().problem;
  for (std::size_t v = 0; v < problem.ops().size(); ++v) {
    const auto alternative = static_cast<std::size_t>(view.plan().schedule.ops[v].alternative);
    if (alternative == 0) continue;  // the alternative of the kernel's own text
    return fail(
        {view.input()},
        fmt::format("cannot be printed as CUDA: {} is done by '{}', and only the ops of the "
                    "kernel's text are printed",
                    problem.ops()[v].name, problem.ops()[v].alternatives[alternative].name),
        "take the alternative (\"or\") out of the machine's operation");
  }
  for (const plan::Buffer& buffer : view.plan().buffers) {
    if (buffer.residence != plan::Residence::tensor) continue;
    return fail({view.input()}, "cannot be printed as CUDA: sm_90a has no tensor memory");
  }
  for (const plan::Role& role : view.plan().roles) {
    const bool leaves = !role.tail.empty() && role.tail.back().kind == plan::StepKind::leave;
    if (leaves || view.plan().kernel->cluster == 1) continue;
    return fail({view.input()}, "cannot be printed as CUDA: role " + role.name +
                                    " does not leave the cluster with the others");
  }
  return {};
}

/// Prints inline code of the user's functions, each once, unchanged.
void print_user_code(Text& text, const View& view) {
  std::set<std::string_view> printed;
  for (const ir::OpId id : ir::walk(view.program(), view.program().module())) {
    const auto user = ir::user_function(view.program().op(id));
    if (!user || !printed.insert(user->code).second) continue;
    text.paste(user->code);
    text.blank();
  }
}

void print_head(Text& text, const View& view) {
  const plan::Plan& plan = view.plan();
  text.line("// Printed by twill from " + view.input() + " (" + plan.kernel->loop + ").");
  text.line(fmt::format("// Initiation interval of the schedule: {} cycles on {}.",
                        plan.schedule.initiation_interval, plan.limits.machine));
  text.line(
      "// nvcc -gencode arch=compute_90a,code=sm_90a -std=c++17 -O3; interface and numerics: "
      "docs/reference/cuda.md of twill.");
  for (const std::string& note : plan.notes) text.line("// " + note + ".");
  if (const std::string apart = view.assumed_apart(); !apart.empty()) {
    text.line("// It " + apart + ".");
  }
  if (view.stamps() != Stamps::none) {
    text.line(
        "// It records when its steps began: runtime/stamps.cuh, and stamps.json beside this.");
  }
  text.blank();
  const auto by_threads = [](const plan::PerTileOp& per_tile_op) {
    return per_tile_op.mechanism == plan::Mechanism::cp_async;
  };
  const bool copies =
      std::count(plan.mechanisms.begin(), plan.mechanisms.end(), plan::Mechanism::cp_async) > 0 ||
      std::any_of(plan.kernel->per_tile_ops.begin(), plan.kernel->per_tile_ops.end(), by_threads);
  for (const std::string_view header :
       {"barrier", "copy", "fragment", "role", "stamps", "tile", "tma", "wgmma"}) {
    if (header == "stamps" && view.stamps() == Stamps::none) continue;
    if (header == "copy" && !copies) continue;
    text.line(fmt::format("#include \"runtime/{}.cuh\"", header));
  }
  text.blank();
  print_user_code(text, view);
}

void print_kernel(Text& text, const View& view, const Maps& maps) {
  const plan::Plan& plan = view.plan();
  text.line(fmt::format("constexpr int kThreads = {};", threads_of(plan)));
  text.line(fmt::format("constexpr int kBarriersAt = {};  // bytes of shared memory",
                        shared_memory_of(plan).barriers_at));
  text.line("constexpr int kSharedBytes = kBarriersAt + sizeof(Barriers);");
  text.blank();
  text.line("}  // namespace");
  text.blank();
  text.line("extern \"C\" __global__ void __launch_bounds__(kThreads, 1)");
  text.open(
      fmt::format("{}(const __grid_constant__ Arguments args)", identifier(plan.kernel->name)));
  text.line("extern __shared__ __align__(1024) char smem[];");
  text.line("Barriers& barriers = *reinterpret_cast<Barriers*>(smem + kBarriersAt);");
  print_initialization(text, view, maps);
  const bool cluster = plan.kernel->cluster > 1;
  const auto meet = [&](const char* why) {
    text.line(fmt::format("twill::cluster_arrive();  // {}", why));
    text.line("twill::cluster_wait();");
  };
  cluster ? meet("the barriers of all CTAs are there") : text.line("__syncthreads();");
  print_dispatch(text, plan);
  if (cluster) meet("nobody leaves while others may still send to it");
  text.close();
  text.blank();
}

}  // namespace
}  // namespace cuda

Result<void> check_target(const ir::Program& program) {
  constexpr int kHopper = 9;
  const auto target = ir::launch_traits(program).cuda_target;
  if (!target || *target / 10 == kHopper) return {};
  const std::vector<ir::OpId> functions = ir::functions(program);
  const ir::OpId named = functions.empty() ? program.module() : functions.front();
  return fail(
      functions.empty() ? Location{program.file()} : ir::text_location(program, named),
      fmt::format("cannot be printed as CUDA: the kernel{} is for sm_{}, and there is no "
                  "emitter for {} yet",
                  ir::source_words(program, named), *target,
                  *target / 10 == 10 ? "Blackwell" : "that GPU"),
      "kernels for Hopper (sm_90) are printed; `twill plan` and `twill simulate` take this one");
}

Result<std::string> cuda_kernel(const KernelParts& parts) {
  using namespace cuda;
  TWILL_TRY(const View view, View::of(parts));
  TWILL_TRY_VOID(check(view));
  Maps maps;
  std::set<ir::OpId> printed;
  Text roles;
  for (std::size_t r = 0; r < view.plan().roles.size(); ++r) {
    TWILL_TRY(const std::string role, RolePrinter::print(view, plan::RoleId(r), maps, printed));
    roles.blank();
    roles.paste(role);
  }
  TWILL_TRY_VOID(view.check_printed(printed));
  Text text;
  print_head(text, view);
  text.line("namespace {");
  text.blank();
  TWILL_TRY_VOID(print_arguments(text, view, maps));
  print_barriers(text, view.plan());
  text.append(roles);
  text.blank();
  print_kernel(text, view, maps);
  TWILL_TRY_VOID(print_launch(text, view, maps));
  return text.str();
}

}  // namespace twill::emit
