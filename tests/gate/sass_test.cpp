#include "twill/gate/sass.h"

#include <gtest/gtest.h>

namespace twill::gate {
namespace {

// Protects both forms of the text: cuobjdump has addresses and encodings, nvdisasm has labels.
TEST(Sass, ReadsBothDisassemblers) {
  const auto cuobjdump = read_sass(
      "\tcode for sm_90a\n"
      "\t\tFunction : kernel\n"
      "\t.headerflags\t@\"EF_CUDA_SM90\"\n"
      "        /*0000*/                   LDC R1, c[0x0][0x28] ;    /* 0x00000a00ff017b82 */\n"
      "                                                             /* 0x000fe20000000800 */\n"
      "        /*0010*/              @!P1 BRA 0x0 ;                 /* 0x0000000000188947 */\n"
      "        /*0020*/                   ERRBAR;                   /* 0x00000000000079ab */\n",
      "text");
  const auto nvdisasm = read_sass(
      "\t.section\t.text.kernel,\"ax\",@progbits\n"
      ".text.kernel:\n"
      "        .type           kernel,@function\n"
      "kernel:\n"
      ".L_x_1:\n"
      "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
      "        /*0010*/              @!P1 BRA `(.L_x_1) ;\n"
      "        /*0020*/                   ERRBAR;\n",
      "text");
  for (const auto& functions : {cuobjdump, nvdisasm}) {
    ASSERT_TRUE(functions.has_value());
    ASSERT_EQ(functions->size(), 1U);
    EXPECT_EQ(functions->at(0).name, "kernel");
    const std::vector<Instruction>& code = functions->at(0).instructions;
    ASSERT_EQ(code.size(), 3U);
    EXPECT_EQ(code[0].opcode, "LDC");
    EXPECT_EQ(code[0].operands, (std::vector<std::string>{"R1", "c[0x0][0x28]"}));
    EXPECT_EQ(code[1].address, 0x10U);
    EXPECT_EQ(code[1].guard, "@!P1");
    EXPECT_EQ(code[1].target, 0x0U);
    EXPECT_EQ(code[2].opcode, "ERRBAR");
  }
}

// Protects labels of one function from those of another: nvdisasm numbers labels across a file, but
// no document promises that.
TEST(Sass, KeepsFunctionsApart) {
  const auto functions = read_sass(
      ".text.a:\n.L_x_1:\n/*0000*/ NOP ;\n/*0010*/ BRA `(.L_x_1) ;\n"
      ".text.b:\n/*0000*/ BRA `(.L_x_1) ;\n",
      "text");
  ASSERT_TRUE(functions.has_value());
  ASSERT_EQ(functions->size(), 2U);
  EXPECT_EQ(functions->at(0).instructions[1].target, 0x0U);
  EXPECT_FALSE(functions->at(1).instructions[0].target.has_value());
}

// Protects the answer to a text that is no listing: a diagnostic, not an empty success.
TEST(Sass, FailsOnTextWithoutCode) {
  for (const char* text : {"", "nvdisasm fatal : no such file\n", ".text.a:\n", "/*0000*/ NOP ;\n",
                           ".text.a:\n/*0000*/ ;\n/*00", ".text.a:\n/*zz*/ NOP ;\n"}) {
    const auto functions = read_sass(text, "k.cubin");
    ASSERT_FALSE(functions.has_value()) << text;
    EXPECT_EQ(functions.error().location.file, "k.cubin");
  }
}

}  // namespace
}  // namespace twill::gate
