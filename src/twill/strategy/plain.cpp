#include "twill/strategy/plain.h"

#include <algorithm>
#include <cstddef>

#include "twill/problem/problem.h"
#include "twill/strategy/waits.h"

namespace twill::strategy {
namespace {

using problem::Dependence;
using problem::OpId;
using problem::Parts;
using problem::Problem;

/// Whether an op of the same iteration reads the result.
bool is_read_at_once(const Parts& parts, OpId op) {
  return std::any_of(parts.dependences.begin(), parts.dependences.end(), [&](const auto& it) {
    return it.from == op && it.distance == 0 && it.carries_value;
  });
}

/// Adds a wait for each product that its own iteration reads, before any other op is issued.
/// Products issued together have one wait. Other products stay in flight: accumulators that only
/// products read, and products read after the next wait.
void wait_for_read_products(Parts& parts, const std::vector<std::vector<OpId>>& streams,
                            const std::vector<Cycles>& stages) {
  const Parts before = parts;
  for (const std::vector<OpId>& stream : streams) {
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const OpId op = stream[i];
      if (!is_product(before.ops[op.index()]) || !is_read_at_once(before, op)) continue;
      std::size_t next = i + 1;
      while (next < stream.size() && is_product(before.ops[stream[next].index()])) ++next;
      const bool wraps = next == stream.size();
      const OpId waiting = stream[wraps ? 0 : next];
      const Cycles rounds = stages[op.index()] - stages[waiting.index()] + (wraps ? 1 : 0);
      wait_at_once(parts, op, waiting, static_cast<int>(rounds));
    }
  }
}

/// Makes `next` of a group wait until the other group has issued `op`. Both are in one round or, if
/// `later`, `next` is in the round after.
void meet(Parts& parts, OpId op, OpId next, const std::vector<Cycles>& stages, bool later) {
  Dependence order;
  order.from = op;
  order.to = next;
  order.distance = static_cast<int>(stages[op.index()] - stages[next.index()] + (later ? 1 : 0));
  order.delay = parts.ops[op.index()].alternatives.front().issue;
  order.blocking = true;
  order.carries_value = false;
  parts.dependences.push_back(order);
}

/// Positions in a stream, except its beginning, at which a load is first read; and the position at
/// which its loads begin or would begin.
std::vector<std::size_t> meetings_of(const Problem& problem, const std::vector<OpId>& stream) {
  std::vector<std::size_t> at;
  std::vector<bool> read(problem.ops().size(), false);
  std::size_t i = 0;
  for (; i < stream.size() && !problem[stream[i]].streaming; ++i) {
    bool reads_anew = false;
    for (const Dependence& it : problem.dependences()) {
      const std::size_t from = it.from.index();
      if (it.to != stream[i] || !problem[it.from].streaming || read[from]) continue;
      read[from] = reads_anew = true;
    }
    if (reads_anew && i > 0) at.push_back(i);
  }
  at.push_back(i);
  return at;
}

/// Makes all groups meet where Triton has a barrier of the whole CTA: before the wait for loads,
/// and before shared memory is filled anew. Streams of different ops do not meet.
void meet_as_one(Parts& parts, const Problem& problem,
                 const std::vector<std::vector<OpId>>& streams, const std::vector<Cycles>& stages) {
  std::vector<std::vector<std::size_t>> meetings;
  for (const auto& stream : streams) meetings.push_back(meetings_of(problem, stream));
  for (const auto& it : meetings) {
    if (it.size() != meetings.front().size() || it.back() == 0) return;
  }
  for (std::size_t a = 0; a < streams.size(); ++a) {
    for (std::size_t b = 0; b < streams.size(); ++b) {
      if (a == b) continue;
      for (std::size_t i = 0; i < meetings[a].size(); ++i) {
        const bool wraps = meetings[b][i] == streams[b].size();
        meet(parts, streams[a][meetings[a][i] - 1], streams[b][wraps ? 0 : meetings[b][i]], stages,
             wraps);
      }
    }
  }
}

}  // namespace

void order_as_plain(Parts& parts, const Problem& problem,
                    const std::vector<std::vector<OpId>>& streams,
                    const std::vector<Cycles>& stages) {
  wait_for_read_products(parts, streams, stages);
  meet_as_one(parts, problem, streams, stages);
}

}  // namespace twill::strategy
