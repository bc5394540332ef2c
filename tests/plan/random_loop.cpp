#include "plan/random_loop.h"

#include <utility>

#include <gtest/gtest.h>

#include "twill/problem/problem.h"
#include "twill/verify/verify.h"

namespace twill::plan::testing {
namespace {

using namespace problem;

constexpr Amount kRoomy = 100'000;

class Maker {
 public:
  explicit Maker(std::mt19937& random) : random_(random) {}

  Parts make() {
    parts_.name = "random";
    parts_.units = {{"TC"}, {"TMA"}};
    parts_.memories = {{"SMEM", odds(3) ? pick(200, 600) : kRoomy},
                       {"TMEM", odds(2) ? pick(2, 5) : 200}};
    add_pool();
    const int ops = pick(2, 5);
    for (int i = 0; i < ops; ++i) add_op("op" + std::to_string(i));
    add_dependences();
    parts_.minimum_compute_groups = odds(2) ? 2 : 1;
    return std::move(parts_);
  }

 private:
  int pick(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }
  /// True one time in `of`.
  bool odds(int of) { return pick(1, of) == 1; }

  void add_pool() {
    const int groups = pick(1, 3);
    for (int i = 0; i < groups; ++i) {
      widths_.push_back(pick(1, 2));
      parts_.groups.push_back({"G" + std::to_string(i), widths_.back(), 40, false});
    }
    if (odds(2)) parts_.groups.push_back({"L", odds(4) ? 2 : 1, 40, true});
  }

  void add_op(const std::string& name) {
    Op op;
    op.name = name;
    op.alternatives.resize(1);
    op.alternatives[0].issue = pick(0, 2);
    op.alternatives[0].latency = pick(0, 4);
    op.warps = widths_[static_cast<std::size_t>(pick(0, static_cast<int>(widths_.size()) - 1))];
    const bool loads = parts_.groups.back().loads && odds(3);
    if (loads) {
      make_load(op);
    } else if (odds(2)) {
      make_tensor(op);
    } else {
      make_threads(op);
    }
    parts_.ops.push_back(std::move(op));
  }

  void make_load(Op& op) {
    op.warps = parts_.groups.back().warps;
    op.variable_latency = true;
    op.asynchronous = true;
    op.streaming = !odds(3);
    op.alternatives[0].unit = UnitId(1);
    op.alternatives[0].occupancy = pick(1, 3);
    if (odds(6)) {
      op.registers = 1;
    } else {
      op.footprint.push_back({MemoryId(0), pick(1, 3)});
    }
  }

  void make_tensor(Op& op) {
    op.asynchronous = true;
    op.alternatives[0].unit = UnitId(0);
    op.alternatives[0].occupancy = pick(1, 3);
    if (odds(4)) return;  // a store, or an order
    if (odds(2)) {
      op.registers = pick(1, 3);
    } else {
      op.footprint.push_back({MemoryId(odds(3) ? 0 : 1), pick(1, 2)});
    }
  }

  void make_threads(Op& op) {
    if (odds(4)) {
      op.alternatives[0].unit = UnitId(static_cast<std::size_t>(pick(0, 1)));
      op.alternatives[0].occupancy = 1;
    }
    if (odds(2)) op.registers = pick(1, 3);
    if (odds(3)) op.footprint.push_back({MemoryId(static_cast<std::size_t>(pick(0, 1))), 1});
  }

  void add_dependences() {
    const int last = static_cast<int>(parts_.ops.size()) - 1;
    for (int count = pick(last, last + 3); count > 0; --count) {
      Dependence it;
      const int from = pick(0, last);
      const int to = pick(0, last);
      it.from = OpId(static_cast<std::size_t>(from));
      it.to = OpId(static_cast<std::size_t>(to));
      it.distance = from < to ? (odds(5) ? 1 : 0) : pick(1, 2);
      it.blocking = odds(3);
      it.carries_value = !odds(5);
      it.in_place = it.carries_value && odds(3);
      if (odds(6)) it.delay = pick(0, 3);
      if (it.carries_value && odds(5)) it.read_hold = pick(0, 3);
      if (odds(3)) it.transfer = pick(1, 2);
      if (parts_.ops[it.to.index()].streaming) continue;  // it has no inputs in the loop
      parts_.dependences.push_back(it);
    }
  }

  std::mt19937& random_;
  Parts parts_;
  std::vector<int> widths_;
};

}  // namespace

Problem random_loop(std::mt19937& random) {
  Result<Problem> posed = pose(Maker(random).make());
  if (!posed) ADD_FAILURE() << to_string(posed.error());
  return *std::move(posed);
}

schedule::Schedule disturbed(std::mt19937& random, const Problem& problem,
                             const schedule::Schedule& best) {
  const auto pick = [&](unsigned below) { return static_cast<Cycles>(random() % below); };
  schedule::Schedule now = best;
  const Cycles slower = pick(3);
  for (schedule::Placement& op : now.ops) op.issue += slower * (op.issue / now.initiation_interval);
  now.initiation_interval += slower;
  for (int moves = 4; moves > 0; --moves) {
    schedule::Schedule next = now;
    schedule::Placement& op =
        next.ops[static_cast<std::size_t>(pick(static_cast<unsigned>(next.ops.size())))];
    op.issue += 1 + pick(static_cast<unsigned>(2 * now.initiation_interval));
    if (verify::verify(problem, next)) now = next;
  }
  return now;
}

}  // namespace twill::plan::testing
