#include "twill/solve/alike.h"

#include <algorithm>
#include <map>
#include <utility>

namespace twill::solve {

using problem::Dependence;
using problem::Op;
using problem::Problem;

bool same_work(const Op& a, const Op& b) {
  Op renamed = a;
  renamed.name = b.name;
  renamed.source = b.source;
  return renamed == b;
}

EdgeKind kind_of(const Dependence& it) {
  return {it.delay, it.blocking, it.carries_value, it.read_hold, it.in_place,
          it.transfer, it.through_memory};
}

std::vector<std::vector<Link>> links_of(const Problem& problem) {
  std::vector<std::vector<Link>> links(problem.ops().size());
  for (const Dependence& it : problem.dependences()) {
    links[it.from.index()].push_back({true, it.distance, kind_of(it), it.to.index()});
    links[it.to.index()].push_back({false, it.distance, kind_of(it), it.from.index()});
  }
  return links;
}

std::vector<std::size_t> classes_of(const Problem& problem,
                                    const std::vector<std::vector<Link>>& links, bool distances) {
  const std::size_t n = problem.ops().size();
  std::vector<std::size_t> classes(n);
  for (std::size_t i = 0; i < n; ++i) {
    classes[i] = i;
    for (std::size_t j = 0; j < i; ++j) {
      if (same_work(problem.ops()[i], problem.ops()[j])) {
        classes[i] = classes[j];
        break;
      }
    }
  }
  using Neighbour = std::tuple<bool, int, EdgeKind, std::size_t>;
  using Seen = std::pair<std::size_t, std::vector<Neighbour>>;
  for (std::size_t count = 0;;) {
    std::map<Seen, std::size_t> numbers;
    std::vector<std::size_t> refined(n);
    for (std::size_t i = 0; i < n; ++i) {
      Seen seen{classes[i], {}};
      for (const Link& it : links[i]) {
        seen.second.emplace_back(it.outgoing, distances ? it.distance : 0, it.kind,
                                 classes[it.other]);
      }
      std::sort(seen.second.begin(), seen.second.end());
      refined[i] = numbers.emplace(seen, numbers.size()).first->second;
    }
    classes = refined;
    if (numbers.size() == count) return classes;
    count = numbers.size();
  }
}

}  // namespace twill::solve
