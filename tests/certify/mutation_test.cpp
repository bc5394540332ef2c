// Protects: a certificate that was tampered with is rejected, unless its claims are still right and
// still proven. Mutants are drawn at random and counted: refused by a reader, rejected by the
// checker, or accepted. An accepted mutant has the same claim (the step was not needed, or the
// other schedule is as good), or a weaker right claim. None may be accepted with a wrong claim.

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "solve/rounds.h"
#include "solve/solve_text.h"
#include "twill/problem/problem.h"
#include "twill/prove/prove.h"

namespace twill::prove {
namespace {

using certify::Files;
using problem::Problem;
using schedule::Verdict;
using solve_test::bundled;
using solve_test::problem_of;

Files certificate_of(const Problem& problem) {
  const auto proven = prove(problem, {});
  if (!proven) ADD_FAILURE() << proven.error();
  return certify::print_certificate(proven->certificate);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Finds the whole numbers of a line.
std::vector<std::pair<std::size_t, std::size_t>> numbers_in(const std::string& line) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  const auto is_word = [](char c) { return c != ' '; };
  for (std::size_t i = 0; i < line.size();) {
    std::size_t end = i;
    while (end < line.size() && is_word(line[end])) ++end;
    const std::size_t begin = i + (i < line.size() && line[i] == '-' ? 1 : 0);
    const bool number =
        end > begin && std::all_of(line.begin() + static_cast<std::ptrdiff_t>(begin),
                                   line.begin() + static_cast<std::ptrdiff_t>(end),
                                   [](char c) { return c >= '0' && c <= '9'; });
    if (number) out.emplace_back(i, end - i);
    i = end + 1;
  }
  return out;
}

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::size_t below(std::size_t count) { return count == 0 ? 0 : random_() % count; }

  /// Makes one change in one of the files. Returns the change in words.
  std::string mutate(Files& files) {
    auto file = files.begin();
    // Shares of files: the proofs have most lines, so claims and schedule get their share of
    // attention.
    std::advance(file, static_cast<std::ptrdiff_t>(below(files.size())));
    std::vector<std::string> lines = lines_of(file->second);
    const std::size_t at = below(lines.size());
    const std::string before = lines[at];
    const std::string what = change(lines, at);
    file->second = text_of(lines);
    return file->first + ": " + what + ": " + before;
  }

 private:
  static constexpr int kNumberChanges = 4;

  std::string change(std::vector<std::string>& lines, std::size_t at) {
    std::string& line = lines[at];
    const std::size_t kind = below(8);
    if (kind < kNumberChanges && !numbers_in(line).empty()) return change_number(line, kind);
    switch (kind) {
      case 4:
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
        return "drop a line";
      case 5:
        std::swap(line, lines[below(lines.size())]);
        return "swap lines";
      case 6:
        lines.resize(at);
        return "cut the file off";
      default:
        return exchange_word(line, lines[below(lines.size())]);
    }
  }

  std::string change_number(std::string& line, std::size_t kind) {
    const auto numbers = numbers_in(line);
    const auto [begin, size] = numbers[below(numbers.size())];
    if (kind == 0 && numbers.size() > 1) {
      line.erase(begin, size);
      return "drop a number";
    }
    if (kind == 1 && line[begin] == '-') {
      line.erase(begin, 1);
      return "negate a number";
    }
    if (kind == 1) {
      line.insert(begin, "-");
      return "negate a number";
    }
    static constexpr int kSteps[] = {-1, 1, -1, 1, -10, 10, 64, -64};
    const long long value = std::atoll(line.substr(begin, size).c_str());
    line.replace(begin, size, std::to_string(value + kSteps[below(8)]));
    return "change a number";
  }

  /// Puts in another op, group, kind or resource. The word comes from the same place of another
  /// line, so that the result often has a meaning.
  std::string exchange_word(std::string& line, const std::string& other) {
    const std::vector<std::string> words = words_of(other);
    std::vector<std::string> mine = words_of(line);
    if (words.empty() || mine.empty()) return "nothing";
    const std::size_t at = below(mine.size());
    mine[at] = words[std::min(at, words.size() - 1)];
    line.clear();
    for (const std::string& word : mine) line += (line.empty() ? "" : " ") + word;
    return "another word";
  }

  static std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
  }

  std::mt19937 random_;
};

struct Count {
  int refused = 0;
  int rejected = 0;
  int same = 0;
  int weaker = 0;
  int total() const { return refused + rejected + same + weaker; }
};

/// Facts of the Problem, found without its certificate.
struct ProblemTruth {
  Verdict verdict = Verdict::undecided;
  std::vector<std::int64_t> values;
};

ProblemTruth truth_of(const Problem& problem) {
  const schedule::Answer answer = solve::solve(problem);
  ProblemTruth out{answer.verdict, {}};
  for (const auto& level : answer.objectives) out.values.push_back(level.value);
  return out;
}

/// Counts a mutant; `truth` is about its problem.
void count(const Files& mutant, const ProblemTruth& truth, const std::string& what, Count& out) {
  const auto checked = certify::check_files(mutant);
  if (!checked) {
    EXPECT_FALSE(checked.error().message.empty());
    ++out.refused;
    return;
  }
  if (checked->rejection) {
    EXPECT_FALSE(checked->rejection->reason.empty());
    EXPECT_FALSE(checked->rejection->file.empty());
    ++out.rejected;
    return;
  }
  switch (checked->verdict) {
    case Verdict::optimal:
      EXPECT_EQ(checked->values, truth.values) << what;
      ++out.same;
      return;
    case Verdict::infeasible:
      EXPECT_EQ(truth.verdict, Verdict::infeasible) << what;
      ++out.same;
      return;
    case Verdict::feasible:
      EXPECT_GE(checked->values, truth.values) << what;
      [[fallthrough]];
    case Verdict::undecided:
      if (truth.verdict != Verdict::infeasible) {
        EXPECT_LE(checked->interval_bound, truth.values.front()) << what;
      }
      ++out.weaker;
      return;
  }
}

void report_mutants(const char* what, const Count& it) {
  std::printf(
      "%s: %d mutants, %d refused by a reader, %d rejected, %d accepted with the same "
      "claim, %d with a weaker one that is right\n",
      what, it.total(), it.refused, it.rejected, it.same, it.weaker);
}

Problem infeasible_loop() {
  return problem_of(
      "loop x\nmemory M capacity 5\ngroup G registers 9\nop a latency 1 occupies M 2\n"
      "op b latency 1 occupies M 2\nop c latency 1 occupies M 2\nop d\na -> d\nb -> d\nc -> d\n");
}

Problem loop_with_alternatives() {
  return problem_of(
      "loop x\npipe P\npipe Q\ngroup G registers 9\nop a\n way p uses P 4\n way q uses Q 4\n"
      "op b\n way p uses P 4\n way q uses Q 4\nop c latency 2 uses P 1\na -> c\nb -> c\n"
      "c -> c distance 1 delay 7\n");
}

/// Makes a loop that is faster with a transfer than without, but slower than units and circuits
/// allow.
Problem loop_with_transfer_ops() {
  return problem_of(
      "loop x\nunit U\npipe P\nmemory M capacity 4\ngroup G registers 6\ngroup H registers 6\n"
      "op a on U for 4 latency 5 registers 4 async\nop b latency 7 issue 7 registers 3\n"
      "op c latency 6 issue 6 registers 2\nop d on U for 3 latency 4 async\n"
      "op a.put latency 3 issue 2 uses P 4 occupies M 4\nop a.get latency 2 issue 1 registers 4\n"
      "op b.put latency 3 issue 2 uses P 5 occupies M 3\nop b.get latency 2 issue 2 registers 3\n"
      "op c.put latency 3 issue 2 uses P 4 occupies M 2\nop c.get latency 1 issue 2 registers 2\n"
      "a -> b blocking\nb -> c\nc -> d\nd -> d distance 1\n"
      "hand-off a store a.put load a.get for b\nhand-off b store b.put load b.get for c\n"
      "hand-off c store c.put load c.get for d\n");
}

/// Makes a loop that is twice as slow as without its budget.
Problem loop_with_register_budget() {
  return problem_of(
      "loop x\nunit U\ngroup G registers 10\ngroup H registers 10\n"
      "register-budget 14 step 2 reserve 1 of G H\n"
      "op a on U for 4 latency 4 registers 6\nop b on U for 4 latency 4 registers 6\n"
      "op c issue 0 latency 0\nop d issue 0 latency 0\na -> c delay 8\nb -> d delay 8\n");
}

/// Makes a loop of 10 cycles if the sums of live sizes decided.
Problem loop_with_placement() {
  return problem_of(
      "loop x\nunit U\nmemory M capacity 6\ngroup G\nop a on U for 10 latency 12 issue 0 "
      "occupies M 3\nop b issue 0 latency 4 occupies M 3\nop c issue 0\na -> b\nb -> c\n");
}

/// Makes a loop as slow as a store that must follow itself. Without that order, the loop is as slow
/// as the store and the load of its addresses.
Problem loop_with_memory_order() {
  return problem_of(
      "loop x\ngroup G registers 9\nop st latency 9 issue 2\nop ld latency 4 issue 2 registers 1\n"
      "op f latency 2 issue 2\nld -> f\nst -> st distance 1 order-only through-memory\n"
      "ld -> st order-only through-memory\nst -> ld distance 2 order-only through-memory\n");
}

std::vector<Problem> subjects() {
  return {bundled("fig1"),          bundled("gemm"),          bundled("fwd_h1"),
          bundled("fwd_h1big"),     bundled("fwd_b1"),        infeasible_loop(),
          loop_with_alternatives(), loop_with_transfer_ops(), loop_with_register_budget(),
          loop_with_placement(),    loop_with_memory_order()};
}

/// Expects that the certificate of a changed loop is refused, since its proof is about the old
/// loop.
void expect_refused_if(Files files, const std::string& from, const std::string& to,
                       const std::string& where = "interval.proof") {
  std::string& loop = files.at("problem.loop");
  ASSERT_NE(loop.find(from), std::string::npos);
  loop.replace(loop.find(from), from.size(), to);
  const auto read = schedule::parse_loop(loop, "problem.loop");
  ASSERT_TRUE(read.has_value());
  std::string& claims = files.at("claims");
  const std::size_t hash = claims.find("problem x ") + 10;
  claims.replace(hash, 64, schedule::problem_hash(read->problem));
  const auto checked = certify::check_files(files);
  ASSERT_TRUE(checked.has_value());
  ASSERT_TRUE(checked->rejection.has_value());
  EXPECT_EQ(checked->rejection->file, where);
}

// Protects: the proof of the loop with a register budget adds up steps of that budget; without the
// budget there is no proof.
TEST(Mutants, OfRegisterBudgetsMeetProofsThatNeedThem) {
  const Files files = certificate_of(loop_with_register_budget());
  EXPECT_NE(files.at("interval.proof").find("\no register-budget G"), std::string::npos);
  expect_refused_if(files, "register-budget 14", "register-budget 16");
}

// Protects: the proof of this loop mentions addresses; in a larger memory the same steps prove
// nothing.
TEST(Mutants, OfMemoriesMeetProofsThatNeedAddresses) {
  const Files files = certificate_of(loop_with_placement());
  EXPECT_NE(files.at("interval.proof").find("\nv above "), std::string::npos);
  expect_refused_if(files, "memory M capacity 6", "memory M capacity 9");
}

// Protects: an order through global memory, of an op with itself or with another op, is part of the
// proof.
TEST(Mutants, OfMemoryOrdersMeetProofsThatNeedThem) {
  const Files files = certificate_of(loop_with_memory_order());
  const std::string order = "st -> st distance 1 order-only through-memory\n";
  expect_refused_if(files, order, "st -> st distance 2 order-only through-memory\n", "claims");
  expect_refused_if(files, order, "", "claims");
  expect_refused_if(files, "op st latency 9", "op st latency 8", "claims");
}

// Protects against one change anywhere in the files.
TEST(Mutants, OfCertificates) {
  Count all;
  for (const Problem& problem : subjects()) {
    const Files files = certificate_of(problem);
    const ProblemTruth truth = truth_of(problem);
    Mutator mutator(41);
    for (int round = 0; round < solve_test::rounds(700); ++round) {
      Files mutant = files;
      const std::string what = mutator.mutate(mutant);
      if (mutant == files) continue;
      count(mutant, truth, problem.name() + ": " + what, all);
      if (HasFailure()) return;
    }
  }
  report_mutants("certificates", all);
  EXPECT_GT(all.total(), 4000);
  EXPECT_GT(all.rejected, 1000);
  EXPECT_GT(all.refused + all.rejected, all.total() * 7 / 10);
}

/// Puts the hash of the mutated problem into the claims, so that not the hash alone rejects the
/// mutant.
bool adjust_hash(Files& files) {
  const auto loop = schedule::parse_loop(files.at("problem.loop"), "problem.loop");
  if (!loop) return false;
  std::vector<std::string> lines = lines_of(files.at("claims"));
  for (std::string& line : lines) {
    if (line.rfind("problem ", 0) == 0) {
      line = "problem " + loop->problem.name() + " " + schedule::problem_hash(loop->problem);
    }
  }
  files.at("claims") = text_of(lines);
  return true;
}

// Protects against a change of the problem or its schedule with a matching hash. The claims are
// then about another problem, and must be right for that problem.
TEST(Mutants, OfProblemsWithTheirHash) {
  Count all;
  for (const Problem& problem : subjects()) {
    const Files files = certificate_of(problem);
    Mutator mutator(42);
    for (int round = 0; round < solve_test::rounds(150); ++round) {
      Files mutant = files;
      Files loop = {{"problem.loop", files.at("problem.loop")}};
      const std::string what = mutator.mutate(loop);
      mutant["problem.loop"] = loop.at("problem.loop");
      if (!adjust_hash(mutant)) continue;
      const auto checked = certify::check_files(mutant);
      ProblemTruth truth;
      if (checked && !checked->rejection) {
        const auto read = schedule::parse_loop(mutant.at("problem.loop"), "problem.loop");
        truth = truth_of(read->problem);
      }
      count(mutant, truth, problem.name() + ": " + what, all);
      if (HasFailure()) return;
    }
  }
  report_mutants("problems", all);
  EXPECT_GT(all.total(), 300);
  EXPECT_GT(all.same, 0);
}

/// Reason why the certificate of a loop is rejected once a text is replaced.
std::string rejection(const std::string& loop, const std::string& file, const std::string& from,
                      const std::string& to) {
  Files files = certificate_of(bundled(loop));
  std::string& text = files.at(file);
  const std::size_t at = text.find(from);
  if (at == std::string::npos) {
    ADD_FAILURE() << file << " has no " << from << "\n" << text.substr(0, 2000);
    return {};
  }
  text.replace(at, from.size(), to);
  const auto checked = certify::check_files(files);
  if (!checked) return "unreadable: " + checked.error().message;
  if (!checked->rejection) return "accepted";
  return checked->rejection->file + ": " + checked->rejection->reason;
}

// Protects: the changes that a forger would try first are rejected with their reasons.
TEST(Forgeries, AreRejectedWithTheReason) {
  EXPECT_EQ(rejection("fwd_h1", "claims", "value interval 1262", "value interval 1261"),
            "claims: interval of the schedule is 1262, not 1261");
  EXPECT_EQ(rejection("fwd_h1", "claims", "at-least interval 1262", "at-least interval 1263"),
            "interval.proof: the proof is about an interval of 1261, the claim needs 1262");
  EXPECT_EQ(rejection("fwd_h1", "claims", "at-least interval 1262 proof interval.proof",
                      "at-least interval 1262 unit TC"),
            "claims: interval: the reason shows at least 1024, not 1262");
  EXPECT_EQ(rejection("fwd_h1", "claims", "at-least interval 1262", "at-least interval 1261"),
            "interval.proof: the proof is about an interval of 1261, the claim needs 1260");
  EXPECT_EQ(rejection("fwd_h1", "claims", "rules dependence", "rules"),
            "claims: the rules in force are dependence unit pipe memory placement registers width "
            "load-group blocking minimum-groups");
  EXPECT_EQ(rejection("fwd_h1", "interval.proof", "interval 1261", "interval 1262"),
            "interval.proof: the proof is about an interval of 1262, the claim needs 1261");
  EXPECT_EQ(rejection("fwd_h1", "length.proof", "refute length 2459", "refute length 2458"),
            "length.proof: the proof refutes another statement than the claim needs");
  EXPECT_EQ(rejection("fwd_b1", "length.proof", "given crossings 3", "given crossings 2"),
            "length.proof: the proof has an assumption that the claim does not have: crossings 2");
  EXPECT_EQ(rejection("fwd_h2", "length.proof", "exchange ", "exchange qkA pvA "),
            "length.proof: qkA and qkB are not exchanged for each other alone");
  EXPECT_EQ(rejection("fwd_h1", "interval.proof", "end\n", ""),
            "unreadable: the proof does not end with `end`");
  EXPECT_EQ(rejection("fwd_h1", "interval.proof", "\nd ", "\nl "),
            "interval.proof: does not follow by unit propagation");
}

}  // namespace
}  // namespace twill::prove
