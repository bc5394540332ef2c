#include "twill/driver/notary.h"

#include <utility>

#include <fmt/format.h>

#include "twill/certify/pools.h"
#include "twill/prove/prove.h"
#include "twill/support/check.h"

namespace twill::driver {

schedule::Answer Notary::solve(const problem::Problem& problem, const solve::Options& limits,
                               std::size_t number) {
  if (!certifies_) return solve::solve(problem, limits);
  auto proven = prove::prove(problem, limits);
  TWILL_CHECK(proven.has_value(), proven.error().c_str());
  certificates_.emplace(number, std::move(proven->certificate));
  return std::move(proven->answer);
}

certify::Files Notary::files(std::size_t number) const {
  const auto found = certificates_.find(number);
  return found == certificates_.end() ? certify::Files()
                                      : certify::print_certificate(found->second);
}

certify::Files Notary::files(const std::vector<PosedPool>& pools, const BestPool& best) const {
  if (pools.size() == 1 || !certifies_) return files();
  certify::Files all;
  certify::PoolClaims claims;
  claims.verdict = best.answer.verdict;
  if (best.answer.schedule) claims.chosen = pools[best.index].pool;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const std::string folder = fmt::format("pool-{}", i + 1);
    claims.pools.push_back({pools[i].pool, folder});
    const auto solved = certificates_.find(i);
    const certify::Files files = certify::print_certificate(
        solved == certificates_.end() ? prove::bound_certificate(pools[i].problem)
                                      : solved->second);
    for (const auto& [name, text] : files) all.emplace(folder + "/" + name, text);
  }
  all.emplace(certify::kPoolsFile, certify::print_pools(claims));
  return all;
}

}  // namespace twill::driver
