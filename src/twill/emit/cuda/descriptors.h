#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "twill/emit/cuda/text.h"
#include "twill/emit/cuda/view.h"

/// Internal to the CUDA printer: the tensors that descriptors describe, as the launch function
/// knows them.
namespace twill::emit::cuda {

/// A tensor in global memory: expressions of C++ in the launch function.
struct Tensor {
  std::string base;                  ///< the address of its first element
  std::vector<std::string> sizes;    ///< outermost first
  std::vector<std::string> strides;  ///< in elements, outermost first; one for each size
  bool nan_outside = false;  ///< whether elements outside the tensor are read as NaN instead of
                             ///< zero
};

/// The tensor of the descriptor that is argument number `argument`. Triton passes its sizes (i32)
/// and strides (i64) as the next arguments, outermost first. Fails if they are missing.
Result<Tensor> tensor_of_argument(const View& view, std::size_t argument);

/// Descriptors that the kernel makes (tt.make_tensor_descriptor) from values that are the same for
/// all CTAs. Such values are arguments, constants, the size of the grid, and arithmetic on these.
class MadeTensors {
 public:
  explicit MadeTensors(const View& view) : view_(view) {}

  /// The tensor of a descriptor that is made unconditionally. First declares the sources of its
  /// address, sizes and strides once in `text`, the launch function. Fails, with the op's line,
  /// where a source depends on the CTA, on a loop or on memory.
  Result<Tensor> tensor_of(Text& text, ir::ValueId descriptor);

 private:
  /// Value to compute: the op that makes the descriptor, and the number of the operand.
  struct Wanted {
    ir::OpId op;
    std::string_view role;
  };
  Result<std::string> scalar(Text& text, const Wanted& wanted, ir::ValueId value);
  Result<std::string> argument(const Wanted& wanted, ir::ValueId value) const;
  tl::unexpected<Diagnostic> refuse(const Wanted& wanted, ir::OpId on, std::string_view why) const;
  void check_divisor(Text& text, const Wanted& wanted, const ir::Op& op,
                     const std::vector<std::string>& operands) const;

  const View& view_;
  std::map<ir::ValueId, std::string> known_;
};

}  // namespace twill::emit::cuda
