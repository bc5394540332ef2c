#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "twill/emit/cuda.h"
#include "twill/ir/control_flow.h"
#include "twill/ir/loop.h"
#include "twill/ir/views.h"
#include "twill/plan/plan.h"

/// Internal to the CUDA printer: questions about Program, origins and Plan that many files share.
namespace twill::emit::cuda {

using ir::is_view;
using problem::OpId;

/// The dimension of a product along which one-dimensional tiles run. Register tiles have the layout
/// of wgmma accumulators: rows and columns of m64nN fragments.
enum class Along { rows, columns };

/// Layout of a tile in the registers of a role's 128 threads.
struct Shape {
  enum class Kind { matrix, row_vector, column_vector } kind = Kind::matrix;
  std::int64_t rows = 64;    ///< a multiple of 64; unused for column vectors
  std::int64_t columns = 1;  ///< a multiple of 8; unused for row vectors
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Elements of the tile that one thread holds.
std::int64_t elements_per_thread(const Shape& shape);

class View {
 public:
  /// Fails if the plan has no kernel level, or the loop is in a construct that cannot be printed.
  static Result<View> of(const KernelParts& parts);

  const ir::Program& program() const { return *program_; }
  const plan::Plan& plan() const { return *plan_; }
  const ir::Loop& loop() const { return loop_; }
  const std::optional<ir::Loop>& outer() const { return outer_; }
  ir::OpId function() const { return function_; }
  /// Early returns of the function before the loop.
  const std::vector<ir::Exit>& exits() const { return exits_; }
  const extract::OpOrigin& origin(OpId op) const { return origins_[op.index()]; }
  const std::string& input() const { return input_; }
  Stamps stamps() const { return stamps_; }

  /// The value carried by the loop of which `value` is an argument or a result.
  const ir::Carried* carried_argument(ir::ValueId value) const;
  const ir::Carried* carried_result(ir::ValueId value) const;

  /// The source of `value`, without views and changes of layout.
  ir::ValueId behind_views(ir::ValueId value) const;

  /// `value` without leading dimensions of 1 that a reshape gave it; `value` itself if there are
  /// none.
  ir::ValueId without_ones(ir::ValueId value) const;

  /// The left (0) or right (1) half of the columns of a tile. Triton makes it by a reshape to
  /// [rows, 2, columns / 2], a transposition of the last two dimensions and a split.
  struct Half {
    ir::ValueId whole;
    int side = 0;
  };
  /// Returns nullopt if `value` is no such half.
  std::optional<Half> half_of(ir::ValueId value) const;

  /// The tile's place in the registers of a role that works on `part`. Fails if it has none.
  Result<Shape> shape_of(ir::ValueId value, int part) const;
  Along along(ir::ValueId value) const;

  /// Rows of a part, counted in the whole tile: [first, second).
  std::pair<std::int64_t, std::int64_t> rows_of(int part, std::int64_t all) const;

  /// The plan's per-tile op that an operation is; null if there is none.
  const plan::PerTileOp* per_tile_op_of(ir::OpId op) const;
  /// The operation that `per_tile_ops[index]` of the plan's kernel is.
  ir::OpId op_of_per_tile(std::size_t index) const { return per_tile_ops_[index]; }

  /// The op at a place of the plan. Fails if there is none, since the plan is of another kernel.
  Result<ir::OpId> op_at(const plan::Place& place) const;

  /// Fails if a load through pointers is conditional, or loads elements for which CUDA has no type.
  Result<void> check_load(ir::OpId load) const;
  /// Fails if a load cannot be done at the use of its value, since global memory is written in
  /// between.
  Result<void> check_fresh(ir::OpId load) const;
  /// Note on arrays that prologue and epilogue ops assume to be disjoint. Loads are done at the use
  /// of a value, also after stores to other arguments. Empty: no such assumption.
  std::string assumed_apart() const;
  /// Fails if the kernel has an effect that no role prints.
  Result<void> check_printed(const std::set<ir::OpId>& printed) const;
  /// Whether an op in the loop depends on the results of an op outside.
  bool is_read_in_loop(ir::OpId op) const;

  /// A diagnostic about an operation of the TTGIR.
  tl::unexpected<Diagnostic> refuse(ir::OpId op, const std::string& why) const;
  tl::unexpected<Diagnostic> refuse(ir::ValueId value, const std::string& why) const;
  /// The op in words: "tt.descriptor_load @ 21:10".
  std::string words(ir::OpId op) const;

 private:
  Result<void> check_chains() const;
  Result<void> check_nested() const;
  Result<void> find_exits();
  Result<void> find_per_tile_ops();
  Result<void> check_complete() const;
  bool is_carried_out(ir::OpId op) const;
  void orient();
  std::set<ir::OpId> readers_of(ir::OpId op) const;

  const ir::Program* program_ = nullptr;
  const plan::Plan* plan_ = nullptr;
  std::span<const extract::OpOrigin> origins_;
  std::string input_;
  Stamps stamps_ = Stamps::none;
  ir::Loop loop_;
  std::optional<ir::Loop> outer_;
  ir::OpId function_;
  std::vector<ir::Exit> exits_;
  std::map<ir::ValueId, Along> along_;
  std::map<int, std::pair<std::int64_t, std::int64_t>> parts_;
  std::map<std::pair<int, int>, ir::OpId> by_place_;  ///< the first op at a line and column
  std::vector<ir::OpId> per_tile_ops_;  ///< op by index into the kernel's per-tile ops
};

/// True for tensors of rank at least 1 (not for tiles in shared memory).
bool is_register_tile(ir::Type type);

/// C++ type of a scalar or of a tile's elements: "float", "__half", "int", ...; empty if there is
/// none.
std::string cpp_type(ir::Type type);

/// Declaration of a constant: "const int name", "float* const name".
std::string constant_of(const std::string& type, const std::string& name);

/// True for elements that are kept two to a register: f16 and bf16.
bool is_packed(ir::Type type);

}  // namespace twill::emit::cuda
