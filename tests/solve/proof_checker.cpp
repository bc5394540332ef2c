#include "solve/proof_checker.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace twill::solve_test {
namespace {

std::vector<int> read_literals(std::istream& line) {
  std::vector<int> literals;
  for (int literal = 0; line >> literal && literal != 0;) literals.push_back(literal);
  return literals;
}

certify::Difference read_difference(std::istream& line) {
  certify::Difference it;
  line >> it.later >> it.earlier >> it.by;
  return it;
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
    always_.push_back(read_difference(line));
    closed_.reset();
  } else if (kind == "v") {
    int number = 0;
    line >> number;
    const certify::Difference it = read_difference(line);
    literal(number);
    atoms_[number] = it;
    atoms_[-number] = {it.earlier, it.later, 1 - it.by};
    closed_.reset();
  } else if (kind == "c") {
    add(read_literals(line));
  } else if (kind == "s") {
    Row row{};
    line >> row.bound;
    for (std::int64_t weight = 0; line >> weight && weight != 0;) {
      int number = 0;
      line >> number;
      row.terms.emplace_back(weight, number);
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
    if (index >= rows_.size()) return "no such sum";
    std::int64_t sum = 0;
    for (const auto& [weight, number] : rows_[index].terms) {
      const bool negated = std::find(clause.begin(), clause.end(), -number) != clause.end();
      if (number == 1 || negated) sum += weight;
    }
    if (sum <= rows_[index].bound) return "the sum fits";
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
  clauses_ = std::make_unique<certify::UnitPropagation>();
  numbers_.clear();
  always_.clear();
  closed_.reset();
  atoms_.clear();
  rows_.clear();
}

/// Literal of a number in the text, where the constant true is 1.
certify::Literal ProofChecker::literal(int number) {
  const auto variable = static_cast<std::size_t>(std::abs(number)) - 1;
  while (clauses_->variable_count() <= variable) clauses_->add_variable();
  return static_cast<certify::Literal>(2 * variable + (number < 0 ? 1U : 0U));
}

void ProofChecker::add(Clause clause) {
  std::vector<certify::Literal> literals;
  for (const int number : clause) literals.push_back(literal(number));
  std::sort(clause.begin(), clause.end());
  numbers_[clause].push_back(clauses_->add(literals));
}

void ProofChecker::remove(Clause clause) {
  std::sort(clause.begin(), clause.end());
  auto& numbers = numbers_[clause];
  if (numbers.empty()) return;
  clauses_->remove(numbers.back());
  numbers.pop_back();
}

bool ProofChecker::follows(const Clause& clause) {
  std::vector<certify::Literal> negated;
  for (const int number : clause) negated.push_back(literal(-number));
  const bool contradiction = !clauses_->assume(negated);
  clauses_->release();
  return contradiction;
}

bool ProofChecker::closes_positive_circuit(const Clause& clause) {
  if (!closed_) {
    std::size_t nodes = 0;
    const auto reach = [&](const certify::Difference& it) {
      nodes = std::max({nodes, it.later + 1, it.earlier + 1});
    };
    for (const certify::Difference& it : always_) reach(it);
    for (const auto& [number, it] : atoms_) reach(it);
    closed_.emplace(nodes);
    for (const certify::Difference& it : always_) closed_->require(it);
    closed_->close();
  }
  std::vector<certify::Difference> differences;
  for (const int number : clause) {
    const auto atom = atoms_.find(-number);
    if (atom == atoms_.end()) return false;
    differences.push_back(atom->second);
  }
  return closed_->contradict(differences);
}

}  // namespace twill::solve_test
