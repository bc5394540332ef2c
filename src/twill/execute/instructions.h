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

/// The known instruction for a text such as "fma.rn.f32"; null for others. Modifiers are accepted
/// if they change a number only by its rounding. s32 and u32 count as bits if signs make no
/// difference.
const KnownInstruction* instruction(std::string_view text);

}  // namespace twill::execute
