#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twill/certify/certificate.h"
#include "twill/certify/provenance.h"

/// Claims about a loop for which several pools of warp groups were tried: a certificate for each
/// pool, and the joint conclusion.
namespace twill::certify {

struct PoolClaim {
  std::string pool;    ///< name of the pool
  std::string folder;  ///< folder of its certificate
  friend bool operator==(const PoolClaim&, const PoolClaim&) = default;
};

struct PoolClaims {
  Provenance from;
  std::string rate = "slowest";  ///< rate of every op in the Problems of `pools`
  schedule::Verdict verdict = schedule::Verdict::undecided;  ///< verdict over all pools
  std::string chosen;  ///< name of the chosen pool; empty without a
                       ///< schedule
  std::vector<PoolClaim> pools;
  std::optional<Cycles> fastest;  ///< no schedule for any pool has a smaller interval, with every
                                  ///< op at its fastest
  std::vector<PoolClaim> at_fastest;  ///< certificates at the fastest rates, per pool; empty if
                                      ///< `pools` has that rate itself
  friend bool operator==(const PoolClaims&, const PoolClaims&) = default;
};

std::string print_pools(const PoolClaims& claims);
Result<PoolClaims> parse_pools(std::string_view text, const std::string& file);

/// Description of a loop that is equal for all pools and rates. It has the loop's name, objectives
/// and relaxed rules, and the sources of its ops other than transfer ops.
std::string loop_of(const problem::Problem& problem);

/// Objection unless the accepted certificates are about the Problems that were posed, and imply the
/// claims. Begins with the name of the rule. `checked` is by pool, `fastest` by pool of
/// `at_fastest`.
std::string objection_to(const PoolClaims& claims, const std::vector<Checked>& checked,
                         const std::vector<Checked>& fastest);

/// Claims in a few lines for the user; the last line is the verdict.
std::vector<std::string> lines_of(const PoolClaims& claims);

}  // namespace twill::certify
