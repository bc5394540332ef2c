#include <gmock/gmock.h>

#include "extract/ttgir.h"
#include "twill/extract/memory_order.h"
#include "twill/ir/arrays.h"
#include "twill/ir/operands.h"

/// Effects of a loop, and order through global memory.
namespace twill::extract::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// %places: 128 x 128 elements of %ptr, row by row.
const std::string kPlaces = R"(
    %hundred = arith.constant dense<128> : tensor<128x1xi32, #blocked>
    %m = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %mm = tt.expand_dims %m {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<128x1xi32, #blocked>
    %lines = arith.muli %mm, %hundred : tensor<128x1xi32, #blocked>
    %all_lines = tt.broadcast %lines : tensor<128x1xi32, #blocked> -> tensor<128x128xi32, #blocked>
    %k = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %kk = tt.expand_dims %k {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x128xi32, #blocked>
    %all_k = tt.broadcast %kk : tensor<1x128xi32, #blocked> -> tensor<128x128xi32, #blocked>
    %within = arith.addi %all_lines, %all_k : tensor<128x128xi32, #blocked>
    %base = tt.splat %ptr : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>, #blocked>
    %places = tt.addptr %base, %within : tensor<128x128x!tt.ptr<f16>, #blocked>, tensor<128x128xi32, #blocked>
)";

/// %hb: the product as f16, for stores.
const std::string kHalves = R"(
      %h = arith.truncf %d : tensor<128x128xf32, #mma> to tensor<128x128xf16, #mma>
      %hb = ttg.convert_layout %h : tensor<128x128xf16, #mma> -> tensor<128x128xf16, #blocked>
)";

const std::string kStore = "      tt.store %places, %hb : tensor<128x128x!tt.ptr<f16>, #blocked>\n";
const std::string kLoad = R"(
      %back = tt.load %places : tensor<128x128x!tt.ptr<f16>, #blocked>
      "test.keep"(%back) : (tensor<128x128xf16, #blocked>) -> ()
)";

std::string refusal_of(const std::string& text, Options options = kWhole) {
  const auto extraction = extract_from(text, "h200", options);
  return extraction ? "accepted" : to_string(extraction.error());
}

// Loads on a branch's side without ops also come after a store to the same places. No plan keeps
// that order.
TEST(Memory, LoadsOnTheOtherSideOfABranchAreOrdered) {
  const std::string body = loads() + product() + kHalves + kStore + R"(
      %some = arith.cmpi slt, %i, %n : i32
      %v = scf.if %some -> (tensor<128x128xf32, #mma>) {
        %e = math.exp2 %d : tensor<128x128xf32, #mma>
        %f = math.exp2 %e : tensor<128x128xf32, #mma>
        %g = math.exp2 %f : tensor<128x128xf32, #mma>
        scf.yield %g : tensor<128x128xf32, #mma>
      } else {
        %back = tt.load %places : tensor<128x128x!tt.ptr<f16>, #blocked>
        %there = ttg.convert_layout %back : tensor<128x128xf16, #blocked> -> tensor<128x128xf16, #mma>
        %wide = arith.extf %there : tensor<128x128xf16, #mma> to tensor<128x128xf32, #mma>
        scf.yield %wide : tensor<128x128xf32, #mma>
      }
)";
  EXPECT_THAT(refusal_of(hopper_kernel(body, "%v", kPlaces)),
              HasSubstr("the plan has no op for one of them"));
}

// A load after a store to the same places reads the stored values, and the next store comes after
// the load. No value expresses this order.
TEST(Memory, StoresAndLoadsOfTheSamePlacesAreOrdered) {
  const std::string body = loads() + product() + kHalves + kStore + kLoad;
  const Extraction loop = extracted(hopper_kernel(body, "%d", kPlaces), "h200", kWhole);
  const problem::Dependence* after = find_dependence(loop.problem, "store", "load");
  ASSERT_NE(after, nullptr);
  EXPECT_TRUE(after->through_memory);
  EXPECT_FALSE(after->carries_value);
  EXPECT_EQ(after->delay, std::nullopt);  // the latency of the store
  const problem::Dependence* again = find_dependence(loop.problem, "load", "store", 1);
  ASSERT_NE(again, nullptr);
  EXPECT_TRUE(again->through_memory);
}

// With places that advance by half a tile, other threads write the same elements in the next
// iteration: the store must follow itself. Whole tiles, and places that stay, need no order.
TEST(Memory, AStoreThatMovesByLessThanItsTileIsOrderedWithItself) {
  for (const auto& [step, ordered] : {std::pair(8192, true), {16384, false}, {0, false}}) {
    const std::string moving =
        "      %step = arith.constant " + std::to_string(step / 64) + " : i32\n" + R"(
      %by = arith.muli %i, %step : i32
      %from = tt.splat %by : i32 -> tensor<128x128xi32, #blocked>
      %there = tt.addptr %places, %from : tensor<128x128x!tt.ptr<f16>, #blocked>, tensor<128x128xi32, #blocked>
      tt.store %there, %hb : tensor<128x128x!tt.ptr<f16>, #blocked>
)";
    const std::string body = loads() + product() + kHalves + moving;
    const Extraction loop = extracted(hopper_kernel(body, "%d", kPlaces), "h200", kWhole);
    const problem::Dependence* again = find_dependence(loop.problem, "store", "store", 1);
    EXPECT_EQ(again != nullptr && again->through_memory, ordered) << step;
  }
}

// An argument used as a stride is assumed to be the stride of an array whose rows do not overlap.
// The plan's notes say so.
TEST(Memory, StridesThatAreArgumentsAreNamed) {
  const std::string moving = R"(
      %apart = tt.splat %stride : i32 -> tensor<128x1xi32, #blocked>
      %rows = arith.muli %mm, %apart : tensor<128x1xi32, #blocked>
      %rows2 = tt.broadcast %rows : tensor<128x1xi32, #blocked> -> tensor<128x128xi32, #blocked>
      %place = arith.addi %rows2, %all_k : tensor<128x128xi32, #blocked>
      %step = arith.constant 128 : i32
      %by = arith.muli %i, %step : i32
      %from = tt.splat %by : i32 -> tensor<128x128xi32, #blocked>
      %moved = arith.addi %place, %from : tensor<128x128xi32, #blocked>
      %there = tt.addptr %base, %moved : tensor<128x128x!tt.ptr<f16>, #blocked>, tensor<128x128xi32, #blocked>
      tt.store %there, %hb : tensor<128x128x!tt.ptr<f16>, #blocked>
)";
  std::string text = hopper_kernel(loads() + product() + kHalves + moving, "%d", kPlaces);
  text.insert(text.find("%ptr: !tt.ptr<f16>"), "%stride: i32, ");
  const auto program = frontend::read_ttgir(text, "strides.ttgir");
  ASSERT_TRUE(program.has_value()) << to_string(program.error());
  const auto loop = choose_loop(*program, "");
  ASSERT_TRUE(loop.has_value());
  EXPECT_THAT(assumed_strides(*program, loop->loop).value_or(""),
              HasSubstr("stride elements apart, do not overlap"));
  EXPECT_EQ(find_dependence(extracted(text, "h200", kWhole).problem, "store", "store", 1), nullptr);
}

// Loaded places may repeat those of an earlier iteration, and so do boxes that stay: one bulk store
// does not wait for another.
TEST(Memory, AStoreWhosePlacesAreNotKnownIsOrderedWithItself) {
  const std::string loaded = R"(
      %chosen = tt.load %numbers : tensor<128x128x!tt.ptr<i32>, #blocked>
      %there = tt.addptr %base, %chosen : tensor<128x128x!tt.ptr<f16>, #blocked>, tensor<128x128xi32, #blocked>
      tt.store %there, %hb : tensor<128x128x!tt.ptr<f16>, #blocked>
)";
  const std::string front = kPlaces + R"(
    %table = tt.splat %idx : !tt.ptr<i32> -> tensor<128x128x!tt.ptr<i32>, #blocked>
    %numbers = tt.addptr %table, %within : tensor<128x128x!tt.ptr<i32>, #blocked>, tensor<128x128xi32, #blocked>
)";
  const auto box = [](const std::string& at) {
    return R"(
      %ta2 = ttg.convert_layout %ta : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #blocked>
      tt.descriptor_store %c_desc[%c0, )" +
           at +
           R"(], %ta2 : !tt.tensordesc<tensor<128x64xf16, #shared>>, tensor<128x64xf16, #blocked>
)";
  };
  for (const auto& [store, ordered] :
       {std::pair(kHalves + loaded, true), {box("%c0"), true}, {box("%i"), false}}) {
    std::string text = hopper_kernel(loads() + product() + store, "%d", front);
    const std::string pointer = "%ptr: !tt.ptr<f16>";
    const auto at = text.find(pointer);
    ASSERT_NE(at, std::string::npos);
    text.insert(at, "%idx: !tt.ptr<i32>, %c_desc: !tt.tensordesc<tensor<128x64xf16, #shared>>, ");
    const Extraction loop = extracted(text, "h200", kWhole);
    const problem::Dependence* again = find_dependence(loop.problem, "store", "store", 1);
    EXPECT_EQ(again != nullptr && again->through_memory, ordered) << store;
  }
}

// The order of the text decides: a load before the store reads the previous iteration's values.
TEST(Memory, LoadsInFrontOfAStoreReadTheIterationBefore) {
  const std::string body = loads() + product() + kHalves + kLoad + kStore;
  const Extraction loop = extracted(hopper_kernel(body, "%d", kPlaces), "h200", kWhole);
  EXPECT_NE(find_dependence(loop.problem, "load", "store"), nullptr);
  EXPECT_NE(find_dependence(loop.problem, "store", "load", 1), nullptr);
  EXPECT_EQ(find_dependence(loop.problem, "store", "load"), nullptr);
}

// Arrays of different arguments do not overlap; the plan's notes name these arrays.
TEST(Memory, DifferentArgumentsAreDifferentArrays) {
  const std::string body = loads() + product() + kHalves + kStore;
  const std::string text = hopper_kernel(body, "%d", kPlaces);
  const Extraction loop = extracted(text, "h200", kWhole);
  for (const problem::Dependence& it : loop.problem.dependences()) {
    EXPECT_FALSE(it.through_memory);
  }
  for (const char* copy : {"load_a", "load_b"}) {
    EXPECT_TRUE(find_op(loop.problem, copy)->streaming) << copy;
  }
  const ir::Program program = program_of(text);
  EXPECT_EQ(assumed_apart(program, choose_loop(program, "")->loop),
            "assumes that the arrays of a_desc, b_desc and ptr do not overlap");
}

// Boxes of one descriptor are compared by their coordinates. Boxes that advance by their own size
// never meet boxes of other iterations. The copy no longer runs ahead of the store.
TEST(Memory, BoxesAreApartWhereTheirCoordinatesAre) {
  const std::string back = R"(
      %ta2 = ttg.convert_layout %ta : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #blocked>
      tt.descriptor_store %a_desc[%c0, %i], %ta2 : !tt.tensordesc<tensor<128x64xf16, #shared>>, tensor<128x64xf16, #blocked>
)";
  const Extraction loop = extracted(hopper_kernel(loads() + product() + back), "h200", kWhole);
  ASSERT_NE(find_dependence(loop.problem, "load_a", "store"), nullptr);
  EXPECT_EQ(find_dependence(loop.problem, "store", "load_a", 1), nullptr);
  EXPECT_FALSE(find_op(loop.problem, "load_a")->streaming);
  EXPECT_TRUE(find_op(loop.problem, "load_b")->streaming);

  const std::string same = R"(
      tt.descriptor_store %a_desc[%c0, %c0], %ta : !tt.tensordesc<tensor<128x64xf16, #shared>>, tensor<128x64xf16, #blocked>
)";
  const Extraction fixed = extracted(hopper_kernel(loads() + product() + same), "h200", kWhole);
  EXPECT_NE(find_dependence(fixed.problem, "store", "load_a", 1), nullptr);
}

// Pointers are followed as sums: rows of 128 elements after the tile are disjoint from the tile.
TEST(Memory, TilesAreApartWhereTheirAddressesAre) {
  const auto body = [](const std::string& by) {
    return loads() + product() + kHalves + R"(
      %far = arith.constant dense<)" +
           by + R"(> : tensor<128x128xi32, #blocked>
      %there = tt.addptr %places, %far : tensor<128x128x!tt.ptr<f16>, #blocked>, tensor<128x128xi32, #blocked>
      tt.store %there, %hb : tensor<128x128x!tt.ptr<f16>, #blocked>
)" + kLoad;
  };
  const Extraction apart = extracted(hopper_kernel(body("16384"), "%d", kPlaces), "h200", kWhole);
  EXPECT_EQ(find_dependence(apart.problem, "store", "load"), nullptr);
  EXPECT_EQ(find_dependence(apart.problem, "load", "store", 1), nullptr);
  const Extraction meet = extracted(hopper_kernel(body("16383"), "%d", kPlaces), "h200", kWhole);
  EXPECT_NE(find_dependence(meet.problem, "store", "load"), nullptr);
}

// Sub-tiles of one access may touch rows of another sub-tile.
TEST(Memory, AllPartsOfAnAccessAreOrdered) {
  Options halves;
  halves.subtile = 64;
  const std::string body = loads() + product() + kHalves + kStore + kLoad;
  const Extraction loop = extracted(hopper_kernel(body, "%d", kPlaces), "h200", halves);
  for (const char* store : {"storeA", "storeB"}) {
    for (const char* load : {"loadA", "loadB"}) {
      EXPECT_NE(find_dependence(loop.problem, store, load), nullptr) << store << " " << load;
    }
  }
}

// Sums in memory may be added to in any order.
TEST(Memory, AtomicOperationsOfOneKindCommute) {
  const auto atomic = [](const std::string& name, const std::string& how) {
    return "      %" + name + " = tt.atomic_rmw " + how +
           ", relaxed, gpu, %places, %hb : (tensor<128x128x!tt.ptr<f16>, #blocked>, "
           "tensor<128x128xf16, #blocked>) -> tensor<128x128xf16, #blocked>\n";
  };
  const std::string head = loads() + product() + kHalves;
  const Extraction sums =
      extracted(hopper_kernel(head + atomic("x", "fadd") + atomic("y", "fadd"), "%d", kPlaces),
                "h200", kWhole);
  EXPECT_EQ(find_dependence(sums.problem, "atomic0", "atomic1"), nullptr);
  const Extraction both =
      extracted(hopper_kernel(head + atomic("x", "fadd") + kStore, "%d", kPlaces), "h200", kWhole);
  EXPECT_NE(find_dependence(both.problem, "atomic", "store"), nullptr);
  EXPECT_NE(find_dependence(both.problem, "store", "atomic", 1), nullptr);
}

// Protects: the result of an atomic operation is not recomputed by each reader, as a loaded index
// is: each execution changes memory.
TEST(Memory, NumbersOfAtomicOperationsAreNoIndices) {
  const std::string body = loads() + product() + R"(
      %counter = tt.bitcast %ptr : !tt.ptr<f16> -> !tt.ptr<i16>
      %next = tt.atomic_rmw add, relaxed, gpu, %counter, %one, %live : (!tt.ptr<i16>, i16, i1) -> i16
      %far = arith.extsi %next : i16 to i32
      %there = tt.addptr %ptr, %far : !tt.ptr<f16>, i32
      tt.store %there, %half : !tt.ptr<f16>
)";
  const std::string front =
      "    %one = arith.constant 1 : i16\n    %live = arith.constant true\n"
      "    %half = arith.constant 1.000000e+00 : f16\n";
  EXPECT_THAT(refusal_of(hopper_kernel(body, "%d", front)),
              HasSubstr("tt.atomic_rmw returns a number that other ops need"));
}

// A store of a single value is an op, as a store of a tile is. (It was left out without a message.)
TEST(Memory, StoresOfSingleValuesAreOps) {
  const std::string body = loads() + product() + R"(
      %half = arith.constant 1.000000e+00 : f16
      tt.store %ptr, %half : !tt.ptr<f16>
)";
  EXPECT_NE(find_op(extracted(hopper_kernel(body), "h200", kWhole).problem, "store"), nullptr);
}

// Ops that no access may cross are refused at their lines, since plans have no place for them.
TEST(Memory, RefusesWhatOrdersTheLoop) {
  for (const char* op : {"gpu.barrier", "tt.grid_dependency_wait", "\"test.unknown\"() : () -> ()",
                         "%v = tt.load %ptr {isVolatile = true} : !tt.ptr<f16>"}) {
    const std::string before =
        "    %one = arith.constant 1.000000e+00 : f16\n    %yes = arith.constant true\n";
    const std::string message =
        refusal_of(hopper_kernel(loads() + "      " + op + "\n" + product(), "%d", before));
    EXPECT_THAT(message, HasSubstr("is in the loop, and memory accesses may not cross it")) << op;
    EXPECT_THAT(message, HasSubstr("test.ttgir:")) << op;
  }
}

// No access crosses an atomic operation that acquires or releases: the copies of an iteration wait
// for the previous iteration's operation.
TEST(Memory, OrdersWhatAcquiresOrReleases) {
  const std::string before =
      "    %one = arith.constant 1.000000e+00 : f16\n    %yes = arith.constant true\n";
  const auto body = [](const std::string& order) {
    return loads() + product() + "      %o = tt.atomic_rmw fadd, " + order +
           ", gpu, %ptr, %one, %yes : (!tt.ptr<f16>, f16, i1) -> f16\n";
  };
  const Extraction strict = extracted(hopper_kernel(body("acq_rel"), "%d", before), "h200", kWhole);
  for (const char* copy : {"load_a", "load_b"}) {
    EXPECT_NE(find_dependence(strict.problem, copy, "atomic"), nullptr) << copy;
    EXPECT_NE(find_dependence(strict.problem, "atomic", copy, 1), nullptr) << copy;
    EXPECT_FALSE(find_op(strict.problem, copy)->streaming) << copy;
  }
  const Extraction relaxed =
      extracted(hopper_kernel(body("relaxed"), "%d", before), "h200", kWhole);
  EXPECT_EQ(find_dependence(relaxed.problem, "load_a", "atomic"), nullptr);
  EXPECT_TRUE(find_op(relaxed.problem, "load_a")->streaming);
}

// A flag loaded beside such an operation has no op, so no plan keeps the order. The refusal names
// the ordering operation, not an array shared by both.
TEST(Memory, SaysWhatOrdersALoadedFlag) {
  const auto text = [](const std::string& order) {
    std::string all = hopper_kernel(
        loads() + product() + kHalves + R"(
      %flag = tt.load %flags : !tt.ptr<i32>
      %some = arith.cmpi sgt, %flag, %c0 : i32
      scf.if %some {
        %o = tt.atomic_rmw fadd, )" +
            order +
            R"(, gpu, %places, %hb : (tensor<128x128x!tt.ptr<f16>, #blocked>, tensor<128x128xf16, #blocked>) -> tensor<128x128xf16, #blocked>
      }
)",
        "%d", kPlaces);
    return all.insert(all.find("%ptr: !tt.ptr<f16>"), "%flags: !tt.ptr<i32>, ");
  };
  const std::string message = refusal_of(text("acq_rel"));
  EXPECT_THAT(message, HasSubstr("tt.atomic_rmw orders all accesses around it, so tt.load"));
  EXPECT_THAT(message, HasSubstr("sem=\"relaxed\""));
  EXPECT_EQ(refusal_of(text("relaxed")), "accepted");
}

// A store in a branch of single values is an op, as if the branch were always executed.
TEST(Memory, StoresInBranchesOfSingleValuesAreOps) {
  const std::string body = loads() + product() + R"(
      %some = arith.cmpi slt, %i, %n : i32
      scf.if %some {
        %half = arith.constant 1.000000e+00 : f16
        tt.store %ptr, %half : !tt.ptr<f16>
      }
)";
  const Extraction loop = extracted(hopper_kernel(body), "h200", kWhole);
  EXPECT_NE(find_op(loop.problem, "store"), nullptr);
  ASSERT_EQ(loop.warnings.size(), 1U);
  EXPECT_THAT(loop.warnings[0].message, HasSubstr("taken to hold in every iteration"));
}

// An effect outside of the problem's ops is no effect of the plan: it is refused.
TEST(Memory, RefusesEffectsThatNoOpStandsFor) {
  const std::string body = loads() + product() + R"(
      %half = arith.constant 1.000000e+00 : f16
      scf.for %j = %c0 to %n step %c64  : i32 {
        tt.store %ptr, %half : !tt.ptr<f16>
      }
)";
  EXPECT_THAT(refusal_of(hopper_kernel(body)),
              HasSubstr("tt.store changes memory in the loop, and the problem has no op for it"));
}

// Prints are visible to people only: they are left out, with a note.
TEST(Memory, LeavesOutWhatOnlyPeopleSee) {
  const std::string body =
      loads() + product() +
      "      tt.print \" i: \" {hex = false, isSigned = array<i32: 1>} : %i : i32\n";
  const Extraction loop = extracted(hopper_kernel(body), "h200", kWhole);
  EXPECT_THAT(loop.notes, Contains(HasSubstr("is left out: its effect is visible to people only")));
}

// Roles begin and end the loop independently, so no order exists among their accesses around it.
TEST(Memory, RefusesArraysThatAreWrittenAroundTheLoopAndReadInIt) {
  const std::string written = kPlaces + R"(
    %ones = arith.constant dense<1.000000e+00> : tensor<128x128xf16, #blocked>
    tt.store %places, %ones : tensor<128x128x!tt.ptr<f16>, #blocked>
)";
  EXPECT_THAT(refusal_of(hopper_kernel(loads() + product() + kLoad, "%d", written)),
              HasSubstr("tt.load may touch what tt.store @ "));
  const std::string read = R"(
    %after = tt.load %places : tensor<128x128x!tt.ptr<f16>, #blocked>
    tt.store %places, %after : tensor<128x128x!tt.ptr<f16>, #blocked>
)";
  EXPECT_THAT(
      refusal_of(hopper_kernel(loads() + product() + kHalves + kStore, "%d", kPlaces, read)),
      HasSubstr("touches in the loop, through the same argument"));
}

// Edges connect iterations within one run of the loop. Order between tiles of a loop over tiles is
// refused. Without the loop over tiles, the same body has edges for the order.
TEST(Memory, OrderFromTileToTileIsRefused) {
  const std::string body = loads() + product() + kHalves + kStore + kLoad;
  std::string text =
      hopper_kernel(body, "%d", kPlaces + "    scf.for %t = %c0 to %n step %c64  : i32 {\n");
  text.insert(text.find("    tt.return"), "    }\n");
  EXPECT_THAT(refusal_of(text), HasSubstr("in a tile before, through the same argument"));
}

// A pointer that a while loop passes on belongs to its array.
TEST(Memory, PointersOfWhileLoopsMeetTheirArray) {
  const auto program = frontend::read_ttgir(R"(
tt.func @f(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32, %v: f32) {
  %c0 = arith.constant 0 : i32
  %r = scf.while (%x = %p) : (!tt.ptr<f32>) -> !tt.ptr<f32> {
    %go = arith.cmpi slt, %n, %c0 : i32
    scf.condition(%go) %x : !tt.ptr<f32>
  } do {
  ^bb0(%y: !tt.ptr<f32>):
    tt.store %y, %v : !tt.ptr<f32>
    scf.yield %y : !tt.ptr<f32>
  }
  %a = tt.load %p : !tt.ptr<f32>
  %b = tt.load %q : !tt.ptr<f32>
  tt.return
}
)",
                                            "while.ttgir");
  ASSERT_TRUE(program) << to_string(program.error());
  std::vector<ir::ValueId> addresses;
  for (const ir::OpId op : ir::walk(*program, program->module())) {
    if (const auto access = ir::memory_access(program->op(op)))
      addresses.push_back(access->address);
  }
  ASSERT_EQ(addresses.size(), 3U);
  EXPECT_TRUE(ir::may_meet(*program, addresses[0], addresses[1]));
  EXPECT_FALSE(ir::may_meet(*program, addresses[0], addresses[2]));
}

/// A loop over rows of A whose number is loaded; %next: row of the next iteration.
std::string chasing_kernel(const std::string& next, const std::string& at = "%row") {
  const std::string text = hopper_kernel(
      R"(
      %ta = tt.descriptor_load %a_desc[)" +
          at +
          R"(, %c0] : !tt.tensordesc<tensor<128x64xf16, #shared>> -> tensor<128x64xf16, #blocked>
      %a = ttg.local_alloc %ta : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %tb = tt.descriptor_load %b_desc[%i, %c0] : !tt.tensordesc<tensor<64x128xf16, #shared>> -> tensor<64x128xf16, #blocked>
      %b = ttg.local_alloc %tb : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
)" + product() +
          next,
      "%d, %next", "%index = tt.bitcast %ptr : !tt.ptr<f16> -> !tt.ptr<i32>\n");
  std::string out = text;
  const auto swap = [&](const std::string& from, const std::string& to) {
    const std::size_t at_place = out.find(from);
    ASSERT_NE(at_place, std::string::npos) << from;
    out.replace(at_place, from.size(), to);
  };
  swap("%r = scf.for", "%r:2 = scf.for");
  swap("iter_args(%acc = %zero) -> (tensor<128x128xf32, #mma>)",
       "iter_args(%acc = %zero, %row = %c0) -> (tensor<128x128xf32, #mma>, i32)");
  swap("scf.yield %d, %next : tensor<128x128xf32, #mma>",
       "scf.yield %d, %next : tensor<128x128xf32, #mma>, i32");
  swap("arith.truncf %r :", "arith.truncf %r#0 :");
  return out;
}

// A load takes its address from the previous load: the next iteration starts later, by the latency
// of a single-element load in the machine's file. Ops that need none of these values do not wait.
TEST(LoadChains, EachLoadIsWaitedForByTheNextIteration) {
  const Extraction loop = extracted(chasing_kernel(R"(
      %p = tt.addptr %index, %row : !tt.ptr<i32>, i32
      %next = tt.load %p : !tt.ptr<i32>
)"),
                                    "h200", kWhole);
  const problem::Dependence* turn = find_dependence(loop.problem, "load_a", "load_a", 1);
  ASSERT_NE(turn, nullptr);
  EXPECT_EQ(turn->delay, 270);
  EXPECT_FALSE(turn->carries_value);
  EXPECT_EQ(find_dependence(loop.problem, "load_b", "load_b", 1), nullptr);
}

// Two chained loads in an iteration: twice the latency.
TEST(LoadChains, LoadsOneAfterTheOtherAddUp) {
  const Extraction loop = extracted(chasing_kernel(R"(
      %p = tt.addptr %index, %row : !tt.ptr<i32>, i32
      %q = tt.load %p : !tt.ptr<i32>
      %p2 = tt.addptr %index, %q : !tt.ptr<i32>, i32
      %next = tt.load %p2 : !tt.ptr<i32>
)"),
                                    "h200", kWhole);
  const problem::Dependence* turn = find_dependence(loop.problem, "load_a", "load_a", 1);
  ASSERT_NE(turn, nullptr);
  EXPECT_EQ(turn->delay, 2 * 270);
}

// An index loaded from an address that the loop counts: no op waits for the loaded value.
TEST(LoadChains, IndexTablesAreNone) {
  const Extraction loop = extracted(chasing_kernel(R"(
      %p = tt.addptr %index, %i : !tt.ptr<i32>, i32
      %next = tt.load %p : !tt.ptr<i32>
)"),
                                    "h200", kWhole);
  EXPECT_EQ(find_dependence(loop.problem, "load_a", "load_a", 1), nullptr);
}

}  // namespace
}  // namespace twill::extract::testing
