#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "twill/driver/numbers_loop.h"

// Protects the comparison of numbers: plans that were broken by hand compute wrong numbers. Mutants
// that the proof accepts compute the right numbers under every tried timing.
namespace twill::driver {
namespace {

using plan::Plan;
using plan::Step;
using plan::StepKind;

struct StepMutant {
  std::string what;
  Plan plan;
};

std::vector<std::vector<Step>*> sequences(plan::Role& role) {
  std::vector<std::vector<Step>*> all = {&role.sections.prologue, &role.sections.steady,
                                         &role.sections.drain};
  for (auto& path : role.sections.short_trips) all.push_back(&path);
  return all;
}

/// Names a step that waits for other roles: "wait load0"; empty for other steps.
std::string waiting(const Plan& plan, const Step& step) {
  switch (step.kind) {
    case StepKind::wait:
    case StepKind::acquire:
      return std::string(plan::name_of(step.kind)) + " " + plan[*step.channel].name;
    case StepKind::drain_groups:
      return "drain " + std::string(plan::name_of(step.queue));
    default:
      return "";
  }
}

/// Drops each kind of wait of each role.
void drop_waits(const Plan& good, std::vector<StepMutant>& mutants) {
  for (std::size_t r = 0; r < good.roles.size(); ++r) {
    std::set<std::string> kinds;
    Plan copy = good;
    for (std::vector<Step>* steps : sequences(copy.roles[r])) {
      for (const Step& step : *steps) kinds.insert(waiting(good, step));
    }
    kinds.erase("");
    for (const std::string& kind : kinds) {
      StepMutant mutant{"no " + kind + " in " + good.roles[r].name, good};
      for (std::vector<Step>* steps : sequences(mutant.plan.roles[r])) {
        std::erase_if(*steps, [&](const Step& step) { return waiting(good, step) == kind; });
      }
      mutants.push_back(std::move(mutant));
    }
  }
}

/// Makes each buffer with several copies one copy shallower.
void make_shallow(const Plan& good, std::vector<StepMutant>& mutants) {
  for (std::size_t b = 0; b < good.buffers.size(); ++b) {
    if (good.buffers[b].depth < 2) continue;
    StepMutant mutant{"shallow " + good.buffers[b].name, good};
    --mutant.plan.buffers[b].depth;
    mutants.push_back(std::move(mutant));
  }
}

/// Moves each tile of the loop to the address of another.
void move_together(const Plan& good, std::vector<StepMutant>& mutants) {
  for (std::size_t b = 1; b < good.buffers.size(); ++b) {
    const plan::Buffer& buffer = good.buffers[b];
    const plan::Buffer& other = good.buffers[b - 1];
    const bool registers = buffer.residence == plan::Residence::registers;
    if (registers || buffer.residence != other.residence || buffer.invariant_buffer) continue;
    StepMutant mutant{buffer.name + " on " + other.name, good};
    mutant.plan.buffers[b].offset = other.offset;
    mutants.push_back(std::move(mutant));
  }
}

/// Swaps two neighbours of a role's steady state, where both read or make values.
void swap_work(const Plan& good, std::vector<StepMutant>& mutants) {
  for (std::size_t r = 0; r < good.roles.size(); ++r) {
    const std::vector<Step>& steps = good.roles[r].sections.steady;
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
      if (!steps[i].op || !steps[i + 1].op || steps[i].kind == StepKind::stage) continue;
      if (steps[i].instance != steps[i + 1].instance) continue;
      StepMutant mutant{"swapped " + good.problem[*steps[i].op].name, good};
      for (std::vector<Step>* all : sequences(mutant.plan.roles[r])) {
        for (std::size_t k = 0; k + 1 < all->size(); ++k) {
          const bool found = (*all)[k].op == steps[i].op && (*all)[k + 1].op == steps[i + 1].op;
          if (!found) continue;
          std::swap((*all)[k], (*all)[k + 1]);
          ++k;
        }
      }
      mutants.push_back(std::move(mutant));
    }
  }
}

struct Verdicts {
  std::vector<std::string> wrong;  ///< mutants whose run went wrong
  std::vector<std::string> right;  ///< all other mutants
  std::size_t accepted = 0;        ///< number of mutants that the proof accepts
};

Verdicts judge(const std::string& kernel) {
  Verdicts verdicts;
  Request request;
  request.input =
      read_input(std::string(TWILL_SOURCE_DIR) + "/kernels/" + kernel + ".pre.ttgir").value();
  const auto planned = plan_loop(request);
  const Plan& good = planned->plan->plan();
  std::vector<StepMutant> mutants;
  drop_waits(good, mutants);
  make_shallow(good, mutants);
  move_together(good, mutants);
  swap_work(good, mutants);
  for (const StepMutant& mutant : mutants) {
    const auto proven = plan::prove(mutant.plan);
    if (!proven && proven.error().front().rule == "well-formed") continue;
    bool wrong = false;
    for (const std::optional<std::uint64_t> seed : {std::optional<std::uint64_t>(), {3}}) {
      NumbersRequest wanted;
      wanted.launch.size = 448;
      wanted.programs = {{0, 0, 0}};
      wanted.jitter = seed;
      const auto found = compare_numbers(request, *planned, mutant.plan, wanted);
      EXPECT_TRUE(found.has_value()) << mutant.what << "\n" << to_string(found.error());
      if (!found || numerics::agrees(*found)) continue;
      wrong = true;
      EXPECT_FALSE(proven.has_value()) << "the proof accepts " << mutant.what << "\n"
                                       << numerics::to_text(*found);
      break;
    }
    verdicts.accepted += proven ? 1U : 0U;
    (wrong ? verdicts.wrong : verdicts.right).push_back(mutant.what);
  }
  return verdicts;
}

std::string lines(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) text += "  " + one + "\n";
  return text;
}

/// Expects that at least this many broken plans compute wrong numbers, and at least one of each
/// kind.
void expect_wrong(const Verdicts& verdicts, std::size_t least,
                  const std::vector<std::string>& kinds) {
  const std::string all = "wrong:\n" + lines(verdicts.wrong) + "right:\n" + lines(verdicts.right);
  EXPECT_GE(verdicts.wrong.size(), least) << all;
  for (const std::string& kind : kinds) {
    const auto is = [&](const std::string& what) { return what.find(kind) != std::string::npos; };
    EXPECT_TRUE(std::any_of(verdicts.wrong.begin(), verdicts.wrong.end(), is)) << kind << "\n"
                                                                               << all;
  }
}

// Protects against products that do not wait for operands, or whose end is not awaited. Also
// against rings with fewer slots than their barriers count, and overlapping tiles.
TEST(Mutants, OfGemmOnHopper) {
  expect_wrong(judge("gemm/sm_90/tma_128x128x64"), 5,
               {"no wait load", "no drain wgmma", "shallow load", "load1 on load0"});
}

TEST(Mutants, OfAttentionOnHopper) {
  expect_wrong(judge("fa_fwd/sm_90/d128"), 5, {"no wait load", "no drain wgmma", "shallow load"});
}

// Protects against the same where one warp issues the products and sums lie in tensor memory.
TEST(Mutants, OfAttentionOnBlackwell) {
  expect_wrong(judge("fa_fwd/sm_100/d128"), 5, {"no wait tmem_store", "no acquire", "shallow"});
}

}  // namespace
}  // namespace twill::driver
