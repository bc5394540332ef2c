#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "twill/device/build.h"
#include "twill/ir/builder.h"
#include "twill/ir/control_flow.h"
#include "twill/ir/effects.h"
#include "twill/ir/loop.h"
#include "twill/plan/plan.h"

/// Internal to the room: facts that all roles of a kernel share, found once from Program and Plan.
namespace twill::device {

using problem::OpId;

/// Where an operation of the Program stands.
enum class Where { before, loop, after };

/// The rows of a value on which a role works: part number `part` of dimension `cut`, or all rows.
struct Rows {
  int cut = -1;
  int part = -1;
  friend auto operator<=>(const Rows&, const Rows&) = default;
};

/// A branch of the loop that is done as a whole, or an effect that no op of the plan stands for.
struct Unit {
  std::map<int, OpId> last;  ///< op of the plan with which the unit is done, by part
  bool follows = false;      ///< after that op's step; else the op is a part of the unit
};

/// Tiles that an op of the plan makes for others or moves.
struct Deed {
  std::optional<ir::ValueId> value;     ///< that other groups read: the last value of its
                                        ///< operations that another operation reads
  std::optional<ir::ValueId> moves;     ///< into shared memory, though the text has no buffer for
                                        ///< it: perhaps an operand of a product in registers
  std::optional<ir::ValueId> receives;  ///< from another group, or from the buffer of a copy, and
                                        ///< keeps in registers
  std::optional<ir::OpId> boxes;        ///< store by TMA in the loop whose box the op fills
  std::optional<ir::OpId> puts;         ///< allocation whose tile it writes into shared memory
};

class Sketch {
 public:
  static Result<Sketch> of(const Parts& parts);

  const ir::Program& program() const { return *program_; }
  const plan::Plan& plan() const { return *plan_; }
  const ir::Loop& loop() const { return loop_; }
  /// The text's own loops over tiles, around the planned loop, outermost first. An example: a loop
  /// over groups around a loop over the tiles of a group.
  const std::vector<ir::Loop>& around() const { return around_; }
  bool walks() const { return !around_.empty(); }
  ir::OpId function() const { return function_; }
  /// Number of loops over tiles around an operation that stands in no other region; nullopt for
  /// other operations. With 0 the operation is done once for all tiles, with all loops once for
  /// each tile.
  std::optional<std::size_t> level_of(ir::OpId op) const;
  bool is_of_kernel(ir::OpId op) const { return level_of(op) == 0; }
  ir::TypeTable& types() const { return table_->types(); }
  const extract::OpOrigin& origin(OpId op) const { return origins_[op.index()]; }
  /// The operation of `per_tile_ops[index]` of the plan's kernel.
  ir::OpId per_tile_op(std::size_t index) const { return per_tile_ops_[index]; }
  Where where(ir::OpId op) const;

  // --- Sources: what the plan's ops stand for (sources.cpp) ---------------------------------
  /// The plan's op that copies the value into shared memory; nullopt if none does.
  std::optional<OpId> copy_of(ir::ValueId value) const;
  /// The plan's ops that make the value in registers; empty if none does.
  const std::vector<OpId>& makers_of(ir::ValueId value) const;
  /// Ops of the plan that leave the value in shared memory, with the buffers: loaded, or written
  /// for a product or another group.
  std::vector<std::pair<OpId, plan::BufferId>> places_of(ir::ValueId value) const;
  const Deed& deed(OpId op) const { return deeds_[op.index()]; }
  /// Whether the result of an op of the plan lies in shared memory.
  bool is_in_shared(OpId op) const;
  /// Whether a value depends on a load or a product.
  bool depends(ir::ValueId value) const { return dependent_.contains(value); }
  /// Whether repeating the value's operations is cheap in any layout. Such a value depends on no
  /// load or product. Or the value is a tile of indices, addresses or conditions, made of loaded
  /// rows.
  bool is_light(ir::ValueId value) const { return !depends(value) || light_.contains(value); }
  /// The operation that defines a value; nullopt for arguments.
  std::optional<ir::OpId> definition(ir::ValueId value) const;
  const ir::Carried* carried_argument(ir::ValueId value) const;
  const ir::Carried* carried_result(ir::ValueId value) const;
  /// The same of an argument or result of a loop over tiles.
  const ir::Carried* carried_around(ir::ValueId value) const;
  /// The value without changes of layout.
  ir::ValueId behind_relayouts(ir::ValueId value) const;
  /// The operation that loads the value of a copy by the plan's op.
  Result<ir::OpId> load_of(OpId copy) const;

  // --- Loops beside the planned loop (beside.cpp) ---------------------------------------------
  /// The plan's op whose ring brings the load of a loop behind the planned loop; nullopt if no ring
  /// does.
  std::optional<OpId> ring_of(ir::ValueId value) const;
  /// The loads of the loop that use rings, in order.
  std::vector<ir::OpId> loads_of(ir::OpId loop) const;
  /// Values in the loop from which its loads through rings are computed; and values for its results
  /// and effects, without these loads.
  std::set<ir::ValueId> made_for_loads(const ir::Loop& loop) const;
  std::set<ir::ValueId> made_for_others(const ir::Loop& loop) const;

  // --- Branches and effects of the loop (units.cpp) -------------------------------------------
  /// The branch that an operation of the loop stands in, if the plan has ops of it.
  const Unit* unit_of(ir::OpId op) const;
  ir::OpId in_body(ir::OpId op) const;
  /// Ops that are done after a step of the plan, and their parts.
  std::vector<std::pair<ir::OpId, int>> following(OpId op) const;

  // --- The function around the roles (frame.cpp) ----------------------------------------------
  /// Places at which the function may return before it comes to the loop.
  const std::vector<ir::Exit>& exits() const { return exits_; }
  /// Effects that no step of the plan has: in front of the loop, and behind all roles. The launch's
  /// own warps do these effects, before the roles begin and after their end.
  const std::vector<ir::OpId>& front() const { return front_; }
  const std::vector<ir::OpId>& back() const { return back_; }
  /// Descriptors that the kernel makes before any tile.
  std::vector<ir::OpId> descriptors() const;

  // --- Cuts: which dimension of a value is in parts (cuts.cpp) -------------------------------
  int parts() const { return part_count_; }
  /// Cut dimension of a value; -1 if the value is whole.
  int cut_of(ir::ValueId value) const;
  /// The dimension in which operand `index` must be cut if the result is cut in `cut`; -1: none.
  int operand_cut(ir::OpId op, std::size_t index, int cut) const;
  /// Whether ops of the plan make the whole value, or an operand of its computation, once for each
  /// part.
  bool is_made_by_part(ir::ValueId value) const { return made_by_part_.contains(value); }

  // --- Layouts (layouts.cpp) -----------------------------------------------------------------
  /// The type of a value's rows in a role of that many warps.
  Result<ir::Type> type_of(ir::ValueId value, int cut, int warps) const;
  /// The layout of a value in the whole kernel. Values computed from products have the products'
  /// layout.
  ir::Attribute layout_of(ir::ValueId value) const;
  /// Type of a tile of that shape and element in another layout.
  ir::Type with_layout(ir::Type type, ir::Attribute layout) const;
  ir::Type buffer(std::vector<std::int64_t> shape, ir::Type element, ir::Attribute layout,
                  std::vector<std::int64_t> whole = {}) const;
  ir::Type barriers(std::int64_t count) const;  ///< 0: one barrier
  ir::Type i32() const { return types().scalar("i32"); }
  ir::Type i1() const { return types().scalar("i1"); }
  /// The type of the box in shared memory that an access by descriptor moves.
  Result<ir::Type> box_type(ir::OpId op) const;
  /// The type of the copy that a load leaves in shared memory.
  Result<ir::Type> memory_type(ir::OpId load) const;

  /// Makes the error about an operation of the TTGIR.
  tl::unexpected<Diagnostic> refuse(ir::OpId op, const std::string& why,
                                    const std::string& hint = {}) const;
  std::string words(ir::OpId op) const;

 private:
  Result<void> find_per_tile_ops();
  void find_sources();
  void find_forwarded();
  void find_deeds();
  std::optional<ir::ValueId> last_read(OpId op) const;
  void find_light();
  Result<void> find_beside();
  Result<void> find_cuts();
  void find_made_by_part();
  void find_layouts();
  void read_as_wanted();
  Result<void> find_around();
  Result<void> find_guard(ir::OpId branch, ir::OpId inner);
  Result<void> find_exits();
  Result<void> find_effects();
  Result<void> check_stores() const;
  Result<void> find_units();
  Result<ir::OpId> at_place(const plan::Place& place) const;
  bool spread_layout(ir::OpId op);
  bool put_layout(ir::ValueId value, ir::Attribute layout);

  const ir::Program* program_ = nullptr;
  const plan::Plan* plan_ = nullptr;
  std::span<const extract::OpOrigin> origins_;
  ir::Loop loop_;
  std::vector<ir::Loop> around_;
  ir::OpId outermost_;  ///< outermost op around the loop, or the loop itself
  ir::OpId function_;
  ir::OpId last_of_loop_;
  std::shared_ptr<ir::ProgramBuilder> table_;
  std::map<std::pair<int, int>, ir::OpId> by_place_;
  std::vector<ir::OpId> per_tile_ops_;
  std::set<ir::OpId> guards_;
  std::map<ir::OpId, Unit> units_;
  std::vector<ir::Exit> exits_;
  std::vector<ir::OpId> front_, back_;
  std::map<ir::ValueId, OpId> copied_;
  std::map<ir::ValueId, std::vector<OpId>> made_;
  std::map<ir::ValueId, OpId> again_;  ///< loads of other loops, by the op whose ring brings them
  std::set<ir::ValueId> given_;        ///< the loads of `again_`
  std::vector<Deed> deeds_;            ///< by problem::OpId
  std::set<ir::ValueId> dependent_;
  std::set<ir::ValueId> light_;  ///< values of `dependent_` that are light
  int part_count_ = 1;
  std::map<ir::ValueId, int> cuts_;
  std::set<ir::ValueId> made_by_part_;
  std::map<ir::ValueId, ir::Attribute> layouts_;
};

/// Whether the op is a branch or a loop; reductions also have a region, and do not count.
bool is_region(const ir::Op& op);
/// Whether the op works element by element on tiles of one shape.
bool is_elementwise(const ir::Op& op);
/// Whether the type is a tile in registers.
bool is_tile(ir::Type type);

}  // namespace twill::device
