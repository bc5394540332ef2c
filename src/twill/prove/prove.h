#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <tl/expected.hpp>

#include "twill/certify/certificate.h"
#include "twill/prove/recorder.h"
#include "twill/schedule/schedule.h"
#include "twill/solve/solve.h"

/// Certificates that `certify` accepts, made from answers.
namespace twill::prove {

struct Written {
  certify::Certificate certificate;
  certify::Checked checked;  ///< the checker's statement: it accepts the certificate
  bool complete = true;  ///< all requested claims are proven; else a limit ended the searches, and
                         ///< only the claims proven until then are made
};

/// Certificate of an answer of solve::solve: every level of an optimal answer, the proven bounds of
/// any other answer.
///
/// The refutations are searched for anew, for the given answer, so a certificate cannot change the
/// answer. Of `options`, the limits of work, memory and combinations and the callbacks count.
/// Fails, with the reason, if the answer is wrong or the certificate would not be accepted; both
/// are bugs of Twill. Cost: about that of solve::solve.
tl::expected<Written, std::string> certify(const problem::Problem& problem,
                                           const schedule::Answer& answer,
                                           const solve::Options& options);

/// Certificate that no schedule is lexicographically less than `values`: an interval, then one
/// value per objective. Fails if there is such a schedule, too.
tl::expected<Written, std::string> certify_nothing_better(const problem::Problem& problem,
                                                          std::span<const std::int64_t> values,
                                                          const solve::Options& options);

/// Adds a bound to the certificate of a schedule: no schedule with room has an interval below
/// `bound`. Schedules with room leave memory for one copy of each value that changes groups. If a
/// limit ends the search, the certificate stays as before and is not complete.
tl::expected<Written, std::string> with_room(Written written, Cycles bound,
                                             const solve::Options& options);

/// Certificate that no schedule has an interval below `bound`.
tl::expected<Written, std::string> certify_interval(const problem::Problem& problem, Cycles bound,
                                                    const solve::Options& options);

struct Proven {
  schedule::Answer answer;
  certify::Certificate certificate;
};

/// Solves the Problem and certifies the answer. `options.proof` is ignored.
tl::expected<Proven, std::string> prove(const problem::Problem& problem,
                                        const solve::Options& options);

}  // namespace twill::prove
