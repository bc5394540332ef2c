#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "twill/certify/certificate.h"
#include "twill/driver/pools.h"
#include "twill/solve/solve.h"

/// Internal to the driver: solving, with or without a certificate of every answer.
namespace twill::driver {

class Notary {
 public:
  /// Keeps certificates only if `certifies`; else it costs nothing.
  explicit Notary(bool certifies) : certifies_(certifies) {}

  bool certifies() const { return certifies_; }

  /// solve::solve. `number` is the Problem's, among those of one loop.
  schedule::Answer solve(const problem::Problem& problem, const solve::Options& limits,
                         std::size_t number = 0);

  /// The files of one certificate.
  certify::Files files(std::size_t number = 0) const;
  /// The files of a loop's certificates, one per pool: of those that were not solved, their bounds.
  /// `best` says what is claimed of all together.
  certify::Files files(const std::vector<PosedPool>& pools, const BestPool& best) const;

 private:
  bool certifies_;
  std::map<std::size_t, certify::Certificate> certificates_;  ///< by number
};

}  // namespace twill::driver
