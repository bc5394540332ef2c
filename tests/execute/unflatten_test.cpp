#include "twill/frontend/ttgir/unflatten.h"

#include <bit>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "execute/flat_text.h"
#include "execute/running.h"
#include "twill/frontend/ttgir/structure.h"
#include "twill/frontend/ttgir/text.h"
#include "twill/ir/loop.h"

// Compares flattened loops with the nests made of them: memory has the same bits, or the loop stays
// flat.
namespace twill::execute {
namespace {

using testing::Bits;
using testing::edited;
using testing::Edits;
using testing::kFlatText;
using testing::read;
using testing::text_of;

/// Numbers that a grid of `programs` CTAs writes, for each array.
Bits written_by_grid(const ir::Program& program, const Launch& launch) {
  Memory memory(1);
  std::vector<std::array<std::int64_t, 3>> ids;
  for (std::int64_t x = 0; x < launch.programs[0]; ++x) ids.push_back({x, 0, 0});
  const auto result = testing::run_programs(program, memory, launch, ids);
  EXPECT_TRUE(result.has_value()) << to_string(result.error());
  Bits bits;
  for (std::size_t a = 0; a < memory.array_count(); ++a) {
    bits.emplace_back();
    for (const auto& [index, value] : memory.written(a)) {
      bits.back().emplace(index, std::bit_cast<std::uint64_t>(value));
    }
  }
  return bits;
}

std::size_t count(const Bits& bits) {
  std::size_t all = 0;
  for (const auto& array : bits) all += array.size();
  return all;
}

/// Nest of a flat text; checks that it reads as it prints, and that its structure is right.
ir::Program nest_of(const ir::Program& flat) {
  auto nest = frontend::ttgir::unflatten(flat);
  EXPECT_TRUE(nest.has_value());
  if (!nest) return flat;
  const auto right = frontend::ttgir::check_structure(nest->program);
  EXPECT_TRUE(right.has_value()) << to_string(right.error());
  const std::string text = frontend::ttgir::to_text(nest->program);
  const auto again = frontend::read_ttgir(text, "nest");
  EXPECT_TRUE(again.has_value()) << to_string(again.error()) << text;
  const auto loops = ir::loops(nest->program, nest->program.module());
  EXPECT_EQ(loops.size(), 2U);
  EXPECT_EQ(loops.back().outer, loops.front().op);
  return std::move(nest->program);
}

std::string last_arguments(const ir::Program& program, std::size_t from_behind) {
  const auto arguments = ir::function_arguments(program, ir::functions(program)[0]);
  return program.value(arguments[arguments.size() - from_behind]).name;
}

void expect_same(const std::string& name, const std::string& text, std::size_t sizes) {
  const ir::Program flat = read(text);
  const ir::Program nest = nest_of(flat);
  struct Size {
    std::int64_t m, n, k, ctas;
  };
  for (const Size& size :
       {Size{130, 70, 96, 3}, Size{64, 32, 32, 1}, Size{64, 32, 0, 3}, Size{200, 40, 0, 2},
        Size{65, 33, 31, 2}, Size{1, 1, 33, 7}, Size{128, 96, 70, 20}, Size{0, 64, 64, 2}}) {
    Launch launch;
    launch.size = 64;
    launch.programs = {size.ctas, 1, 1};
    const std::vector<std::int64_t> values = {size.m, size.n, size.k};
    for (std::size_t i = 0; i < sizes; ++i) {
      launch.arguments[last_arguments(flat, sizes - i)] = static_cast<double>(values[i]);
    }
    const Bits expected = written_by_grid(flat, launch);
    EXPECT_EQ(written_by_grid(nest, launch), expected) << name << " " << size.m << " " << size.k;
    EXPECT_EQ(count(expected) > 0, size.m > 0) << name;
  }
}

// Protects: nests of kernels that Triton flattened (tests/execute/flat/flat.py) write the same bits
// as the flat loops. Covers tiles without a step, more CTAs than tiles, and no tiles.
TEST(Unflatten, NestsWriteWhatFlatLoopsDo) {
  std::size_t kernels = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(TWILL_SOURCE_DIR) + "/tests/execute/flat")) {
    if (entry.path().extension() != ".ttgir") continue;
    const std::string name = entry.path().stem().string();
    expect_same(name, text_of(entry.path()), name.starts_with("constant") ? 2 : 3);
    ++kernels;
  }
  EXPECT_GE(kernels, 8U);
}

// Protects: nests of the shipped kernels.
TEST(Unflatten, ShippedNestsWriteWhatFlatLoopsDo) {
  for (const std::string name : {"sm_90/128x256x64_flat", "sm_100/128x256x64_flat_ws"}) {
    const ir::Program flat = read(
        text_of(std::string(TWILL_SOURCE_DIR) + "/kernels/gemm_persistent/" + name + ".pre.ttgir"));
    const ir::Program nest = nest_of(flat);
    for (const double k : {0, 64, 130}) {
      Launch launch;
      launch.arguments = {{"arg15", 200}, {"arg16", 256}, {"arg17", k}};
      launch.programs = {1, 1, 1};
      EXPECT_EQ(written_by_grid(nest, launch), written_by_grid(flat, launch)) << name << " " << k;
    }
  }
}

Bits written_by_grid(const ir::Program& program, int tiles, int k, int ctas) {
  Launch launch;
  launch.arguments = {{"tiles", tiles}, {"k", k}};
  launch.programs = {ctas, 1, 1};
  return written_by_grid(program, launch);
}

const Edits kForms[] = {
    {},
    // A select resets the accumulator, in the last step or in the first step.
    {{"%next = scf.if %ends -> (f32) {", "scf.if %ends {"},
     {"        scf.yield %zero : f32\n      } else {\n        scf.yield %sum : f32\n      }\n",
      "      }\n      %next = arith.select %ends, %zero, %sum : f32\n"}},
    {{"%next = scf.if %ends -> (f32) {", "scf.if %ends {"},
     {"        scf.yield %zero : f32\n      } else {\n        scf.yield %sum : f32\n      }\n",
      "      }\n"},
     {"%sum = arith.addf %acc, %term : f32",
      "%acc0 = arith.select %first, %zero, %acc : f32\n      %sum = arith.addf %acc0, %term : f32"},
     {"%k1, %next, %now#1", "%k1, %sum, %now#1"}},
    // The value is never reset, so the loop over tiles carries it.
    {{"        scf.yield %zero : f32\n      } else", "        scf.yield %sum : f32\n      } else"}},
    // Without a step, a constant is stored that no op of the text computes.
    {{"%whole = arith.addf %number, %zero : f32", "%whole = arith.constant 0.0 : f32"},
     {"%whole = arith.addf %sum, %number : f32", "%whole = arith.maxnumf %sum, %zero : f32"}},
    // Steps read the counter itself.
    {{"%kf = arith.sitofp %k0", "%kf = arith.sitofp %t"}},
    // A tile reads, at its begin, a value left by the previous tile.
    {{"%row = tt.addptr %a, %tile : !tt.ptr<f32>, i32",
      "%other = tt.addptr %from, %c4 : !tt.ptr<f32>, i32\n        %row = tt.addptr %other, %tile : "
      "!tt.ptr<f32>, i32"}},
    // Code after a tile reads a value that a step computed from the tile alone.
    {{"%x3 = arith", "%shift = arith.addi %now#0, %c1 : i32\n      %x3 = arith"},
     {"%number = arith.sitofp %now#0 : i32 to f32", "%number = arith.sitofp %shift : i32 to f32"},
     {"%number = arith.sitofp %tile : i32 to f32",
      "%shift = arith.addi %tile, %c1 : i32\n      %number = arith.sitofp %shift : i32 to f32"}},
    // A tile begins with a flag in its first step.
    {{"%x3 = arith.mulf %x, %three : f32",
      "%factor = arith.select %first, %zero, %three : f32\n      %x3 = arith.mulf %x, %factor : "
      "f32"}},
};

// Protects: each form that the transformation accepts, in all its spellings.
TEST(Unflatten, EachFormIsTheSame) {
  for (const Edits& edits : kForms) {
    const std::string text = edited(kFlatText, edits);
    const bool guard_differs = !edits.empty() && edits[0].first.find("scf.yield %zero") == 8;
    const ir::Program flat = read(text);
    if (guard_differs) {
      // Without a step, such tiles would add values that the guard's loop does not add.
      EXPECT_FALSE(frontend::ttgir::unflatten(flat).has_value()) << text;
      continue;
    }
    const ir::Program nest = nest_of(flat);
    for (const int k : {0, 1, 2, 3, 8, 9}) {
      for (const int tiles : {0, 1, 3, 4, 9, 17}) {
        const Bits expected = written_by_grid(flat, tiles, k, 5);
        EXPECT_EQ(written_by_grid(nest, tiles, k, 5), expected) << k << " " << tiles << text;
      }
    }
  }
}

/// Guards as other Tritons write them: by the range of the steps, and with exchanged branches.
const Edits kGuards[] = {
    {{"%none = arith.cmpi eq, %steps, %c0", "%none = arith.cmpi sle, %steps, %c0"}},
    {{"%none = arith.cmpi eq, %steps, %c0", "%none = arith.cmpi slt, %steps, %c1"}},
    {{"%none = arith.cmpi eq, %steps, %c0", "%none = arith.cmpi sge, %c0, %steps"}},
    {{"%none = arith.cmpi eq, %steps, %c0", "%none = arith.cmpi sle, %k, %c0"}},
    {{"%none = arith.cmpi eq, %steps, %c0", "%none = arith.cmpi sge, %low, %k"},
     {"%steps = arith.ceildivsi %k, %c2",
      "%low = arith.remsi %tiles, %c2 : i32\n"
      "  %reach = arith.subi %k, %low : i32\n"
      "  %steps = arith.ceildivsi %reach, %c2"},
     {"%again = arith.ceildivsi %k, %c2", "%again = arith.ceildivsi %reach, %c2"},
     {"%k0 = arith.select %first, %c0, %offset", "%k0 = arith.select %first, %low, %offset"}},
    {{"%none = arith.cmpi eq, %steps, %c0", "%none = arith.cmpi sgt, %c1, %steps"}},
};

// Protects: Triton 3.9 guards a flat loop by `steps <= 0` or `last <= first`, Triton 3.6 by 0.
TEST(Unflatten, GuardsOfEachTritonAreTheSame) {
  for (const Edits& edits : kGuards) {
    const std::string text = edited(kFlatText, edits);
    const ir::Program flat = read(text);
    const ir::Program nest = nest_of(flat);
    EXPECT_EQ(frontend::ttgir::to_text(nest).find("scf.if"), std::string::npos) << text;
    for (const int k : {0, 1, 2, 3, 8, 9}) {
      for (const int tiles : {0, 1, 3, 4, 9, 17}) {
        EXPECT_EQ(written_by_grid(nest, tiles, k, 5), written_by_grid(flat, tiles, k, 5))
            << k << " " << tiles;
      }
    }
  }
}

// Protects: a comparison that also holds for other numbers of steps is no guard, and stays.
TEST(Unflatten, OtherGuardsAreNone) {
  for (const char* const other : {"sle, %steps, %c1", "slt, %steps, %c2", "sge, %steps, %c0",
                                  "sle, %c0, %steps", "sle, %tiles, %c0", "eq, %steps, %c1",
                                  "ne, %steps, %c0", "ule, %steps, %c0", "sge, %k, %c0"}) {
    const ir::Program flat =
        read(edited(kFlatText, {{"cmpi eq, %steps, %c0", std::string("cmpi ") + other}}));
    const auto nest = frontend::ttgir::unflatten(flat);
    if (!nest) continue;
    EXPECT_NE(frontend::ttgir::to_text(nest->program).find("scf.if"), std::string::npos) << other;
  }
}

struct FlatNearMiss {
  const char* what;
  Edits edits;
};

const FlatNearMiss kFlatNearMisses[] = {
    {"the counter wraps at another number than a tile has steps",
     {{"%wraps = arith.cmpi eq, %t, %last", "%wraps = arith.cmpi eq, %t, %n"}}},
    {"the counter goes on in twos", {{"%t1 = arith.addi %t, %c1", "%t1 = arith.addi %t, %c2"}}},
    {"the counter begins elsewhere", {{"iter_args(%t = %c0", "iter_args(%t = %c1"}}},
    {"the number of iterations is no multiple of the steps",
     {{"%total = arith.muli %mine, %n", "%total = arith.muli %mine, %k"}}},
    {"the number of iterations is a sum",
     {{"%total = arith.muli %mine, %n", "%total = arith.addi %mine, %n"}}},
    {"tiles end at another step",
     {{"%ends = arith.cmpi eq, %t, %last", "%ends = arith.cmpi eq, %t, %c1"}}},
    {"tiles end by another comparison",
     {{"%ends = arith.cmpi eq, %t, %last", "%ends = arith.cmpi ne, %t, %last"}}},
    {"tiles begin at another step",
     {{"%first = arith.cmpi eq, %t, %c0", "%first = arith.cmpi eq, %t, %c2"}}},
    {"tiles begin where another value is 0",
     {{"%first = arith.cmpi eq, %t, %c0", "%first = arith.cmpi eq, %offset, %c0"}}},
    {"each step stores",
     {{"%ends = arith", "tt.store %p, %sum : !tt.ptr<f32>\n      %ends = arith"}}},
    {"something is loaded behind what ends a tile",
     {{"%t1 = arith", "%y = tt.load %o : !tt.ptr<f32>\n      %t1 = arith"},
      {"%k1, %next, %now#1", "%k1, %y, %now#1"}}},
    {"a step reads what the one before had",
     {{"%kf = arith.sitofp %k0", "%kf = arith.sitofp %offset"}}},
    {"a step reads the tile before", {{"%p = tt.addptr %now#1, %k0", "%p = tt.addptr %from, %k0"}}},
    {"what differs in the last step is read there",
     {{"%t1 = arith", "%twice = arith.addf %next, %next : f32\n      %t1 = arith"},
      {"%k1, %next, %now#1", "%k1, %twice, %now#1"}}},
    {"what follows a tile reads what its last step loaded",
     {{"%whole = arith.addf %sum, %number", "%whole = arith.addf %x, %number"}}},
    {"the loop is asked how far it came",
     {{"  }\n  tt.return", "    tt.store %o, %all#3 : !tt.ptr<f32>\n  }\n  tt.return"}}},
    {"the iteration is read", {{"%kf = arith.sitofp %k0", "%kf = arith.sitofp %i"}}},
    {"the first tile is another",
     {{"%begin = arith.subi %pid, %c4", "%begin = arith.subi %pid, %c2"}}},
    {"tiles are further apart",
     {{"%tile = arith.addi %before, %c4", "%tile = arith.addi %before, %c2"}}},
    {"a tile may have no step", {{"%n = arith.maxsi %again, %c1", "%n = arith.addi %again, %c0"}}},
    {"a tile has two steps at least",
     {{"%n = arith.maxsi %again, %c1", "%n = arith.maxsi %again, %c2"}}},
    {"without a step something else is stored", {{"tt.store %at, %whole", "tt.store %at, %three"}}},
    {"without a step it is stored elsewhere",
     {{"%at = tt.addptr %o, %tile", "%at = tt.addptr %a, %tile"}}},
    {"without a step other tiles are stored",
     {{"scf.for %tile = %pid to %tiles step %c4", "scf.for %tile = %c0 to %tiles step %c4"}}},
    {"without a step nothing is stored",
     {{"      tt.store %at, %whole : !tt.ptr<f32>\n    }", "    }"}}},
    {"a step loads before its tile begins",
     {{"%k0 = arith.select", "%y = tt.load %o : !tt.ptr<f32>\n      %k0 = arith.select"}}},
    {"steps do something else at another step than the first",
     {{"scf.yield %before, %from : i32, !tt.ptr<f32>",
       "%there = tt.addptr %from, %c1 : !tt.ptr<f32>, i32\n        scf.yield %before, %there : "
       "i32, !tt.ptr<f32>"}}},
};

// Protects: a loop that differs from the pattern stays flat, and a later step refuses it.
TEST(Unflatten, NearMissesStay) {
  ASSERT_TRUE(frontend::ttgir::unflatten(read(kFlatText)).has_value());
  for (const FlatNearMiss& miss : kFlatNearMisses) {
    EXPECT_FALSE(frontend::ttgir::unflatten(read(edited(kFlatText, miss.edits))).has_value())
        << miss.what;
  }
}

// Protects: ops keep their lines of the text, and both loops have the line of the flat loop.
TEST(Unflatten, LinesStay) {
  const ir::Program flat = read(kFlatText);
  const auto nest = frontend::ttgir::unflatten(flat);
  ASSERT_TRUE(nest.has_value());
  const int line = flat.op(ir::loops(flat, flat.module()).back().op).line;
  EXPECT_EQ(nest->lines, std::vector<int>{line});
  for (const ir::Loop& loop : ir::loops(nest->program, nest->program.module())) {
    EXPECT_EQ(nest->program.op(loop.op).line, line);
  }
  for (const ir::OpId op : ir::walk(nest->program, nest->program.module())) {
    if (nest->program.op(op).kind != ir::OpKind::load) continue;
    EXPECT_EQ(nest->program.op(op).line, line + 11);
  }
}

// Protects: chains of computations of any length, and texts with any number of loops.
TEST(Unflatten, LongTextsAreNoTrouble) {
  const std::string flat = text_of(std::string(TWILL_SOURCE_DIR) +
                                   "/kernels/gemm_persistent/sm_90/128x256x64_flat.pre.ttgir");
  const std::string steps = "      %12 = arith.maxsi %11, %c1_i32 : i32\n";
  constexpr int kLength = 100'000;
  std::string chain = "      %h0 = arith.addi %11, %c1_i32 : i32\n";
  for (int i = 1; i < kLength; ++i) {
    chain += "      %h" + std::to_string(i) + " = arith.addi %h" + std::to_string(i - 1) +
             ", %c1_i32 : i32\n";
  }
  std::string deep = flat;
  deep.replace(
      deep.find(steps), steps.size(),
      chain + "      %12 = arith.maxsi %h" + std::to_string(kLength - 1) + ", %c1_i32 : i32\n");
  EXPECT_TRUE(frontend::ttgir::unflatten(read(deep)));

  std::string loops;
  for (int i = 0; i < 20'000; ++i) {
    loops += "    scf.for %q" + std::to_string(i) +
             " = %c0_i32 to %c64_i32 step %c1_i32  : i32 {\n      scf.yield\n    }\n";
  }
  std::string many = flat;
  many.insert(many.rfind("    tt.return"), loops);
  EXPECT_TRUE(
      frontend::ttgir::unflatten(read(many)));  // visits each a few times; otherwise minutes
}

}  // namespace
}  // namespace twill::execute
