#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/plan/proof/data.h"
#include "twill/plan/proof/mixed_trips.h"
#include "twill/plan/proof/run.h"

namespace twill::plan {
namespace proof {

void Findings::add(std::string rule, std::string message, std::vector<std::string> trace) {
  if (full()) return;
  findings_.push_back({std::move(rule), std::move(message), std::move(trace)});
}

Tables::Tables(const Plan& what) : plan(what) {
  role.resize(plan.problem.ops().size());
  for (std::size_t v = 0; v < role.size(); ++v) {
    if (const auto found = role_of(plan, OpId(v))) role[v] = *found;
  }
  for (const Role& r : plan.roles) spread = std::max(spread, r.sections.spread);
  for (const Channel& channel : plan.channels) deepest = std::max(deepest, channel.depth);
  for (const Buffer& buffer : plan.buffers) deepest = std::max(deepest, buffer.depth);
  for (const problem::Dependence& d : plan.problem.dependences()) {
    farthest = std::max(farthest, d.distance);
  }
}

namespace {

bool goes_on_in_loops(const Plan& plan) {
  if (!plan.kernel) return false;
  const auto& ops = plan.kernel->per_tile_ops;
  return std::any_of(ops.begin(), ops.end(), [](const PerTileOp& op) { return !op.loads.empty(); });
}

}  // namespace

std::int64_t check_run(Run& run, DataMemory& memory, const TileTrips& tiles, Findings& findings) {
  if (goes_on_in_loops(run.plan())) {
    run.lay_out(tiles, findings);
    run.meet_in_loops();
    if (!findings.empty() || !run.settle(findings)) return 0;
  }
  run.lay_out(tiles, findings);
  const auto events = static_cast<std::int64_t>(run.events().size());
  if (!findings.empty() || !run.settle(findings)) return events;
  check_barriers(run, findings);
  if (findings.empty()) check_data(run, memory, findings);
  if (findings.empty()) check_per_tile_ops(run, findings);
  if (findings.empty()) check_tensor(run, findings);
  if (findings.empty()) check_exits(run, findings);
  return events;
}

namespace {

/// Every op has a place in the steady state of exactly one role.
void check_owners(const Plan& plan, Findings& findings) {
  std::vector<int> owners(plan.problem.ops().size(), 0);
  for (const Role& role : plan.roles) {
    for (const Step& step : role.sections.steady) {
      const bool runs = step.kind == StepKind::compute || step.kind == StepKind::issue;
      if (runs) ++owners[step.op->index()];
    }
  }
  for (std::size_t v = 0; v < owners.size(); ++v) {
    if (owners[v] == 1) continue;
    findings.add("ownership", fmt::format("{} is done {} times per iteration in the steady state",
                                          plan.problem.ops()[v].name, owners[v]));
  }
}

/// Checks that exactly the roles that need values without an op compute these values.
void check_rematerialized(const Plan& plan, Findings& findings) {
  if (!plan.kernel) return;
  for (const Rematerialized& value : plan.kernel->rematerialized) {
    std::set<RoleId> roles;
    for (const OpId reader : value.readers) roles.insert(*role_of(plan, reader));
    if (std::equal(roles.begin(), roles.end(), value.roles.begin(), value.roles.end())) continue;
    findings.add("ownership",
                 fmt::format("{} is not computed by exactly the roles that need it", value.what));
  }
}

/// Appends a de Bruijn sequence: a circle that contains every word of `length` over 0 .. letters -
/// 1. The sequence consists of the Lyndon words whose length divides `length` (Fredricksen, Kessler
/// and Maiorana).
void append_words(std::int64_t letters, std::size_t length, TileTrips& word, std::size_t period,
                  TileTrips& out) {
  const std::size_t at = word.size();
  if (at > length) {
    if (length % period == 0) {
      out.insert(out.end(), word.begin() + 1,
                 word.begin() + 1 + static_cast<std::ptrdiff_t>(period));
    }
    return;
  }
  for (std::int64_t letter = word[at - period]; letter < letters; ++letter) {
    word.push_back(letter);
    append_words(letters, length, word, letter == word[at - period] ? period : at, out);
    word.pop_back();
  }
}

/// Tiles of all trip counts below `letters`, such that every sequence of `length` occurs.
TileTrips all_sequences(std::int64_t letters, std::size_t length) {
  TileTrips tiles;
  TileTrips word = {0};
  append_words(letters, length, word, 1, tiles);
  for (std::size_t i = 0; i + 1 < length; ++i) tiles.push_back(tiles[i]);
  return tiles;
}

/// Appends the sequences in several runs, so that no run is long: each begins with the last
/// `length` - 1 tiles of the previous run.
void append_pieces(const TileTrips& tiles, std::size_t length, std::vector<TileTrips>& out) {
  // Most iterations of a graph that a core's cache holds.
  constexpr std::int64_t kMostIterations = 100;
  TileTrips piece;
  std::int64_t iterations = 0;
  for (const std::int64_t trips : tiles) {
    if (piece.size() >= length && iterations + trips > kMostIterations) {
      const auto overlap = static_cast<std::ptrdiff_t>(length - 1);
      TileTrips next(piece.end() - overlap, piece.end());
      out.push_back(std::exchange(piece, std::move(next)));
      iterations = std::accumulate(piece.begin(), piece.end(), std::int64_t{0});
    }
    piece.push_back(trips);
    iterations += trips;
  }
  out.push_back(std::move(piece));
}

bool walks_tiles(const Plan& plan) {
  return plan.kernel && plan.kernel->tiles != Tiles::one_per_cta;
}

/// Sequences of tiles, beside single tiles, to lay out for a kernel of many tiles per CTA, with
/// trip counts up to `most`.
std::vector<TileTrips> tile_sequences(const Tables& tables, std::int64_t most) {
  if (!walks_tiles(tables.plan)) return {};
  constexpr std::int64_t kShort = 4;
  std::vector<TileTrips> all;
  for (std::int64_t trips = 0; trips <= most; ++trips) {
    const std::int64_t tiles = 2 + tables.deepest / std::max<std::int64_t>(trips, 1);
    all.emplace_back(static_cast<std::size_t>(tiles), trips);
  }
  if (tables.plan.kernel->same_trips) return all;
  append_pieces(all_sequences(most + 1, 2), 2, all);
  append_pieces(all_sequences(kShort, 4), 4, all);
  return all;
}

}  // namespace
}  // namespace proof

tl::expected<ProvenPlan, std::vector<Finding>> prove(Plan plan) {
  proof::Findings findings;
  const auto refuse = [&] { return tl::unexpected(std::move(findings).take()); };
  proof::check_well_formed(plan, findings);
  if (!findings.empty()) return refuse();
  proof::check_owners(plan, findings);
  if (findings.empty()) proof::check_rematerialized(plan, findings);
  if (findings.empty()) proof::check_static(plan, findings);
  if (!findings.empty()) return refuse();
  const proof::Tables tables(plan);
  const auto bound = proof::trips_to_check(tables);
  const std::int64_t some = tables.spread + 2 * std::int64_t{tables.deepest} + 4;
  const auto [last, ends] = bound.value_or(proof::Bounds{some, some});
  const bool mixed = proof::walks_tiles(plan) && !plan.kernel->same_trips;
  ProofSize size{last, 0, false};
  std::vector<proof::TileTrips> runs;
  for (std::int64_t trips = 0; trips <= last; ++trips) runs.push_back({trips});
  for (proof::TileTrips& tiles : proof::tile_sequences(tables, ends))
    runs.push_back(std::move(tiles));
  proof::Run run(tables);
  proof::DataMemory memory;
  proof::MixedTrips mixtures(plan);
  for (const proof::TileTrips& tiles : runs) {
    size.events += proof::check_run(run, memory, tiles, findings);
    if (!findings.empty()) return refuse();
    if (mixed && tiles.size() == 1) mixtures.look_at(run);
    if (size.events > kMostEvents) {
      findings.add("size", fmt::format("the plan is too large to prove: {} trips take more "
                                       "than {} events",
                                       last, kMostEvents));
      return refuse();
    }
  }
  if (!bound) {
    findings.add("deadlock", "in the steady state some step waits for its own future");
    return refuse();
  }
  size.some_mixtures = mixed && !mixtures.decided();
  return ProvenPlan(std::move(plan), size);
}

}  // namespace twill::plan
