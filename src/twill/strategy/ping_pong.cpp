#include "twill/strategy/ping_pong.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/problem/problem.h"
#include "twill/strategy/groups.h"
#include "twill/strategy/program.h"

namespace twill::strategy {
namespace {

using problem::Dependence;
using schedule::Region;
using schedule::Turn;

bool contains(const std::vector<OpId>& ops, OpId op) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

class Finder {
 public:
  Finder(const Problem& problem, const SubTiles& tiles, const std::vector<GroupId>& groups,
         const std::vector<std::vector<OpId>>& streams, const std::vector<bool>& exponentials)
      : problem_(problem),
        tiles_(tiles),
        groups_(groups),
        streams_(streams),
        exponentials_(exponentials),
        compute_(compute_groups(problem)),
        order_(source_order(problem)) {}

  schedule::Regions run() {
    schedule::Regions found;
    found.note = objection();
    if (!found.note.empty()) return found;
    std::vector<std::string> where;
    for (const std::vector<OpId>& same : candidates()) {
      const auto region = region_of(same);
      if (!region || found.all.size() == kMostRegions) continue;
      found.all.push_back(*region);
      where.push_back(in_words(*region));
    }
    found.note = found.all.empty() ? "no ping-pong: its heuristics find no critical region"
                                   : fmt::format("ping-pong: the consumers take turns at {}",
                                                 fmt::join(where, ", and at "));
    return found;
  }

 private:
  bool computes(OpId op) const {
    return std::find(compute_.begin(), compute_.end(), groups_[op.index()]) != compute_.end();
  }

  bool is_product(OpId op) const {
    return problem_[op].asynchronous && !problem_[op].variable_latency && computes(op) &&
           problem_[op].alternatives.front().unit && problem_[op].registers > 0;
  }

  bool is_exponential(OpId op) const {
    return op.index() < exponentials_.size() && exponentials_[op.index()] && computes(op);
  }

  /// Reason for not looking for regions; "" without one.
  std::string objection() {
    std::set<GroupId> consumers;
    for (const OpId op : order_) {
      if (computes(op)) consumers.insert(groups_[op.index()]);
    }
    if (consumers.size() != 2) {
      return fmt::format("no ping-pong: it is for two consumers, and there {} {}",
                         consumers.size() == 1 ? "is" : "are", consumers.size());
    }
    auto like = counterparts(problem_, tiles_);
    if (!like) return "no ping-pong: " + like.error().message;
    like_ = *std::move(like);
    return "";
  }

  /// Candidates in source order: ops that all sub-tiles have. Products if there are some, else
  /// exponentials.
  std::vector<std::vector<OpId>> candidates() const {
    const bool products =
        std::any_of(order_.begin(), order_.end(), [&](OpId op) { return is_product(op); });
    std::vector<std::vector<OpId>> all;
    for (const OpId op : order_) {
      if (like_[op.index()] != op || !(products ? is_product(op) : is_exponential(op))) continue;
      std::vector<OpId> same;
      for (const OpId other : order_) {
        if (like_[other.index()] == op) same.push_back(other);
      }
      all.push_back(std::move(same));
    }
    return all;
  }

  /// Makes the region of ops that alternate strictly between groups; empty if they do not.
  /// Precondition: in source order.
  std::optional<Region> region_of(const std::vector<OpId>& same) const {
    std::vector<std::vector<OpId>> turns;
    for (const OpId op : same) {
      const bool next =
          turns.empty() || groups_[turns.back().front().index()] != groups_[op.index()];
      if (next) turns.emplace_back();
      turns.back().push_back(op);
    }
    if (turns.size() != 2) return std::nullopt;
    Region region;
    for (const std::vector<OpId>& ops : turns) {
      const auto turn = turn_of(ops);
      if (!turn) return std::nullopt;
      region.turns.push_back(*turn);
    }
    return region;
  }

  const std::vector<OpId>& stream_of(OpId op) const {
    return *std::find_if(streams_.begin(), streams_.end(),
                         [&](const auto& stream) { return contains(stream, op); });
  }

  /// Makes a consumer's turn from its `ops`. Empty if another op of the consumer touches memory
  /// between the first and the last of `ops`.
  std::optional<Turn> turn_of(const std::vector<OpId>& ops) const {
    const std::vector<OpId>& stream = stream_of(ops.front());
    const auto is_one = [&](OpId op) { return contains(ops, op); };
    const auto first = std::find_if(stream.begin(), stream.end(), is_one);
    const auto last = std::find_if(stream.rbegin(), stream.rend(), is_one).base() - 1;
    const bool foreign =
        std::any_of(first, last, [&](OpId op) { return !is_one(op) && touches_memory(op); });
    if (foreign) return std::nullopt;
    const auto end = std::find_if(last, stream.end(), [&](OpId op) { return touches_memory(op); });
    return Turn{*first, end == stream.end() ? stream.back() : *end};
  }

  bool touches_memory(OpId id) const {
    const problem::Op& op = problem_[id];
    if (op.asynchronous || op.variable_latency || op.registers == 0 || !op.footprint.empty()) {
      return true;
    }
    const auto dependences = problem_.dependences();
    return std::any_of(dependences.begin(), dependences.end(), [&](const Dependence& it) {
      return it.to == id && it.carries_value && !problem_[it.from].footprint.empty();
    });
  }

  std::string in_words(const Region& region) const {
    std::vector<std::string> turns;
    for (const Turn& turn : region.turns) {
      const std::string& first = problem_[turn.first].name;
      turns.push_back(turn.first == turn.last ? first : first + ".." + problem_[turn.last].name);
    }
    return fmt::format("{}", fmt::join(turns, " and "));
  }

  const Problem& problem_;
  const SubTiles& tiles_;
  const std::vector<GroupId>& groups_;
  const std::vector<std::vector<OpId>>& streams_;
  const std::vector<bool>& exponentials_;
  std::vector<GroupId> compute_;
  std::vector<OpId> order_;
  std::vector<OpId> like_;  ///< by OpId: its counterpart in the first sub-tile
};

/// Least cycles for which an op holds its group: a turn ends no sooner.
Cycles held_by(const Problem& problem, OpId op) {
  if (!problem.in_force(problem::Rule::one_stream)) return 1;
  Cycles least = problem[op].alternatives.front().issue;
  for (const problem::Alternative& alternative : problem[op].alternatives)
    least = std::min(least, alternative.issue);
  return std::max<Cycles>(least, 1);
}

}  // namespace

schedule::Regions ping_pong(const Problem& problem, const SubTiles& tiles,
                            const std::vector<GroupId>& groups,
                            const std::vector<std::vector<OpId>>& streams,
                            const std::vector<bool>& exponentials) {
  return Finder(problem, tiles, groups, streams, exponentials).run();
}

std::vector<Dependence> order_of_turns(const Problem& problem, const std::vector<Region>& regions) {
  std::vector<Dependence> order;
  for (const Region& region : regions) {
    for (std::size_t t = 0; t < region.turns.size(); ++t) {
      const bool wraps = t + 1 == region.turns.size();
      Dependence next;
      next.from = region.turns[t].last;
      next.to = region.turns[wraps ? 0 : t + 1].first;
      next.distance = wraps ? 1 : 0;
      next.delay = held_by(problem, next.from);
      next.carries_value = false;
      order.push_back(next);
    }
  }
  return order;
}

}  // namespace twill::strategy
