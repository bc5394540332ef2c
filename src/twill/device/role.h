#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "twill/device/memory.h"
#include "twill/ir/operands.h"

/// Internal to the room: one role of a kernel, from its steps.
///
/// There is one mechanism: `want` gives the value of an operation of the Program in an iteration,
/// for some of its rows. If there is no such value yet, `want` adds the nodes that make the value.
/// A window that wants a value of an earlier window makes the loop carry the value; ops behind the
/// loop make it a result. A role is built again and again until no pass wants a new value.
/// Prologue, drain, short trip counts, values in several copies, and slots and phases of rings all
/// follow from this mechanism.
namespace twill::device {

/// A point in the life of a role: an iteration, relative to a section.
struct At {
  enum class From : unsigned char {
    invariant,  ///< no iteration: invariant values
    tile,       ///< of the tile
    start,      ///< position, at the start of a tile, of rings that go on from tile to tile
    first,      ///< iteration `offset`
    window,     ///< window + offset, in the steady state
    last,       ///< trips + offset, behind the steady state
    beside,     ///< the present iteration of another loop
    region,     ///< the present iteration of the open regions
  };
  From from = From::invariant;
  int offset = 0;
  friend auto operator<=>(const At&, const At&) = default;
};

/// Whether the loop carries slots and phases of that iteration.
constexpr bool is_carried(At at) {
  return at.from == At::From::last || (at.from == At::From::window && at.offset <= 0);
}
/// Whether an earlier window may have made values of that iteration.
constexpr bool is_past(At at) {
  return at.from == At::From::last || (at.from == At::From::window && at.offset < 0);
}

inline constexpr At kBeside{At::From::beside, 0};
inline constexpr At kRegion{At::From::region, 0};

/// A quantity that a loop may carry from window to window. It is rows of a value, the slot or phase
/// of rings of a depth, or whether an iteration exists.
struct Thing {
  enum class Kind : unsigned char { value, slot, phase, begun };

  Thing(ir::ValueId what, Rows of = {}) : value(what), rows(of) {}
  Thing(Kind of, int ring_depth = 0) : kind(of), depth(ring_depth) {}

  Kind kind = Kind::value;
  ir::ValueId value;  ///< kind value
  Rows rows;
  int depth = 0;  ///< slot, phase
  friend auto operator<=>(const Thing&, const Thing&) = default;
};

/// A Thing of window + offset.
struct Carry {
  Thing thing;
  int offset = 0;
  friend auto operator<=>(const Carry&, const Carry&) = default;
};

/// A Thing at a point, in a type other than its own type, or null for its own.
struct Key {
  Thing thing;
  At at = {};
  ir::Type type = nullptr;
  friend auto operator<=>(const Key&, const Key&) = default;
};

/// Position of a ring: the copy, and the parity of its phase.
struct Position {
  ValueId slot;
  ValueId phase;
};

using Nodes = std::vector<Node>;

/// Values that nodes made, as far as the present block may use them.
struct Known {
  std::map<Key, ValueId> made_;
  std::set<Key> written_;  ///< keys whose rows the role has also put into shared memory
  /// Derived values of that block: copies of rings, and tiles in another layout.
  std::map<std::tuple<ValueId, At, ir::Type, const Nodes*>, ValueId> derived_;
};

/// State of a pass over a role's steps: each pass builds it anew.
struct Pass : Known {
  bool grew_ = false;  ///< the pass wants a value that no earlier pass did
  Nodes head_, before_, middle_, behind_;
  std::vector<Nodes> around_;  ///< by `Sketch::level_of` of their ops
  Nodes* now_ = nullptr;
  std::map<ValueId, ValueId> captures_;
  std::map<std::pair<std::int64_t, ir::Type>, ValueId> constants_;
  std::vector<Key> in_flight_;       ///< products without a wait so far
  std::vector<Key> left_in_flight_;  ///< results still in flight at the end of the sections
  std::set<Key> consumed_;           ///< products to whose result another product adds
  At::From section_ = At::From::tile;
  int part_ = -1;  ///< part of the present step; -1: none
  bool behind_loop_ = false;
  bool behind_tiles_ = false;  ///< behind the loops over tiles, if there are any
  int short_trips_ = 0;
  ValueId window_;  ///< the loop's counter
  ValueId trips_;
  std::vector<ValueId> result_values_;
  std::vector<ir::OpId> regions_;     ///< open regions, outermost first
  std::optional<ir::OpId> ringed_;    ///< the present other loop, whose loads use rings
  Nodes* front_ = nullptr;            ///< in front of the present other loop; null: there is none
  std::set<ir::ValueId> wanted_;      ///< the role's share of the values that this loop computes
  std::set<plan::ChannelId> waited_;  ///< channels awaited in its present iteration
  std::vector<const plan::Step*>
      for_box_;            ///< postponed waits for a free box, until its tile is made
  std::set<OpId> fenced_;  ///< copies that are visible to the tensor core
};

class RoleBuilder : Pass {
 public:
  /// `isolated` roles see values of the kernel as captures only.
  RoleBuilder(const Sketch& sketch, const Memory& memory, Kernel& kernel, std::string name,
              int warps, bool isolated)
      : sketch_(sketch),
        program_(sketch.program()),
        plan_(sketch.plan()),
        memory_(memory),
        kernel_(kernel),
        name_(std::move(name)),
        warps_(warps),
        isolated_(isolated) {}

  /// Builds the body of a role of the plan.
  Result<Block> build(const plan::Role& role);
  /// Builds the part of the launch's own warps before the roles begin: the text's early ends and
  /// effects. `kept` gets values that must not be made again.
  Result<std::vector<Node>> build_front(std::map<ir::ValueId, ValueId>& kept);
  /// Builds the part of these warps after the end of all roles.
  Result<std::vector<Node>> build_back();

  /// Values of the kernel that the role uses, with its own value for each.
  const std::map<ValueId, ValueId>& captures() const { return captures_; }

 private:
  using Want = Result<ValueId>;

  // --- Nodes (role_nodes.cpp) ------------------------------------------------------------------
  ValueId add_value(const std::string& name, ir::Type type);
  Node& emit(NodeKind kind, std::vector<ValueId> operands = {}, std::vector<ValueId> results = {},
             std::vector<std::int64_t> numbers = {});
  ValueId make(NodeKind kind, std::vector<ValueId> operands, const std::string& name, ir::Type type,
               std::vector<std::int64_t> numbers = {});
  ValueId constant(std::int64_t number, ir::Type type);
  ValueId number(std::int64_t value) { return constant(value, sketch_.i32()); }
  ValueId integer(NodeKind kind, ValueId a, ValueId b, const std::string& name);
  ValueId carry(Node& node, const std::string& name, ir::Type type, ValueId first);
  bool is_known(const Key& key) const { return made_.contains(key); }
  ValueId capture(ValueId value);
  ir::Type type_of(ValueId value) const { return kernel_[value].type; }
  Want relayout(ValueId value, ir::Type type);

  // --- The loop over tiles (role_tiles.cpp) ----------------------------------------------------
  Result<void> tiles_of(std::size_t level);
  Want of_tiles(ir::ValueId value, const ir::Loop& outer, Rows rows, ir::Type type);

  // --- Passes and sections (role_sections.cpp) -------------------------------------------------
  Result<void> once(const plan::Role& role);
  bool needs_prologue() const;
  void find_orders();
  Result<void> tile();
  void begin_pass();
  Result<void> steps(const std::vector<plan::Step>& steps);
  Result<ValueId> trip_count();
  Result<std::vector<ValueId>> short_way(int trips, const std::vector<ir::Type>& types);
  Result<std::vector<ValueId>> long_way(int trips, ValueId count,
                                        const std::vector<ir::Type>& types);
  Result<std::vector<ValueId>> branch(int trips, ValueId count);
  Result<void> loop(ValueId count);
  Result<std::vector<ValueId>> leave(At at, const std::vector<ir::Type>& types);
  Want thing(const Thing& what, At at, ir::Type type);
  /// The index of `what` among the values wanted so far.
  template <class What>
  std::size_t place_in(std::vector<What>& list, const What& what) {
    const auto found = std::find(list.begin(), list.end(), what);
    const auto index = static_cast<std::size_t>(found - list.begin());
    if (found == list.end()) {
      list.push_back(what);
      grew_ = true;
    }
    return index;
  }
  ValueId carried(const Carry& carry, ir::Type type);
  Result<ir::Type> type_of(const Thing& thing) const;
  void begin_section(At::From section);
  void enter_section(At::From section, int later);
  std::vector<Thing> carried_in_flight(At end) const;
  void leave_in_flight(At end);
  void go_on_in_flight();
  std::string name_of(const Thing& thing) const;

  // --- Rings (role_rings.cpp) ------------------------------------------------------------------
  At at(const plan::Step& step) const;
  ValueId slot(int depth, At at);
  ValueId parity(int depth, At at, bool inverse);
  Position position(int depth, At at);
  Position advanced(int depth, Position now);
  std::optional<Position> standing(int depth, At at) const;
  void stand(int depth, At at, Position position);
  static std::vector<Thing> positions(const std::set<int>& depths);
  void yield_positions(const std::vector<Thing>& things, At at, bool advance, Block& block);
  ValueId copy(const Ring& ring, At at, const std::string& name);
  ValueId rows_of(ValueId buffer, Rows rows);
  void wait(const Ring& barriers, At at, bool inverse, const std::string& name);
  void arrive(const Ring& barriers, At at, const std::string& name);
  ValueId begun(At at);
  void expect(plan::ChannelId channel, At at);
  Result<void> commit(plan::ChannelId channel, At at);
  void acquire(const plan::Step& step, At at);
  void learn(plan::ChannelId channel);
  ir::Type brief_type(const Brief& one) const;

  // --- Loops beside the planned one (role_beside.cpp) ------------------------------------------
  struct Passed {  ///< a value that a loop of the text carries
    ir::Carried what;
    Rows rows;
    ir::Type type = nullptr;
  };
  Result<void> loop_again(ir::OpId loop, const std::vector<int>& parts, At at, bool leads,
                          const std::vector<Thing>& rings = {});
  Want left(const Thing& thing, ir::Type type);
  Result<std::vector<Passed>> passed_by_tiles(const ir::Loop& outer);  // role_tiles.cpp
  Result<std::vector<Passed>> passed_by(ir::OpId loop, const std::vector<int>& parts,
                                        const std::set<ir::ValueId>* wanted);
  Result<void> bring_all(ir::OpId loop);
  Result<ValueId> brought(OpId copy);
  Result<void> find_positions(const std::vector<Thing>& things);
  std::map<Key, ValueId> carry_positions(const std::vector<Thing>& things, At at,
                                         const std::string& of, Node& node);
  Result<void> await_all();
  std::vector<Thing> rings_of(ir::OpId loop) const;

  // --- Operations with regions (role_regions.cpp) ----------------------------------------------
  class Inside;
  bool in_open_region(ir::OpId op) const;
  Want in_region(ir::ValueId value, ir::OpId op, Rows rows, At at, ir::Type type);
  Result<void> again(ir::OpId op, Rows rows, At at);
  Result<void> product_again(ir::OpId op, Rows rows, At at);
  Result<void> fetch(ir::OpId op, Rows rows, At at);
  Want put_down(ir::OpId allocation, Rows rows, At at);
  Nodes* nodes_at(std::size_t level, Nodes* innermost);
  Want put_in_front(ir::OpId allocation, Rows rows);
  bool is_of_branch(ir::ValueId value) const;
  Result<void> put_in_place(ir::OpId allocation, ValueId buffer, Rows rows, At at);
  Result<void> store_again(ir::OpId op, At at);
  Result<void> act(ir::OpId op, const std::vector<int>& parts, At at, bool leads);
  Result<void> in_order(ir::BlockId block, const std::vector<int>& parts, At at, bool leads);
  Result<void> region_again(ir::OpId op, const std::vector<int>& parts, At at, bool leads);
  Result<Node> begin_repeat(const ir::Loop& loop, At at, bool leads);
  Result<Node> begin_loop(const ir::Loop& loop, const std::vector<Passed>& passed,
                          const std::string& counter, At at, bool leads);
  void enter_body(const ir::Loop& loop, const std::vector<Passed>& passed, const Block& body,
                  At in);
  void enter_results(const ir::Loop& loop, const std::vector<Passed>& passed,
                     const std::vector<ValueId>& results, At at);
  Result<void> yield(const std::vector<Passed>& passed, At at, Block& body);
  Result<void> branch_again(ir::OpId op, const std::vector<int>& parts, At at, bool leads);

  // --- Values (role_values.cpp) ----------------------------------------------------------------
  /// Gives rows of the value of an iteration, in `type` or else in the role's own type for the
  /// value.
  Want want(ir::ValueId value, Rows rows, At at, ir::Type type = nullptr);
  Want want_scalar(ir::ValueId value) { return want(value, {}, {}); }
  Want in_loop(ir::ValueId value, ir::OpId op, Rows rows, At at, ir::Type type);
  Want from_past(const Key& key, ir::Type type);
  Want per_tile_op(ir::ValueId value, ir::OpId op, Rows rows, ir::Type type);
  Want counter(At at);
  Want argument(const ir::Carried& carried, Rows rows, At at, ir::Type type);
  Want result(const ir::Carried& carried, Rows rows, ir::Type type);
  Want memory(ir::ValueId value, ir::OpId op, Rows rows, At at);
  Want read(ir::ValueId value, ValueId buffer, Rows rows, ir::Type type);
  std::optional<ValueId> placed(ir::ValueId value, Rows rows, At at,
                                ir::Attribute layout = nullptr);
  std::optional<ValueId> passed_on(ir::ValueId value, Rows rows, At at);
  Want taken(ir::ValueId value, Rows rows, At at, ir::Type type);
  Result<ir::Type> own_type(ir::ValueId value, Rows rows) const;
  bool is_remade(ir::OpId op, ir::ValueId value, Rows rows, ir::Type type) const;
  /// Repeats an operation for some rows, with its first result in `type` if given.
  Want clone(ir::OpId op, Rows rows, At at, ir::Type type = nullptr);
  Result<ir::Attribute> stored_layout(const ir::Op& store, Rows rows) const;
  Result<ir::Type> operand_type(ir::OpId op, std::size_t index, Rows rows, ir::Type result) const;
  void enter(ir::ValueId value, Rows rows, At at, ValueId made);
  std::vector<Rows> rows_in(ir::ValueId value, const std::vector<int>& parts) const;
  Rows own_rows(ir::ValueId value, Rows rows) const;
  bool makes(const std::vector<OpId>& makers, Rows rows) const;
  bool reads(OpId op) const;
  bool receives(ir::ValueId value, Rows rows) const;
  bool is_mine(OpId op) const { return mine_.contains(op); }

  // --- Steps (role_steps.cpp) ------------------------------------------------------------------
  Result<void> step(const plan::Step& step);
  Result<void> take(const plan::Step& step, At at);
  bool is_joined(plan::ChannelId channel) const;
  Result<void> do_unit(ir::OpId unit, int part, At at);
  Result<bool> compute_unit(OpId op, At at);
  Result<void> compute(OpId op, At at);
  Result<bool> forward(OpId op, At at);
  Result<void> store_box(OpId op, At at);
  void fence();
  void wait_stores(std::int64_t pending);
  Result<void> stage(OpId op, At at);
  Result<void> write_part(OpId op, ir::ValueId value, std::optional<plan::BufferId> buffer, At at);
  Result<void> issue(const plan::Step& step, At at);
  Result<std::vector<ValueId>> place_of(ir::OpId op, At at);
  Result<void> send_box(ir::OpId store, ValueId buffer, At at);
  Result<void> bring(ir::OpId load, OpId copy, plan::ChannelId channel, At at);
  Result<void> bring(ir::OpId load, plan::Mechanism how, plan::BufferId home,
                     plan::ChannelId channel, At at, const std::string& name);
  Result<void> load_box(ir::OpId load, const Ring& ring, const Ring& full, At at,
                        const std::string& name);
  Result<std::optional<ValueId>> condition_of(ir::OpId op, At at);
  void add_mask(ValueId condition, std::vector<ValueId>& operands);
  Result<void> copy_by_threads(ir::OpId load, const Ring& ring, const Ring& full, At at,
                               const std::string& name);
  int cut_of_operands(ir::OpId op) const;
  Want begin_product(ir::OpId op, Rows rows, At at, const std::string& name,
                     const std::function<Want()>& adds);
  Result<void> product(OpId op, At at);
  Result<void> drain(int pending);
  std::optional<Key> accumulator(ir::ValueId value, Rows rows, At at) const;
  std::string remark(const plan::Step& step, At at) const;
  Rows rows_of(OpId op, ir::ValueId value) const;

  // --- Around the loop (role_per_tile.cpp) -----------------------------------------------------
  Result<void> compute_per_tile(std::size_t index);
  Result<void> act_alone(ir::OpId op);
  Result<void> stage_per_tile(std::size_t index);
  Result<void> issue_per_tile(const plan::Step& step, At at);
  Result<std::vector<int>> parts_held(ir::OpId op) const;
  std::vector<Node> all_nodes();
  Result<void> leave_early(const ir::Exit& exit);
  Result<void> make_descriptor(ir::OpId op);  // role_descriptors.cpp

  const Sketch& sketch_;
  const ir::Program& program_;
  const plan::Plan& plan_;
  const Memory& memory_;
  Kernel& kernel_;
  std::string name_;
  int warps_;
  bool isolated_;
  const plan::Role* role_ = nullptr;
  int spread_ = 0;  ///< windows in front of the loop, which the tree's prologue has
  std::set<OpId> mine_;
  bool stores_boxes_ = false;
  /// Orders of accesses to global memory in which the role has a part.
  struct {
    bool kept = false;                ///< its own accesses come after others
    bool stored_for_readers = false;  ///< others access what its bulk stores write
    bool written_for_copies = false;  ///< bulk copies access what its threads write
  } order_;

  // Values wanted so far, which grow from pass to pass.
  std::vector<Carry> carried_;
  std::vector<Thing> results_;
  std::vector<Key> over_back_edge_;  ///< products in flight where a window begins
  std::set<int> ring_depths_;        ///< depths of rings that go on from tile to tile
  std::set<int> tile_depths_;        ///< depths of rings with a copy per tile
  std::set<std::pair<ir::ValueId, Rows>> by_tiles_;  ///< values that loops over tiles carry
  std::map<ir::OpId, std::set<Rows>> ordered_;       ///< loads of per-tile ops, done at their step
};

/// Nodes of a region's block, and values that are known in this block only.
class RoleBuilder::Inside {
 public:
  Inside(RoleBuilder& role, ir::OpId region, Nodes& nodes)
      : role_(role), known_(role), now_(role.now_) {
    role.regions_.push_back(region);
    role.now_ = &nodes;
  }
  ~Inside() {
    role_.regions_.pop_back();
    role_.now_ = now_;
    static_cast<Known&>(role_) = std::move(known_);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  RoleBuilder& role_;
  Known known_;
  Nodes* now_;
};

}  // namespace twill::device
