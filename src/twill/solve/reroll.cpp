#include "twill/solve/reroll.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "twill/problem/problem.h"
#include "twill/solve/alike.h"

namespace twill::solve {
namespace {

using problem::Dependence;
using problem::OpId;
using problem::Parts;
using problem::Problem;

constexpr std::size_t kLargestLoop = 1000;
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// Counterpart of each op one turn later, and whether it is in the next iteration.
struct Next {
  std::vector<std::size_t> op;
  std::vector<int> wraps;  ///< 0 or 1
};

using Links = std::vector<std::vector<Link>>;

/// Completes the match "`second` is `first` one turn later" along dependences. Neighbours of the
/// same kind correspond to each other, and distances give the iteration.
class Follow {
 public:
  Follow(const Links& links, const std::vector<std::size_t>& classes)
      : links_(links), classes_(classes) {}

  std::optional<Next> from(std::size_t first, std::size_t second) {
    next_ = {std::vector<std::size_t>(links_.size(), kNone), std::vector<int>(links_.size(), 0)};
    taken_.assign(links_.size(), false);
    open_.clear();
    match(first, {second, 0});
    while (!open_.empty()) {
      // Neighbours that look the same are left for later matches to decide.
      const std::size_t before = open_.size();
      std::vector<Step> unsure;
      for (std::size_t i = 0; i < open_.size(); ++i) {
        const Step step = open_[i];
        const std::vector<Stand> stands = candidates(step);
        if (next_.op[step.link->other] != kNone) continue;
        if (stands.empty()) return std::nullopt;
        if (stands.size() == 1) {
          match(step.link->other, stands.front());
        } else {
          unsure.push_back(step);
        }
      }
      const bool stuck = !unsure.empty() && unsure.size() == before && open_.size() == before;
      open_ = std::move(unsure);
      if (stuck) match(open_.front().link->other, candidates(open_.front()).front());
    }
    const bool all =
        std::none_of(next_.op.begin(), next_.op.end(), [](std::size_t op) { return op == kNone; });
    return all ? std::optional(std::move(next_)) : std::nullopt;
  }

 private:
  /// Counterpart of an op, in the same iteration or the next.
  struct Stand {
    std::size_t op;
    int wraps;
  };
  struct Step {
    std::size_t from;
    const Link* link;
  };

  void match(std::size_t op, const Stand& stand) {
    next_.op[op] = stand.op;
    next_.wraps[op] = stand.wraps;
    taken_[stand.op] = true;
    for (const Link& link : links_[op]) open_.push_back({op, &link});
  }

  /// Lists the ops that may be the counterpart of the op at the other end of the link.
  std::vector<Stand> candidates(const Step& step) const {
    std::vector<Stand> stands;
    for (const Link& later : links_[next_.op[step.from]]) {
      const bool like = later.outgoing == step.link->outgoing && later.kind == step.link->kind &&
                        classes_[later.other] == classes_[step.link->other] && !taken_[later.other];
      const int more = later.distance - step.link->distance;
      const int wraps = next_.wraps[step.from] + (step.link->outgoing ? more : -more);
      if (like && (wraps == 0 || wraps == 1)) stands.push_back({later.other, wraps});
    }
    return stands;
  }

  const Links& links_;
  const std::vector<std::size_t>& classes_;
  Next next_;
  std::vector<bool> taken_;
  std::vector<Step> open_;  ///< dependences of matched ops whose other ends may still be unmatched
};

/// Turn of each op, and its counterpart in turn 0. Every op returns to itself after the same number
/// of turns, the last of which leads to the next iteration.
struct Turns {
  std::size_t count = 0;
  std::vector<std::size_t> number;
  std::vector<std::size_t> base;
};

std::optional<Turns> turns_of(const Next& next) {
  const std::size_t n = next.op.size();
  Turns turns{0, std::vector<std::size_t>(n, 0), std::vector<std::size_t>(n, kNone)};
  for (std::size_t last = 0; last < n; ++last) {
    if (next.wraps[last] == 0) continue;
    const std::size_t base = next.op[last];
    std::size_t number = 0;
    std::size_t op = base;
    for (;; op = next.op[op], ++number) {
      if (turns.base[op] != kNone) return std::nullopt;  // wraps twice
      turns.base[op] = base;
      turns.number[op] = number;
      if (op == last) break;
    }
    if (turns.count == 0) turns.count = number + 1;
    if (turns.count != number + 1) return std::nullopt;
  }
  const bool all = std::none_of(turns.base.begin(), turns.base.end(),
                                [](std::size_t base) { return base == kNone; });
  return all && turns.count > 1 ? std::optional(std::move(turns)) : std::nullopt;
}

/// Dependences of a loop, in an order that does not depend on how they are listed.
using Full = std::tuple<std::size_t, std::size_t, int, EdgeKind>;

std::vector<Full> sorted(std::vector<Full> dependences) {
  std::sort(dependences.begin(), dependences.end());
  return dependences;
}

/// Makes the loop of one turn, if it unrolls to the problem.
std::optional<Rerolled> rerolled_by(const Problem& problem, const Turns& turns) {
  const std::size_t n = problem.ops().size();
  const auto count = static_cast<int>(turns.count);
  Parts parts = problem.parts();
  std::vector<std::size_t> number_in_loop(n, kNone);  // by op of turn 0
  parts.ops.clear();
  for (std::size_t op = 0; op < n; ++op) {
    if (turns.number[op] != 0) continue;
    number_in_loop[op] = parts.ops.size();
    parts.ops.push_back(problem.ops()[op]);
  }
  std::vector<std::vector<std::size_t>> by_turn(parts.ops.size(),
                                                std::vector<std::size_t>(turns.count));
  std::vector<Rerolled::Op> ops(n);
  for (std::size_t op = 0; op < n; ++op) {
    if (!same_work(problem.ops()[op], problem.ops()[turns.base[op]])) return std::nullopt;
    const std::size_t of = number_in_loop[turns.base[op]];
    ops[op] = {OpId(of), turns.number[op]};
    by_turn[of][turns.number[op]] = op;
  }
  parts.dependences.clear();
  std::vector<Full> before;
  std::vector<Full> after;
  for (const Dependence& it : problem.dependences()) {
    before.emplace_back(it.from.index(), it.to.index(), it.distance, kind_of(it));
    const Rerolled::Op from = ops[it.from.index()];
    const Rerolled::Op to = ops[it.to.index()];
    if (to.turn != 0) continue;
    Dependence one = it;
    one.from = from.of;
    one.to = to.of;
    one.distance = count * it.distance - static_cast<int>(from.turn);
    if (one.distance < 0) return std::nullopt;
    for (int turn = 0; turn < count; ++turn) {
      const int back = one.distance - turn;  // iterations of one turn before this iteration began
      const int distance = back > 0 ? (back + count - 1) / count : 0;
      const auto reader = by_turn[to.of.index()][static_cast<std::size_t>(turn)];
      const auto writer =
          by_turn[from.of.index()][static_cast<std::size_t>(distance * count - back)];
      after.emplace_back(writer, reader, distance, kind_of(it));
    }
    parts.dependences.push_back(std::move(one));
  }
  if (sorted(std::move(before)) != sorted(std::move(after))) return std::nullopt;
  auto loop = problem::pose(std::move(parts));
  if (!loop) return std::nullopt;
  return Rerolled{*std::move(loop), turns.count, std::move(ops)};
}

}  // namespace

std::optional<Rerolled> reroll(const Problem& problem) {
  if (problem.ops().size() > kLargestLoop) return std::nullopt;
  if (!problem.transfers().empty() || !problem.same_group().empty()) return std::nullopt;
  const Links links = links_of(problem);
  const std::vector<std::size_t> classes = classes_of(problem, links, false);
  std::map<std::size_t, std::vector<std::size_t>> members;
  for (std::size_t op = 0; op < classes.size(); ++op) members[classes[op]].push_back(op);
  const auto smallest = std::min_element(
      members.begin(), members.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (smallest == members.end()) return std::nullopt;
  const std::vector<std::size_t>& alike = smallest->second;
  std::optional<Rerolled> best;
  for (std::size_t i = 1; i < alike.size(); ++i) {
    if (best && best->turns == alike.size()) break;  // one of each op is left
    const auto next = Follow(links, classes).from(alike[0], alike[i]);
    const auto turns = next ? turns_of(*next) : std::nullopt;
    if (!turns || (best && turns->count <= best->turns)) continue;
    if (auto rerolled = rerolled_by(problem, *turns)) best = std::move(rerolled);
  }
  return best;
}

schedule::Schedule unrolled(const Rerolled& rerolled, const schedule::Schedule& schedule) {
  schedule::Schedule out;
  out.initiation_interval = schedule.initiation_interval * static_cast<Cycles>(rerolled.turns);
  for (const Rerolled::Op& it : rerolled.ops) {
    schedule::Placement placement = schedule.ops[it.of.index()];
    placement.issue += schedule.initiation_interval * static_cast<Cycles>(it.turn);
    out.ops.push_back(placement);
  }
  return out;
}

}  // namespace twill::solve
