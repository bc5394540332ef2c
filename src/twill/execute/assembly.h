#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "twill/execute/tile.h"
#include "twill/ir/program.h"

/// Internal to the room: inline assembly that computes several elements at a time.
namespace twill::execute {

/// PTX on registers of 32 bits, as steps that are carried out for each element. Known on f32:
/// moves, sums, products, minima and maxima, the hardware's functions (as exact as f32 is), and
/// rounding to tf32. Known on integers and bits: moves, sums, products, logic, shifts, minima and
/// maxima, choice of bytes, and conversions to and from f32. Known on pairs of f16 and of bf16:
/// sums, products, minima and maxima. Instructions that only order do nothing. Unknown: predicates,
/// vectors of operands, other types.
class Assembly {
 public:
  using Bits = std::uint32_t;

  /// Reads the text; nullopt for an unknown statement, or a read of a register that is never
  /// written. Results are $0 and following; operands come after the results.
  static std::optional<Assembly> read(std::string_view text, std::size_t results,
                                      std::size_t operands);

  /// Runs the steps. A result that is never written is zero.
  void run(std::span<const Bits> operands, std::span<Bits> results) const;

 private:
  static constexpr std::size_t kMost = 4;  ///< operands of an instruction
  using Function = Bits (*)(const Bits*);
  /// Registers by number: results, operands, then declared registers.
  struct Step {
    Function function = nullptr;
    std::size_t to = 0;
    std::size_t count = 0;
    std::size_t from[kMost] = {};
    Bits constant[kMost] = {};
    bool is_constant[kMost] = {};
  };
  std::size_t results_ = 0;
  std::size_t registers_ = 0;
  std::vector<Step> steps_;
};

/// Result `result` of inline assembly. Fails for an unknown text, or if the elements of one
/// execution do not fill registers. Also fails if an element's result depends on its neighbours in
/// the register.
Result<Tile> assemble(const ir::Program& program, ir::OpId op, std::span<const TilePtr> operands,
                      std::size_t result);

}  // namespace twill::execute
