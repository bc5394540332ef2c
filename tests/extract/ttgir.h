#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "twill/extract/choose_loop.h"
#include "twill/extract/extract.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/problem/problem.h"

/// Helpers that the tests of the extraction share: reading kernels and machines, small handwritten
/// kernels, and lookups in a Problem by name.
namespace twill::extract::testing {

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::filesystem::path project() { return TWILL_SOURCE_DIR; }

inline machine::Machine machine_named(const std::string& name) {
  const std::string path = (project() / "machines" / (name + ".json")).string();
  auto machine = machine::load_machine(text_of(path), path);
  if (!machine) throw std::runtime_error(to_string(machine.error()));
  return *std::move(machine);
}

inline ir::Program program_of(const std::string& text) {
  auto program = frontend::read_ttgir(text, "test.ttgir");
  if (!program) throw std::runtime_error(to_string(program.error()));
  return *std::move(program);
}

/// A kernel whose loop body is `body`. The body sees %a_desc, %b_desc (f16 128x64 and 64x128
/// blocks), %n, the iteration argument %acc (128x128 f32), %i, and the values of `before`. It
/// yields `yielded`.
inline std::string hopper_kernel(const std::string& body, const std::string& yielded = "%d",
                                 const std::string& before = "", const std::string& after = "") {
  return R"(#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%a_desc: !tt.tensordesc<tensor<128x64xf16, #shared>>, %b_desc: !tt.tensordesc<tensor<64x128xf16, #shared>>, %ptr: !tt.ptr<f16>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<128x128xf32, #mma>
)" + before +
         R"(
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<128x128xf32, #mma>)  : i32 {
)" + body +
         "\n      scf.yield " + yielded + R"( : tensor<128x128xf32, #mma>
    }
)" + after +
         R"(
    %s = arith.truncf %r : tensor<128x128xf32, #mma> to tensor<128x128xf16, #mma>
    tt.return
  }
}
)";
}

/// Loads A and B of a product: defines %ta, %a, %tb, %b.
inline std::string loads() {
  return R"(
      %ta = tt.descriptor_load %a_desc[%c0, %i] : !tt.tensordesc<tensor<128x64xf16, #shared>> -> tensor<128x64xf16, #blocked>
      %a = ttg.local_alloc %ta : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
      %tb = tt.descriptor_load %b_desc[%i, %c0] : !tt.tensordesc<tensor<64x128xf16, #shared>> -> tensor<64x128xf16, #blocked>
      %b = ttg.local_alloc %tb : (tensor<64x128xf16, #blocked>) -> !ttg.memdesc<64x128xf16, #shared, #smem>
)";
}

inline std::string product(const std::string& accumulator = "%acc") {
  return "      %d = ttng.warp_group_dot %a, %b, " + accumulator +
         " {inputPrecision = 0 : i32} : !ttg.memdesc<128x64xf16, #shared, #smem> * "
         "!ttg.memdesc<64x128xf16, #shared, #smem> -> tensor<128x128xf32, #mma>\n";
}

inline Result<Extraction> extract_from(const std::string& text, const std::string& machine = "h200",
                                       Options options = {}) {
  const ir::Program program = program_of(text);
  const auto loop = choose_loop(program, "");
  if (!loop) return tl::unexpected(loop.error());
  return extract(program, loop->loop, machine_named(machine), options);
}

/// Extracts; a failure fails the test.
inline Extraction extracted(const std::string& text, const std::string& machine = "h200",
                            Options options = {}) {
  auto extraction = extract_from(text, machine, options);
  if (!extraction) throw std::runtime_error(to_string(extraction.error()));
  return *std::move(extraction);
}

inline Options without_sub_tiles() {
  Options options;
  options.subtile = 0;
  return options;
}

inline const Options kWhole = without_sub_tiles();

inline const problem::Op* find_op(const problem::Problem& problem, std::string_view name) {
  for (const problem::Op& op : problem.ops()) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

inline const problem::Dependence* find_dependence(const problem::Problem& problem,
                                                  std::string_view from, std::string_view to,
                                                  int distance = 0) {
  for (const problem::Dependence& dependence : problem.dependences()) {
    if (problem[dependence.from].name == from && problem[dependence.to].name == to &&
        dependence.distance == distance) {
      return &dependence;
    }
  }
  return nullptr;
}

inline std::vector<std::string> names_of(const problem::Problem& problem) {
  std::vector<std::string> names;
  for (const problem::Op& op : problem.ops()) names.push_back(op.name);
  return names;
}

inline Cycles demand_on(const problem::Problem& problem, const problem::Op& op,
                        std::string_view pipe) {
  for (const problem::PipeUse& use : op.alternatives[0].pipes) {
    if (problem[use.pipe].name == pipe) return use.demand;
  }
  return 0;
}

}  // namespace twill::extract::testing
