#include <cstdint>
#include <utility>

#include "twill/plan/json.h"
#include "twill/plan/json_node.h"
#include "twill/schedule/loop_text.h"

namespace twill::plan {
namespace {

using Names = PlanNames;
using Node = PlanJson;

constexpr const char* kFormat = "twill-plan";

template <class Items>
Names index_of(const Items& items) {
  Names names;
  for (std::size_t i = 0; i < items.size(); ++i) names.emplace(items[i].name, i);
  return names;
}

Result<Names> names_in(const Node& holder, const char* table) {
  TWILL_TRY(const std::vector<Node> nodes, holder.list(table));
  Names names;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    TWILL_TRY(const std::string name, nodes[i].text("name"));
    if (!names.emplace(name, i).second) return nodes[i].wrong("is a second '" + name + "'");
  }
  return names;
}

/// The tables to which references go.
struct Known {
  Names ops, groups, roles, buffers, channels;
};

/// The id to which the member `name` refers.
template <class AnyId>
Result<AnyId> read_id(const Node& node, const char* name, const Names& known) {
  TWILL_TRY(const std::size_t index, node.reference(name, known));
  return AnyId(index);
}

/// The same, if the member exists and is not null.
template <class AnyId>
Result<std::optional<AnyId>> read_optional(const Node& node, const char* name, const Names& known) {
  TWILL_TRY(const Node member, node.at(name));
  if (member.is_null()) return std::nullopt;
  return read_id<AnyId>(node, name, known);
}

template <class Item, class Read>
Result<void> read_each(const std::vector<Node>& nodes, const Known& scope, Read read,
                       std::vector<Item>& items) {
  for (const Node& node : nodes) {
    TWILL_TRY(Item item, read(node, scope));
    items.push_back(std::move(item));
  }
  return {};
}

template <class Item, class Read>
Result<void> read_all(const Node& holder, const char* name, const Known& scope, Read read,
                      std::vector<Item>& items) {
  TWILL_TRY(const std::vector<Node> nodes, holder.list(name));
  return read_each(nodes, scope, read, items);
}

Result<Step> read_step(const Node& node, const Known& scope) {
  using K = StepKind;
  using F = Instance::From;
  Step step;
  TWILL_TRY(step.kind, node.named("do", {K::compute, K::issue, K::stage, K::acquire, K::expect,
                                         K::commit, K::wait, K::release, K::peek, K::drain_groups,
                                         K::pass, K::take, K::rendezvous, K::fence, K::leave}));
  TWILL_TRY(step.instance.from, node.named("from", {F::first, F::window, F::last, F::tile}));
  TWILL_TRY(step.instance.offset, node.small("offset"));
  if (node.has("op")) {
    TWILL_TRY(step.op, read_id<OpId>(node, "op", scope.ops));
  }
  if (node.has("prologue_epilogue_op")) {
    TWILL_TRY(const int per_tile_op, node.small("prologue_epilogue_op"));
    if (per_tile_op < 0) return node.wrong("/prologue_epilogue_op is below 0");
    step.per_tile_op = static_cast<std::size_t>(per_tile_op);
  }
  if (node.has("channel")) {
    TWILL_TRY(step.channel, read_id<ChannelId>(node, "channel", scope.channels));
  }
  if (node.has("by")) {
    TWILL_TRY(step.by, node.named("by", {By::every_warp, By::one_warp}));
  }
  if (node.has("arrival")) {
    TWILL_TRY(step.arrival, node.named("arrival", {Arrival::threads, Arrival::asynchronous}));
  }
  if (step.kind == K::drain_groups) {
    TWILL_TRY(step.queue, node.named("queue", {Mechanism::wgmma, Mechanism::bulk_store}));
    TWILL_TRY(step.pending, node.small("pending"));
  }
  if (step.kind == K::fence) {
    TWILL_TRY(step.fence, node.named("fence", {Fence::proxy, Fence::wgmma, Fence::tensor_before,
                                               Fence::tensor_after, Fence::pin}));
  }
  TWILL_TRY(step.reads_only, node.flag("reads_only", false));
  TWILL_TRY(step.drains_first, node.flag("drains_first", false));
  TWILL_TRY(step.slot, node.number("slot"));
  return step;
}

Result<Role> read_role(const Node& node, const Known& scope) {
  Role role;
  TWILL_TRY(role.name, node.text("name"));
  TWILL_TRY(role.group, read_id<GroupId>(node, "group", scope.groups));
  TWILL_TRY(const int warpgroup, node.small("warpgroup"));
  if (warpgroup < 0) return node.wrong("is in a warpgroup below 0");
  role.warpgroup = WarpgroupId(static_cast<std::size_t>(warpgroup));
  TWILL_TRY(role.first_warp, node.small("first_warp"));
  TWILL_TRY(role.warps, node.small("warps"));
  TWILL_TRY(role.registers, node.small("registers"));
  TWILL_TRY(role.usable, node.small("usable"));
  TWILL_TRY(role.named_barrier, node.small("named_barrier"));
  TWILL_TRY_VOID(read_all(node, "before", scope, read_step, role.before));
  TWILL_TRY(role.sections.spread, node.small("spread"));
  TWILL_TRY_VOID(read_all(node, "prologue", scope, read_step, role.sections.prologue));
  TWILL_TRY_VOID(read_all(node, "steady", scope, read_step, role.sections.steady));
  TWILL_TRY_VOID(read_all(node, "drain", scope, read_step, role.sections.drain));
  TWILL_TRY_VOID(read_all(node, "after", scope, read_step, role.after));
  TWILL_TRY_VOID(read_all(node, "tail", scope, read_step, role.tail));
  TWILL_TRY(const std::vector<Node> paths, node.list("short_trips"));
  for (std::size_t n = 0; n < paths.size(); ++n) {
    TWILL_TRY(const std::vector<Node> steps, paths[n].elements());
    TWILL_TRY_VOID(read_each(steps, scope, read_step, role.sections.short_trips.emplace_back()));
  }
  return role;
}

/// The ids of the elements that a list names.
template <class Item>
Result<std::vector<Item>> read_references(const Node& node, const char* name, const Names& known) {
  TWILL_TRY(const std::vector<Node> nodes, node.list(name));
  std::vector<Item> items;
  for (const Node& item : nodes) {
    TWILL_TRY(const std::size_t index, item.reference(known));
    items.emplace_back(index);
  }
  return items;
}

Result<Buffer> read_buffer(const Node& node, const Known& scope) {
  Buffer buffer;
  TWILL_TRY(buffer.name, node.text("name"));
  TWILL_TRY(buffer.residence,
            node.named("residence", {Residence::shared, Residence::tensor, Residence::registers}));
  TWILL_TRY(buffer.role, read_optional<RoleId>(node, "role", scope.roles));
  TWILL_TRY(buffer.memory, node.text("memory"));
  TWILL_TRY(buffer.offset, node.number("offset"));
  TWILL_TRY(buffer.size, node.number("size"));
  TWILL_TRY(buffer.depth, node.small("depth"));
  TWILL_TRY(buffer.initial, node.small("initial"));
  TWILL_TRY(buffer.staging, node.flag("staging", false));
  TWILL_TRY(buffer.invariant_buffer, node.flag("invariant", false));
  TWILL_TRY(buffer.readers, read_references<OpId>(node, "readers", scope.ops));
  return buffer;
}

Result<Channel> read_channel(const Node& node, const Known& scope) {
  Channel channel;
  TWILL_TRY(channel.name, node.text("name"));
  TWILL_TRY(channel.kind,
            node.named("kind", {ChannelKind::pipeline, ChannelKind::signal, ChannelKind::token}));
  using C = Channel::Counts;
  TWILL_TRY(channel.counts, node.named("counts", {C::iterations, C::tiles}));
  TWILL_TRY(channel.producer, read_id<RoleId>(node, "producer", scope.roles));
  TWILL_TRY(channel.consumers, read_references<RoleId>(node, "consumers", scope.roles));
  TWILL_TRY(channel.depth, node.small("depth"));
  TWILL_TRY(channel.full_arrivals, node.small("full_arrivals"));
  TWILL_TRY(channel.empty_arrivals, node.small("empty_arrivals"));
  TWILL_TRY(channel.full_parity, node.small("full_parity"));
  TWILL_TRY(channel.empty_parity, node.small("empty_parity"));
  TWILL_TRY(channel.bytes, node.number("bytes"));
  TWILL_TRY(channel.scope, node.named("scope", {Scope::cta, Scope::cluster}));
  TWILL_TRY(channel.named_barrier, node.small("named_barrier"));
  TWILL_TRY(channel.buffers, read_references<BufferId>(node, "buffers", scope.buffers));
  return channel;
}

/// Reads placement, mechanism and value of one op.
Result<void> read_op(const Node& node, const Known& scope, std::size_t op, Plan& plan) {
  schedule::Placement& at = plan.schedule.ops[op];
  TWILL_TRY(at.issue, node.number("issue_cycle"));
  TWILL_TRY(const std::size_t group, node.reference("group", scope.groups));
  at.group = GroupId(group);
  const Names alternatives = index_of(plan.problem.ops()[op].alternatives);
  TWILL_TRY(const std::size_t alternative, node.reference("alternative", alternatives));
  at.alternative = static_cast<int>(alternative);
  using M = Mechanism;
  TWILL_TRY(plan.mechanisms[op],
            node.named("mechanism", {M::threads, M::scoreboard, M::tma_load, M::tma_multicast,
                                     M::cp_async, M::wgmma, M::tcgen05, M::bulk_store}));
  if (!plan.shares.empty()) {
    RowShare& share = plan.shares[op];
    TWILL_TRY(share.part, node.small("part"));
    TWILL_TRY(share.row_begin, node.number("row_begin"));
    TWILL_TRY(share.row_end, node.number("row_end"));
  }
  Value& value = plan.values[op];
  TWILL_TRY(value.home, read_optional<BufferId>(node, "home", scope.buffers));
  TWILL_TRY(value.staged, read_optional<BufferId>(node, "staged", scope.buffers));
  if (!value.staged) return {};
  using S = StagingFormat;
  TWILL_TRY(value.format, node.named("format", {S::fragment, S::row_vector, S::operand, S::tile}));
  return {};
}

Result<void> read_ops(const Node& root, const Known& scope, Plan& plan) {
  const std::size_t count = plan.problem.ops().size();
  plan.schedule.ops.resize(count);
  plan.mechanisms.resize(count);
  plan.values.resize(count);
  TWILL_TRY(const std::vector<Node> nodes, root.list("ops"));
  if (!nodes.empty() && nodes.front().has("part")) plan.shares.resize(count);
  std::vector<bool> seen(count, false);
  for (const Node& node : nodes) {
    TWILL_TRY(const std::size_t op, node.reference("name", scope.ops));
    if (seen[op]) return node.wrong("is there a second time");
    seen[op] = true;
    TWILL_TRY_VOID(read_op(node, scope, op, plan));
  }
  for (std::size_t v = 0; v < count; ++v) {
    if (!seen[v]) return root.wrong("does not mention op '" + plan.problem.ops()[v].name + "'");
  }
  return {};
}

Result<void> read_limits(const Node& root, Plan& plan) {
  TWILL_TRY(const Node node, root.at("limits"));
  TWILL_TRY(plan.limits.machine, node.text("machine"));
  TWILL_TRY(plan.limits.launch_registers, node.small("launch_registers"));
  TWILL_TRY(plan.limits.register_overhead, node.small("register_overhead"));
  TWILL_TRY(plan.limits.most_registers, node.small("most_registers"));
  TWILL_TRY(plan.limits.named_barriers, node.small("named_barriers"));
  TWILL_TRY(plan.limits.reserved, node.numbers("reserved"));
  TWILL_TRY(const std::vector<Node> groups, root.list("warpgroups"));
  for (const Node& group : groups) {
    Warpgroup warpgroup;
    TWILL_TRY(warpgroup.setmaxnreg, group.small("setmaxnreg"));
    TWILL_TRY(warpgroup.warps, group.small("warps"));
    plan.warpgroups.push_back(warpgroup);
  }
  return {};
}

/// Reads the place of an op in the TTGIR.
template <class Placed>
Result<void> read_place(const Node& node, Placed& placed) {
  TWILL_TRY(placed.what, node.text("what"));
  TWILL_TRY(placed.line, node.small("line"));
  TWILL_TRY(placed.column, node.small("column"));
  return {};
}

Result<RingLoad> read_ring_load(const Node& node, const Known& scope) {
  RingLoad load;
  TWILL_TRY_VOID(read_place(node, load.load));
  TWILL_TRY(load.copy, read_id<OpId>(node, "copy", scope.ops));
  return load;
}

Result<PerTileOp> read_per_tile(const Node& node, const Known& scope) {
  using M = Mechanism;
  PerTileOp per_tile_op;
  using W = PerTileOp::When;
  TWILL_TRY(per_tile_op.when, node.named("when", {W::before, W::after, W::end}));
  TWILL_TRY_VOID(read_place(node, per_tile_op));
  TWILL_TRY(per_tile_op.mechanism, node.named("mechanism", {M::threads, M::scoreboard, M::tma_load,
                                                            M::cp_async, M::bulk_store}));
  TWILL_TRY(per_tile_op.roles, read_references<RoleId>(node, "roles", scope.roles));
  TWILL_TRY(per_tile_op.buffers, read_references<BufferId>(node, "buffers", scope.buffers));
  TWILL_TRY(per_tile_op.bytes, node.numbers("bytes"));
  TWILL_TRY(per_tile_op.reads, read_references<BufferId>(node, "reads", scope.buffers));
  TWILL_TRY(const std::vector<Node> accesses, node.list("tensor"));
  for (const Node& access : accesses) {
    TWILL_TRY(const std::size_t role, access.reference("role", scope.roles));
    TWILL_TRY(const std::size_t buffer, access.reference("buffer", scope.buffers));
    per_tile_op.tensor.push_back({RoleId(role), BufferId(buffer)});
  }
  TWILL_TRY(per_tile_op.writes, node.flag("writes", false));
  TWILL_TRY(per_tile_op.alone, node.flag("alone", false));
  if (node.has("loads")) {
    TWILL_TRY_VOID(read_all(node, "loads", scope, read_ring_load, per_tile_op.loads));
  }
  if (node.has("sender")) {
    TWILL_TRY(per_tile_op.sender, read_id<RoleId>(node, "sender", scope.roles));
  }
  if (node.has("told")) {
    TWILL_TRY(per_tile_op.told, read_id<ChannelId>(node, "told", scope.channels));
  }
  return per_tile_op;
}

Result<PartialSum> read_partial_sum(const Node& node, const Known& scope) {
  PartialSum sum;
  TWILL_TRY(sum.sum, read_id<OpId>(node, "sum", scope.ops));
  TWILL_TRY(sum.ops, read_references<OpId>(node, "ops", scope.ops));
  TWILL_TRY(const Node reduction, node.at("reduction"));
  TWILL_TRY_VOID(read_place(reduction, sum.reduction));
  TWILL_TRY(const Node addition, node.at("addition"));
  TWILL_TRY_VOID(read_place(addition, sum.addition));
  return sum;
}

Result<Whole> read_whole(const Node& node, const Known& scope) {
  Whole whole;
  TWILL_TRY_VOID(read_place(node, whole.place));
  using P = Placing;
  const auto all = {P::within, P::behind, P::before_roles, P::after_roles};
  TWILL_TRY(whole.placing, node.named("placing", all));
  TWILL_TRY(whole.ops, read_references<OpId>(node, "ops", scope.ops));
  TWILL_TRY(whole.last, read_references<OpId>(node, "last", scope.ops));
  TWILL_TRY(whole.objection, node.text("objection"));
  return whole;
}

Result<Rematerialized> read_rematerialized(const Node& node, const Known& scope) {
  Rematerialized value;
  TWILL_TRY_VOID(read_place(node, value));
  TWILL_TRY(value.readers, read_references<OpId>(node, "readers", scope.ops));
  TWILL_TRY(value.roles, read_references<RoleId>(node, "roles", scope.roles));
  return value;
}

Result<void> read_kernel(const Node& root, const Known& scope, Plan& plan) {
  TWILL_TRY(const Node node, root.at("kernel"));
  if (node.is_null()) return {};
  Kernel kernel;
  TWILL_TRY(kernel.name, node.text("name"));
  TWILL_TRY(kernel.loop, node.text("loop"));
  using T = Tiles;
  TWILL_TRY(kernel.tiles, node.named("tiles", {T::one_per_cta, T::program_loop, T::persistent}));
  TWILL_TRY(kernel.order, node.named("order", {TileOrder::row_major, TileOrder::grouped}));
  TWILL_TRY(kernel.group, node.small("group"));
  TWILL_TRY(kernel.cluster, node.small("cluster"));
  TWILL_TRY(kernel.axis, node.named("axis", {Axis::x, Axis::y, Axis::z}));
  TWILL_TRY(kernel.same_trips, node.flag("same_trips", false));
  TWILL_TRY_VOID(
      read_all(node, "prologue_epilogue_ops", scope, read_per_tile, kernel.per_tile_ops));
  TWILL_TRY_VOID(read_all(node, "partial_sums", scope, read_partial_sum, kernel.partial_sums));
  TWILL_TRY_VOID(
      read_all(node, "rematerialized", scope, read_rematerialized, kernel.rematerialized));
  TWILL_TRY_VOID(read_all(node, "wholes", scope, read_whole, kernel.wholes));
  TWILL_TRY(kernel.launch_role, read_optional<RoleId>(node, "launch_role", scope.roles));
  plan.kernel = std::move(kernel);
  return {};
}

Result<void> read_tables(const Node& root, Known& scope, Plan& plan) {
  TWILL_TRY(scope.roles, names_in(root, "roles"));
  TWILL_TRY(scope.buffers, names_in(root, "buffers"));
  TWILL_TRY(scope.channels, names_in(root, "channels"));
  TWILL_TRY_VOID(read_all(root, "buffers", scope, read_buffer, plan.buffers));
  TWILL_TRY_VOID(read_all(root, "channels", scope, read_channel, plan.channels));
  return read_all(root, "roles", scope, read_role, plan.roles);
}

Result<problem::Problem> read_problem(const Node& root, const std::string& file) {
  TWILL_TRY(const Node node, root.at("problem"));
  TWILL_TRY(const std::string text, node.text("text"));
  TWILL_TRY(const std::string hash, node.text("hash"));
  TWILL_TRY(schedule::LoopText loop, schedule::parse_loop(text, file + " (/problem/text)"));
  if (schedule::problem_hash(loop.problem) != hash) {
    return root.wrong("/problem/hash is not the hash of /problem/text");
  }
  return std::move(loop.problem);
}

}  // namespace

bool is_plan_json(std::string_view text) {
  const auto root = Node::parse(text, "");
  return root && root->text("format").value_or("") == kFormat;
}

Result<Plan> read_plan_json(std::string_view text, const std::string& file) {
  TWILL_TRY(const Node root, Node::parse(text, file));
  TWILL_TRY(const std::string format, root.text("format"));
  if (format != kFormat) return root.wrong("is none: /format is '" + format + "'");
  TWILL_TRY(const std::int64_t version, root.number("version"));
  if (version != kPlanJsonVersion) {
    return root.wrong("has version " + std::to_string(version) + ", which is not known here");
  }
  TWILL_TRY(problem::Problem problem, read_problem(root, file));
  Plan plan(std::move(problem));
  TWILL_TRY(plan.name, root.text("name"));
  TWILL_TRY(plan.schedule.initiation_interval, root.number("initiation_interval"));
  Known scope{index_of(plan.problem.ops()), index_of(plan.problem.groups()), {}, {}, {}};
  TWILL_TRY_VOID(read_tables(root, scope, plan));
  TWILL_TRY_VOID(read_ops(root, scope, plan));
  TWILL_TRY_VOID(read_limits(root, plan));
  TWILL_TRY_VOID(read_kernel(root, scope, plan));
  const auto sentence = [](const Node& note, const Known& /*scope*/) { return note.text(); };
  TWILL_TRY_VOID(read_all(root, "notes", scope, sentence, plan.notes));
  return plan;
}

}  // namespace twill::plan
