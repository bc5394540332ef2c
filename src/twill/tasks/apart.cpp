#include "twill/tasks/apart.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "twill/tasks/partitions.h"

namespace twill::tasks {
namespace {

using Terms = std::map<std::string, Size>;  ///< factors of indices in a sum

constexpr std::int64_t kMostFactor = 1 << 30;  ///< limit of factors in computations

/// Takes a sum apart into factors of a range's indices; fails for other expressions.
class Sums {
 public:
  explicit Sums(const std::map<std::string, Size>& extents) : extents_(extents) {}

  std::optional<Terms> terms_of(const Size& size) const {
    const std::set<std::string> names = names_in(size);
    const bool depends = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return extents_.count(name) > 0;
    });
    if (!depends) return Terms();
    if (size.kind() == Size::Kind::name) return Terms{{size.name(), Size(1)}};
    const auto left = terms_of(size.left()), right = terms_of(size.right());
    if (!left || !right) return std::nullopt;
    Terms made = *left;
    switch (size.kind()) {
      case Size::Kind::add:
      case Size::Kind::sub:
        for (const auto& [name, factor] : *right) {
          const auto [at, is_new] = made.try_emplace(name, Size(0));
          at->second = size.kind() == Size::Kind::add ? at->second + factor : at->second - factor;
        }
        return made;
      case Size::Kind::mul:
        if (!left->empty() && !right->empty()) return std::nullopt;
        made.insert(right->begin(), right->end());
        for (auto& [name, factor] : made) {
          factor = factor * (left->empty() ? size.left() : size.right());
        }
        return made;
      default:
        return std::nullopt;
    }
  }

 private:
  const std::map<std::string, Size>& extents_;
};

/// Finds the indices that two iterations share if their sums are equal.
class Equal {
 public:
  explicit Equal(const std::map<std::string, Size>& extents) : extents_(extents) {
    for (const auto& [name, extent] : extents) {
      if (extent != Size(1)) open_.insert(name);
    }
  }

  bool is_done() const { return open_.empty(); }
  bool has_open(const Terms& terms) const {
    return std::any_of(terms.begin(), terms.end(),
                       [&](const auto& term) { return open_.count(term.first) > 0; });
  }

  void add(Terms terms) {
    sums_.push_back(std::move(terms));
    bool progress = true;
    while (progress && !open_.empty()) {
      progress = false;
      for (const Terms& sum : sums_) {
        std::vector<std::pair<std::string, Size>> rest;
        for (const auto& term : sum) {
          if (open_.count(term.first) > 0 && term.second != Size(0)) rest.push_back(term);
        }
        if (rest.empty() || !are_digits(rest)) continue;
        for (const auto& [name, factor] : rest) open_.erase(name);
        progress = true;
      }
    }
    if (has_full_rank()) open_.clear();
  }

 private:
  /// Whether each factor exceeds the greatest sum that all smaller factors make.
  bool are_digits(std::vector<std::pair<std::string, Size>> terms) const {
    const auto size_of = [](const Size& size) {
      return std::abs(std::clamp(size.constant().value_or(0), -kMostFactor, kMostFactor));
    };
    for (const int lower : {0, 1}) {  // a factor equal to the other index's extent
      if (terms.size() != 2) break;
      const auto& [name, factor] = terms[static_cast<std::size_t>(lower)];
      const Size& other = terms[static_cast<std::size_t>(1 - lower)].second;
      if (size_of(factor) > 0 && other == factor * extents_.at(name)) return true;
    }
    std::sort(terms.begin(), terms.end(),
              [&](const auto& a, const auto& b) { return size_of(a.second) < size_of(b.second); });
    std::int64_t most = 0;
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const std::int64_t factor = size_of(terms[t].second);
      if (factor <= most || factor == kMostFactor) return false;
      const auto extent = extents_.at(terms[t].first).constant();
      const bool is_last = t + 1 == terms.size();
      if (!is_last && (!extent || *extent > kMostFactor)) return false;
      if (!is_last)
        most = std::min(kMostFactor, most + factor * std::max<std::int64_t>(0, *extent - 1));
    }
    return true;
  }

  /// Whether the sums with numeric factors include as many independent sums as there are indices.
  /// Computed modulo a prime, which never finds more.
  bool has_full_rank() const {
    constexpr std::int64_t kPrime = 2147483647;
    std::vector<std::vector<std::int64_t>> rows;
    for (const Terms& sum : sums_) {
      std::vector<std::int64_t> row;
      bool known = true;
      for (const std::string& name : open_) {
        const auto term = sum.find(name);
        const auto factor =
            term == sum.end() ? std::optional<std::int64_t>(0) : term->second.constant();
        known = known && factor;
        row.push_back(((factor.value_or(0) % kPrime) + kPrime) % kPrime);
      }
      if (known) rows.push_back(std::move(row));
    }
    std::size_t rank = 0;
    for (std::size_t column = 0; column < open_.size(); ++column) {
      const auto pivot = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(rank), rows.end(),
                                      [&](const auto& row) { return row[column] != 0; });
      if (pivot == rows.end()) return false;
      std::swap(*pivot, rows[rank]);
      for (std::size_t r = rank + 1; r < rows.size(); ++r) {
        // Multiplies by the pivot instead of its inverse, which keeps the rank.
        const std::int64_t by = rows[r][column], with = rows[rank][column];
        for (std::size_t c = 0; c < open_.size(); ++c) {
          const std::int64_t less = rows[rank][c] * by % kPrime;
          rows[r][c] = (rows[r][c] * with % kPrime - less + kPrime) % kPrime;
        }
      }
      ++rank;
    }
    return true;
  }

  const std::map<std::string, Size>& extents_;
  std::set<std::string> open_;
  std::vector<Terms> sums_;
};

}  // namespace

std::optional<std::size_t> tell_apart(const std::vector<Block>& blocks,
                                      const std::vector<Dimension>& range) {
  std::map<std::string, Size> extents;
  for (const Dimension& dimension : range) extents[dimension.index] = dimension.extent;
  const Sums sums(extents);
  Equal equal(extents);
  if (equal.is_done()) return 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Block& block = blocks[b];
    std::vector<Terms> shared;  // dimensions in which parts with other indices may meet
    bool unknown = false;
    for (std::size_t d = 0; d < block.index.size(); ++d) {
      const Fact disjoint = block.cut == Cut::windows ? is_disjoint(block, d) : is_disjoint(block);
      std::optional<Terms> terms = sums.terms_of(block.index[d]);
      if (disjoint != Fact::yes) {
        unknown = unknown || !terms;
        if (terms) shared.push_back(*std::move(terms));
      } else if (terms) {
        equal.add(*std::move(terms));
      }
    }
    if (equal.is_done()) return b + 1;
    const bool meet = unknown || std::any_of(shared.begin(), shared.end(),
                                             [&](const Terms& it) { return equal.has_open(it); });
    if (meet) return std::nullopt;  // unknown whether these parts share elements
  }
  return std::nullopt;
}

std::optional<Iterations> with_same_part(const std::vector<Block>& blocks,
                                         const std::vector<Dimension>& range) {
  constexpr std::int64_t kMost = 3, kMostIterations = 256;
  std::vector<std::int64_t> counts;
  std::int64_t all = 1;
  for (const Dimension& dimension : range) {
    counts.push_back(
        std::clamp<std::int64_t>(dimension.extent.constant().value_or(kMost), 0, kMost));
    all = std::min(kMostIterations, all * counts.back());
  }
  std::map<std::string, std::vector<std::int64_t>> seen;
  for (std::int64_t i = 0; i < all; ++i) {
    std::vector<std::int64_t> at(range.size());
    SizeMap sizes;
    std::int64_t rest = i;
    for (std::size_t d = range.size(); d-- > 0;) {
      at[d] = rest % counts[d];
      rest /= counts[d];
      sizes[range[d].index] = Size(at[d]);
    }
    std::string part;
    for (const Block& block : blocks) {
      for (const Size& index : block.index) part += to_string(substituted(index, sizes)) + ";";
    }
    const auto [known, is_new] = seen.try_emplace(part, at);
    if (!is_new) return Iterations{known->second, at};
  }
  return std::nullopt;
}

}  // namespace twill::tasks
