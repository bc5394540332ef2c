#include <algorithm>
#include <cstdio>
#include <vector>

#include <gtest/gtest.h>

#include "machine/attention_loop.h"
#include "twill/problem/pipe_sharing.h"
#include "twill/problem/problem.h"

// Microbenchmarks from which the shared-pipe model's numbers were derived, put back together: times
// of 64x128 tiles beside a streaming tensor core, on an H200.
namespace twill::machine {
namespace {

struct Beside {
  const char* name;
  std::vector<const char*> kinds;
  int groups;
  double cycles;     ///< measured, per tile: 8192 elements at the measured rate of the SM
  double tolerance;  ///< allowed error of the model; more than 0.1 is a known failure
};

struct Model {
  double cycles;        ///< per tile
  double tensor_speed;  ///< of the stream, 0 to 1
};

double busiest(const Cost& cost) {
  Cycles most = 1;
  for (const PipeDemand& use : cost.pipes) most = std::max(most, use.demand);
  return static_cast<double>(most);
}

problem::PipeLoad load_of(const Machine& machine, const Cost& cost, double cycles) {
  problem::PipeLoad load{cost.asynchronous, std::vector<double>(machine.pipes().size(), 0)};
  for (const PipeDemand& use : cost.pipes) {
    load.share[use.pipe] = static_cast<double>(use.demand) / cycles;
  }
  return load;
}

Model beside_tensor_core(const Machine& machine, const Beside& row) {
  std::vector<problem::Pipe> pipes;
  for (const Pipe& pipe : machine.pipes()) pipes.push_back({pipe.name, pipe.port});
  std::vector<Work> work;
  for (const char* kind : row.kinds) work.push_back(tile_work(kind, 128));
  const Cost tile = price(machine, work, Rate::fastest, 1).value();
  const Cost product = price(machine, product_work(128, 128, "RS"), Rate::fastest, 1).value();
  const auto stream = load_of(machine, product, static_cast<double>(product.occupancy));
  const auto group = load_of(machine, tile, busiest(tile));
  std::vector<const problem::PipeLoad*> loads(static_cast<std::size_t>(row.groups), &group);
  loads.push_back(&stream);
  const auto speeds = problem::speeds_of(loads, pipes);
  return {busiest(tile) / speeds[0] / row.groups, speeds.back()};
}

TEST(BesideTensorCore, ReproducesTheMicrobenchmarks) {
  const Machine h200 = shipped("h200");
  const std::vector<Beside> rows = {
      {"ex2, 1 WG", {"exp2"}, 1, 688, 0.1},
      {"ex2, 2 WG", {"exp2"}, 2, 688, 0.1},
      {"ex2 + fma, 1 WG", {"fma", "exp2"}, 1, 853, 0.1},
      {"ex2 + fma, 2 WG", {"fma", "exp2"}, 2, 745, 0.1},
      {"max, 1 WG", {"max"}, 1, 278, 0.1},
      {"max, 2 WG", {"max"}, 2, 278, 0.1},
      {"cvt, 1 WG", {"convert"}, 1, 139, 0.1},
      {"fma, 1 WG", {"fma"}, 1, 117, 0.15},
      {"fma, 2 WG", {"fma"}, 2, 67, 1.05},
      {"softmax element mix, 1 WG", {"max", "fma", "exp2", "add", "convert"}, 1, 1050, 0.3},
      {"softmax element mix, 2 WG", {"max", "fma", "exp2", "add", "convert"}, 2, 845, 0.1},
  };
  for (const Beside& row : rows) {
    const Model model = beside_tensor_core(h200, row);
    std::printf("%-28s measured %5.0f model %5.0f %+6.1f %%  tensor core at %3.0f %%\n", row.name,
                row.cycles, model.cycles, 100 * (model.cycles / row.cycles - 1),
                100 * model.tensor_speed);
    EXPECT_NEAR(model.cycles, row.cycles, row.tolerance * row.cycles) << row.name;
  }
}

// Exponentials and maxima do not slow the tensor core; plain FMA streams do.
TEST(BesideTensorCore, OnlyFmaStreamsSlowTheTensorCore) {
  const Machine h200 = shipped("h200");
  EXPECT_DOUBLE_EQ(beside_tensor_core(h200, {"", {"exp2"}, 2, 0, 0}).tensor_speed, 1);
  EXPECT_DOUBLE_EQ(beside_tensor_core(h200, {"", {"max"}, 2, 0, 0}).tensor_speed, 1);
  EXPECT_LT(beside_tensor_core(h200, {"", {"fma"}, 1, 0, 0}).tensor_speed, 0.7);
}

}  // namespace
}  // namespace twill::machine
