#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twill/ir/program.h"

namespace twill::concurrent {

/// The rules that a module may break; those that plans have too (docs/reference/rules.md) have the
/// same names.
enum class Rule : unsigned char {
  arrivals,           ///< an mbarrier gets more arrivals or bytes than a phase counts
  overrun,            ///< an arrival may be counted in the phase before the one it is meant for
  phase,              ///< a wait may pass a phase early, or be late by a lap
  read_before_write,  ///< what is read is not known to be written
  overwrite,          ///< what is written may still be in use
  fence,              ///< the async proxy may not see what threads wrote
  accumulator,        ///< a product's result is used before the product is waited for
  bounds,             ///< an access lies outside of its buffer
  barrier,            ///< something is no mbarrier, not one yet, or made one twice
  deadlock,           ///< roles wait for ever
  exit,               ///< work is in flight when the CTA ends
};
inline constexpr int kRules = 11;
std::string_view name_of(Rule rule);

/// Place of a role, in words: "partition0 in iteration 3". Shared: all states of a run remember it.
using Whereabouts = std::shared_ptr<const std::string>;

/// A rule that a run broke.
struct Finding {
  Rule rule = Rule::arrivals;
  ir::OpId op;                   ///< where it shows
  std::optional<ir::OpId> with;  ///< the other side of a conflict
  std::string message;           ///< without place: "%k[1] is read by ..."
};

/// Findings of a run, each pair of places once for a rule.
class Findings {
 public:
  void add(Finding finding);
  const std::vector<Finding>& all() const { return all_; }
  bool empty() const { return all_.empty(); }

 private:
  std::vector<Finding> all_;
};

}  // namespace twill::concurrent
