#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "twill/certify/proof.h"
#include "twill/certify/provenance.h"
#include "twill/schedule/schedule.h"
#include "twill/support/diagnostic.h"

/// Certificates: claims about a Problem, with reasons, for readers who do not trust the search.
/// docs/reference/certificate.md has the text forms, and the argument that the checks suffice. This
/// room includes no file of the search, and shares no code with it.
namespace twill::certify {

/// Step of a path or circuit: a dependence `from` -> `to` of at least `delay`, at most `distance`
/// iterations apart.
struct Link {
  std::size_t from = 0;
  std::size_t to = 0;
  Cycles delay = 0;
  Cycles distance = 0;
  friend bool operator==(const Link&, const Link&) = default;
};

/// Reason why a level cannot be smaller, or why there is no schedule.
struct Reason {
  enum class Kind : std::uint8_t {
    trivial,         ///< interval, groups and length are at least 1, crossings 0
    unit,            ///< interval: sum of the occupancies on unit `index`
    pipe,            ///< interval: sum of the demands on pipe `index`
    op,              ///< interval: cycles of op `index` alone
    issue,           ///< interval: issue cycles of `ops`, spread over the groups that may run them
    circuit,         ///< interval: `links` that lead back to their beginning
    apart,           ///< groups: no two of `ops` may share a group
    chain,           ///< length: `links` from op `index` to the op that ends last
    proof,           ///< any level: the refutation in `file`
    no_group,        ///< never: no group of the pool may run op `index`
    too_few_groups,  ///< never: fewer compute groups can have an op than the rule demands
    too_large,       ///< never: values that certainly live do not fit into memory `index`
    registers,  ///< never: values that certainly live do not fit into the groups that may run `ops`
  };
  Kind kind = Kind::trivial;
  std::size_t index = 0;
  std::vector<std::size_t> ops;
  std::vector<Link> links;
  std::string file;
  friend bool operator==(const Reason&, const Reason&) = default;
};

/// Claim that "interval", "groups", "crossings" or "length" is at least `value`. For levels after
/// the interval, the claim is about schedules with the claimed values in the earlier levels.
struct AtLeast {
  std::string level;
  std::int64_t value = 0;
  Reason reason;
  friend bool operator==(const AtLeast&, const AtLeast&) = default;
};

/// Claims about the schedules that use certain alternatives.
struct Case {
  bool any = false;  ///< the case has every combination of alternatives
  std::vector<std::pair<std::size_t, std::size_t>>
      alternatives;                  ///< op and alternative, for every op with several
  std::vector<AtLeast> bounds;       ///< in the order of the levels
  std::optional<AtLeast> with_room;  ///< interval of schedules with memory for one copy of each
                                     ///< value that changes groups; by a proof
  std::optional<Reason> never;       ///< no schedule at any interval
  friend bool operator==(const Case&, const Case&) = default;
};

struct Claims {
  std::string problem;             ///< name of the Problem
  std::string hash;                ///< schedule::problem_hash
  std::vector<std::string> rules;  ///< rules in force, each keeping the stretch lemma
  schedule::Verdict verdict = schedule::Verdict::undecided;
  std::vector<std::pair<std::string, std::int64_t>>
      values;                       ///< of the schedule, by level. Without a schedule, in an
                                    ///< undecided answer: the claim that no schedule is
                                    ///< lexicographically less
  std::vector<Exchange> exchanges;  ///< exchanges that turn combinations of alternatives into each
                                    ///< other
  std::vector<Case> cases;
  friend bool operator==(const Claims&, const Claims&) = default;
};

struct Certificate {
  problem::Problem problem;
  std::optional<schedule::Schedule> schedule;
  Claims claims;
  std::map<std::string, Proof> proofs;  ///< by file name
};

/// Texts by file name; names of a pool's files begin with "pool/".
using Files = std::map<std::string, std::string>;

inline constexpr std::string_view kClaimsFile = "claims";
inline constexpr std::string_view kProblemFile = "problem.loop";
inline constexpr std::string_view kPoolsFile = "pools";

/// Names of the levels: "interval", then the objectives of the Problem, in its order.
std::vector<std::string> levels_of(const problem::Problem& problem);

/// Names of the rules in force ("dependence", ...), and "minimum-groups".
std::vector<std::string> rules_of(const problem::Problem& problem);

std::string print_claims(const Claims& claims, const problem::Problem& problem);
Result<Claims> parse_claims(std::string_view text, const std::string& file,
                            const problem::Problem& problem);

/// Prints the files of a certificate.
Files print_certificate(const Certificate& certificate);

/// Result of a check: the accepted claims, in a few lines for the user, or the reason for
/// rejection.
struct Checked {
  std::optional<Rejection> rejection;
  std::vector<std::string> lines;
  // Members of an accepted certificate of one Problem:
  schedule::Verdict verdict = schedule::Verdict::undecided;
  std::vector<std::int64_t> values;         ///< of the schedule, by level
  Cycles interval_bound = 1;                ///< no schedule has a smaller interval
  Cycles bound_with_room = 1;               ///< no schedule that leaves memory for values that
                                            ///< change groups has a smaller interval
  std::vector<std::int64_t> nothing_below;  ///< without a schedule: no schedule is
                                            ///< lexicographically less
  int compute_groups = 0;                   ///< compute groups that the schedule uses
  int most_groups = 0;                      ///< compute groups of the pool
  int wanted_groups = 0;                    ///< compute groups that the Problem demands
  std::string hash;                         ///< hash of the Problem
  std::string loop;                         ///< common description of all pools of one loop
                                            ///< (pools.h)
};

/// Checks a certificate: reads its files, makes all constraints from the Problem, checks every
/// claim, and runs the schedule. Fails if a file is missing or cannot be read; a wrong claim in a
/// file is a rejection. Cost: about that of the search.
///
/// `anew`: the Problems posed from the input and machine at hand, with the options of the
/// certificate; they must be equal to the certificate's. Without these (null), the lines report
/// that.
Result<Checked> check_files(const Files& files, const Provenance* anew = nullptr);

/// Reads the input, machine and options from which the Problems of a certificate are claimed to be
/// posed. Empty for a `.loop` text, which is a Problem already. Fails if the files cannot be read.
Result<Provenance> provenance_of(const Files& files);

/// Checks the claims one by one. Precondition: the files were read.
Checked check_certificate(const Certificate& certificate);

}  // namespace twill::certify
