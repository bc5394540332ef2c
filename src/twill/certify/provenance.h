#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/certify/words.h"
#include "twill/support/diagnostic.h"

/// Origin of the Problems of a certificate. With the input and the machine they can be posed
/// again and compared.
namespace twill::certify {

/// Problem as which the input is posed.
struct PosedProblem {
  std::string rate;  ///< "fastest" or "slowest": the rate of every op
  std::string pool;  ///< pool of warp groups; "-" if the input brings its own groups
  std::string hash;  ///< schedule::problem_hash
  friend bool operator==(const PosedProblem&, const PosedProblem&) = default;
};

/// Option of `twill schedule` that changes the posed Problems: its name without dashes, and its
/// value, empty for a flag.
struct PosingOption {
  std::string name;
  std::string value;
  friend bool operator==(const PosingOption&, const PosingOption&) = default;
};

struct Provenance {
  std::string input;         ///< SHA-256 of the input text
  std::string machine;       ///< name of the machine; empty if the input needs no machine
  std::string machine_hash;  ///< SHA-256 of its JSON text
  std::vector<PosingOption> options;
  std::vector<PosedProblem> posed;  ///< all pools for which the loop can be posed, at all rates
  friend bool operator==(const Provenance&, const Provenance&) = default;

  /// Hash of the Problem of that pool at that rate; null if there is none.
  const std::string* hash_of(const std::string& rate, const std::string& pool) const;
};

/// Objection if the Problems differ from `anew`, which are posed from the input and machine at
/// hand. Begins with the name of the rule; empty if all are equal.
std::string objection_to_provenance(const Provenance& claimed, const Provenance& anew);

/// Reads the next word of the line, which must be the name of a rate.
Result<std::string> rate_in(WordReader& in);

/// Prints the lines of the text form.
std::string print_provenance(const Provenance& provenance);
/// Reads one of these lines, whose first word is `word`, into `out`; returns false for another
/// line.
Result<bool> read_provenance_line(WordReader& in, std::string_view word, Provenance& out);

}  // namespace twill::certify
