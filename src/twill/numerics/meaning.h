#pragma once

#include <map>
#include <set>
#include <vector>

#include "twill/execute/tile.h"
#include "twill/extract/body.h"
#include "twill/ir/loop.h"
#include "twill/numerics/numerics.h"

/// Internal to the room: the operations of the Program for which the ops of the Problem stand.
namespace twill::numerics {

using execute::Box;
using problem::OpId;

/// Thing: a value of the text that an op leaves at its place in the plan. A register tile, or the
/// contents of a memdesc's allocation.
using Thing = ir::ValueId;

/// Dependence that brings values.
struct Input {
  OpId from;
  int distance = 0;
  bool in_place = false;
  int age = 0;  ///< iterations by which the value of `from` is older than `from`: a copy of a
                ///< carried value

  /// Iterations by which the value is older than its reader.
  int value_distance() const { return distance + age; }
};

/// Branch around an op: the op is carried out if the condition equals `holds`.
struct Under {
  ir::ValueId condition;
  bool holds = true;
};

/// Value that replaces a thing when its branch takes the other side: when the condition differs
/// from `with.holds`.
struct Other {
  Under with;  ///< side with the thing
  ir::ValueId yielded;
};

/// Branch of the loop with work on both sides. The plan has ops of one side only; the other side is
/// computed together with the last of these ops.
struct TwoSided {
  std::vector<OpId> ops;          ///< ops of the plan in the branch
  std::map<int, OpId> last;       ///< by sub-tile
  std::vector<ir::ValueId> kept;  ///< results that the loop carries, made by no op of the plan
};

class Meaning {
 public:
  static Result<Meaning> of(const Kernel& kernel);

  const ir::Program& program() const { return *program_; }
  const ir::Loop& loop() const { return body_.loop; }
  /// Condition of a while loop: whether another iteration follows.
  std::optional<ir::ValueId> condition() const { return condition_; }

  /// Whether the op computes the result of op `made` of the Program. An op that forwards computes
  /// none.
  bool makes(OpId op, ir::OpId made) const { return made_[op.index()].contains(made); }
  bool forwards(OpId op) const { return origins_[op.index()].forwards; }
  int part(OpId op) const { return origins_[op.index()].part; }  ///< sub-tile; -1: not cut
  /// Ops of the text that the op stands for, in their order; none if it forwards.
  const std::set<ir::OpId>& made(OpId op) const { return made_[op.index()]; }
  /// Product of the op, if it is a product.
  std::optional<ir::OpId> product(OpId op) const;
  /// Access of the op to global memory, if it stores.
  std::optional<ir::OpId> store(OpId op) const;

  const std::vector<Thing>& things(OpId op) const { return things_[op.index()]; }
  bool has(OpId op, Thing thing) const;
  /// Part of the thing that the op leaves.
  Box box(OpId op, Thing thing) const;
  /// Part of a value that the op does not make, cut like the op's own values; nullopt if there is
  /// none.
  std::optional<Box> box_beside(OpId op, ir::ValueId value) const;
  /// Rows of `dimension` of a value that the op works on.
  execute::Range rows(OpId op, ir::ValueId value, std::size_t dimension) const;

  /// Branches around an op of the text, within the loop, the outermost first.
  std::vector<Under> under(ir::OpId made) const;
  /// Branch with work on both sides around the op; null if there is none.
  const TwoSided* two_sided(OpId op) const;
  /// Operation of the text that makes or writes this thing of `op`.
  std::optional<ir::OpId> maker(OpId op, Thing thing) const;
  /// Values that replace a thing when branches take other sides, the outermost branch first.
  const std::vector<Other>& others(Thing thing) const;
  /// Value that a branch yields for its result on one side; nullopt if `result` is no result of a
  /// branch.
  std::optional<ir::ValueId> yielded_by(ir::ValueId result, bool holds) const;

  /// Whether ops of the branch make the result, so that the branch does not merely choose among
  /// values.
  bool is_made_inside(ir::ValueId result) const;
  /// Whether a branch chooses the value, behind views and carried values.
  bool is_decided(ir::ValueId tile) const;

  const std::vector<Input>& inputs(OpId op) const { return inputs_[op.index()]; }

  /// Allocation that a memdesc views.
  ir::ValueId root(ir::ValueId memdesc) const;
  /// Whether an op of the loop writes the allocation.
  bool is_written(ir::ValueId root) const { return written_.contains(root); }

  /// Whether the loop writes the allocation, and an op after the loop reads it.
  bool is_left(ir::ValueId root) const;

  /// Whether the value is known without the plan's ops. Such values are computed from arguments,
  /// ranges, constants, and single values or indices of arrays that the loop does not write.
  bool is_known(ir::ValueId value) const { return !unknown_.contains(value); }
  bool is_outside(ir::ValueId value) const;
  const ir::Carried* carried(ir::ValueId argument) const;
  /// Value at its definition: behind views that keep the shape, and behind carried values.
  ir::ValueId made_as(ir::ValueId tile) const;
  /// Carried value whose final value is `thing`, behind views that keep the shape; null if there is
  /// none.
  const ir::Carried* yielded_as(Thing thing) const;
  /// Value of which `value` is another name: passed on by a while loop, or yielded by a branch on
  /// the planned side.
  std::optional<ir::ValueId> renamed(ir::ValueId value) const;
  ir::ValueId behind_renaming(ir::ValueId value) const;

 private:
  Result<void> find_loop(const Kernel& kernel);
  bool is_fixed_load(ir::OpId op) const;
  int age_of(OpId op) const;
  void find_absorbed();
  void find_others();
  void note_other(Thing thing, const Other& other);
  void find_two_sided(const plan::Plan& plan);
  bool is_made(Thing thing) const;
  ir::OpId outermost_branch(ir::OpId op) const;
  void find_unknown();
  Result<void> find_things();
  void add_things(OpId op, ir::OpId made);

  const ir::Program* program_ = nullptr;
  extract::Body body_;
  std::vector<ir::OpId> ops_;  ///< in the loop, at any depth
  std::optional<ir::ValueId> condition_;
  std::map<Thing, std::vector<Other>> others_;
  std::map<ir::OpId, TwoSided> two_sided_;  ///< by outermost branch
  std::set<ir::OpId> absorbed_;             ///< loads of indices, whose results are never kept
  std::span<const extract::OpOrigin> origins_;
  std::vector<std::set<ir::OpId>> made_;
  std::vector<std::vector<Thing>> things_;
  std::vector<std::vector<Input>> inputs_;
  std::set<ir::ValueId> unknown_;
  std::set<ir::ValueId> written_;
  std::map<ir::ValueId, std::size_t> cut_;  ///< dimension along which parts are cut
};

}  // namespace twill::numerics
