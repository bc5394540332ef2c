#pragma once

#include <vector>

#include "twill/certify/provenance.h"
#include "twill/driver/driver.h"
#include "twill/driver/pools.h"

/// Internal to the driver: poses every Problem of an input, for certificates. Solves no Problem.
namespace twill::driver {

struct AllPosed {
  certify::Provenance from;        ///< their source, with the hash of each Problem
  std::vector<PosedPool> fastest;  ///< for a kernel without normalized costs; else empty
  std::vector<PosedPool> slowest;  ///< at least one; for a `.loop` text the pool is "-"
};

/// The options of a request that change the posed Problems.
std::vector<certify::PosingOption> options_of(const Request& request);
/// Sets the options in the request. Fails for an unknown option.
Result<void> read_options(const std::vector<certify::PosingOption>& options, std::string_view file,
                          Request& request);

/// Poses the input of the request for every pool of its machine at both rates, with normalized
/// costs for the first pool alone. Fails for an input that cannot be read or posed.
Result<AllPosed> pose_all(const Request& request);

}  // namespace twill::driver
