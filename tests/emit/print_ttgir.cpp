// Prints a kernel for two spellings of TTGIR: twill_print_ttgir KERNEL FOLDER
//
// The texts are those of `twill emit ttgir KERNEL --triton 3.6` and `--triton 3.9`. One process
// prints both, so that each Problem is solved once; ttgir_triton_test.py compares with the
// program's own texts. Writes FOLDER/VERSION.ttgir if there is a text, and FOLDER/VERSION.said with
// the objections.
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "twill/driver/answers.h"
#include "twill/driver/driver.h"
#include "twill/driver/emit_ttgir.h"

namespace {

using twill::dialect::Spelling;
using twill::driver::EmittedTtgir;

constexpr std::array kVersions = {std::pair("3.6", Spelling::v3_6),
                                  std::pair("3.9", Spelling::v3_8)};

/// Reason not to use the module; empty if there is none.
std::string complaint(const twill::Result<EmittedTtgir>& emitted) {
  if (!emitted) return twill::to_string(emitted.error());
  if (!emitted->planned.plan) {
    const auto& refusal = emitted->planned.refusal;
    return refusal ? twill::to_string(*refusal) : "there is no plan";
  }
  return emitted->broken;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fputs("usage: twill_print_ttgir KERNEL FOLDER\n", stderr);
    return 2;
  }
  twill::driver::Answers answers;
  for (const auto& [version, spelling] : kVersions) {
    twill::driver::Request request;
    auto input = twill::driver::read_input(words[1]);
    std::string said = input ? "" : twill::to_string(input.error());
    if (input) {
      request.input = *std::move(input);
      request.answers = &answers;
      const auto emitted = twill::driver::emit_ttgir(request, {spelling, {}});
      said = complaint(emitted);
      if (said.empty()) {
        std::ofstream(std::filesystem::path(words[2]) / (std::string(version) + ".ttgir"))
            << emitted->text;
      }
    }
    std::ofstream(std::filesystem::path(words[2]) / (std::string(version) + ".said")) << said;
  }
  return 0;
}
