#include "twill/driver/run_module.h"

#include <algorithm>
#include <utility>

#include "twill/concurrent/launches.h"
#include "twill/driver/kernel.h"
#include "twill/driver/run_kernel.h"
#include "twill/frontend/ttgir/counted_whiles.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/frontend/ttgir/whole_descriptors.h"

namespace twill::driver {
namespace {

std::vector<std::int64_t> trips_of(const RunModuleRequest& request, const ir::Program& program,
                                   ir::OpId function) {
  if (!request.trips.empty()) return request.trips;
  std::vector<std::int64_t> trips;
  const std::int64_t most =
      std::max<std::int64_t>(4, 2 * concurrent::deepest_ring(program, function) + 1);
  for (std::int64_t n = 0; n <= most; ++n) trips.push_back(n);
  return trips;
}

run::RolesEffort effort_of(const RunModuleRequest& request, const ir::Program& program,
                           ir::OpId function) {
  return {trips_of(request, program, function), request.seed, request.seeds, request.tiles,
          request.to_first};
}

Result<run::RolesReport> run_alone(const RunModuleRequest& request, const ir::Program& program,
                                   ir::OpId function) {
  return run::run_roles({program, function, nullptr}, request.given,
                        effort_of(request, program, function));
}

/// The kernel's text, its main loop, and its parameters.
Result<run::RolesReport> run_against(const RunModuleRequest& request, const ir::Program& program,
                                     ir::OpId function) {
  Request kernel;
  TWILL_TRY(kernel.input, read_input(request.against));
  TWILL_TRY(const Kernel planned, read_kernel(kernel));
  TWILL_TRY(const ir::Program text, frontend::read_ttgir(kernel.input.text, kernel.input.name));
  TWILL_TRY(const ir::OpId its_function, function_of(text, planned));
  emit::Description description;
  description.input = kernel.input.name;
  description.parameters = run::parameters_of(text, its_function);
  const run::Kernel compared{text, its_function, planned.program, planned.choice.loop, description};
  TWILL_TRY_VOID(run::check_arguments(compared, request.given.launch));
  return run::run_roles({program, function, &compared}, request.given,
                        effort_of(request, program, function));
}

}  // namespace

Result<ir::OpId> function_with_roles(const ir::Program& program) {
  const auto functions = ir::functions(program);
  const auto found = std::find_if(functions.begin(), functions.end(), [&](ir::OpId function) {
    return concurrent::has_roles(program, function);
  });
  if (found != functions.end()) return *found;
  return fail({program.file()}, "has no warps with roles of their own",
              "`twill emit ttgir` makes such modules, and so do Gluon and Triton; a folder of "
              "`twill emit cuda` can be run too");
}

Result<ir::Program> read_module(const Input& module) {
  TWILL_TRY(ir::Program program, frontend::read_ttgir(module.text, module.name));
  if (auto whole = frontend::ttgir::whole_descriptors(program)) program = *std::move(whole);
  if (auto counted = frontend::ttgir::counted_whiles(program)) program = *std::move(counted);
  return program;
}

Result<RanModule> run_module(const RunModuleRequest& request) {
  const Input& input = request.module;
  const auto form = form_of(input);
  if (!form || *form != Form::ttgir) {
    return fail({input.name}, "is neither TTGIR nor a folder of `twill emit cuda`");
  }
  TWILL_TRY(ir::Program program, read_module(input));
  TWILL_TRY(const ir::OpId function, function_with_roles(program));
  TWILL_TRY(run::RolesReport report, request.against.empty()
                                         ? run_alone(request, program, function)
                                         : run_against(request, program, function));
  return RanModule{std::move(program), std::move(report)};
}

}  // namespace twill::driver
