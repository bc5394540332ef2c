#pragma once

#include <map>
#include <set>
#include <vector>

#include "twill/execute/tile.h"
#include "twill/extract/body.h"
#include "twill/ir/loop.h"
#include "twill/numerics/numerics.h"

/// Internal to the room: what the ops of the Problem stand for in the Program.
namespace twill::numerics {

using execute::Box;
using problem::OpId;

/// Value of the text that an op leaves at its place in the plan: a register tile, or the contents
/// of a memdesc's allocation.
using Thing = ir::ValueId;

/// A dependence that brings values.
struct Input {
  OpId from;
  int distance = 0;
  bool in_place = false;
  int age = 0;  ///< iterations by which what `from` has is older: a copy of what was carried

  /// Iterations by which the value is older than its reader.
  int value_distance() const { return distance + age; }
};

/// A branch around an op: the op is carried out where the condition is `holds`.
struct Under {
  ir::ValueId condition;
  bool holds = true;
};

/// Value in place of a thing where a branch takes the other side: where the condition is not as
/// `holds` says.
struct Other {
  Under with;  ///< the side that has the thing
  ir::ValueId yielded;
};

/// A branch of the loop with work on both sides. The plan has ops of one side alone; the other is
/// computed with the last of these.
struct TwoSided {
  std::vector<OpId> ops;          ///< of the plan, that stand in the branch
  std::map<int, OpId> last;       ///< by sub-tile
  std::vector<ir::ValueId> kept;  ///< results that the loop carries, and no op of the plan makes
};

class Meaning {
 public:
  static Result<Meaning> of(const Kernel& kernel);

  const ir::Program& program() const { return *program_; }
  const ir::Loop& loop() const { return body_.loop; }
  /// Condition of a while loop, for another iteration.
  std::optional<ir::ValueId> condition() const { return condition_; }

  /// Whether the op computes the result of that op of the Program. An op that forwards computes
  /// none.
  bool makes(OpId op, ir::OpId made) const { return made_[op.index()].contains(made); }
  bool forwards(OpId op) const { return origins_[op.index()].forwards; }
  int part(OpId op) const { return origins_[op.index()].part; }  ///< sub-tile; -1: not cut
  /// Ops of the text that the op stands for, in their order; none if it forwards.
  const std::set<ir::OpId>& made(OpId op) const { return made_[op.index()]; }
  /// The op's product, if it is one.
  std::optional<ir::OpId> product(OpId op) const;
  /// The op's access to global memory, if it stores.
  std::optional<ir::OpId> store(OpId op) const;

  const std::vector<Thing>& things(OpId op) const { return things_[op.index()]; }
  bool has(OpId op, Thing thing) const;
  /// The part of the thing that the op makes.
  Box box(OpId op, Thing thing) const;
  /// The same of a value that the op does not make, cut like what it makes; nullopt: no such thing.
  std::optional<Box> box_beside(OpId op, ir::ValueId value) const;
  /// The rows of `dimension` of a value that the op works on.
  execute::Range rows(OpId op, ir::ValueId value, std::size_t dimension) const;

  /// Branches around an op of the text, within the loop, the outermost first.
  std::vector<Under> under(ir::OpId made) const;
  /// The branch with work on both sides in which the op stands; null if there is none.
  const TwoSided* two_sided(OpId op) const;
  /// The op of the text that makes a thing of `op`, or writes it.
  std::optional<ir::OpId> maker(OpId op, Thing thing) const;
  /// Values in place of a thing where branches do not take its side, the outermost branch first.
  const std::vector<Other>& others(Thing thing) const;
  /// Value that a branch yields for its result on one side; nullopt if that is no result of a
  /// branch.
  std::optional<ir::ValueId> yielded_by(ir::ValueId result, bool holds) const;

  /// Whether the branch makes what its result is named after, rather than to choose among values.
  bool is_made_inside(ir::ValueId result) const;
  /// Whether a branch chooses the value, behind views and carried values.
  bool is_decided(ir::ValueId tile) const;

  const std::vector<Input>& inputs(OpId op) const { return inputs_[op.index()]; }

  /// The allocation that a memdesc is a view of.
  ir::ValueId root(ir::ValueId memdesc) const;
  /// Whether an op of the loop writes its contents.
  bool is_written(ir::ValueId root) const { return written_.contains(root); }

  /// Whether the loop writes its contents, and an op behind the loop reads them.
  bool is_left(ir::ValueId root) const;

  /// Computed from arguments, ranges, constants, and single values or indices of arrays that the
  /// loop does not write: known without the plan's ops.
  bool is_known(ir::ValueId value) const { return !unknown_.contains(value); }
  bool is_outside(ir::ValueId value) const;
  const ir::Carried* carried(ir::ValueId argument) const;
  /// The value of a tile at its definition, behind views that keep the shape, and carried values.
  ir::ValueId made_as(ir::ValueId tile) const;
  /// The carried value whose final value this is, behind views that keep the shape; null if it is
  /// none.
  const ir::Carried* yielded_as(Thing thing) const;
  /// The value that another one is a name of: what a while loop passes on, what a branch yields on
  /// the side that is planned.
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
  std::set<ir::OpId> absorbed_;             ///< loads of indices, which no op leaves anywhere
  std::span<const extract::OpOrigin> origins_;
  std::vector<std::set<ir::OpId>> made_;
  std::vector<std::vector<Thing>> things_;
  std::vector<std::vector<Input>> inputs_;
  std::set<ir::ValueId> unknown_;
  std::set<ir::ValueId> written_;
  std::map<ir::ValueId, std::size_t> cut_;  ///< dimension along which parts are cut
};

}  // namespace twill::numerics
