#include "twill/gate/code.h"

#include <gtest/gtest.h>

namespace twill::gate {
namespace {

/// The code of the one function whose instructions, 16 bytes each, are `lines`.
FunctionCode code_from(const std::vector<std::string>& lines) {
  std::string text = ".text.f:\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    char address[16];
    std::snprintf(address, sizeof address, "/*%04zx*/ ", i * 16);
    text += address + lines[i] + " ;\n";
  }
  const auto functions = read_sass(text, "text");
  EXPECT_TRUE(functions.has_value() && functions->size() == 1);
  return code_of(functions->at(0));
}

/// A producer and a consumer in the layout of ptxas: the consumer first, its slow path of waiting
/// for an mbarrier after the producer.
const std::vector<std::string> kTwoRoles = {
    "ISETP.NE.AND P1, PT, RZ, UR10, PT",                // 0000
    "@!P1 BRA 0x120",                                   // 0010
    "NOP",                                              // 0020
    "USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xf0",           // 0030
    "PLOP3.LUT P0, PT, PT, PT, UP0, 0x80, 0x0",         // 0040
    "@!P0 BRA 0x20",                                    // 0050
    "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR10], R2",    // 0060: the loop
    "@!P0 BRA 0x160",                                   // 0070
    "WARPGROUP.ARRIVE",                                 // 0080
    "HGMMA.64x128x16.F32 R24, gdesc[UR8], R24, UP0",    // 0090
    "HGMMA.64x128x16.F32 R24, gdesc[UR8], R24, gsb0",   // 00a0
    "MUFU.EX2 R9, R8",                                  // 00b0
    "WARPGROUP.DEPBAR.LE gsb0, 0x1",                    // 00c0
    "MUFU.EX2 R10, R8",                                 // 00d0
    "WARPGROUP.DEPBAR.LE gsb0, 0x0",                    // 00e0
    "MUFU.EX2 R11, R8",                                 // 00f0
    "@P0 BRA 0x60",                                     // 0100
    "EXIT",                                             // 0110
    "USETMAXREG.DEALLOC.CTAPOOL 0x18",                  // 0120
    "UTMALDG.2D [UR8], [UR6]",                          // 0130
    "@P0 BRA 0x130",                                    // 0140
    "EXIT",                                             // 0150
    "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR10], R200",  // 0160
    "@!P0 BRA 0x160",                                   // 0170
    "BRA 0x80",                                         // 0180
};

// Protects the attribution of code to roles: the slow path at the end is the consumer's.
TEST(Code, FollowsBranchesToTellRolesApart) {
  const FunctionCode code = code_from(kTwoRoles);
  EXPECT_EQ(code.entry.registers, 0);
  EXPECT_EQ(code.entry.products, 0);
  EXPECT_EQ(code.entry.highest_register, -1);
  ASSERT_EQ(code.roles.size(), 2U);
  const RoleCode& consumer = code.roles[0];
  EXPECT_EQ(consumer.registers, 240);
  EXPECT_TRUE(consumer.raises);
  EXPECT_EQ(consumer.highest_register, 200);
  EXPECT_EQ(consumer.products, 2);
  EXPECT_EQ(consumer.batches, 1);
  EXPECT_EQ(consumer.waits, 2);
  EXPECT_EQ(consumer.exponentials, 3);
  const RoleCode& producer = code.roles[1];
  EXPECT_EQ(producer.registers, 24);
  EXPECT_FALSE(producer.raises);
  EXPECT_EQ(producer.highest_register, -1);
  EXPECT_TRUE(producer.loops.empty());
  EXPECT_TRUE(refusals(code).empty());
}

// Protects the order of waits and exponentials, which ptxas may change. The jump back from the slow
// path into the loop is no loop of its own.
TEST(Code, FindsTheLoopAndWhatStandsBeforeEachWait) {
  const FunctionCode code = code_from(kTwoRoles);
  ASSERT_EQ(code.roles.at(0).loops.size(), 1U);
  const LoopCode& loop = code.roles[0].loops[0];
  EXPECT_EQ(loop.address, 0x60U);
  EXPECT_EQ(loop.waits, (std::vector<Wait>{{1, 2, 1}, {0, 0, 1}}));
  EXPECT_EQ(loop.products_after, 0);
  EXPECT_EQ(loop.exponentials_after, 1);
}

// Protects against taking the loop over tiles for the loop over a tile's iterations.
TEST(Code, KeepsInnermostLoopsOnly) {
  const FunctionCode code = code_from({
      "NOP",                                           // 0000
      "HGMMA.64x64x16.F32 R24, gdesc[UR8], RZ, !UPT",  // 0010
      "HGMMA.64x64x16.F32 R24, gdesc[UR8], R24",       // 0020
      "WARPGROUP.DEPBAR.LE gsb0, 0x0",                 // 0030
      "@P0 BRA 0x20",                                  // 0040
      "STG.E desc[UR14][R2.64], R24",                  // 0050
      "@P1 BRA 0x10",                                  // 0060
      "EXIT",                                          // 0070
  });
  ASSERT_EQ(code.entry.loops.size(), 1U);
  EXPECT_EQ(code.entry.loops[0].address, 0x20U);
  EXPECT_EQ(code.entry.products, 2);
  EXPECT_TRUE(code.roles.empty());
}

// Protects against counting the HGMMA that only closes a batch: ptxas removes products with unread
// results, and leaves this.
TEST(Code, CountsProductsWithResultsOnly) {
  const FunctionCode code = code_from({
      "WARPGROUP.ARRIVE",                                  // 0000
      "HGMMA.64x8x16.F16 RZ, gdesc[URZ], RZ, !UPT, gsb0",  // 0010
      "WARPGROUP.DEPBAR.LE gsb0, 0x0",                     // 0020
      "@P0 BRA 0x0",                                       // 0030
      "EXIT",                                              // 0040
  });
  EXPECT_EQ(code.entry.products, 0);
  EXPECT_EQ(code.entry.batches, 1);
  EXPECT_TRUE(code.entry.loops.empty());
  EXPECT_EQ(refusals(code).size(), 1U);
}

// Protects the count of registers: wgmma names the first of many.
TEST(Code, CountsAllRegistersOfWideOperands) {
  const auto highest = [](const std::string& line) {
    return code_from({line, "EXIT"}).entry.highest_register;
  };
  EXPECT_EQ(highest("HGMMA.64x128x16.F32 R24, gdesc[UR8], R24, gsb0"), 87);
  EXPECT_EQ(highest("HGMMA.64x128x16.F32.BF16 R24, R96, gdesc[UR8].tnspB, R24"), 99);
  EXPECT_EQ(highest("HGMMA.64x256x16.F16 R24, gdesc[UR8], RZ, !UPT"), 87);
  EXPECT_EQ(highest("LDS.128 R8, [R20+UR4]"), 20);
  EXPECT_EQ(highest("LDS.128 R20, [R8+UR4]"), 23);
  EXPECT_EQ(highest("STG.E.64 desc[UR14][R2.64+0x4], R24"), 25);
  EXPECT_EQ(highest("IMAD.WIDE R2, R7.reuse, 0x4, R2"), 7);
  EXPECT_EQ(highest("S2R R5, SR_TID.X"), 5);
  EXPECT_EQ(highest("UMOV UR40, 0x400"), -1);
}

// Protects the refusals: local memory, and a role beyond its budget.
TEST(Code, RefusesLocalMemoryAndTooManyRegisters) {
  const FunctionCode code = code_from({
      "USETMAXREG.DEALLOC.CTAPOOL 0x18",
      "STL [R1], R24",
      "LDL R3, [R1]",
      "EXIT",
  });
  const std::vector<std::string> reasons = refusals(code);
  ASSERT_EQ(reasons.size(), 4U);  // the first instruction belongs to the entry, too
  EXPECT_EQ(reasons[2], "f, role 0 of its code, loads or stores local memory 2 times");
  EXPECT_EQ(reasons[3], "f, role 0 of its code, uses R24 and has 24 registers");
}

// Protects the comparison with the plan: a wait that ptxas moved up is a shortfall; a wait later
// than planned is not.
TEST(Code, ComparesALoopWithThePlan) {
  const LoopCode planned = {0, {{1, 16, 0}, {0, 0, 64}}, 0, 0};
  EXPECT_TRUE(shortfalls(planned, planned).empty());
  const LoopCode later = {0x60, {{1, 16, 3}, {0, 0, 61}}, 0, 0};
  EXPECT_TRUE(shortfalls(planned, later).empty());
  const LoopCode hoisted = {0x60, {{1, 16, 0}, {0, 0, 23}}, 0, 41};
  ASSERT_EQ(shortfalls(planned, hoisted).size(), 1U);
  EXPECT_EQ(shortfalls(planned, hoisted)[0],
            "wait 2 of the loop at 0x60 follows 23 exponentials, in the plan 64");
  const LoopCode serialized = {0x60, {{0, 16, 0}, {0, 0, 64}}, 0, 0};
  EXPECT_EQ(shortfalls(planned, serialized).size(), 1U);
  const LoopCode one_more = {0x60, {{1, 8, 0}, {0, 8, 0}, {0, 0, 64}}, 0, 0};
  ASSERT_EQ(shortfalls(planned, one_more).size(), 1U);
  EXPECT_EQ(shortfalls(planned, one_more)[0], "the loop at 0x60 has 3 waits for wgmma, the plan 2");
}

}  // namespace
}  // namespace twill::gate
