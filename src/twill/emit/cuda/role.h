#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "twill/emit/cuda/copies.h"
#include "twill/emit/cuda/maps.h"
#include "twill/emit/cuda/partial_sums.h"
#include "twill/emit/cuda/registers.h"
#include "twill/emit/cuda/scalars.h"
#include "twill/emit/cuda/text.h"
#include "twill/emit/cuda/tiles.h"

namespace twill::emit::cuda {

/// Whether one thread does all work of a role: the role has one warp, and threads copy no tiles.
bool is_one_thread(const plan::Plan& plan, const plan::Role& role);

/// Refusal of an op outside the main loop that has tiles in it: a loop, or a branch.
const char* why_not_around(ir::OpKind kind);

/// Prints one role as a function: its steps in the order of the plan, section by section.
class RolePrinter {
 public:
  /// `printed` receives the operations whose effects the text has.
  static Result<std::string> print(const View& view, plan::RoleId role, Maps& maps,
                                   std::set<ir::OpId>& printed);

 private:
  void refuse_once(Diagnostic found) {
    if (!wrong_) wrong_ = std::move(found);
  }
  RolePrinter(const View& view, plan::RoleId id, Maps& maps, std::set<ir::OpId>& printed,
              Registers registers, PartialSums sums)
      : view_(view),
        plan_(view.plan()),
        id_(id),
        role_(view.plan()[id]),
        maps_(maps),
        printed_(printed),
        registers_(std::move(registers)),
        sums_(std::move(sums)),
        scalars_(view, 1, 2) {}

  using Steps = std::vector<plan::Step>;
  /// State at a point of a section, relative to its window (or its first or last iteration). For
  /// each variable with several copies: the iteration of its latest copy. Also the products that
  /// may still be in flight, oldest first.
  struct Product {
    const Variable* result = nullptr;
    const Variable* operand = nullptr;  ///< operand in registers; null: none
  };
  struct Point {
    std::map<std::string, int> latest;
    std::vector<Product> in_flight;
  };

  // sections.cpp
  Result<Text> tile();
  Result<void> after(Text& text);
  void ids(Text& text, const Scalars& scalars) const;
  Result<void> sections(Text& text);
  Result<void> section(Text& text, const Steps& steps, Point& point);
  Result<void> initial_values(Text& text);
  Point at_start() const;
  Point at_steady(const Point& entered) const;
  void advance(Text& text, const std::string& by) const;
  std::set<int> depths(plan::Channel::Counts counts) const;
  std::string tile_loop_head();
  void stamp(Text& text, const Steps& steps, std::size_t index) const;

  // steps.cpp
  Result<void> step(Text& text, const Steps& steps, std::size_t index, Point& point);
  Result<void> synchronize(Text& text, const plan::Step& step);
  Result<void> fence(Text& text, const Steps& steps, std::size_t index);
  void drain(Text& text, const plan::Step& step, Point& point);
  std::string comment(const plan::Step& step) const;
  std::string iteration(const plan::Instance& instance) const;
  /// The name of the ring position of an instance in a ring of `depth`, declared with the section.
  std::string position(const plan::Instance& instance, int depth);
  std::string barrier(const plan::Step& step, bool full);
  std::string parity(const plan::Step& step, bool full);
  bool alone() const { return is_one_thread(plan_, role_); }
  void by(Text& text, const plan::Step& step, const std::string& what) const;

  // work.cpp
  Result<void> compute(Text& text, const plan::Step& step, Point& point);
  Result<void> issue_product(Text& text, const plan::Step& step, Point& point);
  Result<void> issue_load(Text& text, const plan::Step& step);
  Result<void> store_in_loop(Text& text, const plan::Step& step, const Point& point, ir::OpId id);
  Result<void> stage_value(Text& text, const plan::Step& step, const Point& point);
  Result<void> load_box(Text& text, ir::OpId load, plan::BufferId buffer, const std::string& slot,
                        const std::string& full, const std::string& iteration, bool multicast);

  /// Tile arithmetic as a step sees it; reads of other memories are printed to `prelude`.
  Tiles tiles(const plan::Step& step, int part, const Point& point, Text& prelude,
              const std::vector<ir::ValueId>& computing);
  std::optional<Found> find(const plan::Step& step, int part, const Point& point, Text& prelude,
                            const std::vector<ir::ValueId>& computing, ir::ValueId value);
  const Variable* held(const plan::Step& step, int part, ir::ValueId value, int distance) const;
  std::optional<OpId> staged_by(const plan::Step& step, int part, ir::ValueId value,
                                int distance) const;
  /// `carried`: the value of the iteration before; null: of this iteration.
  std::optional<Found> import_staged(const plan::Step& step, int part, Text& prelude,
                                     ir::ValueId value, const ir::Carried* carried);
  std::optional<Found> import_reduction(const plan::Step& step, int part, const Point& point,
                                        Text& prelude, ir::ValueId value);
  std::optional<Found> import_shared(const plan::Step& step, int part, Text& prelude,
                                     ir::ValueId value);
  std::string address(plan::BufferId buffer, const std::string& slot) const;
  std::string slot_of(plan::BufferId buffer, const plan::Instance& instance);

  // copies.cpp
  Result<void> prepare_copies(Text& text);
  Result<void> keep_pointers(Text& text, const Copy& copy, OpId op, int& spare);
  std::vector<ir::ValueId> computed_for(const plan::Step& step, ir::OpId load) const;
  Result<void> issue_copy(Text& text, const plan::Step& step);
  Result<void> keep_vectors(Text& declarations, Text& text, const Copy& copy,
                            const std::vector<KeptVector>& all, const std::string& iteration);
  std::string thread_of_role() const;
  /// Arithmetic on copied elements, with the values kept for them.
  Tiles tiles_at(const std::string& iteration);

  // per_tile.cpp
  const plan::BufferId* staging_of(std::size_t per_tile_op) const;
  Result<void> check_panels(ir::OpId store, std::int64_t columns) const;
  Result<void> stage_store(Text& text, const plan::Step& step, const Point& point);
  Result<void> issue_store(Text& text, const plan::Step& step);
  std::set<ir::ValueId> results_behind(ir::ValueId value) const;
  Result<std::vector<int>> parts_held(ir::ValueId value) const;
  Diagnostic missing_after_loop(ir::ValueId value, const std::set<ir::ValueId>& results) const;
  Result<std::int64_t> rows_held(ir::ValueId value, const std::vector<int>& parts) const;
  Result<void> compute_per_tile(Text& text, const plan::Step& step, const Point& point);
  Result<void> load_vector(Text& text, const plan::Step& step, const Point& point);
  /// Whether the step is omitted for tiles that do not belong to this CTA.
  bool wants_own(const plan::Step& step);

  const View& view_;
  const plan::Plan& plan_;
  plan::RoleId id_;
  const plan::Role& role_;
  Maps& maps_;
  std::set<ir::OpId>& printed_;
  Registers registers_;
  PartialSums sums_;
  Scalars scalars_;
  std::set<std::pair<int, int>> positions_;  ///< ring positions of the section: depth and offset
  std::set<std::pair<int, int>> tile_positions_;            ///< the same for rings that count tiles
  std::map<std::pair<ir::ValueId, int>, Variable> loaded_;  ///< loaded vectors, by value and part
  /// Variables kept for the copy that is being printed, by value; for each copy, also those from
  /// before the loop.
  std::map<ir::ValueId, Variable> kept_;
  std::map<OpId, std::map<ir::ValueId, Variable>> prepared_;
  /// Pointers that are kept for a copy, and their increment after it; no increment if they are
  /// constant.
  struct Walking {
    std::string name, by;
  };
  std::map<OpId, Walking> walking_;
  std::set<OpId> at_once_;  ///< copies for which the addresses of all chunks are computed at once
  std::map<std::string, Variable> imported_;  ///< arrays that hold a copy for one step
  bool asks_own_ = false;            ///< a step needs to know whether the tile is the CTA's own
  bool asks_rank_ = false;           ///< a step needs the CTA's rank in the cluster
  std::optional<Diagnostic> wrong_;  ///< first diagnostic found where no Result can be returned
};

/// The role as the name of a function: "LOAD".
std::string function_name(const plan::Role& role);
/// Name of a channel's barriers in the struct of all barriers.
std::string barrier_name(const plan::Channel& channel, bool full);

}  // namespace twill::emit::cuda
