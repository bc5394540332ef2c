#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "twill/execute/tile.h"
#include "twill/ir/program.h"

/// Internal to the room: inline assembly that computes a number of numbers.
namespace twill::execute {

/// PTX on registers of 32 bits, as steps that can be carried out for each element. Of f32, known
/// are moves, sums, products, minima and maxima, the hardware's functions (as exact as f32 is), and
/// rounding to tf32. Of integers and bits: moves, sums, products, logic, shifts, minima and maxima,
/// choice of bytes, and conversions between them and f32. Of pairs of f16 and of bf16: sums,
/// products, minima and maxima. What only orders is known as nothing. No predicates, vectors of
/// operands, or other types.
class Assembly {
 public:
  using Bits = std::uint32_t;

  /// nullopt if a statement is unknown, or reads a register that is never written. Results are $0
  /// and following; operands come behind them.
  static std::optional<Assembly> read(std::string_view text, std::size_t results,
                                      std::size_t operands);

  /// Zero for a result that is never written.
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

/// Result `result` of inline assembly. Fails if its text is unknown, or if the elements that it
/// takes at a time do not fill registers. Also fails if an element's result depends on its
/// neighbours in the register.
Result<Tile> assemble(const ir::Program& program, ir::OpId op, std::span<const TilePtr> operands,
                      std::size_t result);

}  // namespace twill::execute
