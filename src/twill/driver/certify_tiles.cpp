#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "twill/certify/tiles.h"
#include "twill/driver/posed_anew.h"
#include "twill/driver/tiles.h"
#include "twill/driver/tune.h"
#include "twill/prove/prove.h"
#include "twill/schedule/bounds.h"
#include "twill/schedule/loop_text.h"
#include "twill/support/sha256.h"
#include "twill/tasks/text.h"

/// Certificates of tuned mappings: a bound for each choice of values, and a proof that no bound is
/// below the best choice's simulated interval.
namespace twill::driver {
namespace {

using certify::Tile;
using certify::TileClaims;

/// Claims about all choices, without naming the best choice; their Problems go to `problems`.
class TilesPosed {
 public:
  TilesPosed(const HoledTasks& tasks, const Request& request) : tasks_(tasks), request_(request) {}

  Result<void> run() {
    claims.from.input =
        sha256(tasks_.source.text + "\n" + tasks::print_mapping(tasks_.mapped.mapping));
    claims.from.options = options_of(request_);
    for (const tasks::Hole& hole : tasks::holes_of(tasks_.mapped.mapping)) {
      claims.holes.push_back({hole.name, hole.values});
    }
    TWILL_TRY(const auto choices, choices_of(tasks_.mapped.mapping));
    for (const auto& values : choices) add(values);
    return {};
  }

  TileClaims claims;
  std::vector<std::vector<problem::Problem>> problems;  ///< by tile and pool

 private:
  void add(const std::vector<std::int64_t>& values) {
    Tile tile{values, 0, {}};
    std::vector<problem::Problem>& of_tile = problems.emplace_back();
    if (auto posed = pose_choice(tasks_, request_, values)) {
      claims.from.machine = posed->machine;
      claims.from.machine_hash = posed->machine_hash;
      tile.work = std::llround(posed->work);
      for (PosedPool& pool : posed->pools) {
        tile.pools.push_back({certify::folder_of_tile(claims.tiles.size(), tile.pools.size()),
                              schedule::problem_hash(pool.problem), pool.pool});
        of_tile.push_back(std::move(pool.problem));
      }
    }
    claims.tiles.push_back(std::move(tile));
  }

  const HoledTasks& tasks_;
  const Request& request_;
};

/// `cycles` in thousandths, rounded up.
std::int64_t thousandths_of(double cycles) {
  constexpr double kThousand = 1000;
  return static_cast<std::int64_t>(std::ceil(cycles * kThousand));
}

/// The certificate of a bound that `tune` computed without solving the Problem.
tl::expected<prove::Written, std::string> bound_of(const problem::Problem& problem,
                                                   const solve::Options& limits) {
  if (schedule::never_feasible(problem)) {
    schedule::Answer never;
    never.verdict = schedule::Verdict::infeasible;
    return prove::certify(problem, never, limits);
  }
  return prove::certify_interval(problem, schedule::min_ii(problem).value, limits);
}

}  // namespace

Result<certify::Files> certify_tiles(const Request& request, const Tuned& tuned) {
  const std::string& path = tuned.tasks.source.file;
  TWILL_TRY_VOID(check_certifiable(request));
  if (!tuned.best || !tuned.proven) {
    return fail({path},
                "bounds alone do not prove that no choice is better, so there is no "
                "certificate",
                "fewer values, or a larger --work-limit");
  }
  TilesPosed posed(tuned.tasks, request);
  TWILL_TRY_VOID(posed.run());
  posed.claims.best = *tuned.best;
  posed.claims.thousandths = thousandths_of(*tuned.points[*tuned.best].interval);
  certify::Files files;
  for (std::size_t t = 0; t < posed.problems.size(); ++t) {
    for (std::size_t p = 0; p < posed.problems[t].size(); ++p) {
      auto written = bound_of(posed.problems[t][p], request.limits);
      if (!written) return fail({path}, "no certificate can be made: " + written.error());
      const std::string folder = certify::folder_of_tile(t, p) + "/";
      for (auto& [name, text] : certify::print_certificate(written->certificate)) {
        files.emplace(folder + name, text);
      }
    }
  }
  files.emplace(certify::kTilesFile, certify::print_tiles(posed.claims));
  TWILL_TRY(const certify::Checked checked, certify::check_tiles(files));
  if (checked.rejection) {
    return fail({path}, "no certificate can be made: " + checked.rejection->reason);
  }
  return files;
}

Result<certify::Checked> check_tiles(const certify::Files& files, const std::string& path,
                                     const std::string& map, const std::string& machine) {
  const auto found = files.find(std::string(certify::kTilesFile));
  if (found == files.end()) return fail({path}, "the certificate is of one kernel, not of tiles");
  TWILL_TRY(const TileClaims claimed, certify::parse_tiles(found->second, found->first));
  Request request;
  request.machine = machine;
  request.choice.map = map;
  TWILL_TRY_VOID(read_options(claimed.from.options, certify::kTilesFile, request));
  TWILL_TRY(const HoledTasks tasks, read_holed(path, map, machine));
  TilesPosed posed(tasks, request);
  TWILL_TRY_VOID(posed.run());
  posed.claims.best = claimed.best;
  const bool is_kernel =
      claimed.best < posed.claims.tiles.size() && !posed.claims.tiles[claimed.best].pools.empty();
  if (is_kernel && claimed.from.input == posed.claims.from.input) {
    TWILL_TRY(const Request best,
              request_for(tasks, request, posed.claims.tiles[claimed.best].values));
    TWILL_TRY(const PlannedLoop answer, answer_to_print(best));
    const auto& built = answer.outcome.built;
    if (!built || !built->simulated) return fail({path}, "the best of the certificate has no plan");
    posed.claims.thousandths = thousandths_of(*built->simulated);
  }
  return certify::check_tiles(files, &posed.claims);
}

}  // namespace twill::driver
