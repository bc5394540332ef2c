#include "solve/random_problem.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "twill/problem/problem.h"
#include "twill/schedule/loop_text.h"

namespace twill::solve_test {
namespace {

using namespace problem;

class Maker {
 public:
  Maker(std::mt19937& random, const Size& size) : random_(random), size_(size) {}

  Parts make() {
    parts_.name = "random";
    parts_.units = {{"A"}, {"B"}};
    parts_.pipes = {{"P"}};
    parts_.memories = {{"M", pick(2, 6)}};
    add_pool();
    for (int i = 0; i < size_.ops; ++i) add_op("op" + std::to_string(i));
    add_dependences();
    for (int rule = 0; rule < kRuleCount; ++rule) {  // `placement` goes with `memory`
      const auto it = static_cast<Rule>(rule);
      if (it != Rule::placement && pick(0, 5) == 0) parts_.relaxed.push_back(it);
    }
    parts_.minimum_compute_groups = pick(0, 4) == 0 ? 2 : 1;
    add_same_group();
    return parts_;
  }

 private:
  int pick(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }

  void add_pool() {
    const int registers = pick(2, 6);
    const bool alike = pick(0, 2) > 0;
    loads_ = pick(0, 2) == 0;
    wide_ = pick(0, 3) == 0;
    for (int i = 0; i < size_.groups; ++i) {
      const int own = alike ? registers : pick(2, 6);
      parts_.groups.push_back({"G" + std::to_string(i), wide_ && i == 0 ? 8 : 4, own, false});
    }
    if (loads_) parts_.groups.push_back({"L", 4, 4, true});
  }

  Alternative alternative(const std::string& name) {
    Alternative out;
    out.name = name;
    if (pick(0, 3) > 0) {
      out.unit = UnitId(static_cast<std::size_t>(pick(0, 1)));
      out.occupancy = pick(1, size_.cycles);
    }
    out.latency = pick(0, size_.cycles);
    out.issue = pick(0, 2);
    if (pick(0, 3) == 0) out.pipes.push_back({PipeId(0), pick(1, 2)});
    return out;
  }

  void add_op(const std::string& name) {
    Op op;
    op.name = name;
    const int alternatives = pick(1, size_.alternatives);
    for (int i = 0; i < alternatives; ++i)
      op.alternatives.push_back(alternative(alternatives > 1 ? "w" + std::to_string(i) : ""));
    op.warps = wide_ && pick(0, 3) == 0 ? 8 : 4;
    op.registers = pick(0, 2) > 0 ? pick(1, 3) : 0;
    if (pick(0, 2) == 0) op.footprint.push_back({MemoryId(0), pick(1, 3)});
    op.asynchronous = pick(0, 1) == 1;
    op.variable_latency = loads_ && pick(0, 4) == 0;
    parts_.ops.push_back(std::move(op));
  }

  void add_dependences() {
    for (int count = pick(size_.ops - 1, size_.ops + 2); count > 0; --count) {
      Dependence it;
      const int from = pick(0, size_.ops - 1);
      const int to = pick(0, size_.ops - 1);
      it.from = OpId(static_cast<std::size_t>(from));
      it.to = OpId(static_cast<std::size_t>(to));
      it.distance = from < to ? (pick(0, 4) == 0 ? 1 : 0) : pick(1, 2);
      if (pick(0, 3) == 0) it.delay = pick(0, size_.cycles);
      it.blocking = pick(0, 3) == 0;
      it.carries_value = pick(0, 4) > 0;
      if (it.carries_value && pick(0, 2) == 0) it.read_hold = pick(0, size_.cycles);
      if (pick(0, 2) == 0) it.transfer = pick(1, 2);
      parts_.dependences.push_back(it);
    }
  }

  /// Makes two ops share a group now and then, and sometimes two others as well.
  void add_same_group() {
    if (size_.ops < 2 || pick(0, 3) > 0) return;
    std::vector<OpId> ops;
    for (std::size_t i = 0; i < parts_.ops.size(); ++i) ops.emplace_back(i);
    std::shuffle(ops.begin(), ops.end(), random_);
    for (std::size_t i = 0; i + 1 < ops.size() && i < 4; i += 2) {
      if (i == 0 || pick(0, 1) == 0) {
        parts_.same_group.push_back({std::min(ops[i], ops[i + 1]), std::max(ops[i], ops[i + 1])});
      }
    }
  }

  std::mt19937& random_;
  const Size& size_;
  Parts parts_;
  bool loads_ = false;
  bool wide_ = false;
};

Op transfer_op(std::mt19937& random, std::string name, int warps) {
  Op op;
  op.name = std::move(name);
  op.warps = warps;
  Alternative alternative;
  alternative.issue = pick(random, 0, 2);
  alternative.latency = pick(random, 0, 3);
  if (pick(random, 0, 2) == 0) {
    alternative.unit = UnitId(static_cast<std::size_t>(pick(random, 0, 1)));
    alternative.occupancy = pick(random, 1, 3);
  }
  if (pick(random, 0, 2) == 0) alternative.pipes.push_back({PipeId(0), pick(random, 1, 2)});
  op.alternatives.push_back(alternative);
  return op;
}

}  // namespace

int pick(std::mt19937& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
}

std::string text_of(const Problem& problem) {
  return schedule::print_loop(schedule::loop_text_of(problem));
}

Problem random_problem(std::mt19937& random, const Size& size) {
  Result<Problem> posed = pose(Maker(random, size).make());
  if (!posed) ADD_FAILURE() << to_string(posed.error());
  return *std::move(posed);
}

Problem for_length(const Problem& problem) {
  Parts parts = problem.parts();
  parts.objectives = {Objective::length};
  return *problem::pose(std::move(parts));
}

Problem with_register_budget(std::mt19937& random, const Problem& problem) {
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  Parts parts = problem.parts();
  RegisterBudget budget;
  const bool all = pick(0, 1) == 0;
  int most = 0;
  for (std::size_t i = 0; i < parts.groups.size(); ++i) {
    Group& group = parts.groups[i];
    if (group.loads && !all) continue;
    if (pick(0, 2) == 0) group.registers = 9;
    budget.groups.emplace_back(i);
    most += group.registers;
  }
  if (budget.groups.size() < 2) return problem;
  budget.step = pick(1, 3);
  budget.reserve = pick(0, 2);
  const int count = static_cast<int>(budget.groups.size());
  const int least = count * static_cast<int>(budget.steps_for(0)) * budget.step;
  budget.total = least + pick(0, most);
  parts.register_budgets = {budget};
  Result<Problem> posed = pose(std::move(parts));
  if (!posed) ADD_FAILURE() << to_string(posed.error());
  return *std::move(posed);
}

Problem with_tight_memory(std::mt19937& random, const Problem& problem) {
  Parts parts = problem.parts();
  std::erase(parts.relaxed, Rule::memory);
  std::erase(parts.relaxed, Rule::placement);
  parts.memories.front().capacity = pick(random, 4, 10);
  for (Op& op : parts.ops) {
    op.registers = std::min(op.registers, 1);
    op.footprint.clear();
    if (pick(random, 0, 3) > 0) op.footprint.push_back({MemoryId(0), pick(random, 1, 4)});
  }
  for (Dependence& it : parts.dependences) {
    it.in_place = it.carries_value && pick(random, 0, 5) == 0;
    if (it.carries_value && !it.in_place && pick(random, 0, 1) == 0) {
      it.read_hold = pick(random, 1, 5);
    }
  }
  Result<Problem> posed = pose(std::move(parts));
  if (!posed) ADD_FAILURE() << to_string(posed.error());
  return *std::move(posed);
}

Problem shuffled(std::mt19937& random, const Problem& problem) {
  std::vector<std::size_t> place(problem.ops().size());
  std::iota(place.begin(), place.end(), std::size_t{0});
  std::shuffle(place.begin(), place.end(), random);
  Parts parts = problem.parts();
  for (std::size_t i = 0; i < place.size(); ++i) parts.ops[place[i]] = problem.ops()[i];
  for (Dependence& it : parts.dependences) {
    it.from = OpId(place[it.from.index()]);
    it.to = OpId(place[it.to.index()]);
  }
  for (std::vector<OpId>& ops : parts.same_group) {
    for (OpId& op : ops) op = OpId(place[op.index()]);
    std::sort(ops.begin(), ops.end());
  }
  Result<Problem> posed = pose(std::move(parts));
  if (!posed) ADD_FAILURE() << to_string(posed.error());
  return *std::move(posed);
}

Problem with_transfer_ops(std::mt19937& random, const Problem& problem) {
  Parts parts = problem.parts();
  const std::size_t ops = parts.ops.size();
  for (std::size_t v = 0; v < ops; ++v) {
    Transfer it;
    it.value = OpId(v);
    if (parts.ops[v].registers == 0 || parts.ops[v].variable_latency) continue;
    std::set<std::size_t> readers;
    for (std::size_t r = 0; r < ops; ++r) {
      const auto reads = [&](const Dependence& d) {
        return d.from == it.value && d.to == OpId(r) && d.carries_value;
      };
      const auto& all = parts.dependences;
      const auto one_buffer = [&](const Dependence& d) {  // in a memory, so without a transfer
        return d.in_place && d.from == it.value && d.to == OpId(r) &&
               !parts.ops[v].footprint.empty() && !parts.ops[r].footprint.empty();
      };
      const bool fits = r != v && std::none_of(all.begin(), all.end(), one_buffer) &&
                        parts.ops[r].warps == parts.ops[v].warps &&
                        !parts.ops[r].variable_latency &&
                        std::count_if(all.begin(), all.end(), reads) == 1;
      if (fits && pick(random, 0, 3) > 0) readers.insert(r);
    }
    if (readers.empty()) continue;
    for (Dependence& d : parts.dependences) {
      if (d.from == it.value && readers.contains(d.to.index())) d.transfer = 0;
    }
    const std::string name = parts.ops[v].name;
    it.store = OpId(parts.ops.size());
    parts.ops.push_back(transfer_op(random, "put_" + name, parts.ops[v].warps));
    if (pick(random, 0, 1) == 0) {
      parts.ops.back().footprint.push_back({MemoryId(0), pick(random, 1, 2)});
    }
    for (const std::size_t r : readers) {
      it.loads.push_back({OpId(parts.ops.size()), OpId(r)});
      parts.ops.push_back(
          transfer_op(random, "get_" + name + "_" + parts.ops[r].name, parts.ops[r].warps));
      parts.ops.back().registers = pick(random, 0, 2);
    }
    parts.transfers.push_back(std::move(it));
  }
  Result<Problem> posed = pose(std::move(parts));
  if (!posed) ADD_FAILURE() << to_string(posed.error());
  return *std::move(posed);
}

}  // namespace twill::solve_test
