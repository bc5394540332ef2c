// For any text, the reader returns a Program or a refusal, without a crash, an endless loop, or
// exhausted memory.
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/lexer.h"
#include "twill/frontend/ttgir/merge_equal.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/frontend/ttgir/structure.h"
#include "twill/frontend/ttgir/text.h"
#include "twill/frontend/ttgir/unflatten.h"
#include "twill/frontend/ttgir/without_unread.h"

namespace twill::tests {
namespace {

std::string kernel_text(const std::string& name) {
  std::ifstream in(std::filesystem::path(TWILL_SOURCE_DIR) / "kernels" / name);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Expects a Diagnostic with a place, or a Program that prints. Flat loops must become right nests
/// or stay, equal values must merge, and unread ops must be removable.
void must_answer(std::string_view text) {
  const auto program = frontend::read_ttgir(text, "noise");
  if (program) {
    EXPECT_FALSE(frontend::ttgir::to_text(*program).empty());
    const auto nested = frontend::ttgir::unflatten(*program);
    if (nested) {
      EXPECT_TRUE(frontend::ttgir::check_structure(nested->program).has_value());
    }
    const auto merged = frontend::ttgir::merge_equal(*program);
    if (merged) {
      EXPECT_TRUE(frontend::ttgir::check_structure(merged->program).has_value());
    }
    const ir::Program read = frontend::ttgir::without_unread(*program);
    EXPECT_TRUE(frontend::ttgir::check_structure(read).has_value());
    return;
  }
  EXPECT_FALSE(program.error().message.empty());
  EXPECT_GT(program.error().location.line, 0);
  EXPECT_GT(program.error().location.column, 0);
}

// Reads every prefix that ends between two tokens, like a file that was cut off.
TEST(Robustness, every_prefix) {
  const std::string text = kernel_text("fa_fwd/sm_100/d64.pre.ttgir");
  ASSERT_FALSE(text.empty());
  std::size_t failed = 0;
  const std::vector<frontend::ttgir::Token> tokens = frontend::ttgir::tokens_of(text);
  for (std::size_t i = 0; i < tokens.size(); i += (i < 300 ? std::size_t{1} : std::size_t{7})) {
    const auto program =
        frontend::read_ttgir(std::string_view(text).substr(0, tokens[i].offset), "cut");
    if (!program) ++failed;
  }
  EXPECT_GT(failed, tokens.size() / 4);
}

TEST(Robustness, seeded_mutations) {
  std::mt19937 random(2026);
  const std::string kinds = "{}()[]<>%^@#!:,=\"-> x0\n";
  for (const char* name :
       {"softmax/sm_90/br4bc1024.pre.ttgir", "fa_fwd_bias/sm_90/d64_causal.pre.ttgir",
        "fa_fwd/sm_90/d128.final.ttgir", "gemm/sm_100/tma_128x128x64_ws.part.ttgir",
        "gemm_persistent/sm_90/128x256x64_flat.pre.ttgir",
        "gemm_persistent/sm_100/128x256x64_flat.pre.ttgir"}) {
    const std::string original = kernel_text(name);
    ASSERT_FALSE(original.empty());
    for (int round = 0; round < 150; ++round) {
      std::string text = original;
      for (std::size_t edits = 1 + random() % 4; edits > 0; --edits) {
        const std::size_t at = random() % text.size();
        const std::size_t length = std::min<std::size_t>(1 + random() % 12, text.size() - at);
        const std::size_t from = random() % (text.size() - length);
        switch (random() % 4) {
          case 0:
            text.erase(at, length);
            break;
          case 1:
            text.insert(at, 1, kinds[random() % kinds.size()]);
            break;
          case 2:
            text.insert(at, text.substr(from, length));
            break;
          default:
            text[at] = static_cast<char>(random());
        }
      }
      must_answer(text);
    }
  }
}

TEST(Robustness, random_bytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string text(random() % 3000, ' ');
    for (char& c : text) c = static_cast<char>(random());
    must_answer(text);
  }
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

// Deep nesting must not exhaust the stack.
TEST(Robustness, deep_nesting) {
  constexpr std::size_t kTimes = 100000;
  for (const char* piece :
       {"(", "[", "module {\n", "\"a.b\"() ({\n", "foo.bar {\n", "foo.bar ({\n"}) {
    must_answer(repeated(piece, kTimes));
  }
  for (const char* piece : {"[", "{a = ", "#x.y<", "#x.y<{a = ", "tensor<4x", "!x.y<", "array<",
                            "loc(", "(", "!tt.ptr<", "vector<"}) {
    must_answer("foo.bar {a = " + repeated(piece, kTimes));
    must_answer("%0 = foo.bar : " + repeated(piece, kTimes));
  }
  must_answer("gpu.barrier loc(" + repeated("callsite(", kTimes));
  must_answer("%0 = arith.constant dense<" + repeated("[", kTimes) + repeated("]", kTimes) +
              "> : tensor<1xf32>");
}

// 200 lines of aliases that double each other would expand to 2^200 characters.
TEST(Robustness, aliases_that_explode) {
  std::string text = "#a0 = [1]\n";
  std::string locations = "#loc0 = loc(\"f\":1:1)\n";
  for (int i = 1; i < 200; ++i) {
    const std::string last = std::to_string(i - 1);
    text += "#a" + std::to_string(i) + " = [#a" + last + ", #a" + last + "]\n";
    locations += "#loc" + std::to_string(i) + " = loc(fused[#loc" + last + ", #loc" + last + "])\n";
  }
  EXPECT_FALSE(frontend::read_ttgir(text, "bomb"));
  EXPECT_FALSE(frontend::read_ttgir(locations, "bomb"));
}

// 10 MB of noise must be answered quickly; the time limit of the test checks this.
TEST(Robustness, ten_megabytes_of_noise) {
  std::mt19937 random(11);
  std::string bytes(10'000'000, ' ');
  for (char& c : bytes) c = static_cast<char>(random());
  must_answer(bytes);
  must_answer(std::string(10'000'000, '('));
  must_answer(repeated("a.b ", 2'500'000));
  must_answer("foo.bar {a = \"" + std::string(10'000'000, 'x'));
  must_answer(std::string(10'000'000, '\n'));
  must_answer("foo.bar " + std::string(10'000'000, '7'));
}

}  // namespace
}  // namespace twill::tests
