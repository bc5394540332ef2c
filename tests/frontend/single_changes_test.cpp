#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"

// Valid texts with one type changed, as no compiler would write them.
namespace twill::frontend {
namespace {

std::string text_of_kernel(const std::string& name) {
  std::ifstream file(std::string(TWILL_SOURCE_DIR) + "/kernels/" + name + ".pre.ttgir");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

const std::vector<std::pair<std::string, std::string>> kTypeChanges = {
    {"xf16", "xbf16"},
    {"xf32", "xf16"},
    {"xi32", "xi64"},
    {"xi1,", "xi8,"},
    {"128x64x", "128x32x"},
    {"128x128x", "128x64x"},
    {"64x128x", "64x64x"},
    {"<64x64x", "<64x32x"},
    {"<128x", "<256x"},
    {": i32", ": i64"},
    {"-> i32", "-> i64"},
    {"!tt.ptr<f16>", "!tt.ptr<f32>"},
    {"#blocked>", "#mma>"},
    {"#blocked1>", "#blocked>"},
    {"#mma>", "#blocked>"},
    {"dim = 0", "dim = 1"},
    {"dim = 1", "dim = 0"},
    {"axis = 0", "axis = 1"},
    {"axis = 1", "axis = 0"},
    {"kWidth = 2", "kWidth = 4"},
    {"#mma}>", "#blocked}>"},
    {"inputPrecision = 0", "inputPrecision = 17"},
    {"dense<64>", "dense<true>"},
    {"#shared, #smem>", "#shared1, #smem>"},
    {"#shared1, #smem>", "#shared, #smem>"},
    {"dense<64>", "dense<4294967296>"},
};

/// Accepted lines of the module's body after a change of one place, as "LINE: FROM -> TO: TEXT".
std::vector<std::string> accepted_changes(const std::string& text, std::size_t& tried) {
  std::vector<std::string> accepted;
  std::size_t at = text.find("tt.func");
  int line = 1;
  for (const char c : text.substr(0, at)) line += c == '\n' ? 1 : 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    for (const auto& [from, to] : kTypeChanges) {
      for (std::size_t place = text.find(from, at); place < end;
           place = text.find(from, place + 1)) {
        // The type of an argument without a reader may change, too.
        const bool of_argument = text.compare(text.find_first_not_of(' ', at), 7, "tt.func") == 0;
        if (from == ": i32" && of_argument) continue;
        std::string changed = text;
        changed.replace(place, from.size(), to);
        ++tried;
        if (!read_ttgir(changed, "changed.ttgir")) continue;
        accepted.push_back(std::to_string(line) + ": " + from + " -> " + to + ": " +
                           text.substr(at, end - at));
      }
    }
    at = end + 1;
    ++line;
  }
  return accepted;
}

// Protects: a type that does not fit its definition, or the other types of its op, is refused at
// any place of the text. Only types without a reader may differ.
TEST(SingleChanges, OfTypesAreRefused) {
  std::size_t tried = 0, accepted = 0;
  for (const std::string name :
       {"fa_fwd/sm_90/d128", "gemm/sm_90/ptr_128x128x64", "gemm/sm_100/tma_128x128x64"}) {
    const std::string text = text_of_kernel(name);
    ASSERT_FALSE(text.empty()) << name;
    ASSERT_TRUE(read_ttgir(text, name).has_value()) << name;
    for (const std::string& change : accepted_changes(text, tried)) {
      ++accepted;
      ADD_FAILURE() << name << ":" << change;
    }
  }
  EXPECT_GT(tried, 500U);
  RecordProperty("tried", static_cast<int>(tried));
  RecordProperty("accepted", static_cast<int>(accepted));
}

/// Changes of the lines before the function: layouts and the launch. Each changed text is another
/// kernel, whose products, transpositions and warps do not fit.
const std::vector<std::pair<std::string, std::string>> kHeadChanges = {
    {"versionMajor = 3", "versionMajor = 2"},      {"versionMajor = 3", "versionMajor = 9"},
    {"instrShape = [16, ", "instrShape = [32, "},  {", 16]}>", ", 32]}>"},
    {"transposed = true", "transposed = false"},   {"elementBitWidth = 16", "elementBitWidth = 32"},
    {"warpsPerCTA = [8", "warpsPerCTA = [4"},      {"warpsPerCTA = [4", "warpsPerCTA = [8"},
    {"threadsPerWarp = [", "threadsPerWarp = [2"}, {"order = [1, 0]", "order = [0, 0]"},
    {"num-warps\" = ", "num-warps\" = 1"},         {"num-ctas\" = 1", "num-ctas\" = 3"},
};

// Protects: an impossible layout or launch before any kernel is refused, with the line that it does
// not fit. Other possible layouts are accepted.
TEST(SingleChanges, OfLayoutsAndLaunchesAreRefusedWhereNothingFits) {
  std::size_t tried = 0;
  for (const std::string name :
       {"fa_fwd/sm_90/d128", "dual_gemm/sm_90/128x128x64", "fa_bwd/sm_90/m64n128d128_tmared",
        "fa_bwd_dq/sm_90/m128n64d128", "fa_fwd_bias/sm_90/d64_desc", "gemm_rowsum/sm_90/128x128x64",
        "fa_fwd/sm_90/d64", "fa_bwd_subtiled/sm_90/m64n2x64d128", "fa_fwd_causal/sm_90/d128",
        "fa_fwd_subtiled/sm_90/2x128n128d128"}) {
    const std::string text = text_of_kernel(name);
    ASSERT_TRUE(read_ttgir(text, name).has_value()) << name;
    const std::size_t body = text.find("tt.func");
    for (const auto& [from, to] : kHeadChanges) {
      for (std::size_t at = text.find(from); at < body; at = text.find(from, at + 1)) {
        std::string changed = text;
        changed.replace(at, from.size(), to);
        const auto read = read_ttgir(changed, "changed.ttgir");
        ++tried;
        EXPECT_FALSE(read.has_value()) << name << ": " << text.substr(at, 40) << " -> " << to;
        if (read) continue;
        EXPECT_GT(read.error().location.line, 0) << name << ": " << to;
      }
    }
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"[1, 8]", "[1, 4]"},
                                   {"divisibility = 16", "divisibility = 8"}}) {
      const std::size_t at = text.find(from);
      if (at == std::string::npos) continue;
      std::string changed = text;
      changed.replace(at, from.size(), to);
      EXPECT_TRUE(read_ttgir(changed, "changed.ttgir").has_value()) << name << ": " << to;
    }
  }
  EXPECT_GT(tried, 150U);
}

struct Impossible {
  const char* from;
  const char* to;
  const char* message;
};

const Impossible kImpossible[] = {
    {"\"ttg.num-warps\" = 8", "\"ttg.num-warps\" = 0", "a CTA has 1, 2, 4 ... 32 warps"},
    {"\"ttg.num-warps\" = 8", "\"ttg.num-warps\" = 3", "a CTA has 1, 2, 4 ... 32 warps"},
    {"\"ttg.num-warps\" = 8", "\"ttg.num-warps\" = -4", "a CTA has 1, 2, 4 ... 32 warps"},
    {"threads-per-warp\" = 32", "threads-per-warp\" = 64", "a warp has 32 threads"},
    {"\"ttg.num-ctas\" = 1", "\"ttg.num-ctas\" = 0", "a cluster has 1, 2, 4 ... CTAs"},
    {"threadsPerWarp = [4, 8]", "threadsPerWarp = [8, 8]", "a warp has 32 threads"},
    {"warpsPerCTA = [8, 1]", "warpsPerCTA = [0, 1]", "powers of two are wanted"},
    {"warpsPerCTA = [8, 1]", "warpsPerCTA = [4, 1]", "it is of 4 warps, and the op is run by 8"},
    {"warpsPerCTA = [8, 1]", "warpsPerCTA = [8, 2]", "it is of 16 warps, and the op is run by 8"},
    {"\"ttg.num-warps\" = 8", "\"ttg.num-warps\" = 4", "it is of 8 warps, and the op is run by 4"},
    {"sizePerThread = [1, 8]", "sizePerThread = [1, 7]", "powers of two are wanted"},
    {"order = [1, 0]", "order = [1, 1]", "no order of 2 dimensions"},
    {"swizzlingByteWidth = 128", "swizzlingByteWidth = 48", "none of [0, 32, 64, 128]"},
    {"swizzlingByteWidth = 128", "swizzlingByteWidth = -32", "none of [0, 32, 64, 128]"},
    {"elementBitWidth = 16", "elementBitWidth = 12", "none of [4, 8, 16, 32, 64]"},
    {"elementBitWidth = 16", "elementBitWidth = 32", "for elements of 32 bits"},
};

// Protects: no schedule is made for an impossible launch, layout or loop.
TEST(Impossible, LaunchesLayoutsAndLoopsAreRefused) {
  const std::string text = text_of_kernel("gemm/sm_90/ptr_128x128x64");
  for (const Impossible& it : kImpossible) {
    std::string changed = text;
    const std::size_t at = changed.find(it.from);
    ASSERT_NE(at, std::string::npos) << it.from;
    changed.replace(at, std::string(it.from).size(), it.to);
    const auto read = read_ttgir(changed, "changed.ttgir");
    ASSERT_FALSE(read.has_value()) << it.to;
    EXPECT_NE(read.error().message.find(it.message), std::string::npos) << read.error().message;
    EXPECT_GT(read.error().location.line, 0) << it.to;
  }
  for (const std::string step : {"0", "-1"}) {
    const auto read = read_ttgir("%a = arith.constant 4 : i32\n%s = arith.constant " + step +
                                     " : i32\nscf.for %i = %a to %a step %s : i32 {\n}\n",
                                 "loop.ttgir");
    ASSERT_FALSE(read.has_value()) << step;
    EXPECT_NE(read.error().message.find("a loop counts up"), std::string::npos);
    EXPECT_EQ(read.error().location.line, 3);
  }
}

// Protects: if the type at a use differs from the definition's, the message names both places.
TEST(SingleChanges, BothPlacesAreNamed) {
  const auto read = read_ttgir(
      "tt.func @f(%p: tensor<16x!tt.ptr<f32>>) {\n"
      "  %x = tt.load %p : tensor<16x!tt.ptr<f16>>\n  tt.return\n}\n",
      "use.ttgir");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().location.line, 2);
  EXPECT_NE(read.error().message.find("%p has type tensor<16x!tt.ptr<f32>"), std::string::npos)
      << read.error().message;
  EXPECT_NE(read.error().hint.find("1:1"), std::string::npos) << read.error().hint;
}

// Protects: an attribute of another type than its op declares, or outside its enumeration, is
// refused. An unknown keyword in the op's form is refused, too, since dropping the keyword would
// drop its effect.
TEST(SingleChanges, OfAttributesAreRefused) {
  const Impossible changes[] = {
      {"end = 64 : i32", "end = 64 : i8", "'end' is 64 : i8, but i32 is wanted"},
      {"start = 0 : i32", "start = 0 : si32", "'start' is 0 : si32, but i32 is wanted"},
      {"start = 0 : i32", "start = 0", "'start' is 0"},
      {"axis = 1 : i32", "axis = 1 : i64", "'axis' is 1 : i64"},
      {"inputPrecision = 0 : i32", "inputPrecision = 0 : i8", "'inputPrecision' is 0 : i8"},
      {"inputPrecision = 0 : i32", "inputPrecision = 9 : i32", "'inputPrecision' is 9"},
      {"transposed = false", "transposed = 0", "'transposed' is 0"},
      {"cmpi slt", "cmpi olt", "'arith.cmpi' has no 'predicate' that is known"},
      {"relaxed, gpu", "relaxed, host", "'tt.atomic_rmw' has no '"},
      {"relaxed, gpu", "seq_cst, gpu", "'tt.atomic_rmw' has no '"},
      {"atomic_rmw fadd", "atomic_rmw fmul", "'tt.atomic_rmw' has no '"},
      {"dense<64>", "dense<64.0>", "64.0 is no integer, but i32 is wanted"},
      {"dense<64>", "dense<[64]>", "these elements are none of a tensor<64x1xi32"},
      {"dense<64>", "dense<-0>", "-0 does not fit i32"},
      {"sizePerThread = [1, 8]", "sizePerThread = [8]", "its lists are not of equal length"},
      {"dense<64> : tensor<64x1xi32, #b>", "dense<64> : tensor<64x1xi32, #c>",
       "it is of rank 1, and the tile has 2 dimensions"},
      {"ttg.local_alloc", "ttg.convert_layout", "a tile in registers is wanted"},
      {"ttg.local_alloc", "ttg.memdesc_trans", "a tile in memory is wanted"},
  };
  const std::string text = R"(
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#c = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%n: i32, %p: !tt.ptr<f32>, %x: f32, %t: tensor<64x64xf16, #b>, %z: tensor<64x64xf32, #mma>) {
    %yes = arith.constant true
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #b}>>
    %e = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #b}>> -> tensor<64x1xi32, #b>
    %c = arith.constant dense<64> : tensor<64x1xi32, #b>
    %l = arith.cmpi slt, %e, %c : tensor<64x1xi32, #b>
    %old = tt.atomic_rmw fadd, relaxed, gpu, %p, %x, %yes : (!tt.ptr<f32>, f32, i1) -> f32
    %m = ttg.local_alloc %t : (tensor<64x64xf16, #b>) -> !ttg.memdesc<64x64xf16, #s, #smem>
    %d = ttng.warp_group_dot %m, %m, %z {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #s, #smem> * !ttg.memdesc<64x64xf16, #s, #smem> -> tensor<64x64xf32, #mma>
    tt.return
  }
}
)";
  const auto valid = read_ttgir(text, "valid.ttgir");
  ASSERT_TRUE(valid.has_value()) << to_string(valid.error());
  for (const Impossible& it : changes) {
    std::string changed = text;
    const std::size_t at = changed.find(it.from);
    ASSERT_NE(at, std::string::npos) << it.from;
    changed.replace(at, std::string(it.from).size(), it.to);
    const auto read = read_ttgir(changed, "changed.ttgir");
    ASSERT_FALSE(read.has_value()) << it.to;
    EXPECT_NE(read.error().message.find(it.message), std::string::npos)
        << it.to << ": " << read.error().message;
    EXPECT_GT(read.error().location.line, 0) << it.to;
  }
}

// Protects: an access or a product without its operands, or a store with a result, is refused, so
// later steps never meet one.
TEST(SingleChanges, OfNamesToThoseOfAccessesAreRefused) {
  const std::pair<const char*, const char*> lines[] = {
      {"tt.store %p : !tt.ptr<f32>", "lacks an operand"},
      {"tt.store 0 : i32", ""},
      {"%y = tt.store %n : i32 -> i32", "'tt.store'"},
      {"%y = \"tt.store\"(%p, %x) : (!tt.ptr<f32>, f32) -> f32", "stores have none"},
      {"\"tt.load\"(%p) : (!tt.ptr<f32>) -> ()", "has no result"},
      {"%y = \"tt.load\"() : () -> f32", "lacks an operand"},
      {"%y = \"tt.dot\"(%x) : (f32) -> f32", "lacks an operand"},
      {"%y = \"tt.atomic_rmw\"(%p) {atomic_rmw_op = 5 : i32, scope = 1 : i32, sem = 1 : i32} : "
       "(!tt.ptr<f32>) -> f32",
       "lacks an operand"},
      {"%y = \"scf.yield\"(%n) : (i32) -> i32", "has no results"},
      {"tt.return\n  %y = arith.addi %n, %n : i32", "more follows"},
      {"%y = \"ttng.fence_async_shared\"(%n) : (i32) -> i32", "has no results"},
      {"%y = \"tt.cat\"() : () -> tensor<64xi32>", "has operands and results"},
      {"%y = \"tt.get_program_id\"(%n) {axis = 0 : i32} : (i32) -> i32", "has no operands"},
      {"%y = \"tt.make_tensor_descriptor\"() : () -> !tt.tensordesc<tensor<16x16xf32>>",
       "needs a pointer"},
  };
  for (const auto& [line, message] : lines) {
    const auto read = read_ttgir("tt.func @f(%p: !tt.ptr<f32>, %x: f32, %n: i32) {\n  " +
                                     std::string(line) + "\n  tt.return\n}\n",
                                 "access.ttgir");
    ASSERT_FALSE(read.has_value()) << line;
    EXPECT_NE(read.error().message.find(message), std::string::npos) << read.error().message;
    EXPECT_EQ(read.error().location.line, 2) << line;
  }
}

// Protects: impossible bases of linear layouts are refused, and bases that Triton accepts are read.
TEST(Impossible, LinearLayoutsHaveEachBitOnce) {
  const auto read = [](const std::string& bases) {
    return read_ttgir(
        "#l = #ttg.linear<{" + bases + ", block = []}>\n" +
            "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, "
            "ttg.target = \"cuda:90\", \"ttg.threads-per-warp\" = 32 : i32} {\n"
            "  tt.func @f() {\n    %a = arith.constant dense<1.0> : tensor<64x64xf32, #l>\n"
            "    tt.return\n  }\n}\n",
        "linear.ttgir");
  };
  const std::string lane = "lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]]";
  const std::string warp = "warp = [[16, 0], [32, 0]]";
  const std::string registers = "register = [[0, 1], [0, 2], [8, 0], [0, 16], [0, 32]], ";
  const auto valid = read(registers + lane + ", " + warp);
  EXPECT_TRUE(valid.has_value()) << to_string(valid.error());
  EXPECT_TRUE(read(registers + lane + ", warp = [[16, 0], [32, 0]]").has_value());
  EXPECT_TRUE(read("register = [[0, 1], [0, 2], [8, 0], [0, 16], [0, 32], [16, 0], [32, 0]], " +
                   lane + ", warp = [[0, 0], [0, 0]]")
                  .has_value());
  for (const std::string other : {"[0, 16]", "[0, 3]", "[1, 1]", "[0, 128]"}) {
    const auto wrong =
        read(registers + "lane = [[0, 4], " + other + ", [1, 0], [2, 0], [4, 0]], " + warp);
    ASSERT_FALSE(wrong.has_value()) << other;
    EXPECT_NE(wrong.error().message.find("basis"), std::string::npos) << wrong.error().message;
    EXPECT_GT(wrong.error().location.line, 0);
  }
}

// Protects: integers within their type are read, signed and unsigned.
TEST(SingleChanges, OfConstantsToOthersThatFitAreTaken) {
  for (const char* const number :
       {"4294967295 : i32", "-2147483648 : i32", "255 : i8", "-128 : i8", "0x40 : i32", "-1 : i1",
        "1 : i1", "18446744073709551615 : i64", "-9223372036854775808 : i64", "7 : index"}) {
    const auto read =
        read_ttgir("%a = arith.constant " + std::string(number) + "\n", "constant.ttgir");
    EXPECT_TRUE(read.has_value()) << number << ": " << to_string(read.error());
  }
  for (const char* const number : {"4294967296 : i32", "-2147483649 : i32", "256 : i8", "-129 : i8",
                                   "2 : i1", "true : i32", "1.0 : i32"}) {
    const auto read =
        read_ttgir("%a = arith.constant " + std::string(number) + "\n", "constant.ttgir");
    EXPECT_FALSE(read.has_value()) << number;
  }
}

// Protects: signs of integers make no difference of type; Triton prints them in descriptors of
// integers.
TEST(Descriptors, HaveSignsThatTilesHaveNot) {
  for (const std::string element : {"si8", "ui8", "si32", "ui16", "i8"}) {
    const std::string plain = "i" + element.substr(element.find_first_of("0123456789"));
    const auto read = read_ttgir(
        "tt.func @f(%p: !tt.ptr<" + plain + ">, %n: i32, %s: i64, %c: i64) {\n" +
            "  %d = tt.make_tensor_descriptor %p, [%n, %n], [%s, %c] : <" + plain + ">, <16x32x" +
            element + ">\n  %t = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<16x32x" + element +
            "> -> tensor<16x32x" + plain + ">\n  tt.return\n}\n",
        "signs.ttgir");
    EXPECT_TRUE(read.has_value()) << element << " " << to_string(read.error());
  }
}

}  // namespace
}  // namespace twill::frontend
