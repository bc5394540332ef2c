#pragma once

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
  friend bool operator==(const PoolClaims&, const PoolClaims&) = default;
};

std::string print_pools(const PoolClaims& claims);
Result<PoolClaims> parse_pools(std::string_view text, const std::string& file);

/// Whether the claims follow from the certificates of the pools, which were accepted: empty, or why
/// not. `checked` is by pool.
std::string objection_to(const PoolClaims& claims, const std::vector<Checked>& checked);

}  // namespace twill::certify
