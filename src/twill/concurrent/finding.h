#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twill/ir/program.h"

namespace twill::concurrent {

/// Rules that a module may break. Rules of plans (docs/reference/rules.md) have the same names
/// here.
enum class Rule : unsigned char {
  arrivals,           ///< an mbarrier gets more arrivals or bytes than a phase counts
  overrun,            ///< an arrival may be counted in the phase before the intended one
  phase,              ///< a wait may pass a phase early, or be late by a lap
  read_before_write,  ///< a read may come before the write of its value
  overwrite,          ///< a write may come while its place is still in use
  fence,              ///< the async proxy may not see the writes of threads
  accumulator,        ///< a product's result is used before the product is waited for
  bounds,             ///< an access lies outside of its buffer
  barrier,            ///< a view has no mbarrier, has none yet, or is initialized twice
  deadlock,           ///< roles wait for ever
  exit,               ///< work is in flight when the CTA ends
};
inline constexpr int kRules = 11;
std::string_view name_of(Rule rule);

/// Place of a role, in words: "partition0 in iteration 3". All states of a run share the text.
using Whereabouts = std::shared_ptr<const std::string>;

/// Violation of a rule in a run.
struct Finding {
  Rule rule = Rule::arrivals;
  ir::OpId op;                   ///< place of the violation
  std::optional<ir::OpId> with;  ///< the other side of a conflict
  std::string message;           ///< without the place: "%k[1] is read by ..."
};

/// Findings of a run: each pair of places at most once for a rule.
class Findings {
 public:
  void add(Finding finding);
  const std::vector<Finding>& all() const { return all_; }
  bool empty() const { return all_.empty(); }

 private:
  std::vector<Finding> all_;
};

}  // namespace twill::concurrent
