#pragma once

#include <cstddef>
#include <string>

#include <tl/expected.hpp>

#include "twill/certify/certificate.h"
#include "twill/prove/recorder.h"
#include "twill/schedule/schedule.h"
#include "twill/solve/solve.h"

/// From an answer to a certificate that `certify` accepts.
namespace twill::prove {

struct Proven {
  schedule::Answer answer;
  certify::Certificate certificate;
};

/// solve::solve with the same options, and why its answer is right: of an optimal one every level,
/// of others what is proven of them. `options.proof` is not looked at. Fails, with the reason, if
/// the certificate would not be accepted, which is a bug of ours.
/// Cost: that of solve::solve, and about half as much again.
tl::expected<Proven, std::string> prove(const problem::Problem& problem,
                                        const solve::Options& options);

/// A certificate that claims nothing but the bound on the interval that needs no search.
certify::Certificate bound_certificate(const problem::Problem& problem);

}  // namespace twill::prove
