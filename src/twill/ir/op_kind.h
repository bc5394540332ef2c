#pragma once

/// The closed set of tile operations. Front ends lower what they read to these kinds. Later rooms
/// ask for a kind, or for the class of kinds that they treat alike, and never for a name in a text.
/// Operations on numbers have the names of LLVM's instructions: `sdiv` divides signed integers,
/// `fdiv` floating-point numbers, `sext` widens. `buffer_` means a tile in shared or tensor memory.
/// `block_` means an access by a descriptor (TMA), `_async` an op that returns before its work is
/// done.
namespace twill::ir {

enum class OpClass : unsigned char {
  other,            ///< ops that Twill does not interpret
  structure,        ///< functions, loops, branches and the ends of their blocks
  value,            ///< without operands: constants, ranges, program ids
  elementwise,      ///< element by element, of tiles of one shape or of scalars
  view,             ///< the same elements in another shape or layout
  rearrangement,    ///< elements repeated, joined or selected, in registers
  reduction,        ///< along an axis; scans too
  product,          ///< D = A B + C
  load,             ///< of a tile into registers
  store,            ///< of a tile out of registers
  copy,             ///< between memories, not through registers
  update,           ///< of memory: atomic, or by a reducing store
  allocation,       ///< of a buffer
  synchronization,  ///< only orders other ops
  remark,           ///< read only by people or compilers
};

// clang-format off
#define TWILL_OP_KINDS(X) \
  X(other, other) X(unmodelled, other) X(inline_asm, other) X(library_call, other) X(gather, other) \
  X(histogram, other) X(make_descriptor, other) \
  X(module, structure) X(function, structure) X(call, structure) X(ret, structure) \
  X(for_loop, structure) X(while_loop, structure) X(branch, structure) X(yield, structure) \
  X(condition, structure) X(jump, structure) X(jump_if, structure) X(combined, structure) \
  X(warp_roles, structure) X(warp_partitions, structure) X(roles_end, structure) \
  X(partition_end, structure) \
  X(constant, value) X(poison, value) X(range, value) X(program_id, value) X(program_count, value) \
  X(add, elementwise) X(sub, elementwise) X(mul, elementwise) X(sdiv, elementwise) \
  X(udiv, elementwise) X(sdiv_up, elementwise) X(udiv_up, elementwise) X(sdiv_down, elementwise) \
  X(srem, elementwise) X(urem, elementwise) X(bit_and, elementwise) X(bit_or, elementwise) \
  X(bit_xor, elementwise) X(shl, elementwise) X(ashr, elementwise) X(lshr, elementwise) \
  X(smin, elementwise) X(umin, elementwise) X(smax, elementwise) X(umax, elementwise) \
  X(smul_long, elementwise) X(umul_long, elementwise) X(umul_high, elementwise) \
  X(uadd_carry, elementwise) X(iabs, elementwise) \
  X(fadd, elementwise) X(fsub, elementwise) X(fmul, elementwise) X(fdiv, elementwise) \
  X(precise_fdiv, elementwise) X(frem, elementwise) X(fneg, elementwise) X(fma, elementwise) \
  X(fmaximum, elementwise) X(fminimum, elementwise) X(fmaxnum, elementwise) X(fminnum, elementwise) \
  X(clamp, elementwise) X(exp, elementwise) X(exp2, elementwise) X(log, elementwise) \
  X(log2, elementwise) X(sqrt, elementwise) X(precise_sqrt, elementwise) X(rsqrt, elementwise) \
  X(sin, elementwise) X(cos, elementwise) X(tanh, elementwise) X(erf, elementwise) \
  X(fabs, elementwise) X(floor, elementwise) X(ceil, elementwise) \
  X(icmp, elementwise) X(fcmp, elementwise) X(select, elementwise) \
  X(sext, elementwise) X(zext, elementwise) X(trunc, elementwise) X(fpext, elementwise) \
  X(fptrunc, elementwise) X(fpcast, elementwise) X(sitofp, elementwise) X(uitofp, elementwise) \
  X(fptosi, elementwise) X(fptoui, elementwise) X(bitcast, elementwise) X(index_cast, elementwise) \
  X(index_castu, elementwise) X(inttoptr, elementwise) X(ptrtoint, elementwise) \
  X(pointer_add, elementwise) X(pointer_advance, elementwise) \
  X(broadcast, view) X(expand_dims, view) X(reshape, view) X(transpose, view) X(relayout, view) \
  X(wgmma_wait, view) X(buffer_index, view) X(buffer_slice, view) X(buffer_subview, view) \
  X(buffer_transpose, view) X(buffer_reshape, view) X(buffer_cast, view) X(tensor_slice, view) \
  X(splat, rearrangement) X(unsplat, rearrangement) X(join, rearrangement) X(split, rearrangement) \
  X(cat, rearrangement) \
  X(reduce, reduction) X(scan, reduction) \
  X(mma, product) X(mma_scaled, product) X(wgmma, product) X(tcgen05, product) \
  X(tcgen05_scaled, product) \
  X(load, load) X(block_load, load) X(block_gather, load) X(shared_load, load) X(tensor_load, load) \
  X(store, store) X(block_store, store) X(block_scatter, store) X(shared_store, store) \
  X(tensor_store, store) \
  X(copy_async, copy) X(block_load_async, copy) X(block_store_async, copy) \
  X(block_gather_async, copy) X(block_scatter_async, copy) X(tensor_copy, copy) \
  X(atomic_update, update) X(atomic_compare, update) X(block_update, update) \
  X(block_update_async, update) \
  X(shared_alloc, allocation) X(tensor_alloc, allocation) \
  X(barrier_init, synchronization) X(barrier_expect, synchronization) \
  X(barrier_wait, synchronization) X(barrier_arrive, synchronization) \
  X(barrier_end, synchronization) X(copy_arrive, synchronization) X(copy_commit, synchronization) \
  X(copy_wait, synchronization) X(block_store_wait, synchronization) \
  X(tcgen05_commit, synchronization) X(proxy_fence, synchronization) \
  X(shared_end, synchronization) \
  X(synchronize, synchronization) X(launch_order, synchronization) \
  X(print, remark) X(check, remark) X(assume, remark)
// clang-format on

/// `other` is an op of unknown name, `unmodelled` a known op that Twill does not compute. `branch`
/// has regions, `jump` leads to a block. `combined` ends the region of a reduction. `warp_roles`
/// has two regions: one for the warps that ran so far, ended by `roles_end`, and one with
/// `warp_partitions`. The op `warp_partitions` has one region for each further role, ended by
/// `partition_end`. `tensor_copy` goes from shared to tensor memory. `copy_arrive` arrives at an
/// mbarrier when the role's copies so far have landed. `launch_order` waits for earlier launches,
/// or lets later launches begin.
enum class OpKind : unsigned char {
#define TWILL_ENUMERATOR(kind, op_class) kind,
  TWILL_OP_KINDS(TWILL_ENUMERATOR)
#undef TWILL_ENUMERATOR
};

OpClass class_of(OpKind kind);

/// Whether ops of that kind gather or scatter rows by a descriptor.
bool is_spread(OpKind kind);

/// Combination of an access: how the new value and the old value become the element. `min` and
/// `max` are for signed integers and for numbers.
enum class Update : unsigned char {
  other,
  add,
  fadd,
  min,
  max,
  umin,
  umax,
  bit_and,
  bit_or,
  bit_xor,
  exchange
};

}  // namespace twill::ir
