#include "twill/solve/symmetry.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "twill/problem/problem.h"
#include "twill/solve/alike.h"

namespace twill::solve {
namespace {

using problem::Dependence;
using problem::Op;
using problem::Problem;

/// Limits: ops of one class that are tried pair by pair, and ops of a loop in which anything is
/// tried.
constexpr std::size_t kLargestClass = 64;
constexpr std::size_t kLargestSymmetric = 1000;
constexpr std::size_t kUnset = static_cast<std::size_t>(-1);

auto label_of(const Link& it) { return std::pair(it.distance, it.kind); }

/// Completes the exchange of `a` and `b` along dependences: neighbours of the same kind are
/// matched; shared ops and unreached ops stay.
std::optional<Exchange> complete(const Problem& problem,
                                 const std::vector<std::vector<Link>>& links,
                                 const std::vector<std::size_t>& classes, std::size_t a,
                                 std::size_t b) {
  Exchange to(problem.ops().size(), kUnset);
  std::deque<std::size_t> open = {a};
  to[a] = b;
  to[b] = a;
  const auto has = [&](std::size_t op, const Link& link) {
    return std::any_of(links[op].begin(), links[op].end(), [&](const Link& it) {
      return it.outgoing == link.outgoing && it.other == link.other &&
             label_of(it) == label_of(link);
    });
  };
  while (!open.empty()) {
    const std::size_t from = open.front();
    open.pop_front();
    for (const Link& link : links[from]) {
      if (to[link.other] != kUnset) continue;
      if (has(to[from], link)) {
        to[link.other] = link.other;
        continue;
      }
      const auto partner =
          std::find_if(links[to[from]].begin(), links[to[from]].end(), [&](const Link& it) {
            return it.outgoing == link.outgoing && label_of(it) == label_of(link) &&
                   classes[it.other] == classes[link.other] && to[it.other] == kUnset;
          });
      if (partner == links[to[from]].end()) return std::nullopt;
      to[link.other] = partner->other;
      to[partner->other] = link.other;
      open.push_back(link.other);
    }
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == kUnset) to[i] = i;
  }
  if (!is_exchange(problem, to)) return std::nullopt;
  return to;
}

/// Whether ops that share a group still share one, each set by its smallest op.
bool keeps_same_group(const Problem& problem, const Exchange& exchange) {
  std::vector<std::vector<problem::OpId>> before(problem.same_group().begin(),
                                                 problem.same_group().end());
  std::vector<std::vector<problem::OpId>> after = before;
  for (std::vector<problem::OpId>& ops : after) {
    for (problem::OpId& op : ops) op = problem::OpId(exchange[op.index()]);
    std::sort(ops.begin(), ops.end());
  }
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  return before == after;
}

/// Whether transfer ops still move the same values to the same readers.
bool keeps_transfers(const Problem& problem, const Exchange& exchange) {
  using Move = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;
  std::vector<Move> before;
  std::vector<Move> after;
  for (const problem::Transfer& it : problem.transfers()) {
    for (const problem::Transfer::Load& load : it.loads) {
      const Move move(it.value.index(), it.store.index(), load.op.index(), load.reader.index());
      const auto [value, store, op, reader] = move;
      before.push_back(move);
      after.emplace_back(exchange[value], exchange[store], exchange[op], exchange[reader]);
    }
  }
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  return before == after;
}

Cycles longest_hold(const Op& op) {
  Cycles longest = 0;
  for (const problem::Alternative& alternative : op.alternatives)
    longest = std::max(longest, alternative.occupancy);
  return longest;
}

}  // namespace

bool is_exchange(const Problem& problem, const Exchange& exchange) {
  const std::size_t n = problem.ops().size();
  if (exchange.size() != n) return false;
  for (std::size_t i = 0; i < n; ++i) {
    if (exchange[i] >= n || exchange[exchange[i]] != i) return false;
    if (exchange[i] != i && !same_work(problem.ops()[i], problem.ops()[exchange[i]])) return false;
  }
  using WholeEdge = std::tuple<std::size_t, std::size_t, int, EdgeKind>;
  std::vector<WholeEdge> before;
  std::vector<WholeEdge> after;
  for (const Dependence& it : problem.dependences()) {
    before.emplace_back(it.from.index(), it.to.index(), it.distance, kind_of(it));
    after.emplace_back(exchange[it.from.index()], exchange[it.to.index()], it.distance,
                       kind_of(it));
  }
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  return before == after && keeps_same_group(problem, exchange) &&
         keeps_transfers(problem, exchange);
}

SubTiles find_sub_tiles(const Problem& problem) {
  if (problem.ops().size() > kLargestSymmetric) return {};
  const std::vector<std::vector<Link>> links = links_of(problem);
  const std::vector<std::size_t> classes = classes_of(problem, links, true);
  std::map<std::size_t, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < classes.size(); ++i) members[classes[i]].push_back(i);
  std::vector<std::vector<std::size_t>> candidates;
  for (const auto& [number, ops] : members) {
    if (ops.size() > 1 && ops.size() <= kLargestClass) candidates.push_back(ops);
  }
  std::stable_sort(candidates.begin(), candidates.end(), [&](const auto& a, const auto& b) {
    return longest_hold(problem.ops()[a[0]]) > longest_hold(problem.ops()[b[0]]);
  });
  for (const std::vector<std::size_t>& ops : candidates) {
    SubTiles found;
    for (const std::size_t op : ops) {
      std::vector<Exchange> with_op;
      for (const std::size_t other : found.ops) {
        const auto exchange = complete(problem, links, classes, other, op);
        const bool alone = exchange && std::all_of(ops.begin(), ops.end(), [&](std::size_t it) {
                             return it == op || it == other || (*exchange)[it] == it;
                           });
        if (alone) with_op.push_back(*exchange);
      }
      if (with_op.size() != found.ops.size()) continue;
      found.ops.push_back(op);
      found.exchanges.insert(found.exchanges.end(), with_op.begin(), with_op.end());
    }
    if (found.ops.size() > 1) return found;
  }
  return {};
}

}  // namespace twill::solve
