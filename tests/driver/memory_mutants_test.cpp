// Protects: the order of accesses to global memory is part of the Problem, for every check of an
// answer. `verify` and the certificate's check refuse random schedules that break such an order.
// They also refuse certificates of the Problem with a weaker edge, or without the edge.

#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "numerics/memory_programs.h"
#include "twill/driver/driver.h"
#include "twill/problem/problem.h"
#include "twill/schedule/loop_text.h"
#include "twill/solve/solve.h"
#include "twill/verify/verify.h"

namespace twill::driver::memory_mutants {
namespace {

using problem::Dependence;
using problem::Problem;
using schedule::Schedule;

constexpr int kKernels = 5;
constexpr int kMutants = 60;      ///< mutants of each kernel that break an order through memory
constexpr Cycles kFarthest = 16;  ///< most intervals by which an op is moved

Request random_request(unsigned number) {
  std::mt19937 random(number);
  Request request;
  request.input.name = "program" + std::to_string(number) + ".ttgir";
  request.input.text = tests::random_memory_program(random);
  request.limits.work_limit = 300'000;  // any schedule will do
  return request;
}

std::vector<std::size_t> memory_edges(const Problem& problem) {
  std::vector<std::size_t> edges;
  for (std::size_t i = 0; i < problem.dependences().size(); ++i) {
    if (problem.dependences()[i].through_memory) edges.push_back(i);
  }
  return edges;
}

/// Edges between two different ops, one of which can be moved.
std::vector<std::size_t> edges_of_two(const Problem& problem) {
  std::vector<std::size_t> edges = memory_edges(problem);
  std::erase_if(edges, [&](std::size_t i) {
    return problem.dependences()[i].from == problem.dependences()[i].to;
  });
  return edges;
}

/// Whether the ops of an edge are too close, by the rule's formula.
bool is_broken(const Problem& problem, const Schedule& by, const Dependence& edge) {
  const auto &from = by.ops[edge.from.index()], &to = by.ops[edge.to.index()];
  const auto& alternative = schedule::alternative_of(problem, by, edge.from);
  Cycles delay = problem::delay_of(edge, problem[edge.from], alternative);
  if (from.group != to.group) delay += edge.transfer;
  return to.issue < from.issue + delay - edge.distance * by.initiation_interval;
}

/// Whether `verify` names an order of these two ops.
bool is_named(const Problem& problem, const Schedule& schedule, const Dependence& edge) {
  const auto verified = verify::verify(problem, schedule);
  if (verified) return false;
  for (const verify::Violation& it : verified.error()) {
    if (it.rule == "dependence" && it.ops == std::vector{edge.from, edge.to}) return true;
  }
  return false;
}

/// A kernel with order through memory, its first Problem, and the certificate of all its Problems.
struct Kernel {
  Request request;
  certify::Files files;
  std::string folder;
  schedule::LoopText loop;
};

std::vector<Kernel> kernels() {
  std::vector<Kernel> found;
  for (unsigned number = 0; number < 200 && found.size() < kKernels; ++number) {
    const Request request = random_request(number);
    const auto posed = pose_loop(request, machine::Rate::slowest);
    if (!posed || edges_of_two(posed->problem).empty()) continue;
    auto certified = certify_loop(request);
    if (!certified) continue;
    for (const auto& [name, text] : certified->certificate) {
      if (!name.ends_with("problem.loop")) continue;
      auto loop = schedule::parse_loop(text, name);
      if (!loop || !loop->schedule) continue;
      const std::string folder = name.substr(0, name.find('/') + 1);
      found.push_back({request, std::move(certified->certificate), folder, *std::move(loop)});
      break;
    }
  }
  return found;
}

TEST(MemoryMutants, SchedulesThatBreakAnOrderAreRefusedTwice) {
  int broken = 0, kept = 0;
  const std::vector<Kernel> all = kernels();
  ASSERT_EQ(all.size(), kKernels);
  for (const Kernel& kernel : all) {
    const Problem& problem = kernel.loop.problem;
    const std::vector<std::size_t> edges = edges_of_two(problem);
    ASSERT_FALSE(edges.empty());
    certify::Files alone;
    for (const auto& [name, text] : kernel.files) {
      if (name.starts_with(kernel.folder)) alone[name.substr(kernel.folder.size())] = text;
    }
    const auto accepted = certify::check_files(alone);
    ASSERT_TRUE(accepted && !accepted->rejection);
    std::mt19937 random(7);
    const int goal = broken + kMutants;
    for (int tries = 0; tries < 100 * kMutants && broken < goal; ++tries) {
      const Dependence& edge = problem.dependences()[edges[random() % edges.size()]];
      Schedule mutant = *kernel.loop.schedule;
      const bool late = random() % 2 == 0;
      const auto by = static_cast<Cycles>(
          1 + random() % static_cast<unsigned>(kFarthest * mutant.initiation_interval));
      Cycles& issue = mutant.ops[(late ? edge.from : edge.to).index()].issue;
      issue += late ? by : -by;
      if (issue < 0) continue;
      if (!is_broken(problem, mutant, edge)) {
        EXPECT_FALSE(is_named(problem, mutant, edge));
        ++kept;
        continue;
      }
      ++broken;
      EXPECT_TRUE(is_named(problem, mutant, edge)) << kernel.request.input.name;
      certify::Files files = alone;
      files[std::string(certify::kProblemFile)] =
          schedule::print_loop(schedule::loop_text_of(problem, mutant));
      const auto checked = certify::check_files(files);
      ASSERT_TRUE(checked.has_value()) << to_string(checked.error());
      ASSERT_TRUE(checked->rejection.has_value()) << kernel.request.input.name;
      EXPECT_NE(checked->rejection->reason.find("dependence"), std::string::npos)
          << checked->rejection->reason;
    }
    EXPECT_EQ(broken, goal) << kernel.request.input.name;
  }
  std::printf("%zu kernels: %d schedules that break an order, all refused twice; %d keep it\n",
              all.size(), broken, kept);
}

/// The loop with other dependences and the same schedule.
schedule::LoopText with_dependences(const schedule::LoopText& loop,
                                    std::vector<Dependence> dependences) {
  problem::Parts parts = loop.problem.parts();
  parts.dependences = std::move(dependences);
  auto posed = problem::pose(std::move(parts));
  if (!posed) throw std::runtime_error(posed.error().message);
  return schedule::loop_text_of(*std::move(posed), loop.schedule);
}

enum class Change { gone, later, shorter };  ///< changes of an edge

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

/// The files with `loop` as the first Problem, and corrected hashes.
certify::Files edited(const Kernel& kernel, const schedule::LoopText& loop) {
  certify::Files files = kernel.files;
  const std::string before = schedule::problem_hash(kernel.loop.problem);
  const std::string after = schedule::problem_hash(loop.problem);
  files[kernel.folder + std::string(certify::kProblemFile)] = schedule::print_loop(loop);
  std::string& claims = files[kernel.folder + std::string(certify::kClaimsFile)];
  claims = replaced(claims, before, after);
  std::string& pools = files[std::string(certify::kPoolsFile)];
  while (pools.find(before) != std::string::npos) pools = replaced(pools, before, after);
  return files;
}

TEST(MemoryMutants, ProblemsWithAWeakerOrderAreRefused) {
  int mutants = 0, faster = 0;
  for (const Kernel& kernel : kernels()) {
    const auto right = check_certificate(kernel.files, kernel.request.input, "");
    ASSERT_TRUE(right && !right->rejection) << kernel.request.input.name;
    const Problem& problem = kernel.loop.problem;
    for (const std::size_t which : memory_edges(problem)) {
      for (const Change change : {Change::gone, Change::later, Change::shorter}) {
        std::vector<Dependence> weaker = problem.parts().dependences;
        const Dependence edge = weaker[which];
        if (change == Change::gone) {
          weaker.erase(weaker.begin() + static_cast<std::ptrdiff_t>(which));
        } else if (change == Change::later) {
          ++weaker[which].distance;
        } else {
          const auto& by = problem[edge.from].alternatives.front();
          const Cycles delay = problem::delay_of(edge, problem[edge.from], by);
          if (delay == 0) continue;
          weaker[which].delay = delay - 1;
        }
        SCOPED_TRACE(kernel.request.input.name + ", edge " + std::to_string(which));
        const schedule::LoopText loop = with_dependences(kernel.loop, std::move(weaker));
        ++mutants;
        const auto checked = check_certificate(edited(kernel, loop), kernel.request.input, "");
        ASSERT_TRUE(checked && checked->rejection);
        EXPECT_TRUE(checked->rejection->reason.starts_with("anew: ")) << checked->rejection->reason;
        const schedule::Answer answer = solve::solve(loop.problem, kernel.request.limits);
        if (!answer.schedule || !is_broken(problem, *answer.schedule, edge)) continue;
        ++faster;
        EXPECT_TRUE(is_named(problem, *answer.schedule, edge));
      }
    }
  }
  std::printf("%d weaker Problems, all refused; the schedules of %d break the order\n", mutants,
              faster);
  EXPECT_GT(mutants, 20);
  EXPECT_GT(faster, 0);
}

}  // namespace
}  // namespace twill::driver::memory_mutants
