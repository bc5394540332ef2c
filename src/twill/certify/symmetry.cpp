#include "twill/certify/symmetry.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "twill/problem/transfer.h"

namespace twill::certify {
namespace {

using problem::Dependence;
using problem::Op;
using problem::Problem;

/// Limit on ops: the constraints grow with the square of their number.
constexpr std::size_t kMostOps = 5000;

/// Dependence with its ends moved.
auto moved(const Dependence& it, const std::vector<std::size_t>& map) {
  return std::make_tuple(map[it.from.index()], map[it.to.index()], it.distance, it.delay,
                         it.blocking, it.carries_value, it.read_hold, it.in_place, it.transfer,
                         it.through_memory);
}

bool same_but_for_name(const Op& a, const Op& b) {
  return a.alternatives == b.alternatives && a.warps == b.warps && a.registers == b.registers &&
         a.footprint == b.footprint && a.asynchronous == b.asynchronous &&
         a.variable_latency == b.variable_latency && a.streaming == b.streaming;
}

/// Largest distance at which `reader` reads the value; -1 if it does not read the value.
Cycles farthest_reading(const Facts& facts, std::size_t value, std::size_t reader) {
  Cycles farthest = -1;
  for (const Reading& it : facts.readings[value]) {
    if (it.reader == reader) farthest = std::max(farthest, it.distance);
  }
  return farthest;
}

/// Objection unless each set of ops that share a group moves as a whole into a set of the same
/// size.
std::string objection_to_sharing(const Problem& problem, const std::vector<std::size_t>& map) {
  constexpr std::size_t kAlone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> set_of(problem.ops().size(), kAlone);
  const auto sets = problem.same_group();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    for (const problem::OpId op : sets[i]) set_of[op.index()] = i;
  }
  for (const std::vector<problem::OpId>& ops : sets) {
    const std::size_t to = set_of[map[ops.front().index()]];
    for (const problem::OpId op : ops) {
      const bool kept =
          to != kAlone && set_of[map[op.index()]] == to && sets[to].size() == ops.size();
      if (kept) continue;
      return fmt::format("an exchange does not keep {} and {} in one group",
                         problem[ops.front()].name, problem[op].name);
    }
  }
  return {};
}

/// Objection unless transfer ops move with their values and readers.
std::string objection_to_transfers(const Problem& problem, const std::vector<std::size_t>& map) {
  std::set<std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>> moves;
  for (const problem::Transfer& it : problem.transfers()) {
    for (const problem::Transfer::Load& load : it.loads) {
      moves.emplace(it.value.index(), it.store.index(), load.op.index(), load.reader.index());
    }
  }
  for (const auto& [value, store, load, reader] : moves) {
    if (moves.contains({map[value], map[store], map[load], map[reader]})) continue;
    return fmt::format("an exchange does not keep the transfer of {} to {}",
                       problem.ops()[value].name, problem.ops()[reader].name);
  }
  return {};
}

std::string objection_to_tiles(const Problem& problem, const Subject& subject) {
  const std::vector<std::size_t>& tiles = subject.tiles;
  if (tiles.empty()) return {};
  if (tiles.size() < 2) return "a single tile has no order";
  if (tiles.front() != subject.anchor) return "the first tile is not the anchor";
  if (std::set(tiles.begin(), tiles.end()).size() != tiles.size()) return "a tile stands twice";
  std::set<std::pair<std::size_t, std::size_t>> justified;
  for (const Exchange& exchange : subject.exchanges) {
    std::string objection = objection_to(problem, exchange);
    if (!objection.empty()) return objection;
    const std::vector<std::size_t> map = map_of(problem, exchange);
    std::vector<std::size_t> changed;
    for (const std::size_t tile : tiles) {
      if (map[tile] != tile) changed.push_back(tile);
    }
    if (changed.size() == 2 && map[changed[0]] == changed[1]) {
      justified.emplace(std::min(changed[0], changed[1]), std::max(changed[0], changed[1]));
    }
  }
  for (const std::size_t a : tiles) {
    for (const std::size_t b : tiles) {
      if (a >= b || justified.contains({a, b})) continue;
      return fmt::format("no exchange of {} and {} leaves the other tiles in place",
                         problem.ops()[a].name, problem.ops()[b].name);
    }
  }
  return {};
}

}  // namespace

std::string objection_to(const Problem& problem, const Exchange& exchange) {
  std::vector<std::size_t> map(problem.ops().size());
  for (std::size_t op = 0; op < map.size(); ++op) map[op] = op;
  for (const auto& [a, b] : exchange) {
    if (a >= map.size() || b >= map.size()) return "an exchange of ops that do not exist";
    if (map[a] != a || map[b] != b || a == b) {
      return fmt::format("{} and {} are not exchanged for each other alone", problem.ops()[a].name,
                         problem.ops()[b].name);
    }
    if (!same_but_for_name(problem.ops()[a], problem.ops()[b])) {
      return fmt::format("{} and {} are not alike, so they cannot be exchanged",
                         problem.ops()[a].name, problem.ops()[b].name);
    }
    map[a] = b;
    map[b] = a;
  }
  std::vector<decltype(moved(std::declval<Dependence>(), map))> before;
  auto after = before;
  std::vector<std::size_t> identity(map);
  for (std::size_t op = 0; op < map.size(); ++op) identity[op] = op;
  for (const Dependence& it : problem.dependences()) {
    before.push_back(moved(it, identity));
    after.push_back(moved(it, map));
  }
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  if (before == after) {
    std::string objection = objection_to_sharing(problem, map);
    return objection.empty() ? objection_to_transfers(problem, map) : objection;
  }
  const auto lost = std::mismatch(before.begin(), before.end(), after.begin()).first;
  return fmt::format("an exchange does not keep the dependence {} -> {}",
                     problem.ops()[std::get<0>(*lost)].name,
                     problem.ops()[std::get<1>(*lost)].name);
}

std::vector<std::size_t> map_of(const Problem& problem, const Exchange& exchange) {
  std::vector<std::size_t> map(problem.ops().size());
  for (std::size_t op = 0; op < map.size(); ++op) map[op] = op;
  for (const auto& [a, b] : exchange) std::tie(map[a], map[b]) = std::pair(b, a);
  return map;
}

Cycles rounds_of(const Facts& facts, const std::vector<std::size_t>& ops) {
  Cycles rounds = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Cycles distance = farthest_reading(facts, ops[(i + 1) % ops.size()], ops[i]);
    if (distance < 0) return 0;
    rounds += distance;
  }
  return rounds;
}

std::string objection_to(const Problem& problem, const Facts& facts, const Subject& subject) {
  if (facts.ops.size() > kMostOps) return "so many ops are not checked";
  std::set<std::size_t> seen;
  for (std::size_t i = 0; i < subject.accumulators.size(); ++i) {
    const std::vector<std::size_t>& ops = subject.accumulators[i];
    if (ops.size() < 2 || rounds_of(facts, ops) < 1) {
      return fmt::format("accumulator {} is no circuit of readings", i + 1);
    }
    for (const std::size_t op : ops) {
      if (facts.ops[op].registers != facts.ops[ops.front()].registers) {
        return fmt::format("accumulator {} has values of different size", i + 1);
      }
      if (!seen.insert(op).second) {
        return fmt::format("{} stands twice in accumulators", problem.ops()[op].name);
      }
    }
  }
  if (!facts.ops[subject.anchor].always()) return "the anchor is an op of a transfer";
  return objection_to_tiles(problem, subject);
}

}  // namespace twill::certify
