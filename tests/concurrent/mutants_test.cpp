// Bugs planted into printed modules: each is found, or what the module computes and every access
// of it is as before. Kinds that may be harmless say why; all others must be found everywhere.
#include "concurrent/mutants.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "concurrent/modules.h"
#include "twill/concurrent/every_trip.h"
#include "twill/concurrent/launches.h"
#include "twill/concurrent/machine.h"
#include "twill/driver/emit_ttgir.h"
#include "twill/frontend/ttgir/read.h"

namespace twill::tests {
namespace {

using concurrent::Order;

/// Kinds of which some mutants do no harm, and why.
const std::map<std::string, std::string> kHarmless = {
    {"arrival dropped", "a last release, for which nobody waits"},
    {"arrival doubled", "a last release, for which nobody waits"},
    {"released too early",
     "a last release, for which nobody waits, or what stands before it is another's"},
    {"fence dropped", "behind the initialization of barriers, where no data is written"},
};

/// More for Triton's own modules: some waits pass at once, since the phase before the first is
/// asked for and never comes back.
const std::map<std::string, std::string> kHarmlessInTriton = {
    {"wait dropped", "a wait that passes at once, or that another wait implies"},
    {"wait behind its use", "a wait that passes at once, or that another wait implies"},
    {"count too high", "a barrier whose only wait passes at once"},
};

std::vector<Order> some_orders() {
  std::vector<Order> orders(3);
  orders[1].first = 1;
  orders[1].landing = Order::Landing::early;
  orders[2].random = true;
  orders[2].landing = Order::Landing::random;
  return orders;
}

/// All kinds: one that matches nothing anywhere is missed.
const std::set<std::string> kKinds = {
    "arrival doubled",
    "arrival dropped",
    "arrival not counted",
    "arrivals counted twice",
    "barrier initialized twice",
    "barrier not initialized",
    "captures swapped",
    "commit dropped",
    "copies do not arrive",
    "count too high",
    "count too low",
    "drained too late",
    "expect dropped",
    "fence before the store",
    "fence dropped",
    "load doubled",
    "load dropped",
    "loop one short",
    "not drained",
    "parity",
    "product arrives nowhere",
    "released too early",
    "ring one slot short",
    "ring wraps late",
    "slot",
    "store not awaited",
    "stored behind the arrival",
    "too few bytes",
    "too many bytes",
    "wait behind its use",
    "wait dropped",
    "wait for phase 0",
};

/// Behaviour of a module under some launches: the first thing that is wrong, and what it writes.
struct Behaviour {
  std::string wrong;
  std::vector<execute::Memory::Written> written;
};

Behaviour behaviour_of(const ir::Program& program, const concurrent::Launches& launches,
                       bool tiles) {
  Behaviour behaviour;
  const ir::OpId function = ir::functions(program)[0];
  for (const auto& [trips, launch] : launches) {
    const std::int64_t programs = tiles ? 1 : launch.programs[0];
    for (const Order& order : some_orders()) {
      execute::Memory memory(1);
      const auto arguments = execute::arguments_of(program, function, launch, memory);
      concurrent::Findings findings;
      for (std::int64_t x = 0; x < programs; ++x) {
        concurrent::Machine machine(program, memory, launch, {x, 0, 0}, {order, tiles}, findings);
        const auto ran = machine.run(function, *arguments);
        if (!ran) behaviour.wrong = to_string(ran.error());
      }
      if (!findings.empty()) behaviour.wrong = findings.all()[0].message;
      if (!behaviour.wrong.empty()) return behaviour;
      if (!tiles) continue;
      for (std::size_t array = 0; array < memory.array_count(); ++array) {
        behaviour.written.push_back(memory.written(array));
      }
      break;
    }
  }
  return behaviour;
}

struct Tally {
  int found = 0;
  int harmless = 0;
};

/// Plants every bug into the module, which Triton made or Twill printed. `given` has the grid.
std::map<std::string, Tally> plant(const std::string& module, bool tritons,
                                   const execute::Launch& given = {}) {
  std::map<std::string, Tally> tallies;
  const auto good = frontend::read_ttgir(module, "good.ttgir");
  if (!good) throw std::runtime_error(to_string(good.error()));
  const ir::OpId function = ir::functions(*good)[0];
  const std::int64_t most = 2 * concurrent::deepest_ring(*good, function) + 1;
  auto launches = concurrent::launches_up_to(*good, function, given, most);
  if (!launches) throw std::runtime_error(to_string(launches.error()));
  EXPECT_EQ(behaviour_of(*good, *launches, false).wrong, "");
  concurrent::Launches two;
  two.insert(*launches->rbegin());
  two.insert(*launches->begin());
  const Behaviour expected = behaviour_of(*good, two, true);
  for (const Mutant& mutant : mutants_of(module)) {
    const auto program = frontend::read_ttgir(mutant.text, "mutant.ttgir");
    if (!program) continue;
    Tally& tally = tallies[mutant.kind];
    if (!behaviour_of(*program, *launches, false).wrong.empty()) {
      ++tally.found;
      continue;
    }
    const Behaviour there = behaviour_of(*program, two, true);
    if (!there.wrong.empty() || there.written != expected.written) {
      ++tally.found;
      continue;
    }
    ++tally.harmless;
    const auto proof = concurrent::follow_every_trip(*program, ir::functions(*program)[0]);
    EXPECT_TRUE(proof && proof->findings.empty())
        << "what no run shows is not proven: " << mutant.kind << " at line " << mutant.line;
    EXPECT_TRUE(kHarmless.contains(mutant.kind) ||
                (tritons && kHarmlessInTriton.contains(mutant.kind)))
        << mutant.kind << " at line " << mutant.line;
  }
  return tallies;
}

std::map<std::string, Tally>& totals() {
  static std::map<std::string, Tally> totals;
  return totals;
}

std::string text_of(const std::string& kernel) {
  auto input = driver::read_input(std::string(TWILL_SOURCE_DIR) + "/kernels/" + kernel);
  if (!input) throw std::runtime_error(to_string(input.error()));
  return input->text;
}

std::string printed(const std::string& kernel) {
  driver::Request request;
  request.input = {kernel, text_of(kernel)};
  const auto emitted = driver::emit_ttgir(request);
  if (!emitted) throw std::runtime_error(to_string(emitted.error()));
  return emitted->text;
}

// A module of others, where trip counts are loaded.
TEST(Mutants, of_loaded_trip_counts_are_found_or_harmless) {
  const auto input =
      driver::read_input(std::string(TWILL_SOURCE_DIR) + "/tests/concurrent/gluon/groups.ttgir");
  ASSERT_TRUE(input) << to_string(input.error());
  execute::Launch given;
  given.programs = {2, 1, 1};
  int found = 0;
  for (const auto& [kind, tally] : plant(input->text, false, given)) found += tally.found;
  EXPECT_GE(found, 55);
}

// One test, so that kinds which match nothing anywhere are seen.
TEST(Mutants, are_found_or_harmless) {
  std::vector<std::string> modules = {kRoles, kCopies};
  for (const char* kernel :
       {"gemm/sm_90/tma_128x256x64.pre.ttgir", "gemm/sm_90/tma_128x128x64.pre.ttgir",
        "gemm/sm_90/ptr_128x128x64.pre.ttgir", "dual_gemm/sm_90/128x128x64.pre.ttgir",
        "gemm_batched/sm_90/128x128x64.pre.ttgir", "fa_fwd/sm_90/d128.pre.ttgir",
        "fa_fwd/sm_90/d64.pre.ttgir", "gemm_bias/sm_90/nn_128x128x64.pre.ttgir"}) {
    modules.push_back(printed(kernel));
  }
  const std::size_t first_of_triton = modules.size();
  for (const char* foreign :
       {"gemm/sm_100/tma_128x128x64_ws.ws100.ttgir", "dual_gemm/sm_100/128x128x64_ws.ws100.ttgir",
        "fa_fwd/sm_100/d64_ws.ws100.ttgir", "fa_fwd/sm_90/d128m64.ws90.ttgir"}) {
    modules.push_back(text_of(foreign));
  }
  int planted = 0;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    for (const auto& [kind, tally] : plant(modules[i], i >= first_of_triton)) {
      totals()[kind].found += tally.found;
      totals()[kind].harmless += tally.harmless;
      planted += tally.found + tally.harmless;
    }
  }
  EXPECT_GE(planted, 150);
  std::set<std::string> kinds;
  for (const auto& [kind, tally] : totals()) kinds.insert(kind);
  EXPECT_EQ(kinds, kKinds);
  for (const auto& [kind, tally] : totals()) {
    EXPECT_GT(tally.found, 0) << "nothing was found of: " << kind;
    std::printf("%-28s found %4d, harmless %4d\n", kind.c_str(), tally.found, tally.harmless);
  }
}

}  // namespace
}  // namespace twill::tests
