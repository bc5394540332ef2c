#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "twill/driver/emit_cuda.h"
#include "twill/extract/choose_loop.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/frontend/ttgir/unflatten.h"
#include "twill/run/kernel.h"

/// Helpers that tests of running emitted kernels share.
namespace twill::run::testing {

/// A kernel of this tree, emitted, with the objects to which it refers.
struct Emitted {
  ir::Program text;
  ir::Program planned;
  emit::Description description;
  std::string source;
  Kernel kernel() const {
    return {text, ir::functions(text).at(0), planned,
            extract::choose_loop(planned, std::to_string(description.loop)).value().loop,
            description};
  }
};

inline std::unique_ptr<Emitted> emitted(const std::string& path, driver::Request request = {}) {
  request.input = driver::read_input(std::string(TWILL_SOURCE_DIR) + "/" + path).value();
  request.machine = "h200";
  request.limits.work_limit = 20'000'000;  // any schedule will do
  auto made = driver::emit_cuda(request);
  EXPECT_TRUE(made.has_value() && made->planned.plan)
      << path << (made ? "" : to_string(made.error()));
  if (!made || !made->planned.plan) return nullptr;
  ir::Program text = frontend::read_ttgir(request.input.text, path).value();
  ir::Program planned = frontend::read_ttgir(request.input.text, path).value();
  if (auto nested = frontend::ttgir::unflatten(planned)) planned = std::move(nested->program);
  return std::make_unique<Emitted>(
      Emitted{std::move(text), std::move(planned),
              emit::read_description(made->files.at("kernel.json"), "kernel.json").value(),
              made->files.at("kernel.cu")});
}

}  // namespace twill::run::testing
