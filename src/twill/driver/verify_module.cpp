#include "twill/driver/verify_module.h"

#include <utility>

#include "twill/driver/input.h"
#include "twill/driver/run_module.h"
#include "twill/frontend/ttgir/read.h"

namespace twill::driver {

bool is_module(const Input& input) {
  const auto form = form_of(input);
  return form && *form == Form::ttgir;
}

Result<VerifiedModule> verify_module(const Input& input) {
  TWILL_TRY(ir::Program program, frontend::read_ttgir(input.text, input.name));
  TWILL_TRY(const ir::OpId function, function_with_roles(program));
  run::RolesProof proof = run::prove_roles({program, function, nullptr});
  return VerifiedModule{std::move(program), std::move(proof)};
}

}  // namespace twill::driver
