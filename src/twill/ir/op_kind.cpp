#include "twill/ir/op_kind.h"

#include <array>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

namespace twill::ir {
namespace {

constexpr std::array kSpellings = {std::string_view("?"),
#define TWILL_SPELLING(enumerator, spelled) std::string_view(spelled),
                                   TWILL_OP_KINDS(TWILL_SPELLING)
#undef TWILL_SPELLING
};

/// Names of older Tritons, after the dialect prefix has been modernized, and today's.
using Renaming = std::pair<std::string_view, std::string_view>;
constexpr Renaming kRenamed[] = {
    {"tt.experimental_descriptor_load", "tt.descriptor_load"},
    {"tt.experimental_descriptor_store", "tt.descriptor_store"},
    {"tt.experimental_descriptor_gather", "tt.descriptor_gather"},
    {"tt.experimental_descriptor_scatter", "tt.descriptor_scatter"},
    {"ttng.dot_async", "ttng.warp_group_dot"},
    {"ttng.dot_wait", "ttng.warp_group_dot_wait"},
    {"ttg.dot_async", "ttng.warp_group_dot"},
    {"ttg.dot_wait", "ttng.warp_group_dot_wait"},
    {"tt.reshape_op", "tt.reshape"},
};

std::string modernized(std::string_view name) {
  constexpr std::string_view kOldGpu = "triton_gpu.";
  constexpr std::string_view kOldNvidia = "triton_nvidia_gpu.";
  std::string today(name);
  if (name.substr(0, kOldGpu.size()) == kOldGpu) {
    today = "ttg." + std::string(name.substr(kOldGpu.size()));
  } else if (name.substr(0, kOldNvidia.size()) == kOldNvidia) {
    today = "ttng." + std::string(name.substr(kOldNvidia.size()));
  }
  for (const auto& [old_name, new_name] : kRenamed) {
    if (today == old_name) return std::string(new_name);
  }
  return today;
}

using KindMap = std::unordered_map<std::string_view, OpKind>;

KindMap make_kinds() {
  KindMap kinds;
  for (std::size_t kind = 1; kind < kSpellings.size(); ++kind) {
    kinds.emplace(kSpellings[kind], static_cast<OpKind>(kind));
  }
  return kinds;
}

}  // namespace

OpKind op_kind(std::string_view name) {
  static const KindMap kKinds = make_kinds();
  auto found = kKinds.find(name);
  if (found != kKinds.end()) return found->second;
  found = kKinds.find(modernized(name));
  return found == kKinds.end() ? OpKind::other : found->second;
}

std::string_view spelling(OpKind kind) { return kSpellings[static_cast<std::size_t>(kind)]; }

bool is_synchronization(OpKind kind) {
  switch (kind) {
    case OpKind::gpu_barrier:
    case OpKind::ttg_local_dealloc:
    case OpKind::ttg_local_barrier:
    case OpKind::ttg_async_commit_group:
    case OpKind::ttg_async_wait:
    case OpKind::ttng_tc_gen5_commit:
    case OpKind::ttng_init_barrier:
    case OpKind::ttng_inval_barrier:
    case OpKind::ttng_barrier_expect:
    case OpKind::ttng_wait_barrier:
    case OpKind::ttng_arrive_barrier:
    case OpKind::ttng_fence_async_shared:
    case OpKind::ttng_async_tma_store_wait:
      return true;
    default:
      return false;
  }
}

std::string_view dialect_of(std::string_view name) { return name.substr(0, name.find('.')); }

}  // namespace twill::ir
