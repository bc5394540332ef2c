#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "twill/execute/byte_layout.h"
#include "twill/execute/memory.h"
#include "twill/execute/tile.h"
#include "twill/ir/by_value.h"
#include "twill/ir/loop.h"
#include "twill/ir/program.h"

/// Runs a Program on the CPU, one CTA after the other, ops in the order of the text. Asynchronous
/// work is done at once; barriers, fences and tokens have no effect. For the arithmetic see
/// docs/reference/simulation.md, "Numbers".
namespace twill::execute {

/// Arguments and grid that the kernel is started with.
struct Launch {
  std::int64_t size = 640;  ///< value of integer arguments not given below
  double scale = 0.125;     ///< value of floating-point arguments not given below
  /// By name, as the text has it without %. For an array: value of each element.
  std::map<std::string, double> arguments;
  std::map<std::string, Values> arrays;           ///< by name: contents before the kernel
  std::array<std::int64_t, 3> programs{4, 2, 1};  ///< CTAs of the grid: x, y, z
};

/// A tile in shared or tensor memory, or a view of a tile. Offset and strides count elements of the
/// type of the access: the allocation's type, or the type of `as`.
struct View {
  std::shared_ptr<TileMemory> storage;
  std::int64_t offset = 0;
  Shape shape;
  Shape strides;
  std::shared_ptr<const ByteLayout> as = nullptr;  ///< null: the allocation's own type
  std::size_t type_number() const { return as ? as->number : 0; }
};

/// Value of an SSA value; `monostate` for a token, or for a value that is never read.
using Value = std::variant<std::monostate, TilePtr, Descriptor, View>;

Tile read(const View& view);
/// Writes a tile to a view. Precondition: as many elements, and both numbers or both integers.
void write(const View& view, const Tile& tile);

/// View of the same memory with another type, from the view's first byte on. nullopt for an unknown
/// layout, or if the view's elements are not consecutive in shared memory.
std::optional<View> cast(const View& view, ir::Type type);
/// View of the same elements, in the same order, in another shape. If the new shape has no regular
/// strides, the view is of bytes, as after `cast`. nullopt for another number of elements, or an
/// unknown layout.
std::optional<View> reshaped(const View& view, ir::Type type);
/// Ranges of the bytes of the view's elements, as [first, end), ascending; adjacent ranges are
/// merged. Precondition: the allocation's memory has been accessed with another type.
std::vector<Range> byte_ranges(const View& view);

/// Sizes and strides that Triton passes after a descriptor of rank R: R arguments of type i32, then
/// R of type i64, outermost first. Empty without such arguments, or if argument number `argument`
/// is no descriptor.
struct DescriptorArguments {
  std::vector<ir::ValueId> sizes;
  std::vector<ir::ValueId> strides;
};
DescriptorArguments descriptor_arguments(const ir::Program& program, ir::OpId function,
                                         std::size_t argument);

/// Values of a function's arguments. Each pointer and each descriptor gets an array of `memory`
/// with its name. A descriptor describes an endless tensor, unless `launch` has one of its sizes,
/// or a file of its rank. Then it has these sizes, with `launch.size` for missing ones. Strides are
/// from `launch`, or of a row-major tensor. Fails on an unknown type, on a name that the function
/// does not have, and on values that do not fit their argument.
Result<std::map<ir::ValueId, Value>> arguments_of(const ir::Program& program, ir::OpId function,
                                                  const Launch& launch, Memory& memory);

class Interpreter {
 public:
  /// `program_id`: index of the CTA. Program and memory must outlive the interpreter.
  Interpreter(const ir::Program& program, Memory& memory, const Launch& launch,
              std::array<std::int64_t, 3> program_id)
      : program_(program),
        memory_(memory),
        launch_(launch),
        program_id_(program_id),
        values_(program) {}

  /// Replaces the run of a loop: sets the loop's results.
  using StandIn = std::function<Result<void>(const ir::Loop&)>;
  void stand_in_for(ir::OpId loop, StandIn stand_in) {
    stand_in_ = std::move(stand_in);
    replaced_ = loop;
  }

  /// Runs a function. Fails, with the op's line, at the first unknown op, or after kMostSteps ops.
  Result<void> run(ir::OpId function, const std::map<ir::ValueId, Value>& arguments);

  /// Current contents of a value; `monostate` before it is computed.
  const Value& value(ir::ValueId value) const;
  void set(ir::ValueId value, Value what) { values_.set(value, std::move(what)); }
  /// Forgets all values except `values`.
  void keep(const std::vector<ir::ValueId>& values) { values_.keep(values); }
  /// The tile of a value; for a memdesc, the contents of its memory.
  Result<TilePtr> tile(ir::OpId reader, ir::ValueId value) const;
  Result<std::int64_t> integer(ir::OpId reader, ir::ValueId value) const;

  const ir::Program& program() const { return program_; }
  Memory& memory() { return memory_; }

  /// Runs one op.
  Result<void> step(ir::OpId op);

 private:
  Result<void> run_block(ir::BlockId block);
  Result<std::optional<ir::BlockId>> branch_from(ir::BlockId block);
  Result<void> yield_to(ir::BlockId block, const std::vector<ir::ValueId>& to);
  Result<void> run_for(ir::OpId op);
  Result<void> run_while(ir::OpId op);
  Result<void> run_if(ir::OpId op);
  Result<void> compute(ir::OpId op);
  Result<void> access_global(ir::OpId op);
  Result<void> copy(ir::OpId op);
  Result<void> make_descriptor(ir::OpId op);
  Result<void> access_tile_memory(ir::OpId op);
  Result<void> allocate(ir::OpId op);
  Result<void> view(ir::OpId op);
  Result<void> multiply(ir::OpId op);
  Result<void> copy_to_tensor_memory(ir::OpId op);
  Result<View> view_of(ir::OpId reader, ir::ValueId value) const;
  Result<void> set_tile(ir::OpId op, std::size_t result, Tile tile);
  Result<void> write_view(ir::OpId op, const View& view, const Tile& tile);
  Result<bool> skipped(ir::OpId op) const;

  const ir::Program& program_;
  Memory& memory_;
  const Launch& launch_;
  std::array<std::int64_t, 3> program_id_;
  ir::ByValue<Value> values_;
  std::optional<ir::OpId> replaced_;
  StandIn stand_in_;
  std::int64_t steps_ = 0;
};

inline constexpr std::int64_t kMostSteps = 2'000'000;

}  // namespace twill::execute
