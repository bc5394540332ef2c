#include <gtest/gtest.h>

#include "twill/execute/interpreter.h"
#include "twill/ir/builder.h"

// Protects: a front end can do without TTGIR. A Program of tile operations alone, without names or
// attributes from a text, runs.
namespace twill::execute {
namespace {

using ir::OpKind;
using ir::Role;

class Maker {
 public:
  ir::BlockId open(OpKind kind, ir::BlockId in = {}, std::vector<ir::ValueId> operands = {}) {
    last_ = add(in, kind, std::move(operands));
    return builder.add_block(builder.add_region(last_));
  }

  ir::OpId add(ir::BlockId in, OpKind kind, std::vector<ir::ValueId> operands) {
    ir::Op op;
    op.kind = kind;
    op.block = in;
    op.operands = std::move(operands);
    return builder.add_op(std::move(op));
  }

  ir::ValueId make(ir::BlockId in, OpKind kind, std::vector<ir::ValueId> operands, ir::Type type) {
    const ir::OpId op = add(in, kind, std::move(operands));
    return result(op, type);
  }

  ir::ValueId result(ir::OpId op, ir::Type type) {
    const ir::ValueId value = builder.add_value("", type);
    builder.define_result(op, value);
    return value;
  }

  ir::ValueId argument(ir::BlockId block, const char* name, ir::Type type) {
    const ir::ValueId value = builder.add_value(name, type);
    builder.define_argument(block, value);
    return value;
  }

  ir::ValueId integer(ir::BlockId in, std::int64_t number) {
    ir::Op op;
    op.kind = OpKind::constant;
    op.block = in;
    op.constant = builder.types().integer(number, builder.types().scalar("i32"));
    return result(builder.add_op(std::move(op)), builder.types().scalar("i32"));
  }

  void access(ir::OpId op, OpKind kind, bool writes) {
    ir::Traits traits;
    traits.kind = kind;
    traits.roles = {{Role::address, 0, 1}};
    if (writes) traits.roles.push_back({Role::source, 1, 1});
    traits.access = ir::AccessTraits();
    traits.access->reads = traits.access->returns_tile = !writes;
    traits.access->writes = writes;
    builder.set_traits(op, std::move(traits));
  }

  ir::OpId last() const { return last_; }
  ir::ProgramBuilder builder{"made"};

 private:
  ir::OpId last_;
};

// for three times: x = x + x; out = x
TEST(WithoutText, a_program_made_by_hand_runs) {
  Maker make;
  ir::TypeTable& types = make.builder.types();
  const ir::Type f32 = types.scalar("f32"), i32 = types.scalar("i32");
  const ir::Type pointer = types.pointer(f32, "pointer");
  const ir::Type numbers = types.tensor({16}, f32), places = types.tensor({16}, i32);
  const ir::Type pointers = types.tensor({16}, pointer);

  const ir::BlockId top = make.open(OpKind::module);
  const ir::BlockId body = make.open(OpKind::function, top);
  const ir::OpId function = make.last();
  const ir::ValueId x = make.argument(body, "x", pointer);
  const ir::ValueId out = make.argument(body, "out", pointer);
  const ir::ValueId place = make.make(body, OpKind::range, {}, places);
  const auto address = [&](ir::ValueId base) {
    const ir::ValueId all = make.make(body, OpKind::splat, {base}, pointers);
    return make.make(body, OpKind::pointer_add, {all, place}, pointers);
  };
  const ir::OpId load = make.add(body, OpKind::load, {address(x)});
  make.access(load, OpKind::load, false);
  const ir::ValueId begin = make.result(load, numbers);
  const ir::ValueId zero = make.integer(body, 0), three = make.integer(body, 3);
  const ir::ValueId one = make.integer(body, 1);
  const ir::BlockId inner = make.open(OpKind::for_loop, body, {zero, three, one, begin});
  const ir::ValueId end = make.result(make.last(), numbers);
  make.argument(inner, "i", i32);
  const ir::ValueId carried = make.argument(inner, "carried", numbers);
  const ir::ValueId sum = make.make(inner, OpKind::fadd, {carried, carried}, numbers);
  make.add(inner, OpKind::yield, {sum});
  const ir::OpId store = make.add(body, OpKind::store, {address(out), end});
  make.access(store, OpKind::store, true);
  make.add(body, OpKind::ret, {});
  const ir::Program program = std::move(make.builder).finish();

  Memory memory(1);
  const auto arguments = arguments_of(program, function, {}, memory);
  ASSERT_TRUE(arguments.has_value()) << to_string(arguments.error());
  const Launch launch;
  Interpreter interpreter(program, memory, launch, {0, 0, 0});
  const auto ran = interpreter.run(function, *arguments);
  ASSERT_TRUE(ran.has_value()) << to_string(ran.error());
  for (std::int64_t i = 0; i < 16; ++i) EXPECT_EQ(memory.read({1, i}), 8 * memory.read({0, i}));
}

}  // namespace
}  // namespace twill::execute
