#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "twill/certify/certificate.h"
#include "twill/certify/pools.h"
#include "twill/solve/solve.h"

/// Internal to the driver: solving, with or without a certificate of every answer.
namespace twill::driver {

class Answers;

class Notary {
 public:
  /// Keeps certificates only if `certifies`; else it costs nothing, and takes its answers from
  /// `answers`, which may be null.
  explicit Notary(bool certifies, Answers* answers = nullptr)
      : certifies_(certifies), answers_(answers) {}

  bool certifies() const { return certifies_; }

  /// solve::solve. `number` is the Problem's, among those of one loop. Of a schedule that is too
  /// large to be checked the certificate has nothing but the bound: nobody may be shown either.
  schedule::Answer solve(const problem::Problem& problem, const solve::Options& limits,
                         std::size_t number = 0);
  /// The same for an answer that nobody will be told: never with a certificate.
  schedule::Answer glance(const problem::Problem& problem, const solve::Options& limits) const;

  /// Puts down the bound that needs no search, of a Problem that was not solved because of it.
  void rule_out(const problem::Problem& problem, std::size_t number);

  /// The files of one certificate; none if there is none.
  certify::Files files(std::size_t number = 0) const;
  /// Adds the files of all, each in the folder that its claim names.
  void add_files(const std::vector<certify::PoolClaim>& claims, certify::Files& files) const;

 private:
  bool certifies_;
  Answers* answers_;
  std::map<std::size_t, certify::Certificate> certificates_;  ///< by number
};

}  // namespace twill::driver
