#include "twill/strategy/modulo.h"

#include <algorithm>
#include <map>
#include <utility>

#include "twill/problem/problem.h"
#include "twill/strategy/program.h"

namespace twill::strategy {
namespace {

using problem::Dependence;
using problem::Parts;

/// Loop of one sub-tile, and the counterparts of the whole loop's ops in it.
struct Single {
  Problem problem;
  std::vector<OpId> of;         ///< by OpId of the whole loop: its counterpart in `problem`
  std::vector<GroupId> groups;  ///< by OpId of `problem`
};

/// Scales an op's costs for all sub-tiles: they take turns, so each has its part of shared
/// resources.
void take_for_all(problem::Op& op, int tiles, int tiles_of_group) {
  for (problem::Alternative& alternative : op.alternatives) {
    alternative.occupancy *= tiles;
    alternative.issue *= tiles_of_group;
    for (problem::PipeUse& use : alternative.pipes) use.demand *= tiles;
  }
  for (problem::Footprint& it : op.footprint) it.amount *= tiles;
  op.registers *= tiles_of_group;
}

/// Counts the sub-tiles for which one group runs an op, at most.
std::vector<int> tiles_of_groups(const Terms& terms, const std::vector<OpId>& like) {
  std::vector<int> most(like.size(), 1);
  std::map<std::pair<GroupId, OpId>, int> count;
  for (std::size_t v = 0; v < like.size(); ++v) {
    const int tiles = ++count[{terms.groups[v], like[v]}];
    most[like[v].index()] = std::max(most[like[v].index()], tiles);
  }
  return most;
}

Result<Single> single_of(const Terms& terms, const SubTiles& tiles) {
  TWILL_TRY(const std::vector<OpId> like, counterparts(terms.problem, tiles));
  const std::vector<int> together = tiles_of_groups(terms, like);
  Parts parts = terms.problem.parts();
  std::vector<problem::Op> all = std::exchange(parts.ops, {});
  std::vector<OpId> place(all.size());
  std::vector<GroupId> groups;
  for (std::size_t v = 0; v < all.size(); ++v) {
    if (like[v] != OpId(v)) continue;
    place[v] = OpId(parts.ops.size());
    groups.push_back(terms.groups[v]);
    if (tiles.part[v] >= 0) take_for_all(all[v], tiles.count, together[v]);
    parts.ops.push_back(std::move(all[v]));
  }
  std::vector<OpId> of;
  for (const OpId op : like) of.push_back(place[op.index()]);
  for (Dependence& it : std::exchange(parts.dependences, {})) {
    it.from = of[it.from.index()];
    it.to = of[it.to.index()];
    const bool own = it.from == it.to && it.distance == 0;  // sub-tiles one after the other
    const bool known = std::find(parts.dependences.begin(), parts.dependences.end(), it) !=
                       parts.dependences.end();
    if (!own && !known) parts.dependences.push_back(it);
  }
  parts.same_group.clear();  // groups are given
  auto posed = problem::pose(std::move(parts));
  if (!posed) {
    return fail({}, "the sub-tiles wait for each other: " + posed.error().message);
  }
  return Single{*std::move(posed), std::move(of), std::move(groups)};
}

/// Repeats the order of the single loop's ops for each sub-tile. Loads find their own place.
Program repeated(const Terms& terms, const SubTiles& tiles, const Single& single,
                 const schedule::Schedule& found) {
  Program program;
  program.groups = terms.groups;
  std::map<std::pair<GroupId, int>, std::vector<OpId>> streams;
  for (std::size_t v = 0; v < single.of.size(); ++v) {
    program.stages.push_back(schedule::stage_of(found, single.of[v]));
    if (terms.problem.ops()[v].variable_latency) continue;
    streams[{terms.groups[v], std::max(tiles.part[v], 0)}].emplace_back(v);
  }
  for (auto& [key, stream] : streams) {
    std::stable_sort(stream.begin(), stream.end(), [&](OpId a, OpId b) {
      return schedule::slot_of(found, single.of[a.index()]) <
             schedule::slot_of(found, single.of[b.index()]);
    });
    program.streams.push_back(std::move(stream));
  }
  return program;
}

}  // namespace

Result<schedule::Answer> arrange_alike(Terms& terms, const SubTiles& tiles,
                                       const solve::Options& limits) {
  TWILL_TRY(const Single single, single_of(terms, tiles));
  const Program open{single.groups, std::vector<Cycles>(single.groups.size(), 0), {}, {}};
  TWILL_TRY(const schedule::Answer one, run_program(single.problem, open, limits));
  if (!one.schedule) return one;
  const solve::Options rest = solve::left_of(limits, one.work);
  const Program program = repeated(terms, tiles, single, *one.schedule);
  terms.streams = program.streams;
  TWILL_TRY(schedule::Answer all, run_program(terms.problem, program, rest));
  all.work += one.work;
  all.conflicts += one.conflicts;
  return all;
}

}  // namespace twill::strategy
