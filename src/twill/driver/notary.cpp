#include "twill/driver/notary.h"

#include <utility>

#include "twill/driver/answers.h"
#include "twill/driver/checking.h"
#include "twill/prove/prove.h"
#include "twill/support/check.h"

namespace twill::driver {

schedule::Answer Notary::solve(const problem::Problem& problem, const solve::Options& limits,
                               std::size_t number) {
  if (!certifies_) return glance(problem, limits);
  auto proven = prove::prove(problem, limits);
  if (!proven) {
    // No certificate is accepted whose schedule cannot be simulated, and that is no bug.
    schedule::Answer answer = solve::solve(problem, limits);
    TWILL_CHECK(answer.schedule && is_too_large(problem, *answer.schedule), proven.error().c_str());
    rule_out(problem, number);
    return answer;
  }
  certificates_.emplace(number, std::move(proven->certificate));
  return std::move(proven->answer);
}

schedule::Answer Notary::glance(const problem::Problem& problem,
                                const solve::Options& limits) const {
  return answers_ != nullptr ? answers_->solve(problem, limits) : solve::solve(problem, limits);
}

void Notary::rule_out(const problem::Problem& problem, std::size_t number) {
  if (certifies_) certificates_.try_emplace(number, prove::bound_certificate(problem));
}

certify::Files Notary::files(std::size_t number) const {
  const auto found = certificates_.find(number);
  return found == certificates_.end() ? certify::Files()
                                      : certify::print_certificate(found->second);
}

void Notary::add_files(const std::vector<certify::PoolClaim>& claims, certify::Files& files) const {
  for (const auto& [number, certificate] : certificates_) {
    for (const auto& [name, text] : certify::print_certificate(certificate)) {
      files.emplace(claims[number].folder + "/" + name, text);
    }
  }
}

}  // namespace twill::driver
