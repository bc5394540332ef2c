#include "solve/cnf.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace twill::solve_test {

void Cnf::at_most(const std::vector<Term>& terms, int limit) {
  if (limit < 0) return add({});
  std::vector<Literal> before;  // literal s: the terms so far sum to at least s + 1
  for (const Term& term : terms) {
    if (term.amount > limit) {
      add({-term.literal});
      continue;
    }
    std::vector<Literal> after;
    for (int s = 0; s < limit; ++s) after.push_back(fresh());
    for (int s = 0; s < term.amount; ++s) {
      add({-term.literal, after[static_cast<std::size_t>(s)]});
    }
    for (std::size_t s = 0; s < before.size(); ++s) {
      add({-before[s], after[s]});
      const std::size_t sum = s + static_cast<std::size_t>(term.amount);
      if (sum < after.size()) {
        add({-before[s], -term.literal, after[sum]});
      } else {
        add({-before[s], -term.literal});
      }
    }
    before = std::move(after);
  }
}

void Cnf::exactly_one(const std::vector<Literal>& literals) {
  add(literals);
  std::vector<Term> terms;
  for (const Literal it : literals) terms.push_back({it, 1});
  at_most(terms, 1);
}

std::string Cnf::dimacs() const {
  std::string text =
      "p cnf " + std::to_string(variables_) + " " + std::to_string(clauses_.size()) + "\n";
  for (const Clause& clause : clauses_) {
    for (const Literal it : clause) text += std::to_string(it) + " ";
    text += "0\n";
  }
  return text;
}

bool has_cadical() { return !std::string(TWILL_CADICAL).empty(); }

std::optional<bool> satisfiable(const Cnf& cnf) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) /
                                     ("twill_cnf_" + std::to_string(::getpid()) + ".cnf");
  std::ofstream(file) << cnf.dimacs();
  const std::string command =
      "'" TWILL_CADICAL "' -q -n -c 2000000 '" + file.string() + "' > /dev/null";
  const int status = std::system(command.c_str());
  std::filesystem::remove(file);
  constexpr int kSatisfiable = 10;  // the exit codes of SAT competitions
  constexpr int kUnsatisfiable = 20;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == kSatisfiable) return true;
  if (code == kUnsatisfiable) return false;
  EXPECT_EQ(code, 0) << command;
  return std::nullopt;
}

}  // namespace twill::solve_test
