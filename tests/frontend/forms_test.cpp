// One test per syntactic form of MLIR text, mostly forms that the bundled kernels lack.
#include <limits>

#include <gtest/gtest.h>

#include "frontend/same_program.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/frontend/ttgir/spelling.h"
#include "twill/frontend/ttgir/text.h"
#include "twill/ir/loop.h"
#include "twill/ir/operands.h"

namespace twill::tests {
namespace {

/// Reads `text`, and checks that the Program survives printing.
ir::Program read_printed(std::string_view text) {
  auto program = frontend::read_ttgir(text, "test.ttgir");
  if (!program) {
    ADD_FAILURE() << to_string(program.error());
    return *frontend::read_ttgir("module {}", "empty");
  }
  const std::string printed = frontend::ttgir::to_text(*program);
  auto again = frontend::read_ttgir(printed, "printed.ttgir");
  if (!again) {
    ADD_FAILURE() << to_string(again.error()) << printed;
  } else {
    EXPECT_EQ(content_of(*program), content_of(*again));
    EXPECT_EQ(printed, frontend::ttgir::to_text(*again));
  }
  return *std::move(program);
}

const ir::Op& op(const ir::Program& program, std::string_view name, std::size_t number = 0) {
  for (std::size_t i = 0; i < program.op_count(); ++i) {
    if (program.op(ir::OpId(i)).name == name && number-- == 0) return program.op(ir::OpId(i));
  }
  ADD_FAILURE() << "no op " << name;
  return program.op(program.module());
}

std::string result_type(const ir::Program& program, const ir::Op& op, std::size_t index = 0) {
  return index < op.results.size() ? ir::type_of(program, op.results[index])->text : "none";
}

std::string value_attribute(std::string_view constant) {
  const ir::Program program = read_printed("%c = arith.constant " + std::string(constant));
  const ir::Attribute value = frontend::ttgir::attribute(op(program, "arith.constant"), "value");
  return value == nullptr ? "none" : value->text;
}

TEST(Module, with_attributes_without_and_none) {
  EXPECT_EQ(read_printed("module {}").op_count(), 1U);
  EXPECT_EQ(ir::launch_traits(read_printed("module attributes {\"ttg.num-ctas\" = 4 : i32} {\n}\n"))
                .num_ctas,
            4);
  EXPECT_EQ(read_printed("module @m attributes {a} { gpu.barrier }").op_count(), 2U);
  const ir::Program bare = read_printed("gpu.barrier\ngpu.barrier\n");
  EXPECT_EQ(bare.op(bare.module()).name, "builtin.module");
  EXPECT_EQ(bare.op_count(), 3U);
}

TEST(Aliases, may_come_after_their_use) {
  const ir::Program program = read_printed(R"(
%0 = foo.bar : tensor<4xf32, #late>
%1 = foo.bar : !t
#late = #ttg.slice<{dim = 0, parent = #later}>
#later = #ttg.blocked<{sizePerThread = [1, 1], order = [1, 0]}>
!t = tensor<8x4xi32, #later>
)");
  const ir::Type type = ir::type_of(program, op(program, "foo.bar").results[0]);
  ASSERT_NE(type->encoding, nullptr);
  EXPECT_EQ(type->encoding->value, "ttg.slice");
  EXPECT_EQ(type->encoding->entry("parent")->value, "ttg.blocked");
  EXPECT_EQ(result_type(program, op(program, "foo.bar", 1)),
            "tensor<8x4xi32, #ttg.blocked<{sizePerThread = [1, 1], order = [1, 0]}>>");
}

TEST(Locations, all_forms) {
  const ir::Program program = read_printed(R"(
#loc = loc("k.py":1:0)
module {
  gpu.barrier loc(#loc)
  gpu.barrier loc(unknown)
  gpu.barrier loc("k.py":7:3)
  gpu.barrier loc("x"("k.py":8:4))
  gpu.barrier loc("just a name")
  gpu.barrier loc(callsite("callee.py":9:5 at "caller.py":10:6))
  gpu.barrier loc(fused["k.py":11:7, "y"(#loc2)])
  gpu.barrier loc(fused<"meta">[#loc2])
  gpu.barrier loc("k.py":12:1 to :14)
  gpu.barrier
} loc(#loc)
#loc2 = loc("k.py":2:3)
)");
  const auto line = [&program](std::size_t op) {
    const auto where = ir::source_location(program, ir::OpId(op));
    return where ? where->file + ":" + std::to_string(where->line) : std::string("-");
  };
  EXPECT_EQ(line(0), "k.py:1");
  EXPECT_EQ(line(1), "k.py:1");
  EXPECT_EQ(line(2), "-");
  EXPECT_EQ(line(3), "k.py:7");
  EXPECT_EQ(line(4), "k.py:8");
  EXPECT_EQ(line(5), "-");
  EXPECT_EQ(line(6), "caller.py:10");
  EXPECT_EQ(line(7), "k.py:11");
  EXPECT_EQ(line(8), "k.py:2");
  EXPECT_EQ(line(9), "k.py:12");
  EXPECT_EQ(line(10), "-");
}

// Protects: a call into a library is reported at the kernel's line, and a call within its own file
// at the called line.
TEST(Locations, of_calls_are_in_the_file_of_the_kernel) {
  const ir::Program program = read_printed(R"(
#lib = loc("lib/standard.py":216:9)
#helper = loc("k.py":30:5)
#call = loc("k.py":7:3)
tt.func @f() {
  gpu.barrier loc(callsite(#lib at #call))
  gpu.barrier loc("x"(callsite(#lib at callsite(#helper at #call))))
  gpu.barrier loc(callsite(#helper at #call))
  gpu.barrier loc(callsite(callsite("lib/a.py":1:1 at #lib) at #call))
  gpu.barrier loc(callsite(#lib at "other.py":4:1))
  tt.return
} loc("k.py":1:0)
)");
  const std::vector<std::string> wanted = {"k.py:7", "k.py:30", "k.py:30", "k.py:7", "other.py:4"};
  std::vector<std::string> found;
  for (const ir::OpId op : ir::walk(program, program.module())) {
    if (program.op(op).name != "gpu.barrier") continue;
    const auto where = ir::source_location(program, op);
    ASSERT_TRUE(where.has_value());
    found.push_back(where->file + ":" + std::to_string(where->line));
  }
  EXPECT_EQ(found, wanted);
}

TEST(Locations, of_arguments_name_parameters) {
  const ir::Program program = read_printed(R"(
tt.func public @f(%arg0: i32 {tt.divisibility = 16 : i32} loc("n"(#loc)), %arg1: f32 loc("scale"(#loc))) attributes {noinline = false} {
  tt.return loc(#loc)
} loc(#loc)
#loc = loc("k.py":1:0)
)");
  const auto arguments = ir::function_arguments(program, ir::functions(program)[0]);
  ASSERT_EQ(arguments.size(), 2U);
  EXPECT_EQ(program.value(arguments[1]).location->elements[0]->value, "scale");
}

TEST(Constants, of_every_kind) {
  EXPECT_EQ(value_attribute("true"), "true");
  EXPECT_EQ(value_attribute("-5 : i32"), "-5 : i32");
  EXPECT_EQ(value_attribute("1.5e-3 : f32"), "1.5e-3 : f32");
  EXPECT_EQ(value_attribute("0x7FC00000 : f32"), "0x7FC00000 : f32");
  EXPECT_EQ(value_attribute("dense<true> : tensor<4xi1>"), "dense<true> : tensor<4xi1>");
  EXPECT_EQ(value_attribute("dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>"),
            "dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>");
  EXPECT_EQ(value_attribute("dense<\"0x0100\"> : tensor<2xi8>"),
            "dense<\"0x0100\"> : tensor<2xi8>");
  EXPECT_EQ(value_attribute("dense<> : tensor<0xi8>"), "dense<> : tensor<0xi8>");
  EXPECT_EQ(value_attribute("{async_task_id = array<i32: 0>} 0 : i32"), "0 : i32");
  EXPECT_EQ(value_attribute("18446744073709551615 : ui64"), "18446744073709551615 : ui64");
}

TEST(Constants, values) {
  const auto number = [](std::string_view text) {
    const ir::Program program = read_printed("%c = arith.constant " + std::string(text));
    return ir::constant_number(program, op(program, "arith.constant").results[0]);
  };
  EXPECT_EQ(number("0xFF800000 : f32"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("0x3C00 : f16"), 1.0);
  EXPECT_EQ(number("0xBF80 : bf16"), -1.0);
  EXPECT_EQ(number("dense<2.5> : tensor<4xf32>"), 2.5);
  EXPECT_EQ(number("dense<[1.0, 2.0]> : tensor<2xf32>"), std::nullopt);
  EXPECT_EQ(number("false"), 0.0);
}

TEST(Attributes, of_every_kind) {
  const ir::Program program = read_printed(R"(
"a.b"() {a = -1 : i8, b, c = "q\22\0A", d = [1, "x", [true]], e = {f = 2.0 : f32}, g = @s::@t,
         h = array<i64: -1, 2>, i = array<i32>, j = tensor<4xf32>, k = (i32) -> f32, l = i32,
         m = affine_map<(d0) -> (d0 * 2)>, n = #gpu<dim x>, o = #amd.thing<[256:+16] {x = [1]}>,
         p = 7, q = unit, r = loc("f":1:2), s = dense_resource<blob> : tensor<4xf32>, "t.u-v" = 1 : index,
         w = #x.y<"a">, x = !llvm.ptr<3>, y = none, z = 0xFF : i8} : () -> ()
)");
  const ir::Op& all = op(program, "a.b");
  EXPECT_EQ(all.attributes.size(), 23U);
  EXPECT_EQ(frontend::ttgir::attribute(all, "s")->text, "dense_resource<blob> : tensor<4xf32>");
  EXPECT_EQ(frontend::ttgir::attribute(all, "w")->text, "#x.y<\"a\">");
  EXPECT_EQ(frontend::ttgir::string_attribute(all, "c"), "q\"\n");
  EXPECT_EQ(frontend::ttgir::attribute(all, "g")->value, "@s::@t");
  EXPECT_EQ(frontend::ttgir::integers_attribute(all, "h"), (std::vector<std::int64_t>{-1, 2}));
  EXPECT_EQ(frontend::ttgir::attribute(all, "p")->text, "7 : i64");
  EXPECT_EQ(frontend::ttgir::attribute(all, "k")->text, "(i32) -> f32");
  EXPECT_EQ(frontend::ttgir::attribute(all, "o")->text, "#amd.thing<[256:+16] {x = [1]}>");
  EXPECT_EQ(frontend::ttgir::attribute(all, "b")->kind, ir::AttributeKind::unit);
  EXPECT_EQ(frontend::ttgir::integer_attribute(all, "t.u-v"), 1);
}

TEST(Types, of_every_kind) {
  const ir::Program program = read_printed(R"(
%0:12 = "a.b"() : () -> (tensor<f32>, tensor<4x?x!tt.ptr<f16, 3>>, !ttg.memdesc<64x32xf16, #ttg.shared_memory>,
  !ttg.memdesc<1x8xi64, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #ttg.shared_memory, mutable, 3x8>,
  !tt.tensordesc<tensor<64x64xf8E4M3FN>>, !tt.tensordesc<64x64xbf16>, !ttg.async.token, vector<4xf32>, tuple<i32, f32>,
  !llvm.struct<(i32, ptr)>, memref<4x4xf32, 3>, tensor<*xf32>)
)");
  const ir::Op& all = op(program, "a.b");
  EXPECT_EQ(result_type(program, all, 1), "tensor<4x?x!tt.ptr<f16, 3>>");
  const ir::Type part = ir::type_of(program, all.results[3]);
  EXPECT_EQ(part->space, ir::MemorySpace::shared);
  EXPECT_TRUE(part->is_mutable);
  EXPECT_EQ(part->alloc_shape, (std::vector<std::int64_t>{3, 8}));
  EXPECT_EQ(part->encoding->value, "ttg.swizzled_shared");
  EXPECT_EQ(result_type(program, all, 5), "!tt.tensordesc<tensor<64x64xbf16>>");
  EXPECT_EQ(ir::type_of(program, all.results[6])->kind, ir::TypeKind::token);
  EXPECT_EQ(result_type(program, all, 9), "!llvm.struct<(i32, ptr)>");
}

TEST(Results, several_names_and_numbers) {
  const ir::Program program = read_printed(R"(
%a, %b:2 = "a.b"() : () -> (i1, i8, i16)
"a.c"(%b#1, %a, %b) : (i16, i1, i8) -> ()
"a.d"() : () -> i32
)");
  EXPECT_EQ(program.value(op(program, "a.c").operands[0]).name, "b#1");
  EXPECT_EQ(result_type(program, op(program, "a.d")), "i32");
}

TEST(UnknownOps, keep_operands_form_regions_and_types) {
  const ir::Program program = read_printed(R"(
%a:2 = "x.y"() : () -> (i32, tensor<4xf32>)
%1 = new.op %a#0, %a#1 : i32
%2, %3 = new.op2 %a#1[%a#0] mode = fast (%1) {k = 1 : i32, flag} : tensor<4xf32> -> f32, i8
new.region %a#0 {
^bb0(%i: i32):
  %4 = new.use %i : i32
} {attr = 2 : i8}
new.nothing
%5 = new.untyped %1
)");
  EXPECT_EQ(op(program, "new.op").form, "");
  EXPECT_EQ(result_type(program, op(program, "new.op")), "i32");
  const ir::Op& second = op(program, "new.op2");
  EXPECT_EQ(second.form, "%[%] mode = fast (%)");
  EXPECT_EQ(second.operands.size(), 3U);
  EXPECT_EQ(frontend::ttgir::integer_attribute(second, "k"), 1);
  EXPECT_EQ(result_type(program, second, 1), "i8");
  const ir::Op& region = op(program, "new.region");
  ASSERT_EQ(region.regions.size(), 1U);
  EXPECT_EQ(frontend::ttgir::integer_attribute(region, "attr"), 2);
  EXPECT_EQ(result_type(program, op(program, "new.untyped")), "!twill.unknown");
}

TEST(Generic, properties_regions_and_successors) {
  const ir::Program program = read_printed(R"(
"tt.func"() <{function_type = (i32) -> (), sym_name = "f"}> ({
^bb0(%n: i32):
  "cf.br"(%n)[^bb1] : (i32) -> ()
^bb1(%m: i32):
  "tt.return"() : () -> ()
}) {noinline = false} : () -> ()
)");
  EXPECT_EQ(ir::symbol_name(program, ir::functions(program)[0]), "f");
  EXPECT_EQ(op(program, "cf.br").successors.size(), 1U);
}

// The same op in custom and generic form must be the same op.
TEST(Generic, equals_custom) {
  const ir::Program custom = read_printed(R"(
%p, %m, %v, %c = "a.b"() : () -> (tensor<4x!tt.ptr<f16>>, tensor<4xi1>, tensor<4xf16>, i32)
%0 = tt.load %p, %m, %v cacheModifier = cg : tensor<4x!tt.ptr<f16>>
%1 = arith.cmpi slt, %c, %c : i32
%2 = tt.get_program_id y : i32
%3 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m : (tensor<4x!tt.ptr<f16>>, tensor<4xf16>, tensor<4xi1>) -> tensor<4xf16>
)");
  const ir::Program generic = read_printed(R"(
%p, %m, %v, %c = "a.b"() : () -> (tensor<4x!tt.ptr<f16>>, tensor<4xi1>, tensor<4xf16>, i32)
%0 = "tt.load"(%p, %m, %v) <{cache = 3 : i32, operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<4x!tt.ptr<f16>>, tensor<4xi1>, tensor<4xf16>) -> tensor<4xf16>
%1 = "arith.cmpi"(%c, %c) <{predicate = 2 : i64}> : (i32, i32) -> i1
%2 = "tt.get_program_id"() <{axis = 1 : i32}> : () -> i32
%3 = "tt.atomic_rmw"(%p, %v, %m) <{atomic_rmw_op = 5 : i32, sem = 4 : i32, scope = 1 : i32}> : (tensor<4x!tt.ptr<f16>>, tensor<4xf16>, tensor<4xi1>) -> tensor<4xf16>
)");
  EXPECT_EQ(content_of(custom), content_of(generic));
}

TEST(ControlFlow, if_with_and_without_else) {
  const ir::Program program = read_printed(R"(
%c = arith.constant true
scf.if %c {
  gpu.barrier
}
%r:2 = scf.if %c -> (i1, i32) {
  %x = arith.constant 1 : i32
  scf.yield %c, %x : i1, i32
} else {
  %y = arith.constant 2 : i32
  scf.yield %c, %y : i1, i32
} {tag = 1 : i32}
)");
  EXPECT_EQ(op(program, "scf.if", 1).results.size(), 2U);
  EXPECT_EQ(op(program, "scf.yield").operands.size(), 0U);
  EXPECT_TRUE(program.region(op(program, "scf.if").regions.at(1)).blocks.empty());
}

TEST(ControlFlow, for_without_iter_args_and_of_index) {
  const ir::Program program = read_printed(R"(
%a, %b = "x.y"() : () -> (index, index)
scf.for %i = %a to %b step %b {
  gpu.barrier
} loc("k.py":3:1)
)");
  const auto loops = ir::loops(program, program.module());
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(ir::type_of(program, *loops[0].induction)->text, "index");
  EXPECT_EQ(ir::source_location(program, loops[0].op)->line, 3);
}

TEST(ControlFlow, while_with_conditions_that_forward) {
  const ir::Program program = read_printed(R"(
%a, %f = "x.y"() : () -> (i32, f32)
%r:2 = scf.while (%i = %a, %g = %f) : (i32, f32) -> (f32, i32) {
  %c = arith.cmpi ne, %i, %a : i32
  scf.condition(%c) %g, %i : f32, i32
} do {
^bb0(%g: f32, %i: i32):
  scf.yield %i, %g : i32, f32
} attributes {hint = 1 : i32}
scf.while : () -> () {
  %c = arith.constant false
  scf.condition(%c)
} do {
  scf.yield
}
)");
  const auto loops = ir::loops(program, program.module());
  ASSERT_EQ(loops.size(), 2U);
  EXPECT_EQ(loops[0].carried.size(), 2U);
  EXPECT_EQ(program.value(loops[0].forwarded[0].passed).name, "g");
  EXPECT_EQ(frontend::ttgir::integer_attribute(program.op(loops[0].op), "hint"), 1);
}

TEST(ControlFlow, blocks_that_refer_forward) {
  const ir::Program program = read_printed(R"(
tt.func @f(%n: i32, %c: i1) {
  cf.cond_br %c, ^bb2(%n : i32), ^bb1
^bb1:
  cf.br ^bb3
^bb2(%x: i32):
  cf.br ^bb4
^bb3:
  %late = arith.addi %early, %n : i32
  tt.return
^bb4:
  %early = arith.addi %x, %n : i32
  cf.br ^bb3
}
)");
  const ir::Op& branch = op(program, "cf.cond_br");
  EXPECT_EQ(ir::operands_in(branch, ir::Role::taken).size(), 1U);
  EXPECT_EQ(ir::operands_in(branch, ir::Role::otherwise).size(), 0U);
  EXPECT_EQ(program.block(branch.successors[1]).label, "bb1");
  EXPECT_EQ(program.value(op(program, "arith.addi").operands[0]).name, "early");
}

TEST(Functions, calls_declarations_and_visibility) {
  const ir::Program program = read_printed(R"(
tt.func private @"with space"(%a: i32) -> (i32 {tt.x}, f32) attributes {noinline = true} {
  %f = arith.constant 1.0 : f32
  tt.return %a, %f : i32, f32
}
tt.func private @declared(i32, !tt.ptr<f32>) -> i32
tt.func @main(%a: i32, %p: !tt.ptr<f32>) {
  %r:2 = tt.call @"with space"(%a) : (i32) -> (i32, f32)
  %s = tt.call @declared(%a, %p) {k} : (i32, !tt.ptr<f32>) -> i32
  tt.return
}
func.func @other() {
  return
}
)");
  EXPECT_EQ(ir::functions(program).size(), 4U);
  EXPECT_EQ(ir::symbol_name(program, ir::functions(program)[0]), "with space");
  EXPECT_EQ(frontend::ttgir::string_attribute(op(program, "tt.func"), "sym_visibility"), "private");
  EXPECT_EQ(op(program, "tt.call").results.size(), 2U);
  EXPECT_EQ(op(program, "func.return").kind, ir::OpKind::ret);
}

TEST(Regions, scan_over_several_operands) {
  const ir::Program program = read_printed(R"(
%a, %b = "x.y"() : () -> (tensor<8xf32>, tensor<8xi32>)
%r:2 = "tt.scan"(%a, %b) <{axis = 0 : i32, reverse = true}> ({
^bb0(%i: f32, %j: i32, %k: f32, %l: i32):
  tt.scan.return %i, %l : f32, i32
}) : (tensor<8xf32>, tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi32>)
)");
  for (std::size_t i = 0; i < program.op_count(); ++i) {
    const auto scan = ir::reduction(program, ir::OpId(i));
    if (!scan) continue;
    EXPECT_TRUE(scan->is_scan);
    EXPECT_TRUE(scan->reverse);
    EXPECT_EQ(scan->sources.size(), 2U);
    return;
  }
  ADD_FAILURE();
}

TEST(Ops, whose_custom_form_has_keywords) {
  const ir::Program program = read_printed(R"(
%x, %p, %q, %c, %i, %desc, %m, %u = "x.y"() : () -> (tensor<4xf32>, tensor<4x!tt.ptr<f32>>, !tt.ptr<f32>, i1, i64, i32, tensor<4xi1>, tensor<1xf32>)
%0 = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<4xf32> -> tensor<4xf32>
%1 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_erff"} : (tensor<4xf32>) -> tensor<4xf32>
tt.print " x: " {hex = false, isSigned = array<i32: 0>} : %x : tensor<4xf32>
tt.assert %c, "message with \22quotes\22" : i1
%2 = tt.make_tensor_ptr %q, [%i, %i], [%i, %i], [%desc, %desc] {order = array<i32: 1, 0>} : <tensor<16x16xf32>>
%3 = tt.advance %2, [%desc, %desc] : <tensor<16x16xf32>>
%4 = tt.reshape %x allow_reorder : tensor<4xf32> -> tensor<2x2xf32>
%5, %6 = tt.split %4 : tensor<2x2xf32> -> tensor<2xf32>
%7 = tt.clampf %x, %x, %x, propagateNan = none : tensor<4xf32>
%8 = tt.make_tensor_descriptor %q, [%desc], [%i] : <f32>, <tensor<16xf32>>
%9 = tt.fp_to_fp %x, rounding = rtne : tensor<4xf32> -> tensor<4xf16>
%10 = arith.addf %x, %x fastmath<fast> : tensor<4xf32>
%11 = arith.select %c, %x, %x : tensor<4xf32>
%12 = ttg.async_copy_global_to_local %p, %x mask %m other %x : tensor<4x!tt.ptr<f32>> -> tensor<4xf32>
%13 = ttg.async_commit_group tokens %12
%14 = ttg.async_wait %13 {num = 2 : i32}
%15 = tt.unsplat %u : tensor<1xf32>
%16 = gpu.thread_id x
)");
  for (const char* plain :
       {"tt.elementwise_inline_asm", "tt.extern_elementwise", "tt.print", "tt.assert",
        "tt.make_tensor_ptr", "tt.reshape", "ttg.async_copy_global_to_local"}) {
    EXPECT_EQ(op(program, plain).form, "") << plain;
  }
  EXPECT_EQ(result_type(program, op(program, "tt.make_tensor_ptr")), "!tt.ptr<tensor<16x16xf32>>");
  EXPECT_EQ(frontend::ttgir::operand_segments(op(program, "tt.make_tensor_ptr")),
            (std::vector<std::size_t>{1, 2, 2, 2}));
  EXPECT_NE(frontend::ttgir::attribute(op(program, "tt.reshape"), "allow_reorder"), nullptr);
  EXPECT_EQ(result_type(program, op(program, "tt.split"), 1), "tensor<2xf32>");
  EXPECT_EQ(result_type(program, op(program, "tt.make_tensor_descriptor")),
            "!tt.tensordesc<tensor<16xf32>>");
  EXPECT_EQ(result_type(program, op(program, "ttg.async_wait")), "!ttg.async.token");
  EXPECT_EQ(op(program, "arith.addf").form, "%, % fastmath<fast>");
  EXPECT_EQ(result_type(program, op(program, "tt.unsplat")), "f32");
  EXPECT_EQ(result_type(program, op(program, "gpu.thread_id")), "index");
}

TEST(Text, comments_blank_lines_and_windows_line_ends) {
  const ir::Program program =
      read_printed("// dump\r\n\r\nmodule { // here\r\n  gpu.barrier // there\r\n}\r\n");
  EXPECT_EQ(program.op_count(), 2U);
  EXPECT_EQ(program.op(ir::OpId(1)).line, 4);
  EXPECT_EQ(program.op(ir::OpId(1)).column, 3);
}

TEST(Text, resources_behind_the_module) {
  EXPECT_EQ(
      read_printed("module {}\n{-#\n  dialect_resources: {a: {b: \"0x01\"}}\n#-}\n").op_count(),
      1U);
}

}  // namespace
}  // namespace twill::tests
