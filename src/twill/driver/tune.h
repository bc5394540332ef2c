#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "twill/driver/driver.h"
#include "twill/driver/plan_loop.h"
#include "twill/frontend/tasks/lower.h"
#include "twill/tasks/holes.h"

namespace twill::driver {

/// Fate of a choice of values.
enum class Fate {
  illegal,  ///< no kernel: no instruction or copy for the tile, blocks that do not divide, and so
            ///< on
  infeasible,  ///< no schedule, proven
  unplanned,   ///< no schedule within the work limit, or no plan of the schedule, or no printed
               ///< kernel
  bounded,     ///< not solved: its proven bound is no better than the best planned point
  simulated,   ///< planned, proven safe, and simulated
};

/// A value for each hole, and the fate of the choice. Cycles count an iteration of the main loop.
struct TunedPoint {
  std::vector<std::int64_t> values;
  Fate fate = Fate::illegal;
  std::string why;                 ///< reason why there is no kernel; else empty
  double work = 0;                 ///< multiplications and additions of an iteration's products
  Cycles bound = 0;                ///< proven for all pools, every op at its fastest
  std::optional<double> interval;  ///< simulated
};

/// Tasks and a mapping with holes.
struct HoledTasks {
  frontend::TaskSource source;
  frontend::MappedTasks mapped;
  tasks::Levels levels;  ///< levels of the machine
};

/// Values for the holes of a mapping, and how they were found.
struct Tuned {
  HoledTasks tasks;
  std::string mapping;  ///< its name
  std::vector<tasks::Hole> holes;
  std::vector<TunedPoint> points;  ///< in the order of the values, the last hole fastest
  std::optional<std::size_t> best;
  bool proven = false;       ///< no point has a bound below the simulated interval of the best
  tasks::Mapping completed;  ///< with the best values, if there is one
};

/// The answer that CUDA prints. If CUDA does not print it, the answer that TTGIR prints, with a CTA
/// alone on its SM. If neither prints it, `unprinted` says why.
Result<PlannedLoop> answer_to_print(const Request& request);

/// Fills the holes of the mapping of a `.task` file (`request.choice.map`). Chooses the values
/// whose main loop is simulated to take the fewest cycles for its products; of equal choices, the
/// most work in an iteration. Points are posed, bounded, and solved in the order of their bounds
/// until the bounds rule out the rest. `request.input` is not read. Fails for an incorrect file,
/// more than tasks::kMostChoices choices, or if no choice is a kernel. Deterministic. Cost: an
/// extraction for each choice, and an answer for each choice that is not ruled out.
Result<Tuned> tune(const std::string& path, const Request& request);

/// The files of a certificate that no choice is better than the best (certify/tiles.h). Fails if
/// bounds alone do not prove it. `request`: the request of `tune`.
Result<certify::Files> certify_tiles(const Request& request, const Tuned& tuned);
/// Checks such a certificate: whether it is right, and about the mapping `map` (as in InputChoice)
/// of the `.task` file. Poses all choices, and simulates the best choice again.
Result<certify::Checked> check_tiles(const certify::Files& files, const std::string& path,
                                     const std::string& map, const std::string& machine);

/// The completed mapping as a `.map` text, below comments on the choices and the proof.
std::string to_text(const Tuned& tuned);

}  // namespace twill::driver
