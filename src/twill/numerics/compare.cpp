#include <utility>

#include "twill/execute/evaluate.h"
#include "twill/numerics/numerics.h"
#include "twill/numerics/worker.h"

namespace twill::numerics {
namespace {

constexpr std::uint64_t kSeed = 1;

/// Runs the kernel, CTA after CTA; with `planned`, the loop runs by the plan.
class Running {
 public:
  Running(const Kernel& kernel, const Setting& setting, Comparison& out)
      : kernel_(kernel), setting_(setting), out_(out), memory_(kSeed) {}

  Result<void> run(const Meaning* planned) {
    const ir::Program& program = kernel_.program;
    const auto function = ir::enclosing(program, kernel_.loop, ir::OpKind::function);
    if (!function) return execute::cannot(program, kernel_.loop, "is in no function");
    TWILL_TRY(const auto arguments,
              execute::arguments_of(program, *function, setting_.launch, memory_));
    for (const auto& id : setting_.programs) {
      execute::Interpreter interpreter(program, memory_, setting_.launch, id);
      if (planned != nullptr) {
        interpreter.stand_in_for(kernel_.loop, [&](const ir::Loop&) -> Result<void> {
          return run_loop(*planned, interpreter);
        });
      }
      const auto ran = interpreter.run(*function, arguments);
      if (out_.fault) return {};  // without a run of the loop, the epilogue has no input
      TWILL_TRY_VOID(ran);
    }
    return {};
  }

  const execute::Memory& memory() const { return memory_; }

 private:
  Result<void> run_loop(const Meaning& meaning, execute::Interpreter& interpreter) {
    LoopContext context(meaning, kernel_.plan, interpreter);
    TWILL_TRY_VOID(context.start());
    Worker worker(context, out_.hazards);
    simulate::Setting setting = setting_.run;
    setting.trips = context.trips();
    setting.listener = &worker;
    ++out_.runs;
    out_.trips += setting.trips;
    const auto ran = simulate::simulate(kernel_.plan, setting);
    if (ran) return worker.leave();
    out_.fault = ran.error();
    return {};
  }

  const Kernel& kernel_;
  const Setting& setting_;
  Comparison& out_;
  execute::Memory memory_;
};

Tensor compared(const execute::Memory& text, const execute::Memory& plan, std::size_t array) {
  return {text.name(array), execute::difference(text.written(array), plan.written(array))};
}

}  // namespace

Result<std::int64_t> trips(const Kernel& kernel, const Setting& setting) {
  TWILL_TRY(const Meaning meaning, Meaning::of(kernel));
  const ir::Program& program = kernel.program;
  const auto function = ir::enclosing(program, kernel.loop, ir::OpKind::function);
  if (!function) return execute::cannot(program, kernel.loop, "is in no function");
  execute::Memory memory(kSeed);
  TWILL_TRY(const auto arguments,
            execute::arguments_of(program, *function, setting.launch, memory));
  std::int64_t all = 0;
  for (const auto& id : setting.programs) {
    execute::Interpreter interpreter(program, memory, setting.launch, id);
    bool came = false;
    interpreter.stand_in_for(kernel.loop, [&](const ir::Loop&) -> Result<void> {
      LoopContext context(meaning, kernel.plan, interpreter);
      TWILL_TRY_VOID(context.start());
      all += context.trips();
      came = true;
      return fail({}, "enough");  // later code does not change the count
    });
    const auto ran = interpreter.run(*function, arguments);
    if (!ran && !came) return tl::unexpected(ran.error());
  }
  return all;
}

Result<Comparison> compare(const Kernel& kernel, const Setting& setting) {
  Comparison out;
  TWILL_TRY(const Meaning meaning, Meaning::of(kernel));
  Running text(kernel, setting, out), plan(kernel, setting, out);
  TWILL_TRY_VOID(text.run(nullptr));
  TWILL_TRY_VOID(plan.run(&meaning));
  for (std::size_t array = 0; array < text.memory().array_count(); ++array) {
    Tensor tensor = compared(text.memory(), plan.memory(), array);
    if (tensor.difference.written > 0) out.tensors.push_back(std::move(tensor));
  }
  if (out.tensors.empty() && out.hazards.empty() && !out.fault) {
    return fail(ir::text_location(kernel.program, kernel.loop),
                "with these arguments the kernel writes nothing, so there is nothing to compare",
                "choose other values: --size N, --arg NAME=VALUE");
  }
  return out;
}

}  // namespace twill::numerics
