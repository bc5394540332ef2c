#include <algorithm>
#include <tuple>

#include "twill/solve/encode.h"

/// Encoding: transfer of learned clauses.
namespace twill::solve {
namespace {

/// Limits on transferred clauses: they span few levels and are short.
constexpr std::uint32_t kLargestGlue = 8;
constexpr std::size_t kLongest = 30;
constexpr std::size_t kMost = 10000;

bool lasts(Meaning::Kind kind) {
  switch (kind) {
    case Meaning::Kind::in_group:
    case Meaning::Kind::used:
    case Meaning::Kind::opened:
    case Meaning::Kind::same_group:
    case Meaning::Kind::waits:
    case Meaning::Kind::alive:
    case Meaning::Kind::held:
    case Meaning::Kind::together:
    case Meaning::Kind::before:
    case Meaning::Kind::counts:
    case Meaning::Kind::gathered:
    case Meaning::Kind::steps:
      return true;
    default:
      return false;
  }
}

auto key_of(const Meaning& it) { return std::tuple(it.kind, it.first, it.second, it.number); }

/// Literals by meaning.
class Dictionary {
 public:
  explicit Dictionary(const std::vector<std::pair<Literal, Meaning>>& meanings)
      : entries_(meanings) {
    std::sort(entries_.begin(), entries_.end(),
              [](const auto& a, const auto& b) { return key_of(a.second) < key_of(b.second); });
  }

  std::optional<Literal> find(const Meaning& meaning) const {
    const auto at = std::lower_bound(
        entries_.begin(), entries_.end(), meaning,
        [](const auto& entry, const Meaning& it) { return key_of(entry.second) < key_of(it); });
    if (at == entries_.end() || key_of(at->second) != key_of(meaning)) return std::nullopt;
    return at->first;
  }

 private:
  std::vector<std::pair<Literal, Meaning>> entries_;
};

}  // namespace

/// Describes the literal in terms that every encoding has; empty if there are none.
std::optional<Saying> Encoding::saying_of(Literal literal) const {
  if (const auto difference = engine_.difference_of(literal)) {
    const std::size_t times = 2 * instance_.op_count();  // nodes from this number on are addresses
    if (difference->x.index() >= times) return std::nullopt;
    return Saying{true, false, {}, *difference};
  }
  const auto at = std::lower_bound(
      meanings_.begin(), meanings_.end(), literal.variable(),
      [](const auto& entry, std::uint32_t it) { return entry.first.variable() < it; });
  if (at == meanings_.end() || at->first.variable() != literal.variable()) return std::nullopt;
  if (!lasts(at->second.kind)) return std::nullopt;
  return Saying{false, literal.negative(), at->second, {}};
}

ClauseTransfer Encoding::clause_transfer() {
  ClauseTransfer out;
  engine_.each_learned([&](std::span<const Literal> literals, std::uint32_t glue) {
    if (glue > kLargestGlue || literals.size() > kLongest || out.clauses.size() == kMost) return;
    ClauseTransfer::Clause clause{glue, {}};
    for (const Literal literal : literals) {
      const std::optional<Saying> saying = saying_of(literal);
      if (!saying) return;
      clause.literals.push_back(*saying);
    }
    out.clauses.push_back(std::move(clause));
  });
  return out;
}

/// Adds transferred clauses. A difference without an atom is replaced by the next weaker atom.
void Encoding::follow(const ClauseTransfer& learned) {
  const Dictionary dictionary(meanings_);
  const auto literal_of = [&](const Saying& it) -> std::optional<Literal> {
    if (it.is_difference) return engine_.implied_atom(it.difference);
    const std::optional<Literal> literal = dictionary.find(it.meaning);
    return literal && it.negative ? ~*literal : literal;
  };
  std::vector<Literal> clause;
  for (const ClauseTransfer::Clause& it : learned.clauses) {
    clause.clear();
    for (const Saying& saying : it.literals) {
      const std::optional<Literal> literal = literal_of(saying);
      if (!literal) break;
      clause.push_back(*literal);
    }
    if (clause.size() == it.literals.size()) engine_.add_learned(clause, it.glue);
  }
}

}  // namespace twill::solve
