#include "twill/frontend/ttgir/lower.h"

#include <limits>
#include <utility>

#include "twill/frontend/ttgir/spelling.h"

namespace twill::frontend::ttgir {
namespace {

using ir::AccessSpace;
using ir::AccessTraits;
using ir::OpClass;
using ir::OpKind;
using ir::Traits;
using ir::Update;

bool flag(const ir::Op& op, std::string_view name) {
  return integer_attribute(op, name).value_or(0) != 0;
}

std::vector<ir::RoleOperands> roles_in(const ir::Op& op) {
  std::vector<ir::RoleOperands> found;
  const auto sizes = operand_segments(op);
  if (!sizes) return found;
  const std::span<const OperandRole> roles = roles_of(op.name);
  std::size_t first = 0;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (roles[i].role) found.push_back({*roles[i].role, first, (*sizes)[i]});
    first += (*sizes)[i];
  }
  return found;
}

AccessSpace space_of(OpKind kind) {
  switch (kind) {
    case OpKind::shared_load:
    case OpKind::shared_store:
    case OpKind::shared_alloc:
      return AccessSpace::shared;
    case OpKind::tensor_load:
    case OpKind::tensor_store:
    case OpKind::tensor_alloc:
      return AccessSpace::tensor;
    default:
      return AccessSpace::global;
  }
}

std::optional<AccessTraits> access_of(OpKind kind) {
  const OpClass of = ir::class_of(kind);
  const bool accesses = of == OpClass::load || of == OpClass::store || of == OpClass::copy ||
                        of == OpClass::update || of == OpClass::allocation;
  if (!accesses || kind == OpKind::tensor_copy) return std::nullopt;
  const bool by_threads = kind == OpKind::load || kind == OpKind::store ||
                          kind == OpKind::copy_async || kind == OpKind::atomic_update ||
                          kind == OpKind::atomic_compare;
  AccessTraits found;
  found.space = space_of(kind);
  found.allocates = of == OpClass::allocation;
  found.by_descriptor = found.space == AccessSpace::global && !by_threads;
  const bool only_writes = of == OpClass::store || found.allocates ||
                           kind == OpKind::block_store_async || kind == OpKind::block_scatter_async;
  found.reads = !only_writes;
  found.writes = only_writes || of == OpClass::update;
  found.asynchronous = of == OpClass::copy || kind == OpKind::block_update_async;
  found.returns_token = kind == OpKind::copy_async || kind == OpKind::tensor_store;
  found.returns_tile = found.reads && kind != OpKind::block_update && kind != OpKind::copy_async;
  return found;
}

/// Combination of an atomic or reducing op, by the numbers of Triton's enumerations.
Update update_of(const ir::Op& op, OpKind kind) {
  using Row = std::pair<std::int64_t, Update>;
  constexpr Row kAtomic[] = {{1, Update::bit_and},  {2, Update::bit_or}, {3, Update::bit_xor},
                             {4, Update::add},      {5, Update::fadd},   {6, Update::max},
                             {7, Update::min},      {8, Update::umax},   {9, Update::umin},
                             {10, Update::exchange}};
  constexpr Row kReducing[] = {{1, Update::fadd},    {2, Update::min},    {3, Update::max},
                               {6, Update::bit_and}, {7, Update::bit_or}, {8, Update::bit_xor}};
  const bool atomic = kind == OpKind::atomic_update;
  const auto how = integer_attribute(op, atomic ? "atomic_rmw_op" : "kind").value_or(0);
  const auto known = atomic ? std::span<const Row>(kAtomic) : kReducing;
  for (const auto& [number, update] : known) {
    if (number == how) return update;
  }
  return Update::other;
}

/// Numbers of a hint: one for all dimensions, or one for each.
std::vector<std::int64_t> hint(const ir::Op& op, std::string_view name) {
  const ir::Attribute found = attribute(op, name);
  if (found == nullptr) return {};
  if (found->kind == ir::AttributeKind::integer) return {found->integer};
  return integers_of(found).value_or(std::vector<std::int64_t>());
}

std::vector<std::optional<std::int64_t>> argument_divisors(const ir::Op& op) {
  std::vector<std::optional<std::int64_t>> divisors;
  const ir::Attribute all = attribute(op, "arg_attrs");
  if (all == nullptr) return divisors;
  for (const ir::Attribute argument : all->elements) {
    const ir::Attribute said = argument->entry("tt.divisibility");
    const bool known = said != nullptr && said->kind == ir::AttributeKind::integer;
    divisors.push_back(known ? std::optional(said->integer) : std::nullopt);
  }
  return divisors;
}

/// Module attribute `name`, under today's prefix or the prefix before Triton 3.2.
ir::Attribute module_attribute(const ir::Op& module, const std::string& name) {
  const ir::Attribute found = attribute(module, "ttg." + name);
  return found != nullptr ? found : attribute(module, "triton_gpu." + name);
}

std::optional<int> module_integer(const ir::Op& module, const std::string& name) {
  const ir::Attribute found = module_attribute(module, name);
  if (found == nullptr || found->kind != ir::AttributeKind::integer) return std::nullopt;
  if (found->integer < 0 || found->integer > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(found->integer);
}

/// Number of the CUDA target: 90 for "cuda:90".
std::optional<int> cuda_target(const ir::Op& module) {
  constexpr std::string_view kCuda = "cuda:";
  const ir::Attribute target = module_attribute(module, "target");
  if (target == nullptr || target->value.compare(0, kCuda.size(), kCuda) != 0) return std::nullopt;
  int capability = 0;
  for (const char digit : target->value.substr(kCuda.size())) {
    if (digit < '0' || digit > '9' || capability > 9999) return std::nullopt;
    capability = capability * 10 + (digit - '0');
  }
  return capability > 0 ? std::optional(capability) : std::nullopt;
}

std::string_view device_symbol(const ir::Op& op) {
  constexpr std::string_view kPrefix = "__nv_";
  const std::string_view symbol = string_attribute(op, "symbol").value_or(std::string_view());
  return symbol.starts_with(kPrefix) ? symbol.substr(kPrefix.size()) : std::string_view();
}

void lower_kind(const ir::Op& op, Traits& traits) {
  constexpr std::int64_t kPadNan = 2;   // PAD_ZERO is 1
  constexpr std::int64_t kRelaxed = 1;  // memory order "relaxed"
  switch (traits.kind) {
    case OpKind::module:
      traits.launch = {module_integer(op, "num-ctas"), cuda_target(op)};
      break;
    case OpKind::function:
      traits.symbol = string_attribute(op, "sym_name").value_or(std::string_view());
      traits.argument_divisors = argument_divisors(op);
      break;
    case OpKind::for_loop:
    case OpKind::while_loop:
      traits.stages = integer_attribute(op, "tt.num_stages");
      traits.fixed_results = attribute(op, "ttg.partition.outputs") != nullptr;
      break;
    case OpKind::constant:
      traits.constant = attribute(op, "value");
      break;
    case OpKind::range:
      traits.start = integer_attribute(op, "start").value_or(0);
      break;
    case OpKind::icmp:
    case OpKind::fcmp:
      traits.predicate = integer_attribute(op, "predicate");
      break;
    case OpKind::transpose:
    case OpKind::buffer_transpose:
      traits.order = integers_attribute(op, "order");
      break;
    case OpKind::reshape:
      traits.reorders = attribute(op, "allow_reorder") != nullptr;
      break;
    case OpKind::buffer_slice:
      traits.offsets = integers_attribute(op, "offsets");
      break;
    case OpKind::tensor_slice:
      if (const auto first = integer_attribute(op, "N")) traits.offsets = {*first};
      break;
    case OpKind::wgmma:
      traits.exact_every = integer_attribute(op, "maxNumImpreciseAcc");
      traits.asynchronous = flag(op, "isAsync");
      break;
    case OpKind::barrier_init:
    case OpKind::barrier_arrive:
      traits.count = integer_attribute(op, "count");
      break;
    case OpKind::barrier_expect:
      traits.count = integer_attribute(op, "size");
      break;
    case OpKind::wgmma_wait:
    case OpKind::block_store_wait:
      traits.count = integer_attribute(op, "pendings");
      break;
    case OpKind::copy_wait:
      traits.count = integer_attribute(op, "num");
      break;
    case OpKind::copy_arrive:
      traits.is_counted = attribute(op, "noIncrement") != nullptr;
      break;
    case OpKind::warp_roles:
      traits.warps =
          integers_attribute(op, "partitionNumWarps").value_or(std::vector<std::int64_t>());
      break;
    case OpKind::tcgen05:
    case OpKind::tcgen05_scaled:
      traits.asynchronous = attribute(op, "is_async") != nullptr;
      traits.two_ctas = attribute(op, "two_ctas") != nullptr;
      break;
    case OpKind::scan:
      traits.reverse = flag(op, "reverse");
      break;
    case OpKind::load:
    case OpKind::block_load:
      traits.is_volatile = flag(op, "isVolatile");
      break;
    case OpKind::atomic_update: {
      const auto order = integer_attribute(op, "sem");
      traits.publishes = order && *order != kRelaxed;
      break;
    }
    case OpKind::make_descriptor:
      traits.pads_with_nan = integer_attribute(op, "padding") == kPadNan;
      break;
    case OpKind::library_call:
      traits.symbol = device_symbol(op);
      traits.is_pure = integer_attribute(op, "pure") == 1;
      break;
    case OpKind::inline_asm:
      traits.symbol = string_attribute(op, "asm_string").value_or(std::string_view());
      traits.count = integer_attribute(op, "packed_element");
      traits.is_pure = integer_attribute(op, "pure") == 1;
      break;
    default:
      break;
  }
}

}  // namespace

Traits lowered(const ir::Op& op) {
  Traits traits;
  traits.kind = kind_of(op.name);
  traits.roles = roles_in(op);
  traits.access = access_of(traits.kind);
  traits.axis = integer_attribute(op, "axis");
  traits.hints = {hint(op, "tt.divisibility"), hint(op, "tt.contiguity"), hint(op, "tt.constancy")};
  if (ir::class_of(traits.kind) == OpClass::update) traits.update = update_of(op, traits.kind);
  lower_kind(op, traits);
  return traits;
}

}  // namespace twill::frontend::ttgir
