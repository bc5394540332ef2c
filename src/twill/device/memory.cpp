#include "twill/device/memory.h"

#include <algorithm>
#include <utility>

#include "twill/device/thread_copies.h"
#include "twill/dialect/register_layouts.h"
#include "twill/extract/copied.h"
#include "twill/ir/encoding.h"
#include "twill/ir/operands.h"
#include "twill/plan/buffers.h"
#include "twill/plan/rings.h"

namespace twill::device {
namespace {

class Layout {
 public:
  Layout(const Sketch& sketch, Kernel& kernel) : sketch_(sketch), kernel_(kernel) {}

  Result<Memory> all() {
    TWILL_TRY_VOID(rings());
    for (std::size_t i = 0; i < plan().channels.size(); ++i) {
      TWILL_TRY_VOID(channel(plan::ChannelId(i)));
    }
    TWILL_TRY_VOID(boxes());
    briefs();
    memory_.setup.push_back({NodeKind::proxy_fence});
    return std::move(memory_);
  }

  /// Finds stores that need boxes.
  Result<std::vector<plan::WholeStore>> stores(const Parts& parts) {
    TWILL_TRY_VOID(rings());
    std::vector<plan::WholeStore> found;
    std::map<std::pair<ir::Type, plan::PerTileOp::When>, std::size_t> kinds;
    for (std::size_t i = 0; i < around().size(); ++i) {
      if (!is_boxed(i)) continue;
      TWILL_TRY(const ir::Type type, sketch_.box_type(sketch_.per_tile_op(i)));
      plan::WholeStore store{
          i,
          kinds.try_emplace({type, around()[i].when}, kinds.size()).first->second,
          ir::byte_size(type),
          rings_below(i, type, parts),
          {}};
      if (parts.boxes_in_invariant_buffers) store.place = invariant_buffer_like(type);
      found.push_back(std::move(store));
    }
    return found;
  }

 private:
  const plan::Plan& plan() const { return sketch_.plan(); }
  const std::vector<plan::PerTileOp>& around() const { return plan().kernel->per_tile_ops; }

  Result<void> rings() {
    TWILL_TRY_VOID(loads());
    TWILL_TRY_VOID(invariant_buffers());
    return written();
  }

  ValueId add(const std::string& name, ir::Type type) {
    kernel_.values.push_back({name, type});
    return ValueId(kernel_.values.size() - 1);
  }

  ValueId allocate(const std::string& name, ir::Type type) {
    const ValueId value = add(name, type);
    memory_.setup.push_back({NodeKind::allocate, {}, {value}});
    return value;
  }

  void add_ring(plan::BufferId id, ir::Type one, bool single) {
    if (memory_.rings.contains(id)) return;
    const plan::Buffer& buffer = plan()[id];
    std::vector<std::int64_t> shape = one->shape;
    if (!single) shape.insert(shape.begin(), buffer.depth);
    const ir::Type all = sketch_.buffer(shape, one->element, one->encoding);
    const std::string name = single ? "kept" + std::to_string(id.index()) : buffer.name;
    memory_.rings[id] = {allocate(name, all), one, buffer.depth, single};
  }

  /// Lays out rings for loads in the loop.
  Result<void> loads() {
    for (std::size_t i = 0; i < plan().mechanisms.size(); ++i) {
      if (!plan::is_copy(plan().mechanisms[i])) continue;
      const OpId op(i);
      TWILL_TRY(const ir::OpId load, sketch_.load_of(op));
      if (sketch_.origin(op).part >= 0) return sketch_.refuse(load, "is loaded in parts");
      if (!plan().values[i].home) return sketch_.refuse(load, "is loaded to nowhere");
      TWILL_TRY(const ir::Type type, sketch_.memory_type(load));
      add_ring(*plan().values[i].home, type, false);
    }
    return {};
  }

  /// Lays out buffers for loads before the loop, which stay through the loop.
  Result<void> invariant_buffers() {
    for (std::size_t i = 0; i < around().size(); ++i) {
      if (!plan::is_copy(around()[i].mechanism)) continue;
      const ir::OpId op = sketch_.per_tile_op(i);
      TWILL_TRY(const ir::OpId load, loaded_by(op));
      TWILL_TRY(const ir::Type type, sketch_.memory_type(load));
      const plan::BufferId buffer = around()[i].buffers.front();
      add_ring(buffer, type, !sketch_.walks() || plan()[buffer].depth == 1);
      memory_.invariant_buffers[i] = sketch_.program().op(load).results.front();
    }
    return {};
  }

  /// The load of the entry that allocates the loaded tile.
  Result<ir::OpId> loaded_by(ir::OpId id) {
    const ir::Op& op = sketch_.program().op(id);
    if (ir::class_of(op.kind) == ir::OpClass::load) return id;
    const auto access = ir::memory_access(op);
    if (access && access->source) {
      const auto source = sketch_.definition(sketch_.behind_relayouts(*access->source));
      if (source && ir::class_of(sketch_.program().op(*source).kind) == ir::OpClass::load) {
        return *source;
      }
    }
    return sketch_.refuse(id, "is copied into shared memory, and is no load");
  }

  /// Lays out tiles that roles write in the loop: operands of products, and values for other roles.
  Result<void> written() {
    for (std::size_t i = 0; i < plan().values.size(); ++i) {
      const OpId op(i);
      const plan::Value& value = plan().values[i];
      const Deed& deed = sketch_.deed(op);
      if (deed.puts && value.home) {
        TWILL_TRY(const ir::Type type, operand_type(op, *deed.puts));
        add_ring(*value.home, type, false);
      }
      if (deed.boxes) {
        const auto access = *ir::memory_access(sketch_.program().op(*deed.boxes));
        TWILL_TRY(const ir::Type type, sketch_.box_type(*deed.boxes));
        TWILL_TRY_VOID(add_joint(*value.home, {*access.source, *deed.boxes}, type));
      } else if (!deed.puts && deed.moves) {
        const ir::Type type = staging(tile_type(*deed.moves));
        TWILL_TRY_VOID(add_joint(*value.home, {*deed.moves, {}}, type));
      }
      const ir::OpId blamed = sketch_.origin(op).sources.front().op;
      const bool stands_for_tile = deed.puts || deed.boxes || deed.moves;
      if (sketch_.origin(op).forwards && sketch_.is_in_shared(op) && !stands_for_tile) {
        return sketch_.refuse(blamed, "reads what a group moves on to another group",
                              "choose a pool with fewer groups (--pool)");
      }
      if (!value.staged) continue;
      const auto tile = deed.value;
      if (!tile) return sketch_.refuse(blamed, "is read by another group, and has no tile");
      const auto uses = extract::allocations_of(sketch_.program(), *tile);
      if (value.format != plan::StagingFormat::operand) {
        TWILL_TRY(const ir::Type type, piece_of(op, *tile));
        add_ring(*value.staged, staging(type), false);
      } else if (!uses.empty()) {
        TWILL_TRY(const ir::Type type, operand_type(op, uses.front()));
        add_ring(*value.staged, type, false);
      } else {  // a product reads it from registers
        TWILL_TRY_VOID(add_joint(*value.staged, {*tile, {}}, staging(tile_type(*tile))));
      }
    }
    return {};
  }

  ir::Type tile_type(ir::ValueId value) { return ir::type_of(sketch_.program(), value); }

  /// Type of a tile in shared memory that threads write and read.
  ir::Type staging(ir::Type type) {
    const ir::Attribute layout =
        dialect::staging_layout(sketch_.types(), type->shape.size(), ir::element_bits(type));
    return sketch_.buffer(type->shape, type->element, layout);
  }

  /// A tile whose parts several ops of the plan write into one buffer. All roles, or one store, can
  /// then read the whole tile.
  using Joint = std::pair<ir::ValueId, ir::OpId>;
  Result<void> add_joint(plan::BufferId id, Joint what, ir::Type one) {
    const auto known = joint_.find(what);
    if (known != joint_.end()) {
      const Ring& ring = memory_.rings.at(known->second);
      if (ring.depth != plan()[id].depth) {
        return sketch_.refuse(*sketch_.definition(what.first),
                              "has parts with rings of two depths");
      }
      memory_.rings[id] = ring;
      return {};
    }
    add_ring(id, one, false);
    memory_.rings.at(id).joint = true;
    joint_[what] = id;
    return {};
  }

  /// Type of the rows of a value that an op of the plan makes.
  Result<ir::Type> piece_of(OpId op, ir::ValueId value) {
    const int cut = sketch_.origin(op).part < 0 ? -1 : sketch_.cut_of(value);
    return sketch_.type_of(value, cut, 4);
  }

  /// Type of a tile that the tensor core reads, with the layout of the text.
  Result<ir::Type> operand_type(OpId op, ir::OpId allocation) {
    const ir::ValueId memory = sketch_.program().op(allocation).results.front();
    TWILL_TRY(const ir::Type type, piece_of(op, memory));
    return sketch_.buffer(type->shape, type->element, type->encoding);
  }

  Ring barriers(const std::string& name, int depth, std::int64_t arrivals) {
    const Ring ring{allocate(name, sketch_.barriers(depth)), sketch_.barriers(0), depth};
    for (int i = 0; i < depth; ++i) {
      const ValueId one = add(name + "_" + std::to_string(i), ring.one);
      memory_.setup.push_back({NodeKind::element, {ring.value, number(i)}, {one}});
      memory_.setup.push_back({NodeKind::init_barrier, {one}, {}, {arrivals}});
    }
    return ring;
  }

  Ring barrier(const std::string& name, std::int64_t arrivals) {
    const Ring ring{allocate(name, sketch_.barriers(0)), sketch_.barriers(0), 1, true};
    memory_.setup.push_back({NodeKind::init_barrier, {ring.value}, {}, {arrivals}});
    return ring;
  }

  ValueId number(int value) {
    const auto known = numbers_.find(value);
    if (known != numbers_.end()) return known->second;
    const ValueId made = add("c" + std::to_string(value), sketch_.i32());
    memory_.setup.push_back({NodeKind::constant, {}, {made}, {value}});
    return numbers_[value] = made;
  }

  /// Arrivals at full barriers. A role that expects the bytes or commits arrives once. For each
  /// copy by threads every thread arrives, or the role where the copy goes through registers.
  Result<std::int64_t> full_arrivals(plan::ChannelId id) {
    const plan::Role& producer = plan()[plan()[id].producer];
    std::int64_t arrivals = 0;
    for (const auto* steps : {&producer.before, &producer.sections.steady}) {
      for (const plan::Step& step : *steps) {
        if (step.kind != plan::StepKind::issue || step.channel != id) continue;
        const plan::Mechanism how = step.op
                                        ? plan().mechanisms[step.op->index()]
                                        : plan().kernel->per_tile_ops[*step.per_tile_op].mechanism;
        if (how != plan::Mechanism::cp_async) continue;
        ir::OpId load;
        if (step.op) {
          TWILL_TRY(load, sketch_.load_of(*step.op));
        } else {
          load = *sketch_.definition(memory_.invariant_buffers.at(*step.per_tile_op));
        }
        arrivals += fits_cp_async(sketch_.program(), load) ? 32 * producer.warps : 1;
      }
    }
    return arrivals > 0 ? arrivals : 1;
  }

  std::int64_t releases_of(plan::ChannelId id) {
    std::int64_t count = 0;
    for (std::size_t r = 0; r < plan().roles.size(); ++r) {
      count += plan::releases(plan(), plan::RoleId(r), id);
    }
    return count;
  }

  /// Lays out the barriers of a channel. A role arrives as one: Triton puts a barrier of its warps
  /// in front.
  Result<void> channel(plan::ChannelId id) {
    const plan::Channel& channel = plan()[id];
    if (channel.kind == plan::ChannelKind::token || is_to_sender(id)) return {};
    const bool tile = channel.counts == plan::Channel::Counts::tiles;
    TWILL_TRY(const std::int64_t arrivals, full_arrivals(id));
    memory_.full[id] = barriers(channel.name + "_full", channel.depth, arrivals);
    if (channel.empty_arrivals > 0 && (!tile || sketch_.walks())) add_empty(id);
    return {};
  }

  void add_empty(plan::ChannelId id) {
    memory_.empty[id] = barriers(plan()[id].name + "_empty", plan()[id].depth, releases_of(id));
  }

  /// Invariant buffers with a tile of that type, which are free once all roles have released the
  /// tile. Empty where the next tile takes its place.
  std::optional<plan::BufferId> invariant_buffer_like(ir::Type type) {
    for (std::size_t i = 0; i < plan().channels.size() && !sketch_.walks(); ++i) {
      const plan::ChannelId id(i);
      const plan::Channel& channel = plan()[id];
      const bool stays = channel.counts == plan::Channel::Counts::tiles;
      if (!stays || channel.buffers.size() != 1 || releases_of(id) == 0) continue;
      const auto ring = memory_.rings.find(channel.buffers.front());
      if (ring != memory_.rings.end() && ring->second.one == type) return ring->first;
    }
    return std::nullopt;
  }

  /// Rings with room for a box that are empty at the store. A loop behind the store may also load
  /// through rings.
  std::vector<plan::BufferId> rings_below(std::size_t index, ir::Type box, const Parts& parts) {
    std::vector<plan::BufferId> found;
    for (std::size_t i = index + 1; i < around().size(); ++i) {
      if (is_region(sketch_.program().op(sketch_.per_tile_op(i)))) return {};
    }
    for (const auto& [id, ring] : memory_.rings) {
      if (!plan()[id].invariant_buffer && fits(box, ring, parts)) found.push_back(id);
    }
    return found;
  }

  /// Whether a ring has room for a box, and the alignment for its swizzle.
  bool fits(ir::Type box, const Ring& ring, const Parts& parts) const {
    const auto wanted = ir::nvmma_shared_encoding(box->encoding);
    const auto given = ir::nvmma_shared_encoding(ring.one->encoding);
    const std::int64_t room = ir::byte_size(kernel_[ring.value].type);
    return wanted && given && wanted->swizzle_bytes <= given->swizzle_bytes &&
           (parts.parts_of_rings ? ir::byte_size(box) <= room : ir::byte_size(box) == room);
  }

  /// Whether the channel leads from a role that fills a box to the role that stores the box.
  bool is_to_sender(plan::ChannelId id) const {
    const auto& buffers = plan()[id].buffers;
    return std::any_of(around().begin(), around().end(), [&](const plan::PerTileOp& it) {
      return it.sender && buffers == it.buffers && plan()[id].consumers.front() == *it.sender;
    });
  }

  /// Lays out boxes where the plan has them, and the barriers between roles that fill and roles
  /// that store.
  Result<void> boxes() {
    std::map<plan::BufferId, std::pair<ValueId, std::size_t>> known;  // and its last op
    for (std::size_t i = 0; i < around().size(); ++i) {
      if (!around()[i].sender) continue;
      const plan::BufferId id = around()[i].buffers.front();
      const std::string name = "store" + std::to_string(i);
      Box box{sketch_.per_tile_op(i), {}};
      const auto before = known.find(id);
      if (before != known.end()) {
        add_free(before->second.second);
        box.value = before->second.first;
      } else {
        TWILL_TRY(const ir::Type type, sketch_.box_type(box.store));
        box.value = place_of_box(id, name, type);
      }
      known[id] = {box.value, i};
      const auto arrivals = static_cast<std::int64_t>(around()[i].roles.size());
      join(i, memory_.full, barrier(name + "_full", arrivals));
      memory_.boxes.emplace(i, box);
    }
    for (const auto& [id, last] : known) add_free(last.second);
    return {};
  }

  /// Memory of a box: a part of a ring, a tile that is no longer used, or memory of its own.
  ValueId place_of_box(plan::BufferId id, const std::string& name, ir::Type type) {
    for (const auto& [under, ring] : memory_.rings) {
      const plan::Buffer &box = plan()[id], &below = plan()[under];
      const bool room = ir::byte_size(type) <= ir::byte_size(kernel_[ring.value].type);
      if (!room || box.offset != below.offset || !plan::share_addresses(box, below)) continue;
      if (plan()[under].invariant_buffer) {
        for (std::size_t c = 0; c < plan().channels.size(); ++c) {
          if (plan().channels[c].buffers == std::vector{under}) add_empty(plan::ChannelId(c));
        }
        return ring.value;
      }
      const ValueId value = add(name, type);
      memory_.setup.push_back({NodeKind::overlay, {ring.value}, {value}});
      return value;
    }
    return allocate(name, type);
  }

  /// Gives the channels of all roles that fill a box the same barrier.
  void join(std::size_t i, std::map<plan::ChannelId, Ring>& side, const Ring& ring) {
    for (const plan::ChannelId channel : plan::channels_to_sender(plan(), i)) side[channel] = ring;
  }

  /// Adds the barrier by which roles that fill a box learn that the box is free again, if the plan
  /// has one.
  void add_free(std::size_t i) {
    const auto channels = plan::channels_to_sender(plan(), i);
    if (plan()[channels.front()].empty_arrivals == 0) return;
    join(i, memory_.empty, barrier("store" + std::to_string(i) + "_free", 1));
  }

  /// Lays out buffers for the results of effects that one role has for all roles. The warp that
  /// stores boxes of several tiles reads these buffers, too.
  void briefs() {
    for (std::size_t i = 0; i < plan().kernel->per_tile_ops.size(); ++i) {
      const auto told = plan().kernel->per_tile_ops[i].told;
      if (!told) continue;
      for (const ir::ValueId result : sketch_.program().op(sketch_.per_tile_op(i)).results) {
        if (sketch_.program().value(result).uses.empty()) continue;
        const ir::Type type = ir::type_of(sketch_.program(), result);
        const ir::Attribute layout = dialect::staging_layout(sketch_.types(), 1, type->bits);
        const std::string name = "brief" + std::to_string(i);
        memory_.briefs[*told].push_back(
            {result, allocate(name, sketch_.buffer({1}, type, layout))});
      }
    }
  }

  bool is_boxed(std::size_t i) const {
    return plan().kernel->per_tile_ops[i].mechanism == plan::Mechanism::bulk_store ||
           is_in_parts(sketch_.per_tile_op(i));
  }

  /// Whether several groups have rows of a box that the text stores by threads.
  bool is_in_parts(ir::OpId id) const {
    const ir::Op& op = sketch_.program().op(id);
    const auto access = ir::memory_access(op);
    const bool stores = op.kind == ir::OpKind::block_store || op.kind == ir::OpKind::block_update;
    return stores && access && access->source && sketch_.where(id) == Where::after &&
           sketch_.cut_of(*access->source) >= 0;
  }

  const Sketch& sketch_;
  Kernel& kernel_;
  Memory memory_;
  std::map<int, ValueId> numbers_;
  std::map<Joint, plan::BufferId> joint_;
};

}  // namespace

Result<Memory> lay_out(const Sketch& sketch, Kernel& kernel) {
  return Layout(sketch, kernel).all();
}

Result<std::vector<plan::WholeStore>> whole_stores(const Sketch& sketch, const Parts& parts) {
  Kernel unused;
  return Layout(sketch, unused).stores(parts);
}

}  // namespace twill::device
