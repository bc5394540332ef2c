#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twill/support/diagnostic.h"

namespace twill::gate {

/// One machine instruction, such as `@!P1 BRA 0x2d0`.
struct Instruction {
  std::uint32_t address = 0;  ///< in bytes from the start of the function
  std::string guard;          ///< "@!P1"; empty: always executed
  std::string opcode;         ///< with its modifiers: "HGMMA.64x128x16.F32"
  std::vector<std::string> operands;
  std::optional<std::uint32_t> target;  ///< target of a branch or call, where the text has it
};

struct SassFunction {
  std::string name;                       ///< mangled
  std::vector<Instruction> instructions;  ///< by address
};

/// Reads the output of `nvdisasm -c` or `cuobjdump -sass` for an sm_90a cubin. Skips lines other
/// than instructions, labels and starts of functions. Fails, naming `file`, if no line is left.
/// Source of the form: CUDA Binary Utilities.
Result<std::vector<SassFunction>> read_sass(std::string_view text, const std::string& file);

}  // namespace twill::gate
