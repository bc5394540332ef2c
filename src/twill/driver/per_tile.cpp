#include "twill/driver/per_tile.h"

#include <algorithm>
#include <map>
#include <set>

#include "twill/driver/around_tiles.h"
#include "twill/driver/grid.h"
#include "twill/driver/ring_loads.h"
#include "twill/extract/behind.h"
#include "twill/extract/effects.h"
#include "twill/ir/control_flow.h"
#include "twill/ir/operands.h"
#include "twill/ir/row_sums.h"
#include "twill/ir/source_words.h"
#include "twill/ir/type.h"

namespace twill::driver {
namespace {

using ir::OpKind;
using When = plan::PerTileOp::When;

bool is_memdesc(const ir::Program& program, ir::ValueId value) {
  return ir::type_of(program, value)->kind == ir::TypeKind::memdesc;
}

/// A copy of a whole tile into shared memory by TMA or threads, and the allocation that it fills.
struct Filling {
  ir::OpId copy;
  ir::OpId allocation;
};

class SettingBuilder {
 public:
  SettingBuilder(plan::Setting& setting, const Kernel& kernel, const report::Outcome& outcome)
      : setting_(setting), kernel_(kernel), program_(kernel.program), outcome_(outcome) {}

  Result<void> run(TileWalk tiles) {
    TWILL_TRY_VOID(collect());
    add_invariant_buffers();
    plan::Kernel what;
    what.name = outcome_.problem.name();
    what.loop = loop_in_words(kernel_);
    TWILL_TRY(what.tiles, tiles_for(tiles));
    what.same_trips = same_trips(kernel_);
    if (what.tiles == plan::Tiles::persistent) choose_order(what, kernel_);
    setting_.kernel = std::move(what);
    TWILL_TRY_VOID(find_needs());
    find_addresses();
    find_row_sums();
    for (const auto& [op, when] : when_) add(op, when);
    return {};
  }

 private:
  Result<plan::Tiles> tiles_for(TileWalk wanted) const {
    if (in_loop_) {
      if (wanted != TileWalk::one) return plan::Tiles::program_loop;
      return fail(ir::text_location(program_, kernel_.choice.loop),
                  "one tile per CTA is impossible: the kernel has a loop over tiles of its own",
                  "give the kernel without that loop");
    }
    if (wanted == TileWalk::one) return plan::Tiles::one_per_cta;
    const auto objection = objection_to_walking(kernel_);
    if (!objection) return plan::Tiles::persistent;
    if (wanted == TileWalk::where_possible) return plan::Tiles::one_per_cta;
    return fail(objection->location, "CTAs cannot walk the grid: " + objection->message);
  }

  /// Whether an op, or an op in its regions, reads or makes a tile.
  bool works_on_tiles(ir::OpId id) const {
    return std::ranges::any_of(ir::walk(program_, id),
                               [&](ir::OpId op) { return touches_tiles(program_.op(op)); });
  }

  bool touches_tiles(const ir::Op& op) const {
    const auto is_tile = [&](ir::ValueId value) {
      return ir::is_tensor(ir::type_of(program_, value)) || is_memdesc(program_, value);
    };
    if (op.kind == OpKind::constant || op.kind == OpKind::yield) return false;
    return std::any_of(op.results.begin(), op.results.end(), is_tile) ||
           std::any_of(op.operands.begin(), op.operands.end(), is_tile);
  }

  /// Ops in a block, and on the way to it if it is a block of a function.
  std::vector<ir::OpId> ops_around(ir::OpId holder, ir::BlockId block) const {
    std::vector<ir::OpId> ops;
    const auto alternative =
        program_.op(holder).kind == OpKind::function ? ir::path_to(program_, block) : std::nullopt;
    for (const ir::BlockId at : alternative ? alternative->blocks : std::vector{block}) {
      const auto& here = program_.block(at).ops;
      ops.insert(ops.end(), here.begin(), here.end());
    }
    return ops;
  }

  /// Collects the tile operations in the blocks around the loop, in the order of the text.
  Result<void> collect() {
    ir::OpId inner = kernel_.choice.loop;
    for (;;) {
      const std::optional<ir::OpId> outer = ir::parent(program_, inner);
      if (!outer) break;
      const ir::BlockId block = program_.op(inner).block;
      for (const ir::OpId op : ops_around(*outer, block)) {
        if (op == inner) continue;
        const bool before = op < inner || program_.op(op).block != block;
        const auto works = [&](ir::OpId it) { return works_on_tiles(it); };
        if (!works(op) && (before || in_loop_ || !extract::acts_alone(program_, op, works)))
          continue;
        TWILL_TRY(const When when, when_of(program_, op, before, in_loop_));
        when_.emplace(op, when);
      }
      in_loop_ = in_loop_ || ir::is_loop(program_.op(*outer).kind);
      inner = *outer;
    }
    return {};
  }

  /// The op from which a tile or memdesc comes, through its views.
  std::optional<ir::OpId> origin_of(ir::ValueId value) const {
    const ir::Op* op = ir::defining_op(program_, value);
    while (op != nullptr && extract::is_view(op->kind) && !op->operands.empty()) {
      value = op->operands[0];
      op = ir::defining_op(program_, value);
    }
    return program_.value(value).op;
  }

  /// The allocation that a copy `op` fills: a copy into it, or a load without other uses. nullopt
  /// for other ops.
  std::optional<Filling> filling(ir::OpId id) const {
    const ir::Op& op = program_.op(id);
    const auto access = ir::memory_access(op);
    if (!access || access->space != ir::AccessSpace::global) return std::nullopt;
    if (!access->reads || access->writes) return std::nullopt;
    if (access->destination && access->by_descriptor) {
      const auto allocation = origin_of(*access->destination);
      if (!allocation) return std::nullopt;
      return Filling{id, *allocation};
    }
    if (!access->result) return std::nullopt;
    const auto& uses = program_.value(*access->result).uses;
    if (uses.size() != 1 || program_.op(uses[0].op).kind != OpKind::shared_alloc) {
      return std::nullopt;
    }
    return Filling{id, uses[0].op};
  }

  bool stores_by_descriptor(ir::OpId id) const {
    const OpKind kind = program_.op(id).kind;
    return kind == OpKind::block_store || kind == OpKind::block_update;
  }

  // --- Loop-invariant buffers --------------------------------------------------------------------

  void add_invariant_buffers() {
    const bool stores = std::any_of(when_.begin(), when_.end(), [&](const auto& entry) {
      return entry.second == When::after && stores_by_descriptor(entry.first);
    });
    for (const extract::Reserved& reserved : outcome_.reserved) {
      if (reserved.memory == "registers") continue;
      setting_.reserved.emplace_back(reserved.memory, reserved.amount);
      if (reserved.staging && stores) continue;  // the plan places staging, role by role
      add_invariant_buffer(reserved);
    }
  }

  void add_invariant_buffer(const extract::Reserved& reserved) {
    plan::Buffer buffer;
    buffer.name = reserved.what;
    const auto taken = [&](const plan::Buffer& other) { return other.name == buffer.name; };
    for (int i = 2;
         std::any_of(setting_.invariant_buffers.begin(), setting_.invariant_buffers.end(), taken);
         ++i) {
      buffer.name = reserved.what + "#" + std::to_string(i);
    }
    buffer.memory = reserved.memory;
    buffer.residence =
        reserved.memory == "TMEM" ? plan::Residence::tensor : plan::Residence::shared;
    buffer.size = reserved.amount;
    buffer.invariant_buffer = true;
    if (reserved.op) {
      invariant_buffer_of_.emplace(*reserved.op, setting_.invariant_buffers.size());
      buffer.readers = readers_of(*reserved.op);
    }
    setting_.invariant_buffers.push_back(std::move(buffer));
  }

  /// Ops of the Problem that represent an op of the Program that uses the allocation.
  std::vector<problem::OpId> readers_of(ir::OpId allocation) const {
    std::set<problem::OpId> readers;
    for (std::size_t v = 0; v < outcome_.origins.size(); ++v) {
      for (const extract::Source& source : outcome_.origins[v].sources) {
        if (uses(source.op, allocation)) readers.insert(problem::OpId(v));
      }
    }
    return {readers.begin(), readers.end()};
  }

  /// Whether an op, or an op in its regions, uses the allocation.
  bool uses(ir::OpId id, ir::OpId allocation) const {
    return std::ranges::any_of(ir::walk(program_, id), [&](ir::OpId op) {
      const auto& operands = program_.op(op).operands;
      return std::ranges::any_of(operands, [&](ir::ValueId value) {
        return is_memdesc(program_, value) && origin_of(value) == allocation;
      });
    });
  }

  // --- Per-tile ops ------------------------------------------------------------------------------

  /// The name and place of an op of the text.
  template <typename Named>
  void name(ir::OpId id, Named& named) const {
    named.what = ir::op_words(program_, id);
    named.line = program_.op(id).line;
    named.column = program_.op(id).column;
  }

  void add(ir::OpId id, When when) {
    const ir::Op& op = program_.op(id);
    // Names of memory, and allocations that a copy fills.
    const bool names =
        extract::is_view(op.kind) && !op.results.empty() && is_memdesc(program_, op.results[0]);
    if (names || filled_.contains(id)) return;
    plan::PerTileRequest request;
    request.what.when = when;
    name(id, request.what);
    for (const auto& [allocation, invariant_buffer] : invariant_buffer_of_) {
      if (allocation != id && uses(id, allocation)) request.reads.push_back(invariant_buffer);
    }
    request.what.writes = writes_global(program_, id);
    request.tensor = loop_users_of(tensor_memory_of(id));
    request.what.alone = !works_on_tiles(id);
    request.brings = request.what.alone && extract::is_read(program_, op);
    decide_mechanism(id, request);
    if (when != When::before) {
      for (const std::size_t maker : needs_[id]) request.uses.emplace_back(maker);
      request.loads = loads_beside(kernel_, outcome_, id);
    }
    for (const auto& [copy, sources] : for_copies_) {
      if (sources.contains(id)) request.copies.push_back(copy);
    }
    request.only_copies = !request.copies.empty() && !for_others_.contains(id);
    setting_.per_tile_ops.push_back(std::move(request));
  }

  /// The allocations in tensor memory that an op, or an op in its regions, writes or reads.
  std::vector<ir::OpId> tensor_memory_of(ir::OpId id) const {
    std::vector<ir::OpId> allocations;
    for (const ir::OpId at : ir::walk(program_, id)) {
      const ir::Op& op = program_.op(at);
      const auto access = ir::memory_access(op);
      if (!access || access->space != ir::AccessSpace::tensor) continue;
      const bool allocates = op.kind == OpKind::tensor_alloc;
      if (allocates && op.operands.empty()) continue;
      const auto allocation = allocates ? std::optional(at) : origin_of(access->address);
      if (allocation) allocations.push_back(*allocation);
    }
    return allocations;
  }

  std::vector<problem::OpId> loop_users_of(const std::vector<ir::OpId>& allocations) const {
    std::set<problem::OpId> users;
    for (const ir::OpId allocation : allocations) {
      for (const problem::OpId user : readers_of(allocation)) users.insert(user);
    }
    return {users.begin(), users.end()};
  }

  void decide_mechanism(ir::OpId id, plan::PerTileRequest& request) {
    const auto fills = filling(id);
    if (fills && request.what.when == When::before) {
      const auto invariant_buffer = invariant_buffer_of_.find(fills->allocation);
      if (invariant_buffer != invariant_buffer_of_.end()) {
        const bool by_descriptor = ir::memory_access(program_.op(id))->by_descriptor;
        request.what.mechanism =
            by_descriptor ? plan::Mechanism::tma_load : plan::Mechanism::cp_async;
        request.invariant_buffer = invariant_buffer->second;
        request.reads.clear();
        filled_.insert(fills->allocation);
        return;
      }
    }
    const auto access = ir::memory_access(program_.op(id));
    const bool global = access && access->space == ir::AccessSpace::global;
    if (global && access->reads && !access->writes) {
      request.what.mechanism = plan::Mechanism::scoreboard;
    }
    if (!stores_by_descriptor(id) || request.what.when != When::after || !access->source) return;
    const ir::Type type = ir::type_of(program_, *access->source);
    if (!ir::is_tensor(type)) return;
    request.what.mechanism = plan::Mechanism::bulk_store;
    request.memory = "SMEM";
    request.bytes = staged_bytes(type, ir::type_of(program_, access->address));
  }

  /// A stored tile lies in panels as wide as its swizzle. The last panel may overlap the panel
  /// before.
  static std::int64_t staged_bytes(ir::Type tile, ir::Type descriptor) {
    const std::int64_t bytes = ir::element_count(tile) * ir::element_bits(tile) / 8;
    const ir::Attribute layout = descriptor->element ? descriptor->element->encoding : nullptr;
    const auto shared = ir::nvmma_shared_encoding(layout);
    const std::int64_t row = tile->shape.back() * ir::element_bits(tile) / 8;
    if (!shared || shared->swizzle_bytes <= 0 || row <= shared->swizzle_bytes) return bytes;
    const std::int64_t panels = (row + shared->swizzle_bytes - 1) / shared->swizzle_bytes;
    return bytes / row * panels * shared->swizzle_bytes;
  }

  // --- Addresses of copies -----------------------------------------------------------------------

  /// The load of an op that threads carry out as a copy.
  std::optional<ir::OpId> copied_by(std::size_t v) const {
    if (setting_.mechanisms[v] != plan::Mechanism::cp_async) return std::nullopt;
    for (const extract::Source& source : outcome_.origins[v].sources) {
      const auto access = ir::memory_access(program_.op(source.op));
      if (access && access->space == ir::AccessSpace::global &&
          ir::is_tensor(ir::type_of(program_, access->address))) {
        return source.op;
      }
    }
    return std::nullopt;
  }

  /// All sources of the operands of `ops`; stops at values that `stops` load.
  std::set<ir::OpId> behind(const std::vector<ir::OpId>& ops,
                            const std::set<ir::OpId>& stops) const {
    std::set<ir::OpId> found;
    std::set<ir::ValueId> seen;
    std::vector<ir::ValueId> open;
    const auto read_by = [&](ir::OpId op) {
      const auto& operands = program_.op(op).operands;
      open.insert(open.end(), operands.begin(), operands.end());
    };
    for (const ir::OpId op : ops) read_by(op);
    while (!open.empty()) {
      const ir::ValueId value = open.back();
      open.pop_back();
      if (!seen.insert(value).second) continue;
      const ir::Value& it = program_.value(value);
      const ir::OpId from = it.op ? *it.op : program_.region(program_.block(*it.block).region).op;
      if (const auto loop = ir::as_loop(program_, from)) {
        for (const ir::Carried& carried : loop->carried) {
          if (carried.argument != value && carried.result != value) continue;
          open.push_back(carried.init);
          open.push_back(carried.yielded);
        }
        continue;
      }
      if (!it.op || stops.contains(from) || !found.insert(from).second) continue;
      for (const ir::OpId inner : ir::walk(program_, from)) read_by(inner);
    }
    return found;
  }

  /// Assigns ops before the loop that only make addresses of copies to the roles that copy.
  void find_addresses() {
    std::set<ir::OpId> loads;
    std::vector<ir::OpId> others;
    for (std::size_t v = 0; v < outcome_.origins.size(); ++v) {
      if (const auto load = copied_by(v)) loads.insert(*load);
    }
    for (std::size_t v = 0; v < outcome_.origins.size(); ++v) {
      const auto load = copied_by(v);
      if (load) {
        for_copies_.emplace(problem::OpId(v), behind({*load}, {}));
        continue;
      }
      for (const extract::Source& source : outcome_.origins[v].sources) others.push_back(source.op);
    }
    if (loads.empty()) return;
    for (const auto& [op, when] : when_) {
      const bool acts = program_.op(op).results.empty() || !program_.op(op).regions.empty() ||
                        writes_global(program_, op) || filling(op).has_value();
      if (when != When::before || acts) others.push_back(op);
      if (when == When::before && acts) for_others_.insert(op);
    }
    for_others_.merge(behind(others, loads));
  }

  plan::Place place_of(ir::OpId op) const {
    return {ir::op_words(program_, op), program_.op(op).line, program_.op(op).column};
  }

  /// The ops of the Problem that represent any of these ops; skips ops that only forward values.
  std::vector<problem::OpId> standing_for(const std::vector<ir::OpId>& any) const {
    std::vector<problem::OpId> ops;
    for (std::size_t v = 0; v < outcome_.origins.size(); ++v) {
      const extract::OpOrigin& origin = outcome_.origins[v];
      const bool stands = std::any_of(
          origin.sources.begin(), origin.sources.end(), [&](const extract::Source& source) {
            return std::find(any.begin(), any.end(), source.op) != any.end();
          });
      if (stands && !origin.forwards) ops.emplace_back(v);
    }
    return ops;
  }

  void find_row_sums() {
    const auto loop = ir::as_loop(program_, kernel_.choice.loop);
    if (!loop) return;
    for (const ir::RowSum& sum : ir::row_sums(program_, *loop)) {
      setting_.row_sums.push_back({place_of(sum.reduction), place_of(sum.addition),
                                   standing_for(sum.ops), standing_for({sum.addition})});
    }
  }

  // --- Results of the loop -----------------------------------------------------------------------

  Result<void> find_needs() {
    std::vector<std::vector<extract::Source>> sources;
    for (const extract::OpOrigin& origin : outcome_.origins) {
      setting_.shares.push_back({origin.part, origin.row_begin, origin.row_end});
      sources.push_back(origin.sources);
    }
    TWILL_TRY(const extract::Body body, extract::straighten(program_, kernel_.choice.loop));
    needs_ = extract::needs_behind(body, sources);
    for (const auto& [op, readers] : extract::needed_beside(body, sources)) {
      plan::Rematerialized value;
      name(op, value);
      for (const std::size_t reader : readers) value.readers.emplace_back(reader);
      setting_.rematerialized.push_back(std::move(value));
    }
    find_tensor_needs();
    return {};
  }

  /// Gives epilogue reads of tensor memory to the roles that hold the loop values with which they
  /// are combined; without such values, to the roles that access that allocation in the loop.
  void find_tensor_needs() {
    std::map<ir::OpId, extract::Makers> reads;
    for (const auto& [op, when] : when_) {
      const auto users = loop_users_of(tensor_memory_of(op));
      if (when == When::before || users.empty()) continue;
      extract::Makers needs;
      const std::set<ir::OpId> behind = computed_from(op);
      for (const ir::OpId next : behind) needs.insert(needs_[next].begin(), needs_[next].end());
      if (needs.empty()) {
        for (const problem::OpId user : users) needs.insert(user.index());
      }
      reads.emplace(op, std::move(needs));
    }
    std::map<ir::OpId, extract::Makers> more;
    for (const auto& [read, needs] : reads) {
      for (const ir::OpId next : computed_from(read)) {
        if (needs_[next].empty()) more[next].insert(needs.begin(), needs.end());
      }
    }
    for (auto& [op, needs] : more) needs_[op] = std::move(needs);
  }

  /// An op after the loop, and all ops that depend on it.
  std::set<ir::OpId> computed_from(ir::OpId op) const {
    std::set<ir::OpId> found = {op};
    for (auto it = when_.find(op); it != when_.end(); ++it) {
      for (const ir::OpId inner : ir::walk(program_, it->first)) {
        const auto& operands = program_.op(inner).operands;
        const bool uses = std::any_of(operands.begin(), operands.end(), [&](ir::ValueId operand) {
          const auto from = program_.value(operand).op;
          return from && found.contains(*from);
        });
        if (uses) found.insert(it->first);
      }
    }
    return found;
  }

  plan::Setting& setting_;
  const Kernel& kernel_;
  const ir::Program& program_;
  const report::Outcome& outcome_;
  std::map<ir::OpId, When> when_;
  std::map<ir::OpId, std::size_t> invariant_buffer_of_;     // by allocation
  std::set<ir::OpId> filled_;                               // allocations that a copy fills
  std::map<ir::OpId, extract::Makers> needs_;               // by op after the loop
  std::map<problem::OpId, std::set<ir::OpId>> for_copies_;  // by copy: the sources of its address
  std::set<ir::OpId> for_others_;                           // the sources of all other ops
  bool in_loop_ = false;
};

}  // namespace

Result<void> add_per_tile_ops(plan::Setting& setting, const Kernel& kernel,
                              const report::Outcome& outcome, TileWalk tiles) {
  return SettingBuilder(setting, kernel, outcome).run(tiles);
}

}  // namespace twill::driver
