#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "twill/execute/interpreter.h"
#include "twill/numerics/slots.h"

/// Internal to the room: finds the operands of an op that runs.
namespace twill::numerics {

using execute::TilePtr;

inline TilePtr share(execute::Tile tile) {
  return std::make_shared<const execute::Tile>(std::move(tile));
}

/// Inputs of one run of the loop: values from outside the loop, and values that need no op of the
/// plan.
class LoopContext {
 public:
  /// Precondition: `outside` was run up to the loop.
  LoopContext(const Meaning& meaning, const plan::Plan& plan, execute::Interpreter& outside);
  /// Counts the trips. Fails if a bound of the loop is not known, or the loop makes too many
  /// iterations.
  Result<void> start();

  std::int64_t trips() const { return trips_; }
  const Meaning& meaning() const { return meaning_; }
  const plan::Plan& plan() const { return plan_; }
  execute::Interpreter& outside() { return outside_; }

  /// Value, or contents of an allocation, from before the loop.
  Result<TilePtr> before(ir::ValueId value, const Box& box);
  /// Pure value in an iteration. After the last iteration: only values from which the loop's
  /// condition is computed.
  Result<TilePtr> pure(ir::ValueId value, std::int64_t iteration);
  /// Thing at the beginning of the first iteration; null if it has no initial value.
  Result<TilePtr> initial(Thing thing, const Box& box);
  /// Buffer in which `reader` finds values of `made`; without a reader in the loop, the home of
  /// these values.
  std::optional<BufferId> buffer(OpId made, std::optional<OpId> reader);
  /// Buffer of the plan for an allocation before the loop, if there is one.
  std::optional<BufferId> invariant_buffer(ir::ValueId root) const;
  /// Keeps a result of a branch that no op of the plan makes, or some of its rows.
  void keep(ir::ValueId result, std::int64_t iteration, Piece piece);
  /// Part of a result kept by `keep`; null unless all of that part was kept.
  TilePtr kept(ir::ValueId result, std::int64_t iteration, const Box& box) const;
  /// Allocation that a copy, `per_tile_op` of the kernel, fills.
  std::optional<ir::ValueId> filled_by(std::size_t per_tile_op) const;

 private:
  Result<void> count_trips();
  Result<TilePtr> computed(ir::ValueId value, std::int64_t iteration);
  void find_invariant_buffers();

  const Meaning& meaning_;
  const plan::Plan& plan_;
  execute::Interpreter& outside_;
  std::int64_t lower_ = 0;
  std::int64_t step_ = 1;
  std::int64_t trips_ = 0;
  std::map<std::pair<ir::ValueId, std::int64_t>, TilePtr> known_;
  std::map<std::pair<ir::ValueId, std::int64_t>, std::vector<Piece>>
      kept_;  ///< of the last few iterations
  std::map<std::pair<OpId, OpId>, std::optional<BufferId>> buffers_;
  std::map<ir::ValueId, BufferId> invariant_buffers_;
  std::map<std::size_t, ir::ValueId> filled_;
};

/// Slot that was read, with its count of changes at that time.
struct Reading {
  std::size_t slot = 0;
  std::int64_t changes = 0;
};

/// Reads the operands of one execution of an op; without an op, the operands of the code after the
/// last iteration.
class Reader {
 public:
  Reader(LoopContext& context, const Slots& slots, std::optional<OpId> op, std::int64_t iteration,
         Queue queue)
      : context_(context),
        slots_(slots),
        meaning_(context.meaning()),
        op_(op),
        iteration_(iteration),
        queue_(queue) {}

  /// Finds part of the value, `distance` iterations ago. Poison, and an entry in `missing`, if the
  /// plan's buffers do not hold it. Fails if no dependence or buffer leads from the value to the
  /// op.
  Result<TilePtr> value(ir::ValueId value, int distance, const Box& box);
  /// Finds the part of a memdesc's contents.
  Result<TilePtr> content(ir::ValueId memdesc, int distance, const Box& box);
  /// Finds a value or contents, by the operand's type.
  Result<TilePtr> operand(ir::ValueId value, int distance, const Box& box);
  /// Assembles the thing from the parts that these ops left.
  Result<TilePtr> gather(Thing thing, const std::vector<Input>& from, const Box& box);
  /// Inputs that hold the thing: those at `distance`, otherwise the nearest.
  std::vector<Input> holders(Thing thing, std::optional<int> distance) const;
  /// Finds a descriptor from before the loop, or a descriptor that the loop makes.
  Result<execute::Descriptor> descriptor(ir::ValueId value, int distance);
  /// Reads the tile that a load of the text reads from global memory.
  Result<TilePtr> load(ir::OpId made, int distance, const Box& box);
  Result<std::int64_t> integer(ir::ValueId value);
  /// Finds a value that a branch yields or reads on the side without ops of the plan, as in
  /// `value`. Without a dependence, the value comes from the place where its op left it for this
  /// role.
  Result<TilePtr> on_other_side(ir::ValueId value, const Box& box);
  /// Makes all further reads behave as `on_other_side`.
  void look_on_other_side() { on_other_side_ = true; }

  const std::vector<Reading>& readings() const { return readings_; }
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  Result<TilePtr> find(ir::ValueId value, int distance, const Box& box);
  Result<TilePtr> chosen(ir::ValueId result, int distance, const Box& box);
  Result<TilePtr> carried(const ir::Carried& carried, int distance, const Box& box);
  Result<TilePtr> computed(ir::OpId made, ir::ValueId value, int distance, const Box& box);
  Result<TilePtr> allocated(ir::OpId made, ir::ValueId memdesc, int distance, const Box& box);
  std::vector<Input> makers(Thing thing) const;
  tl::unexpected<Diagnostic> lost(ir::ValueId value) const;

  LoopContext& context_;
  const Slots& slots_;
  const Meaning& meaning_;
  std::optional<OpId> op_;
  std::int64_t iteration_ = 0;
  Queue queue_ = 0;
  bool on_other_side_ = false;
  std::map<std::pair<ir::ValueId, int>, std::vector<Piece>> known_;
  std::vector<Reading> readings_;
  std::vector<std::string> missing_;
};

}  // namespace twill::numerics
