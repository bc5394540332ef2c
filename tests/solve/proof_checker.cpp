#include "solve/proof_checker.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace twill::solve_test {
namespace {

std::size_t code(int literal) {
  return 2 * static_cast<std::size_t>(std::abs(literal)) + (literal < 0 ? 1U : 0U);
}

std::vector<int> read_literals(std::istream& line) {
  std::vector<int> literals;
  for (int literal = 0; line >> literal && literal != 0;) literals.push_back(literal);
  return literals;
}

}  // namespace

std::string ProofChecker::check(std::istream& text) {
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    const std::string problem = check_line(line);
    if (!problem.empty()) return "line " + std::to_string(number) + ": " + line + ": " + problem;
  }
  return {};
}

std::string ProofChecker::check_line(const std::string& text) {
  std::istringstream line(text);
  std::string kind;
  line >> kind;
  if (kind == "t") {
    start();
  } else if (kind == "e") {
    Edge edge{};
    line >> edge.x >> edge.y >> edge.bound;
    edges_.push_back(edge);
  } else if (kind == "v") {
    int literal = 0;
    Edge edge{};
    line >> literal >> edge.x >> edge.y >> edge.bound;
    grow(literal);
    atoms_[literal] = edge;
    atoms_[-literal] = {edge.y, edge.x, 1 - edge.bound};
  } else if (kind == "c") {
    add(read_literals(line));
  } else if (kind == "s") {
    Row row{};
    line >> row.bound;
    for (std::int64_t weight = 0; line >> weight && weight != 0;) {
      int literal = 0;
      line >> literal;
      row.terms.emplace_back(weight, literal);
    }
    rows_.push_back(row);
  } else if (kind == "d") {
    ++lemmas_;
    const Clause clause = read_literals(line);
    if (!closes_positive_circuit(clause)) return "no circuit of positive weight";
    add(clause);
  } else if (kind == "p") {
    ++lemmas_;
    std::size_t index = 0;
    line >> index;
    const Clause clause = read_literals(line);
    if (index >= rows_.size() || !exceeds(rows_[index], clause)) return "the sum fits";
    add(clause);
  } else if (kind == "l") {
    ++learned_;
    const Clause clause = read_literals(line);
    if (!follows(clause)) return "does not follow by unit propagation";
    add(clause);
  } else if (kind == "x") {
    remove(read_literals(line));
  } else if (kind == "r") {
    ++refutations_;
    int assumption = 0;
    line >> assumption;
    if (!follows(assumption == 1 ? Clause{} : Clause{-assumption})) return "not refuted";
  } else {
    return "unknown step";
  }
  return {};
}

void ProofChecker::start() {
  edges_.clear();
  atoms_.clear();
  rows_.clear();
  clauses_.clear();
  by_content_.clear();
  watches_.clear();
  values_.clear();
  trail_.clear();
  head_ = 0;
  contradiction_ = false;
  grow(1);
  assign(1);
}

int ProofChecker::value(int literal) const {
  const int sign = literal < 0 ? -1 : 1;
  return sign * values_[static_cast<std::size_t>(std::abs(literal))];
}

void ProofChecker::grow(int literal) {
  const auto variable = static_cast<std::size_t>(std::abs(literal));
  if (values_.size() <= variable) values_.resize(variable + 1, 0);
  if (watches_.size() < 2 * values_.size()) watches_.resize(2 * values_.size());
}

void ProofChecker::assign(int literal) {
  values_[static_cast<std::size_t>(std::abs(literal))] = literal < 0 ? -1 : 1;
  trail_.push_back(literal);
}

/// False if a clause is violated.
bool ProofChecker::propagate() {
  while (head_ < trail_.size()) {
    const int now_false = -trail_[head_++];
    std::vector<int>& watching = watches_[code(now_false)];
    for (std::size_t i = 0; i < watching.size();) {
      Clause& clause = clauses_[static_cast<std::size_t>(watching[i])];
      if (clause.empty()) {  // removed
        watching[i] = watching.back();
        watching.pop_back();
        continue;
      }
      if (clause[0] == now_false) std::swap(clause[0], clause[1]);
      if (value(clause[0]) > 0) {
        ++i;
        continue;
      }
      const auto other = std::find_if(clause.begin() + 2, clause.end(),
                                      [this](int literal) { return value(literal) >= 0; });
      if (other != clause.end()) {
        std::iter_swap(clause.begin() + 1, other);
        watches_[code(clause[1])].push_back(watching[i]);
        watching[i] = watching.back();
        watching.pop_back();
        continue;
      }
      if (value(clause[0]) < 0) return false;
      assign(clause[0]);
      ++i;
    }
  }
  return true;
}

void ProofChecker::undo(std::size_t trail_size) {
  while (trail_.size() > trail_size) {
    values_[static_cast<std::size_t>(std::abs(trail_.back()))] = 0;
    trail_.pop_back();
  }
  head_ = trail_size;
}

/// Adds a clause for good, and everything it forces.
void ProofChecker::add(const Clause& given) {
  Clause clause = given;
  for (const int literal : clause) grow(literal);
  std::sort(clause.begin(), clause.end());
  clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
  by_content_[clause].push_back(static_cast<int>(clauses_.size()));
  // Watch literals that are not false, if there are any.
  std::stable_sort(clause.begin(), clause.end(),
                   [this](int a, int b) { return value(a) > value(b); });
  const bool unit = clause.size() == 1 || (clause.size() > 1 && value(clause[1]) < 0);
  if (clause.empty() || value(clause[0]) < 0) {
    contradiction_ = true;
  } else if (unit && value(clause[0]) == 0) {
    assign(clause[0]);
  }
  if (clause.size() > 1) {
    watches_[code(clause[0])].push_back(static_cast<int>(clauses_.size()));
    watches_[code(clause[1])].push_back(static_cast<int>(clauses_.size()));
  }
  clauses_.push_back(clause);
  if (!contradiction_ && !propagate()) contradiction_ = true;
}

void ProofChecker::remove(Clause clause) {
  std::sort(clause.begin(), clause.end());
  auto& numbers = by_content_[clause];
  if (numbers.empty() || clause.size() < 2) return;
  clauses_[static_cast<std::size_t>(numbers.back())].clear();
  numbers.pop_back();
}

bool ProofChecker::follows(const Clause& clause) {
  if (contradiction_) return true;
  const std::size_t before = trail_.size();
  bool conflict = false;
  for (const int literal : clause) {
    grow(literal);
    if (value(literal) > 0) conflict = true;
    if (value(literal) == 0) assign(-literal);
  }
  conflict = conflict || !propagate();
  undo(before);
  return conflict;
}

bool ProofChecker::closes_positive_circuit(const Clause& clause) const {
  std::vector<Edge> edges = edges_;
  for (const int literal : clause) {
    const auto atom = atoms_.find(-literal);
    if (atom == atoms_.end()) return false;
    edges.push_back(atom->second);
  }
  int nodes = 0;
  for (const Edge& edge : edges) nodes = std::max({nodes, edge.x + 1, edge.y + 1});
  std::vector<std::int64_t> longest(static_cast<std::size_t>(nodes), 0);
  for (int round = 0; round <= nodes; ++round) {
    bool changed = false;
    for (const Edge& edge : edges) {
      const std::int64_t length = longest[static_cast<std::size_t>(edge.y)] + edge.bound;
      if (length <= longest[static_cast<std::size_t>(edge.x)]) continue;
      longest[static_cast<std::size_t>(edge.x)] = length;
      changed = true;
    }
    if (!changed) return false;
  }
  return true;
}

bool ProofChecker::exceeds(const Row& row, const Clause& clause) const {
  std::int64_t sum = 0;
  for (const auto& [weight, literal] : row.terms) {
    const bool counted =
        literal == 1 || std::find(clause.begin(), clause.end(), -literal) != clause.end();
    if (counted) sum += weight;
  }
  return sum > row.bound;
}

}  // namespace twill::solve_test
