#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

namespace twill::solve_test {

/// Checks the text of a proof (format: twill/solve/proof.h) without any code of the engine: learned
/// clauses by unit propagation, difference lemmas by Bellman-Ford, at-most lemmas by one addition.
class ProofChecker {
 public:
  /// Reads a whole text with any number of proofs in it. Empty if every step follows, else the
  /// first line that does not, and why.
  std::string check(std::istream& text);

  int refutations() const { return refutations_; }  ///< `r` lines seen
  int lemmas() const { return lemmas_; }            ///< `d` and `p` lines seen
  int learned() const { return learned_; }          ///< `l` lines seen

 private:
  struct Edge {
    int x;
    int y;
    std::int64_t bound;  ///< x - y >= bound
  };
  struct Row {
    std::int64_t bound;
    std::vector<std::pair<std::int64_t, int>> terms;
  };
  using Clause = std::vector<int>;

  std::string check_line(const std::string& line);
  void start();
  int value(int literal) const;
  void grow(int literal);
  void assign(int literal);
  bool propagate();
  void undo(std::size_t trail_size);
  void add(const Clause& clause);
  void remove(Clause clause);
  bool follows(const Clause& clause);
  bool closes_positive_circuit(const Clause& clause) const;
  bool exceeds(const Row& row, const Clause& clause) const;

  std::vector<Edge> edges_;
  std::map<int, Edge> atoms_;
  std::vector<Row> rows_;
  std::vector<Clause> clauses_;
  std::map<Clause, std::vector<int>> by_content_;  ///< sorted literals -> clause numbers
  std::vector<std::vector<int>> watches_;          ///< by code of the literal that is watched
  std::vector<signed char> values_;                ///< by variable
  std::vector<int> trail_;
  std::size_t head_ = 0;
  bool contradiction_ = false;
  int refutations_ = 0;
  int lemmas_ = 0;
  int learned_ = 0;
};

}  // namespace twill::solve_test
