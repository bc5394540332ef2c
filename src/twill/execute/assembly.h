#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

/// Internal to the room: inline assembly that computes a number of numbers.
namespace twill::execute {

/// PTX that makes one f32 of others, as steps that can be carried out for each element. Known are
/// moves, sums, products, minima and maxima, the hardware's functions (as exact as f32 is), and
/// rounding to tf32; no predicates, vectors, integers or other types.
class Assembly {
 public:
  /// nullopt if a statement is not known, or reads what nothing has made. `operands`: inputs, $1
  /// and on; $0 is the result.
  static std::optional<Assembly> read(std::string_view text, std::size_t operands);

  float run(std::span<const float> operands) const;

 private:
  using Function = float (*)(float, float, float);
  /// Registers by number: 0 is the result, then the operands, then those that are declared.
  struct Step {
    Function function = nullptr;
    std::size_t to = 0;
    std::size_t from[3] = {0, 0, 0};
    float constant[3] = {0, 0, 0};
    bool is_constant[3] = {false, false, false};
  };
  std::size_t registers_ = 0;
  std::vector<Step> steps_;
};

}  // namespace twill::execute
