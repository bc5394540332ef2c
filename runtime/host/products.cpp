#include <algorithm>
#include <array>
#include <cstring>

#include "machine.h"
#include "numbers.h"

#define TWILL_HERE reinterpret_cast<Pc>(__builtin_return_address(0))

namespace twill::run {
namespace {

constexpr int kDepth = 16;  ///< extent along k of an instruction
constexpr std::size_t kPiece = 16;

Warpgroup& group_of(const Thread& thread) {
  return m.warpgroups[static_cast<std::size_t>(thread.index / kWarpgroup)];
}

/// An operand in shared memory, from its descriptor (PTX ISA, "Matrix Descriptor Format").
struct Operand {
  std::size_t start, leading, stride, swizzle;
  bool mn;
  Operand(std::uint64_t descriptor, bool mn_major)
      : start((descriptor & 0x3fff) * 16),
        leading((descriptor >> 16 & 0x3fff) * 16),
        stride((descriptor >> 32 & 0x3fff) * 16),
        swizzle(std::array<std::size_t, 4>{0, 128, 64, 32}[descriptor >> 62]),
        mn(mn_major) {}

  /// Address of element (mn, k); the swizzle applies to addresses.
  std::size_t at(std::size_t i, std::size_t k) const {
    if (swizzle == 0) return start + i / 8 * stride + i % 8 * 16 + k / 8 * leading + k % 8 * 2;
    const std::size_t wide = swizzle / 2;
    const std::size_t plain =
        mn ? i / wide * leading + k / 8 * stride + k % 8 * swizzle + i % wide * 2
           : i / 8 * stride + i % 8 * swizzle + 2 * k;
    const std::size_t at = start + plain;
    return at ^ (at >> 3 & (swizzle - 16));
  }
};

void check_operand(const Operand& operand, std::size_t extent, Pc pc) {
  if (operand.swizzle == 0 && operand.mn) {
    find_and_stop(
        "product", pc,
        "an operand without a swizzle whose rows are not along k: not known to the executor");
  }
  const std::size_t end = operand.at(extent - 1, kDepth - 1);
  if (std::max(end, operand.start) + 2 > m.grid.shared_bytes) {
    find_and_stop("out-of-bounds", pc,
                  text("wgmma reads byte %zu of shared memory, of which the CTA has %zu", end,
                       m.grid.shared_bytes));
  }
}

/// Visits every element of an operand, in contiguous pieces.
template <class Visit>
void each_piece(const Operand& operand, std::size_t extent, const Visit& visit) {
  for (std::size_t i = 0; i < extent; i += operand.mn ? 8 : 1) {
    for (std::size_t k = 0; k < kDepth; k += operand.mn ? 1 : 8) visit(operand.at(i, k), i, k);
  }
}

float number(std::uint16_t bits, bool bfloat16) {
  return bfloat16 ? from_bfloat16(bits) : from_half(bits);
}

/// Reads extent x 16 numbers, k fastest.
void read_operand(const Operand& operand, int cta, std::size_t extent, bool bfloat16, float* out) {
  each_piece(operand, extent, [&](std::size_t at, std::size_t i, std::size_t k) {
    std::uint16_t bits[8];
    std::memcpy(bits, shared_pointer(cta, at), sizeof bits);
    for (std::size_t j = 0; j < 8; ++j) {
      const std::size_t to = operand.mn ? (i + j) * kDepth + k : i * kDepth + k + j;
      out[to] = number(bits[j], bfloat16);
    }
  });
}

/// Adds with k ascending; each product and each sum is rounded.
void multiply(const WarpgroupProduct& it, int cta) {
  static float a[64 * kDepth], b[256 * kDepth], across[kDepth * 256], sums[256];
  const auto columns = static_cast<std::size_t>(it.what.columns);
  if (it.what.a_registers == nullptr) {
    read_operand(Operand(it.what.a, it.what.a_mn), cta, 64, it.what.bfloat16, a);
  } else {
    for (std::size_t row = 0; row < 64; ++row) {
      for (std::size_t k = 0; k < kDepth; ++k) {
        const std::size_t thread = row / 16 * 32 + row % 8 * 4 + k % 8 / 2;
        const std::uint32_t pair = it.a[thread][row % 16 / 8 + k / 8 * 2];
        a[row * kDepth + k] =
            number(static_cast<std::uint16_t>(pair >> (16 * (k % 2))), it.what.bfloat16);
      }
    }
  }
  read_operand(Operand(it.what.b, it.what.b_mn), cta, columns, it.what.bfloat16, b);
  for (std::size_t n = 0; n < columns; ++n) {
    for (std::size_t k = 0; k < kDepth; ++k) across[k * columns + n] = b[n * kDepth + k];
  }
  for (std::size_t row = 0; row < 64; ++row) {
    const std::size_t first = row / 16 * 32 + row % 8 * 4, h = row % 16 / 8;
    const auto place = [&](std::size_t n) -> float& {
      return it.d[first + n % 8 / 2][n / 8 * 4 + 2 * h + n % 2];
    };
    for (std::size_t n = 0; n < columns; ++n) sums[n] = it.what.accumulate ? place(n) : 0.0F;
    for (std::size_t k = 0; k < kDepth; ++k) {
      const float factor = a[row * kDepth + k];
      const float* line = across + k * columns;
      for (std::size_t n = 0; n < columns; ++n) sums[n] += factor * line[n];
    }
    for (std::size_t n = 0; n < columns; ++n) place(n) = sums[n];
  }
}

}  // namespace

std::uint64_t describe_operand(const void* at, std::uint32_t leading, std::uint32_t stride,
                               int swizzle) {
  const Pc pc = TWILL_HERE;
  const std::size_t start = shared_at(at, 16, 16, pc, "an operand of wgmma");
  const std::uint64_t layout = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  return start / 16 | std::uint64_t{(leading & 0x3ffffU) / 16} << 16 |
         std::uint64_t{(stride & 0x3ffffU) / 16} << 32 | layout << 62;
}

void wgmma_fence() {
  Thread& thread = now();
  thread.fenced_products = true;
  for (int i = thread.touched_from; i < thread.touched_to; ++i)
    thread.touched[static_cast<std::size_t>(i)] = 0;
  thread.touched_from = static_cast<int>(thread.touched.size());
  thread.touched_to = 0;
}

namespace {

bool was_touched(const Thread& thread, const void* at, std::size_t bytes) {
  const auto from = static_cast<std::size_t>(static_cast<const char*>(at) - thread.stack);
  for (std::size_t i = (from + kPiece - 1) / kPiece; i < (from + bytes) / kPiece; ++i) {
    if ((thread.touched[i / 64] >> (i % 64) & 1) != 0) return true;
  }
  return false;
}

void check_alike(const WarpgroupProduct& first, const Product& product, Pc pc) {
  const Product& other = first.what;
  const bool registers = product.a_registers != nullptr;
  if (product.columns != other.columns || product.b != other.b ||
      product.accumulate != other.accumulate || registers != (other.a_registers != nullptr) ||
      (!registers && product.a != other.a)) {
    find_and_stop("diverged", pc,
                  "the threads of a warpgroup issue different wgmmas, or with different operands");
  }
}

}  // namespace

void wgmma(float* d, const Product& product) {
  const Pc pc = TWILL_HERE;
  Thread& thread = now();
  Warpgroup& group = group_of(thread);
  const std::size_t d_bytes = static_cast<std::size_t>(product.columns) * 2;
  const bool a_touched =
      product.a_registers != nullptr && was_touched(thread, product.a_registers, kPiece);
  if (!thread.fenced_products || was_touched(thread, d, d_bytes) || a_touched) {
    find("fence", pc, "wgmma takes registers that were used otherwise since the last wgmma.fence");
    wgmma_fence();
  }
  for (const Flying& it : thread.flying) {
    const bool reads =
        product.a_registers != nullptr && it.written &&
        reinterpret_cast<const char*>(
            product.a_registers)<it.to&& reinterpret_cast<const char*>(product.a_registers + 4)>
            it.from;
    if (reads) find("registers", pc, "wgmma reads registers that a product under way writes");
  }
  if (group.agent == kNobody) group.agent = new_agent();
  thread.product_at = pc;
  const auto slot = static_cast<std::size_t>(thread.products++ - group.first);
  if (slot == group.products.size()) {
    auto fresh = std::make_unique<WarpgroupProduct>();
    fresh->what = product;
    fresh->batch = thread.batches + 1;
    fresh->known = thread.knows;
    fresh->at = pc;
    group.products.push_back(std::move(fresh));
  }
  WarpgroupProduct& it = *group.products[slot];
  check_alike(it, product, pc);
  it.known.meet(thread.knows);
  const auto in_group = static_cast<std::size_t>(thread.index % kWarpgroup);
  it.d[in_group] = d;
  if (product.a_registers != nullptr)
    std::copy(product.a_registers, product.a_registers + 4, it.a[in_group].begin());
  const char* begin = reinterpret_cast<const char*>(d);
  const bool known = std::any_of(
      thread.flying.begin(), thread.flying.end(),
      [&](const Flying& flying) { return flying.from == begin && flying.batch == it.batch; });
  if (!known) thread.flying.push_back({begin, begin + d_bytes, it.batch, true});
  if (product.a_registers != nullptr) {
    const char* a = reinterpret_cast<const char*>(product.a_registers);
    thread.flying.push_back({a, a + 16, it.batch, false});
  }
  if (++it.issued < kWarpgroup) return;
  const Tag tag{group.agent, it.batch};
  const auto reads = [&](const Operand& operand, std::size_t extent) {
    check_operand(operand, extent, pc);
    each_piece(operand, extent, [&](std::size_t at, std::size_t, std::size_t) {
      engine_reads(thread.cta, at, 16, it.known, tag, pc, "wgmma");
    });
  };
  if (product.a_registers == nullptr) reads(Operand(product.a, product.a_mn), 64);
  reads(Operand(product.b, product.b_mn), static_cast<std::size_t>(product.columns));
}

void wgmma_commit() {
  Thread& thread = now();
  ++thread.batches;
  take_turns();
}

namespace {

/// Runs and completes the oldest batch of a warpgroup, if all its threads have issued it.
bool run_batch(std::size_t index) {
  Warpgroup& group = m.warpgroups[index];
  const int batch = group.done + 1;
  const std::size_t first = index * kWarpgroup;
  for (std::size_t t = first; t < first + kWarpgroup; ++t) {
    if (t >= m.threads.size() || m.threads[t].batches < batch) return false;
  }
  while (!group.products.empty() && group.products.front()->batch == batch) {
    multiply(*group.products.front(), m.threads[first].cta);
    group.products.erase(group.products.begin());
    ++group.first;
  }
  group.done = batch;
  wake_all(group.waiting);
  return true;
}

}  // namespace

bool complete_products(bool anything) {
  std::vector<std::size_t> ready;
  for (std::size_t g = 0; g < m.warpgroups.size(); ++g) {
    if (anything || !m.warpgroups[g].waiting.empty()) ready.push_back(g);
  }
  while (!ready.empty()) {
    const std::size_t chosen = random_below(ready.size());
    if (run_batch(ready[chosen])) return true;
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return false;
}

void wgmma_wait(int pending) {
  const Pc pc = TWILL_HERE;
  const int wanted = now().batches - pending;
  take_turns();
  while (group_of(now()).done < wanted) {
    group_of(now()).waiting.push_back(m.now);
    block({"its products, which not all threads of the warpgroup issue"}, pc);
  }
  Thread& thread = now();
  const Agent agent = group_of(thread).agent;
  if (agent != kNobody) thread.knows.seen.set(agent, std::max(thread.knows.seen[agent], wanted));
  std::erase_if(thread.flying, [&](const Flying& it) { return it.batch <= wanted; });
}

void touch_registers(Thread& thread, const void* at, std::size_t bytes, bool writes, Pc pc) {
  const char* from = static_cast<const char*>(at);
  for (const Flying& it : thread.flying) {
    if (from >= it.to || from + bytes <= it.from || !(it.written || writes)) continue;
    find("registers", pc,
         it.written ? (writes ? "writes registers that a product under way writes"
                              : "reads registers that a product under way writes")
                    : "writes registers that a product under way reads");
    break;
  }
  const auto piece = static_cast<std::size_t>(from - thread.stack) / kPiece;
  const auto word = static_cast<int>(piece / 64);
  thread.touched[static_cast<std::size_t>(word)] |= 1ULL << (piece % 64);
  thread.touched_from = std::min(thread.touched_from, word);
  thread.touched_to = std::max(thread.touched_to, word + 1);
}

void products_end(Thread& thread) {
  static float nowhere[128];
  Warpgroup& group = group_of(thread);
  if (group.agent == kNobody || thread.products == 0) return;
  if (thread.knows.seen[group.agent] < thread.batches || !thread.flying.empty()) {
    find("registers", thread.product_at, "the thread exits before it waits for this product");
  }
  // Another thread may get the stack of a thread that has ended.
  for (const auto& it : group.products) {
    it->d[static_cast<std::size_t>(thread.index % kWarpgroup)] = nowhere;
  }
}

}  // namespace twill::run
