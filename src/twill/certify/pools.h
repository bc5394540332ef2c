#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twill/certify/certificate.h"

/// A loop for which several pools of warp groups were tried: a certificate for each, and what
/// follows from them together.
namespace twill::certify {

struct PoolClaim {
  std::string pool;    ///< its name
  std::string folder;  ///< of its certificate
  friend bool operator==(const PoolClaim&, const PoolClaim&) = default;
};

struct PoolClaims {
  schedule::Verdict verdict = schedule::Verdict::undecided;  ///< over all pools
  std::string chosen;                                        ///< pool; empty without a schedule
  std::vector<PoolClaim> pools;
  std::optional<Cycles> fastest;      ///< no schedule has a smaller interval, with every op at its
                                      ///< fastest; that is another Problem
  std::vector<PoolClaim> at_fastest;  ///< its certificates, per pool
  friend bool operator==(const PoolClaims&, const PoolClaims&) = default;
};

std::string print_pools(const PoolClaims& claims);
Result<PoolClaims> parse_pools(std::string_view text, const std::string& file);

/// What the Problems of one loop have in common, whatever the pool and the rates: its name, its
/// objectives, the rules it relaxes, and what in the source its ops stand for, but for stores and
/// loads of hand-offs.
std::string loop_of(const problem::Problem& problem);

/// Whether the claims follow from the certificates of the pools, which were accepted: empty, or why
/// not. `checked` is by pool.
std::string objection_to(const PoolClaims& claims, const std::vector<Checked>& checked);

/// The same of the interval at the fastest rates; `checked` is by pool, `fastest` by pool of
/// `at_fastest`.
std::string objection_to_fastest(const PoolClaims& claims, const std::vector<Checked>& checked,
                                 const std::vector<Checked>& fastest);

}  // namespace twill::certify
