#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Internal to the room: instructions of PTX on registers of 32 bits, one result each.
namespace twill::execute {

struct KnownInstruction {
  std::string_view name;  ///< mnemonic and type
  std::size_t operands;
  std::uint32_t (*function)(const std::uint32_t*);
};

/// The known instruction, as in "fma.rn.f32"; null for others. Its modifiers may be those that
/// leave a number what it is, to its rounding. Where signs make no difference, s32 and u32 are
/// bits.
const KnownInstruction* instruction(std::string_view text);

}  // namespace twill::execute
