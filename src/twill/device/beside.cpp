#include <algorithm>

#include "twill/device/sketch.h"
#include "twill/dialect/register_layouts.h"
#include "twill/ir/effects.h"
#include "twill/ir/operands.h"
#include "twill/ir/runs.h"

/// Loops behind the planned one that work on tiles. They run in the same roles, one step after the
/// other; what they load comes through the rings of the planned loop, which go on.
namespace twill::device {

using ir::OpKind;

std::optional<OpId> Sketch::ring_of(ir::ValueId value) const {
  const auto found = again_.find(value);
  return found == again_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<ir::OpId> Sketch::loads_of(ir::OpId loop) const {
  std::vector<ir::OpId> loads;
  for (const ir::OpId id : ir::walk(*program_, loop)) {
    const auto& results = program_->op(id).results;
    if (!results.empty() && again_.contains(results.front())) loads.push_back(id);
  }
  return loads;
}

bool Sketch::fits_cp_async(ir::OpId load) const {
  constexpr std::int64_t kFewestBits = 32;
  const ir::Op& op = program_->op(load);
  const ir::Type tile = ir::type_of(*program_, op.results.front());
  const auto access = ir::memory_access(op);
  if (access && access->other && ir::constant_number(*program_, *access->other) != 0.0)
    return false;
  const std::int64_t elements = kFewestBits / std::max(1, ir::element_bits(tile));
  if (elements <= 1) return true;
  const auto near = dialect::neighbours_of(tile->encoding);
  const auto memory = memory_type(load);
  return near && access && near->count >= elements && memory &&
         ir::fastest_dimension(*memory) == near->dimension &&
         ir::in_one_piece(*program_, *access, near->dimension, elements);
}

Result<plan::ChannelId> Sketch::channel_of(OpId copy) const {
  const auto home = plan_->values[copy.index()].home;
  for (std::size_t i = 0; i < plan_->channels.size() && home; ++i) {
    const plan::Channel& channel = plan_->channels[i];
    const auto& buffers = channel.buffers;
    const bool guards = std::find(buffers.begin(), buffers.end(), *home) != buffers.end();
    if (guards && channel.kind == plan::ChannelKind::pipeline) return plan::ChannelId(i);
  }
  return refuse(loop_.op, "has a ring without a channel: " + plan_->problem[copy].name);
}

std::ptrdiff_t Sketch::releases(const plan::Role& role, plan::ChannelId channel) const {
  const auto is_release = [&](const plan::Step& step) {
    return step.kind == plan::StepKind::release && step.channel == channel;
  };
  const bool by_tile = (*plan_)[channel].counts == plan::Channel::Counts::tiles;
  const auto& steps = by_tile ? role.after : role.sections.steady;
  return std::count_if(steps.begin(), steps.end(), is_release);
}

/// Values that some values of a loop are made of in the loop, and in the iterations before.
std::set<ir::ValueId> Sketch::made_of(const ir::Loop& loop, std::vector<ir::ValueId> todo) const {
  const std::vector<ir::OpId> all = ir::walk(*program_, loop.op);
  std::set<ir::ValueId> found;
  while (!todo.empty()) {
    const ir::ValueId value = todo.back();
    todo.pop_back();
    if (!found.insert(value).second) continue;
    for (const ir::Carried& carried : loop.carried) {
      if (carried.argument == value) todo.push_back(carried.yielded);
    }
    const auto by = definition(value);
    const bool inside = by && std::find(all.begin() + 1, all.end(), *by) != all.end();
    if (!inside || ring_of(value)) continue;
    for (const ir::OpId inner : ir::walk(*program_, *by)) {
      const auto& operands = program_->op(inner).operands;
      todo.insert(todo.end(), operands.begin(), operands.end());
    }
  }
  return found;
}

std::set<ir::ValueId> Sketch::made_for_loads(const ir::Loop& loop) const {
  std::vector<ir::ValueId> places;
  for (const ir::OpId load : loads_of(loop.op)) {
    const auto& operands = program_->op(load).operands;
    places.insert(places.end(), operands.begin(), operands.end());
  }
  return made_of(loop, std::move(places));
}

std::set<ir::ValueId> Sketch::made_for_others(const ir::Loop& loop) const {
  std::vector<ir::ValueId> wanted;
  for (const ir::Carried& carried : loop.carried) {
    const bool is_read = carried.result && !program_->value(*carried.result).uses.empty();
    if (is_read) wanted.push_back(carried.argument);
  }
  const auto acts = [&](ir::OpId id) {
    return ir::effect_of(program_->op(id)) != ir::Effect::none || ir::is_effect(*program_, id);
  };
  for (const ir::OpId top : program_->block(loop.body).ops) {
    const std::vector<ir::OpId> inner = ir::walk(*program_, top);
    if (std::none_of(inner.begin(), inner.end(), acts)) continue;
    for (const ir::OpId id : inner) {
      const ir::Op& op = program_->op(id);
      wanted.insert(wanted.end(), op.operands.begin(), op.operands.end());
      wanted.insert(wanted.end(), op.results.begin(), op.results.end());
    }
  }
  return made_of(loop, std::move(wanted));
}

/// Whether a role that only loads can make the places of a load. They are made of what is loaded,
/// but not of products or of what comes through rings.
bool Sketch::can_be_brought(ir::OpId load, const ir::Loop& loop) const {
  if (ir::parent(*program_, load) != loop.op) return false;
  const auto places = made_of(loop, program_->op(load).operands);
  return std::all_of(places.begin(), places.end(), [&](ir::ValueId value) {
    const auto by = definition(value);
    if (!depends(value) || !by) return true;
    const ir::OpKind kind = program_->op(*by).kind;
    return kind == OpKind::load || ir::is_pure(*program_, *by);
  });
}

/// Whether a load of another loop brings the same kind of tile as a load of the planned loop, in
/// the same manner.
Result<bool> Sketch::is_like(ir::OpId load, ir::OpId planned) const {
  const ir::Op &a = program_->op(load), &b = program_->op(planned);
  if (a.kind != b.kind) return false;
  if (a.kind == OpKind::block_load && a.operands.front() != b.operands.front()) return false;
  if (a.kind == OpKind::load && fits_cp_async(load) != fits_cp_async(planned)) {
    return false;
  }
  TWILL_TRY(const ir::Type type, memory_type(load));
  TWILL_TRY(const ir::Type brought, memory_type(planned));
  return type == brought;
}

/// The planned loop's ring for each load of a loop behind it, which `roles` carry out. It brings
/// the same tile, by the same descriptor if there is one. Nothing if a load by descriptor has none,
/// or if a channel brings more than the loop loads. Nothing also unless the roles are the channel's
/// readers, and each releases once an iteration. A reader is none if the loading role learns of its
/// end by another channel.
Result<std::map<ir::ValueId, OpId>> Sketch::rings_for(
    ir::OpId loop, const std::vector<plan::RoleId>& roles) const {
  std::map<ir::ValueId, OpId> free = copied_, found;
  std::set<plan::BufferId> used;
  for (const ir::OpId load : ir::walk(*program_, loop)) {
    const ir::OpKind kind = program_->op(load).kind;
    if (kind != OpKind::block_load && kind != OpKind::load) continue;
    const ir::ValueId tile = program_->op(load).results.front();
    if (!is_tile(ir::type_of(*program_, tile))) continue;
    std::optional<ir::ValueId> like;
    for (const auto& [other, copy] : free) {
      TWILL_TRY(const bool alike, is_like(load, *definition(other)));
      if (!like && alike) like = other;
    }
    if (!like || !can_be_brought(load, *ir::as_loop(*program_, loop))) {
      if (kind == OpKind::block_load) return std::map<ir::ValueId, OpId>();
      continue;  // done by each role that needs it
    }
    found[tile] = free.at(*like);
    used.insert(*plan_->values[free.at(*like).index()].home);
    free.erase(*like);
  }
  for (std::size_t i = 0; i < plan_->channels.size(); ++i) {
    const plan::Channel& channel = plan_->channels[i];
    const auto is_used = [&](plan::BufferId buffer) { return used.contains(buffer); };
    const auto releases_once = [&](plan::RoleId role) {
      return releases((*plan_)[role], plan::ChannelId(i)) == 1;
    };
    const auto& buffers = channel.buffers;
    const auto& readers = channel.consumers;
    const bool same_readers =
        std::is_permutation(readers.begin(), readers.end(), roles.begin(), roles.end());
    if (std::none_of(buffers.begin(), buffers.end(), is_used)) continue;
    if (!std::all_of(buffers.begin(), buffers.end(), is_used)) found.clear();
    if (!same_readers) found.clear();
    if (!std::all_of(readers.begin(), readers.end(), releases_once)) found.clear();
  }
  return found;
}

/// Whether a ring of the planned loop stays where it is while others of its depth go on: roles
/// count slots and phases by depth.
bool Sketch::leaves_rings_behind(const std::map<ir::ValueId, OpId>& rings) const {
  std::set<plan::BufferId> used;
  std::set<int> depths;
  for (const auto& [value, copy] : rings) {
    const plan::BufferId home = *plan_->values[copy.index()].home;
    used.insert(home);
    depths.insert((*plan_)[home].depth);
  }
  const auto& channels = plan_->channels;
  return std::any_of(channels.begin(), channels.end(), [&](const plan::Channel& channel) {
    const auto& buffers = channel.buffers;
    return channel.kind != plan::ChannelKind::token && depths.contains(channel.depth) &&
           channel.counts == plan::Channel::Counts::iterations &&
           std::none_of(buffers.begin(), buffers.end(),
                        [&](plan::BufferId buffer) { return used.contains(buffer); });
  });
}

/// Finds rings for what loops behind the planned one load. What has none is waited for by the role
/// that needs it.
Result<void> Sketch::find_beside() {
  bool left_behind = false;
  for (std::size_t i = 0; i < per_tile_ops_.size(); ++i) {
    const ir::OpId id = per_tile_ops_[i];
    const bool works = ir::is_loop(program_->op(id).kind) && !only_reads(*program_, id);
    if (!works || where(id) == Where::before) continue;
    TWILL_TRY(const auto rings, rings_for(id, plan_->kernel->per_tile_ops[i].roles));
    const bool leaves = leaves_rings_behind(rings);
    if (left_behind || (leaves && walks())) continue;
    left_behind = leaves;
    again_.insert(rings.begin(), rings.end());
  }
  return {};
}

}  // namespace twill::device
