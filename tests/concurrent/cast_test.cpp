// Memory that is looked at with two types: what one type wrote, the other reads, bit by bit. Races,
// missing fences and unwritten bytes are found whatever types the two sides have.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "concurrent/modules.h"
#include "twill/concurrent/every_trip.h"
#include "twill/concurrent/machine.h"
#include "twill/execute/compare.h"
#include "twill/frontend/ttgir/read.h"

namespace twill::tests {
namespace {

using concurrent::Order;
using concurrent::Rule;

ir::Program module_read(const std::string& text) {
  auto program = frontend::read_ttgir(text, "k.ttgir");
  if (!program) throw std::runtime_error(to_string(program.error()));
  return std::move(*program);
}

const char* const kRing = "!ttg.memdesc<2x64x64xf16, #s, #smem, mutable>";
const char* const kWide = "!ttg.memdesc<64x128xf16, #s, #smem, mutable>";
const char* const kTile = "!ttg.memdesc<64x64xf16, #s, #smem, mutable>";
const char* const kStore =
    "      ttg.local_store %h, %cs : tensor<64x64xf16, #mma> -> !ttg.memdesc<64x64xf16, #s, #smem, "
    "mutable>\n";
const char* const kCopyOut =
    "      ttng.async_tma_copy_local_to_global %c[%row, %c0] %cs : "
    "!tt.tensordesc<tensor<64x64xf16, "
    "#s>>, !ttg.memdesc<64x64xf16, #s, #smem, mutable>\n";
const char* const kOwnTile =
    "    %cs = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>\n";

std::string cast(const std::string& result, const std::string& of, const std::string& from,
                 const std::string& to) {
  return "      %" + result + " = ttg.memdesc_reinterpret %" + of + " : " + from + " -> " + to +
         "\n";
}

/// The part of a tile of 64 x 128 from that column on.
std::string half(const std::string& result, const std::string& of, int column) {
  return "      %" + result + " = ttg.memdesc_subslice %" + of + "[0, " + std::to_string(column) +
         "] : " + kWide + " -> !ttg.memdesc<64x64xf16, #s, #smem, mutable, 64x128>\n";
}

std::string slot(const std::string& result, const std::string& of, const std::string& number) {
  return "      %" + result + " = ttg.memdesc_index %" + of + "[%" + number + "] : " + kRing +
         " -> " + kTile + "\n";
}

std::string store(const std::string& tile, const std::string& at, const std::string& type) {
  return "      ttg.local_store %" + tile + ", %" + at + " : " + type + "\n";
}

/// Makes kRoles write its result through a tile of 64 x 128 in the ring of A. One half of the tile
/// is that slot of the ring.
std::string through_wide_tile(int number) {
  std::string text = replaced(kRoles, kOwnTile, "");
  text = replaced(text, kStore,
                  cast("wide", "as", kRing, kWide) + half("part", "wide", 64 * number) +
                      store("h", "part",
                            "tensor<64x64xf16, #mma> -> !ttg.memdesc<64x64xf16, #s, #smem, "
                            "mutable, 64x128>") +
                      slot("cs", "as", number == 0 ? "c0" : "c1"));
  return text;
}

/// kRoles, with the ring of A in a buffer that was allocated as a tile of 64 x 128, in which the
/// result is written, too.
std::string ring_in_wide_tile() {
  std::string text = replaced(kRoles, kOwnTile, "");
  text = replaced(text, "    %as = ttg.local_alloc : () -> " + std::string(kRing) + "\n",
                  "    %wide = ttg.local_alloc : () -> " + std::string(kWide) + "\n" +
                      cast("as", "wide", kWide, kRing));
  return replaced(text, kStore,
                  half("part", "wide", 64) +
                      store("h", "part",
                            "tensor<64x64xf16, #mma> -> !ttg.memdesc<64x64xf16, #s, #smem, "
                            "mutable, 64x128>") +
                      slot("cs", "as", "c1"));
}

/// kRoles, whose sums go through the ring of A as numbers of 32 bits.
std::string through_floats() {
  const std::string floats = "!ttg.memdesc<64x64xf32, #s32, #smem, mutable>";
  std::string text = replaced(
      kRoles, "#mma =",
      "#s32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = "
      "32}>\n#mma =");
  return replaced(text, "      %h = arith.truncf %sum",
                  cast("floats", "as", kRing, floats) +
                      store("sum", "floats", "tensor<64x64xf32, #mma> -> " + floats) +
                      "      %back = ttg.local_load %floats : " + floats +
                      " -> tensor<64x64xf32, #mma>\n      %h = arith.truncf %back");
}

struct Outcome {
  std::vector<concurrent::Finding> findings;
  std::string error;
  execute::Memory::Written written;
};

Outcome outcome(const ir::Program& program, std::int64_t n, const Order& order, bool roles) {
  execute::Launch launch;
  launch.programs = {2, 1, 1};
  launch.arguments["n"] = static_cast<double>(n);
  execute::Memory memory(1);
  const ir::OpId function = ir::functions(program)[0];
  const auto arguments = execute::arguments_of(program, function, launch, memory);
  concurrent::Findings findings;
  Outcome made;
  for (std::int64_t x = 0; x < launch.programs[0]; ++x) {
    concurrent::Machine machine(program, memory, launch, {x, 0, 0}, {order, true}, findings);
    execute::Interpreter plain(program, memory, launch, {x, 0, 0});
    const auto result = roles ? machine.run(function, *arguments) : plain.run(function, *arguments);
    if (!result) made.error = to_string(result.error());
  }
  made.findings = findings.all();
  made.written = memory.written(2);
  return made;
}

std::vector<Order> few_orders() {
  std::vector<Order> all(4);
  all[1].first = 1;
  all[2].landing = Order::Landing::early;
  all[3].landing = Order::Landing::random;
  all[3].random = true;
  return all;
}

/// Right in every order, and for every trip count.
void expect_right(const std::string& text) {
  const ir::Program plain = module_read(kPlain);
  const ir::Program program = module_read(text);
  for (const std::int64_t n : {0, 1, 2, 5}) {
    const Outcome expected = outcome(plain, n, {}, false);
    for (const Order& order : few_orders()) {
      const Outcome made = outcome(program, n, order, true);
      EXPECT_EQ(made.error, "");
      for (const auto& finding : made.findings) ADD_FAILURE() << n << ": " << finding.message;
      EXPECT_EQ(execute::difference(expected.written, made.written).differing, 0) << "n = " << n;
    }
  }
  const auto followed = concurrent::follow_every_trip(program, ir::functions(program)[0], 0);
  ASSERT_TRUE(followed) << to_string(followed.error());
  for (const auto& finding : followed->findings) ADD_FAILURE() << finding.message;
}

/// Found in every order, and for every trip count at once: one side is the line with `at`.
void expect_broken(const std::string& text, Rule rule, const std::string& at) {
  const ir::Program program = module_read(text);
  const int line = line_with(text, at);
  const auto names = [&](const std::vector<concurrent::Finding>& findings) {
    std::string all;
    for (const auto& finding : findings) {
      const bool there = program.op(finding.op).line == line ||
                         (finding.with && program.op(*finding.with).line == line);
      if (finding.rule == rule && there) return std::string();
      all += std::to_string(program.op(finding.op).line) + ": " + finding.message + "\n";
    }
    return "not at line " + std::to_string(line) + ":\n" + all;
  };
  for (const Order& order : few_orders()) {
    const Outcome made = outcome(program, 5, order, true);
    EXPECT_EQ(made.error, "");
    EXPECT_EQ(names(made.findings), "");
  }
  const auto followed = concurrent::follow_every_trip(program, ir::functions(program)[0], 0);
  ASSERT_TRUE(followed) << to_string(followed.error());
  EXPECT_EQ(names(followed->findings), "");
}

TEST(Cast, ring_is_store_tile) {
  expect_right(through_wide_tile(0));
  expect_right(through_wide_tile(1));
}

TEST(Cast, store_tile_is_ring) { expect_right(ring_in_wide_tile()); }

TEST(Cast, numbers_of_another_width) { expect_right(through_floats()); }

// The tile's other half is another slot: the store reads what was there before.
TEST(Cast, halves_are_slots) {
  const ir::Program plain = module_read(kPlain);
  const ir::Program program =
      module_read(replaced(through_wide_tile(0), "%cs = ttg.memdesc_index %as[%c0]",
                           "%cs = ttg.memdesc_index %as[%c1]"));
  const Outcome expected = outcome(plain, 5, {}, false);
  const Outcome made = outcome(program, 5, {}, true);
  EXPECT_TRUE(made.findings.empty());
  EXPECT_GT(execute::difference(expected.written, made.written).differing, 0);
}

TEST(Cast, unwritten_bytes) {
  // With no iteration, the slot that is stored is not written.
  expect_broken(replaced(replaced(through_wide_tile(0), "%cs = ttg.memdesc_index %as[%c0]",
                                  "%cs = ttg.memdesc_index %as[%c1]"),
                         "%sum = scf.for %i = %c0 to %n", "%sum = scf.for %i = %n to %n"),
                Rule::read_before_write, "async_tma_copy_local_to_global");
}

TEST(Cast, fence) {
  expect_broken(
      replaced(through_wide_tile(0), "      ttng.fence_async_shared {bCluster = false}\n", ""),
      Rule::fence, "async_tma_copy_local_to_global");
}

// The tile is written while the last product may still read its slot.
TEST(Cast, products_in_flight) {
  expect_broken(replaced(through_wide_tile(0), "pendings = 0 : i32} : tensor",
                         "pendings = 1 : i32} : tensor"),
                Rule::overwrite, "ttg.local_store %h, %part");
}

// The tile is written in the loop, while copies into the ring are in flight.
TEST(Cast, copies_in_flight) {
  const std::string zeros =
      "      %wide = ttg.memdesc_reinterpret %as : " + std::string(kRing) + " -> " + kWide + "\n";
  std::string text = replaced(through_wide_tile(1), zeros, "");
  text = replaced(text, "        %slot = arith.remsi %i, %c2 : i32\n",
                  "        %slot = arith.remsi %i, %c2 : i32\n        %early = arith.constant "
                  "dense<0.000000e+00> : tensor<64x128xf16, #mma>\n        ttg.local_store %early, "
                  "%wide : tensor<64x128xf16, #mma> -> " +
                      std::string(kWide) + "\n");
  text = replaced(text, "      %true = arith.constant true\n",
                  "      %true = arith.constant true\n" + zeros);
  expect_broken(text, Rule::overwrite, "ttg.local_store %early");
}

TEST(Cast, beside_the_buffer) {
  const std::string text = replaced(through_wide_tile(0), cast("wide", "as", kRing, kWide),
                                    slot("last", "as", "c1") + cast("wide", "last", kTile, kWide));
  const ir::Program program = module_read(text);
  const Outcome made = outcome(program, 5, {}, true);
  EXPECT_EQ(made.error, "");
  ASSERT_FALSE(made.findings.empty());
  EXPECT_EQ(made.findings[0].rule, Rule::bounds);
  EXPECT_EQ(program.op(made.findings[0].op).line, line_with(text, "%wide ="));
}

// A layout that is not known is refused at its line.
TEST(Cast, unknown_layout) {
  const std::string text =
      replaced(replaced(through_wide_tile(0), "      %h = arith.truncf %sum",
                        cast("odd", "as", kRing, "!ttg.memdesc<64x128xf16, #odd, #smem, mutable>") +
                            "      %h = arith.truncf %sum"),
               "#mma =", "#odd = #ttg.shared_linear<{offset = [[0, 1]]}, alignment = 16>\n#mma =");
  const ir::Program program = module_read(text);
  EXPECT_NE(outcome(program, 5, {}, true).error.find("a layout that is not known"),
            std::string::npos);
}

}  // namespace
}  // namespace twill::tests
