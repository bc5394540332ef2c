#include "twill/concurrent/finding.h"

#include <algorithm>
#include <utility>

namespace twill::concurrent {

std::string_view name_of(Rule rule) {
  switch (rule) {
    case Rule::arrivals:
      return "arrivals";
    case Rule::overrun:
      return "overrun";
    case Rule::phase:
      return "phase";
    case Rule::read_before_write:
      return "read-before-write";
    case Rule::overwrite:
      return "overwrite";
    case Rule::fence:
      return "fence";
    case Rule::accumulator:
      return "accumulator";
    case Rule::bounds:
      return "bounds";
    case Rule::barrier:
      return "barrier";
    case Rule::deadlock:
      return "deadlock";
    case Rule::exit:
      return "exit";
  }
  return "";
}

void Findings::add(Finding finding) {
  const bool known = std::any_of(all_.begin(), all_.end(), [&](const Finding& other) {
    return other.rule == finding.rule && other.op == finding.op && other.with == finding.with;
  });
  if (!known) all_.push_back(std::move(finding));
}

}  // namespace twill::concurrent
