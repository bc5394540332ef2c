#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "twill/gate/sass.h"

/// Facts of a kernel's machine code that ptxas decides: its waits, the instructions before each,
/// and the registers of each role.
namespace twill::gate {

/// A WARPGROUP.DEPBAR: waits until at most `pending` batches of wgmma are unfinished. Counts are of
/// the instructions between the previous wait (or the start of the loop) and this wait.
struct Wait {
  int pending = 0;
  int products = 0;      ///< HGMMA instructions with a result
  int exponentials = 0;  ///< MUFU.EX2 instructions

  friend bool operator==(const Wait&, const Wait&) = default;
};

/// An innermost loop that issues wgmma, in the order of execution.
struct LoopCode {
  std::uint32_t address = 0;  ///< address of its first instruction
  std::vector<Wait> waits;
  int products_after = 0;  ///< HGMMA instructions after the last wait
  int exponentials_after = 0;

  friend bool operator==(const LoopCode&, const LoopCode&) = default;
};

/// Code of a role: reachable from one USETMAXREG without passing another. Also code that is
/// reachable from the kernel's first instruction: the part before the roles, or the whole kernel.
struct RoleCode {
  int registers = 0;  ///< registers that USETMAXREG asks for; 0 if the code is no role
  bool raises = false;
  int highest_register = -1;  ///< largest n of an Rn that is used, parts of wide operands included
  int products = 0;
  int batches = 0;  ///< WARPGROUP.ARRIVE instructions
  int waits = 0;
  int exponentials = 0;
  int local = 0;                ///< LDL and STL instructions
  std::vector<LoopCode> loops;  ///< by address
};

struct FunctionCode {
  std::string name;
  RoleCode entry;
  std::vector<RoleCode> roles;  ///< by address
};

/// Follows the branches of a function; one whose target the text does not have (BRX) ends a path.
/// Cost: O(instructions * log(instructions)) a role.
FunctionCode code_of(const SassFunction& function);

/// Reasons why this code must not be used. It uses local memory, a role uses more registers than it
/// has, or ptxas dropped all products of a batch.
std::vector<std::string> refusals(const FunctionCode& code);

/// Shortfalls of a loop against the planned loop: another number of waits, a wait for other
/// batches, or other products before a wait. Also fewer exponentials before a wait than the plan
/// counts on, since ptxas moves waits up. Empty if the code follows the plan. `planned.address` is
/// ignored.
std::vector<std::string> shortfalls(const LoopCode& planned, const LoopCode& found);

}  // namespace twill::gate
