// Certificates of solved Problems: accepted, complete, and the same bytes every time.

#include <cstdio>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/rounds.h"
#include "solve/solve_text.h"
#include "twill/certify/pools.h"
#include "twill/problem/problem.h"
#include "twill/prove/prove.h"

namespace twill::prove {
namespace {

using certify::Files;
using problem::Problem;
using schedule::Verdict;
using solve_test::bundled;
using solve_test::problem_of;

Files files_of(const Problem& problem, const solve::Options& options = {}) {
  const auto proven = prove(problem, options);
  if (!proven) {
    ADD_FAILURE() << proven.error() << "\n"
                  << schedule::print_loop(schedule::loop_text_of(problem));
    return {};
  }
  return certify::print_certificate(proven->certificate);
}

certify::Checked checked(const Files& files) {
  auto out = certify::check_files(files);
  if (!out) {
    ADD_FAILURE() << to_string(out.error());
    return {};
  }
  if (out->rejection) ADD_FAILURE() << out->rejection->file << ": " << out->rejection->reason;
  return *std::move(out);
}

class BundledLoop : public testing::TestWithParam<std::string> {};

// Protects: answers that are shown to users can be checked, and the proof of the bound is there.
TEST_P(BundledLoop, HasACertificate) {
  const Files files = files_of(bundled(GetParam()));
  const certify::Checked result = checked(files);
  EXPECT_EQ(result.verdict, Verdict::optimal);
  EXPECT_EQ(result.interval_bound, result.values.front());
  EXPECT_NE(files.at("claims").find("verdict optimal\n"), std::string::npos);
  std::size_t bytes = 0;
  for (const auto& [name, text] : files) bytes += text.size();
  EXPECT_LT(bytes, 1'000'000U);
}

INSTANTIATE_TEST_SUITE_P(Loops, BundledLoop,
                         testing::Values("fig1", "gemm", "fwd_h1", "fwd_h2", "fwd_h1big", "fwd_b1",
                                         "fwd_b2", "fwd_b2_2wg", "bwd_h1", "bwd_h2", "bwd_b1",
                                         "meta_bwd", "meta_fwd", "meta_fwdsub"),
                         [](const auto& it) { return it.param; });

// Protects: same input, same bytes.
TEST(Certificates, AreDeterministic) {
  for (const char* loop : {"fwd_h1", "fwd_b1", "bwd_h2"}) {
    EXPECT_EQ(files_of(bundled(loop)), files_of(bundled(loop))) << loop;
  }
}

// Protects: every kind of answer, with alternatives, relaxed rules, load groups and widths, gets an
// accepted certificate with the claims of the answer.
TEST(Certificates, OfRandomProblems) {
  std::mt19937 random(21);
  std::map<Verdict, int> verdicts;
  int proofs = 0;
  for (int round = 0; round < solve_test::rounds(1500); ++round) {
    solve_test::Size size;
    size.ops = 2 + round % 5;
    size.groups = 1 + round % 3;
    size.alternatives = 1 + (round % 4 == 0 ? 1 : 0);
    const Problem problem = solve_test::random_problem(random, size);
    solve::Options options;
    if (round % 5 == 0) options.work_limit = 1 + static_cast<std::uint64_t>(round);
    const auto proven = prove(problem, options);
    ASSERT_TRUE(proven.has_value()) << proven.error() << "\n"
                                    << schedule::print_loop(schedule::loop_text_of(problem));
    const certify::Checked result = checked(certify::print_certificate(proven->certificate));
    ASSERT_FALSE(HasFailure()) << schedule::print_loop(schedule::loop_text_of(problem));
    EXPECT_EQ(result.verdict, proven->answer.verdict);
    ++verdicts[result.verdict];
    proofs += static_cast<int>(proven->certificate.proofs.size());
    for (std::size_t i = 0; i < result.values.size(); ++i) {
      EXPECT_EQ(result.values[i], proven->answer.objectives[i].value);
    }
    if (result.verdict == Verdict::feasible) {
      EXPECT_EQ(result.interval_bound, proven->answer.lower_bound.value);
    }
  }
  std::printf(
      "certificates: of %d loops, %d of them proven optimal, with %d proofs: all accepted\n",
      solve_test::rounds(1500), verdicts[Verdict::optimal], proofs);
  EXPECT_GT(verdicts[Verdict::optimal], 500);
  EXPECT_GT(verdicts[Verdict::infeasible], 50);
  EXPECT_GT(verdicts[Verdict::feasible] + verdicts[Verdict::undecided], 10);
  EXPECT_GT(proofs, 300);
}

// Protects: proofs about the steps of register budgets are accepted.
TEST(Certificates, OfRandomProblemsWithRegisterBudgets) {
  std::mt19937 random(22);
  std::map<Verdict, int> verdicts;
  int with_steps = 0;
  for (int round = 0; round < solve_test::rounds(600); ++round) {
    solve_test::Size size;
    size.ops = 2 + round % 5;
    size.groups = 2 + round % 2;
    const Problem problem =
        solve_test::with_register_budget(random, solve_test::random_problem(random, size));
    const auto proven = prove(problem, {});
    ASSERT_TRUE(proven.has_value()) << proven.error() << "\n"
                                    << schedule::print_loop(schedule::loop_text_of(problem));
    const Files files = certify::print_certificate(proven->certificate);
    const certify::Checked result = checked(files);
    ASSERT_FALSE(HasFailure()) << schedule::print_loop(schedule::loop_text_of(problem));
    EXPECT_EQ(result.verdict, proven->answer.verdict);
    ++verdicts[result.verdict];
    for (const auto& [name, text] : files) {
      if (text.find("\no register-budget ") != std::string::npos) ++with_steps;
    }
  }
  std::printf("certificates: of %d loops with register budgets, %d proofs add up their steps\n",
              solve_test::rounds(600), with_steps);
  EXPECT_GT(verdicts[Verdict::optimal], 200);
  EXPECT_GT(verdicts[Verdict::infeasible], 20);
  EXPECT_GT(with_steps, 10);
}

// Protects: proofs about addresses are accepted.
TEST(Certificates, OfRandomProblemsWithTightMemories) {
  std::mt19937 random(24);
  std::map<Verdict, int> verdicts;
  int with_addresses = 0;
  for (int round = 0; round < solve_test::rounds(600); ++round) {
    solve_test::Size size;
    size.ops = 3 + round % 4;
    size.groups = 1 + round % 2;
    Problem problem =
        solve_test::with_tight_memory(random, solve_test::random_problem(random, size));
    if (round % 3 == 2) problem = solve_test::with_transfer_ops(random, problem);
    const auto proven = prove(problem, {});
    ASSERT_TRUE(proven.has_value()) << proven.error() << "\n"
                                    << schedule::print_loop(schedule::loop_text_of(problem));
    const Files files = certify::print_certificate(proven->certificate);
    const certify::Checked result = checked(files);
    ASSERT_FALSE(HasFailure()) << schedule::print_loop(schedule::loop_text_of(problem));
    EXPECT_EQ(result.verdict, proven->answer.verdict);
    ++verdicts[result.verdict];
    for (const auto& [name, text] : files) {
      if (text.find("\nv above ") != std::string::npos) ++with_addresses;
    }
  }
  std::printf("certificates: of %d loops with tight memories, %d proofs speak of addresses\n",
              solve_test::rounds(600), with_addresses);
  EXPECT_GT(verdicts[Verdict::optimal], 200);
  EXPECT_GT(verdicts[Verdict::infeasible], 20);
  EXPECT_GT(with_addresses, 10);
}

// Protects: the reasons for which a loop has no schedule at any interval, each by itself.
TEST(Certificates, OfLoopsWithoutSchedule) {
  const std::map<std::string, std::string> reasons = {
      {"never no-group a\n", "loop x\ngroup G warps 8\nop a\n"},
      {"never memory M\n",
       "loop x\nmemory M capacity 5\ngroup G\nop a latency 1 occupies M 6\nop b\na -> b\n"},
      {"never registers a\n",
       "loop x\ngroup G registers 9\ngroup H registers 8\nop a latency 1 registers 10\nop b\n"
       "a -> b\n"},
      {"never registers a b c\n",
       "loop x\ngroup G registers 9\ngroup H registers 9\nop a registers 9\nop b registers 9\n"
       "op c registers 9\na -> a distance 1\nb -> b distance 1\nc -> c distance 1\n"},
      {"never too-few-groups\n",
       "loop x\nminimum-compute-groups 2\ngroup G\ngroup H\nop a\nop b\nsame-group a b\n"},
      {"never proof never.proof\n",
       "loop x\nmemory M capacity 5\ngroup G registers 9\nop a latency 1 occupies M 2\n"
       "op b latency 1 occupies M 2\nop c latency 1 occupies M 2\nop d\na -> d\nb -> d\nc -> d\n"}};
  for (const auto& [reason, loop] : reasons) {
    const Files files = files_of(problem_of(loop));
    EXPECT_EQ(checked(files).verdict, Verdict::infeasible) << loop;
    EXPECT_NE(files.at("claims").find(reason), std::string::npos) << files.at("claims");
  }
}

// Protects: a certificate that leaves out a combination of alternatives is rejected. So is an
// exchange of ops that are not isomorphic.
TEST(Certificates, CoverEveryCombinationOfAlternatives) {
  Files files = files_of(problem_of(
      "loop x\npipe P\npipe Q\ngroup G registers 9\nop a\n way p uses P 4\n way q uses Q 4\n"
      "op b\n way p uses P 4\n way q uses Q 4\nop c uses P 1\n"));
  EXPECT_EQ(checked(files).values.front(), 5);
  std::string& claims = files.at("claims");
  const std::string good = claims;
  const std::string last = "case a p b p\nat-least interval 9 pipe P\n";
  ASSERT_NE(claims.find(last), std::string::npos) << claims;
  claims.erase(claims.find(last), last.size());
  auto result = certify::check_files(files);
  ASSERT_TRUE(result && result->rejection);
  EXPECT_EQ(result->rejection->reason, "a combination of alternatives is in no case");
  claims = good;
  claims.replace(claims.find("exchange a b"), 12, "exchange a c");
  result = certify::check_files(files);
  ASSERT_TRUE(result && result->rejection);
  EXPECT_NE(result->rejection->reason.find("not alike"), std::string::npos);
}

// Protects: with too many combinations, a certificate claims only facts that hold for all of them.
// An op of a combination may be named like a keyword of the text.
TEST(Certificates, OfTooManyCombinations) {
  std::string text = "loop x\npipe P\npipe Q\ngroup G registers 9\n";
  for (const char* op : {"any", "b", "c", "d", "e"}) {
    text += std::string("op ") + op + "\n way p uses P 4\n way q uses Q 4\n";
  }
  solve::Options options;
  options.most_combinations = 2;
  const Files files = files_of(problem_of(text), options);
  EXPECT_EQ(checked(files).verdict, Verdict::feasible);
  EXPECT_NE(files.at("claims").find("\ncase any\n"), std::string::npos);
  const Files all = files_of(problem_of(text));
  EXPECT_EQ(checked(all).verdict, Verdict::optimal);
  EXPECT_NE(all.at("claims").find("\ncase any p b p"), std::string::npos) << all.at("claims");
}

/// Reason why the certificate of a loop is rejected once a text of its claims is replaced.
std::string rejection(const std::string& loop, const std::string& from, const std::string& to) {
  Files files = files_of(problem_of(loop));
  std::string& claims = files.at("claims");
  const std::size_t at = claims.find(from);
  if (at == std::string::npos) {
    ADD_FAILURE() << "no " << from << " in\n" << claims;
    return {};
  }
  claims.replace(at, from.size(), to);
  const auto result = certify::check_files(files);
  if (!result) return to_string(result.error());
  return result->rejection ? result->rejection->reason : "accepted";
}

// Protects: every kind of witness is added up by the checker.
TEST(Witnesses, AreAddedUp) {
  const std::string unit =
      "loop x\nunit U\nunit V\ngroup G registers 9\nop a on U for 4\nop b on V for 3\n";
  const std::string relaxed = unit + "relax one-stream\n";
  EXPECT_EQ(rejection(relaxed, "interval 4 unit U", "interval 4 unit V"),
            "interval: the reason shows at least 3, not 4");
  EXPECT_EQ(rejection(relaxed, "interval 4 unit U", "interval 4 op b"),
            "interval: the reason shows at least 3, not 4");
  EXPECT_EQ(rejection(relaxed, "interval 4 unit U", "interval 4 op a"), "accepted");
  EXPECT_EQ(rejection(relaxed, "interval 4 unit U", "interval 4 issue a b"),
            "interval 4: the rule one-stream is not in force");
  EXPECT_EQ(rejection(relaxed, "interval 4 unit U", "interval 4 chain a"),
            "interval 4: the reason gives no bound on interval");
  EXPECT_EQ(rejection(unit, "issue a b", "issue a a"), "interval 7: an op stands twice");
  EXPECT_EQ(rejection(unit, "issue a b", "issue a"),
            "interval: the reason shows at least 4, not 7");
  EXPECT_EQ(rejection(unit, "groups 1 apart a", "groups 1 apart a b"),
            "groups 1: a and b may share group G");
  const std::string pipe = "loop x\npipe P\ngroup G registers 9\nop a uses P 4\nop b uses P 3\n";
  EXPECT_EQ(rejection(pipe, "interval 7 pipe P", "interval 8 pipe P"),
            "interval: the reason shows at least 7, not 8");
}

// Protects: paths follow dependences that exist.
TEST(Witnesses, OfPathsFollowDependences) {
  const std::string circuit =
      "loop x\ngroup G registers 9\nop a latency 3\nop b latency 4\nop c latency 9\n"
      "a -> b\nb -> a distance 1\na -> c\n";
  const std::string link = "link b a delay 4 distance 1";
  EXPECT_EQ(rejection(circuit, link, "link b a delay 5 distance 1"),
            "interval 7: there is no dependence b -> a of delay 5 at distance 1");
  EXPECT_EQ(rejection(circuit, link, "link b a delay 4 distance 0"),
            "interval 7: there is no dependence b -> a of delay 4 at distance 0");
  EXPECT_EQ(rejection(circuit, link, "link b a delay 4 distance 2"),
            "interval: the reason shows at least 4, not 7");
  EXPECT_EQ(rejection(circuit, link, "link a c delay 3 distance 0"),
            "interval 7: the path is at b, but goes on from a");
  EXPECT_EQ(rejection(circuit, "  " + link + "\n", ""),
            "interval 7: the circuit does not lead back");
  EXPECT_EQ(rejection(circuit, "at-least length 4 chain a\n  link a b delay 3 distance 0",
                      "at-least length 4 chain c"),
            "length: the reason shows at least 1, not 4");
  EXPECT_EQ(rejection(circuit, "chain a\n", "chain b\n"),
            "length 4: the path is at b, but goes on from a");
}

/// Hash in the claims of a folder.
std::string hash_in(const Files& files, const std::string& folder) {
  std::istringstream in(files.at(folder + "claims"));
  std::string word;
  while (word != "problem") in >> word;
  in >> word >> word;
  return word;
}

/// First lines of `pools`: the input and options from which both Problems were posed. Problems at
/// the fastest rates are posed only if claims mention them.
std::string heading(const Files& files, const std::string& claims) {
  std::string out = "twill-pools 2\ninput " + std::string(64, '0') + "\n";
  const bool fastest = claims.find("at-fastest") != std::string::npos;
  for (const std::string number : {"1", "2"}) {
    const std::string pool = number == "1" ? " one\n" : " two\n";
    out += "posed slowest " + hash_in(files, "pool-" + number + "/") + pool;
    if (fastest) out += "posed fastest " + hash_in(files, "fastest-" + number + "/") + pool;
  }
  return out;
}

/// Makes the certificates of two pools, one per folder, and claims about both.
Files two_pools(const std::string& claims) {
  Files all;
  const std::map<std::string, std::string> loops = {
      {"pool-1/", "loop x\ngroup G\nop a latency 3\na -> a distance 1\n"},
      {"pool-2/", "loop x\ngroup G\ngroup H\nop a latency 4\na -> a distance 1\n"}};
  for (const auto& [folder, loop] : loops) {
    for (const auto& [name, text] : files_of(problem_of(loop))) {
      all.emplace(folder + name, text);
      all.emplace("fastest-" + folder.substr(5) + name, text);
    }
  }
  all.emplace("pools", heading(all, claims) + claims + "pool pool-1 one\npool pool-2 two\nend\n");
  return all;
}

// Protects: a claim about several pools follows from the proofs about each pool.
TEST(Pools, TheBestIsChosen) {
  EXPECT_EQ(checked(two_pools("verdict optimal\nchosen one\n")).verdict, Verdict::optimal);
  const auto rejected = [](const std::string& claims) {
    const auto result = certify::check_files(two_pools(claims));
    EXPECT_TRUE(result.has_value());
    return result && result->rejection ? result->rejection->reason : "";
  };
  EXPECT_EQ(rejected("verdict optimal\nchosen two\n"),
            "better: pool one may have a better schedule");
  EXPECT_EQ(rejected("verdict optimal\nchosen three\n"), "chosen: the chosen pool has no schedule");
  EXPECT_EQ(rejected("verdict infeasible\n"), "infeasible: pool one is not known to be infeasible");
  EXPECT_EQ(rejected("verdict undecided\nchosen one\n"),
            "chosen: a pool is chosen, but there is no schedule");
  // Serves the certificates of the pools as those at the fastest rates as well.
  const std::string fastest = "at-fastest fastest-1 one\nat-fastest fastest-2 two\n";
  EXPECT_EQ(checked(two_pools("verdict optimal\nchosen one\nfastest 3\n" + fastest)).verdict,
            Verdict::optimal);
  EXPECT_EQ(rejected("verdict optimal\nchosen one\nfastest 4\n" + fastest),
            "fastest: pool one is only known to need 3");
  EXPECT_EQ(rejected("verdict optimal\nchosen one\nfastest 3\n"),
            "fastest: an interval at the fastest rates and its certificates go together");
}

// Protects: a pool of another loop, or a schedule that is faster than the fastest rates allow, has
// no place in the claim.
TEST(Pools, AreAboutOneLoop) {
  const auto rejection_of = [](const Files& files) {
    const auto result = certify::check_files(files);
    EXPECT_TRUE(result.has_value());
    return result && result->rejection ? result->rejection->reason : "";
  };
  // Puts another certificate into a folder, and the hash of its problem into `pools`.
  const auto put = [](Files& files, const std::string& folder, const std::string& loop) {
    const std::string before = hash_in(files, folder);
    for (const auto& [name, text] : files_of(problem_of(loop))) files[folder + name] = text;
    const std::string rate = folder.starts_with("pool") ? "slowest " : "fastest ";
    std::string& pools = files["pools"];
    pools.replace(pools.find(rate + before), rate.size() + before.size(),
                  rate + hash_in(files, folder));
  };
  const std::string fastest = "at-fastest fastest-1 one\nat-fastest fastest-2 two\n";
  const std::string other = "loop y\ngroup G\nop a latency 3\na -> a distance 1\n";
  Files files = two_pools("verdict optimal\nchosen one\n");
  put(files, "pool-2/", other);
  EXPECT_EQ(rejection_of(files), "loop: pool-2 is about another loop than the first pool");
  files = two_pools("verdict optimal\nchosen one\nfastest 3\n" + fastest);
  put(files, "fastest-2/", other);
  EXPECT_EQ(rejection_of(files), "loop: fastest-2 is about another loop than the first pool");
  files = two_pools("verdict optimal\nchosen one\nfastest 4\n" + fastest);
  for (const std::string folder : {"fastest-1/", "fastest-2/"}) {
    put(files, folder, "loop x\ngroup G\nop a latency 9\na -> a distance 1\n");
  }
  EXPECT_EQ(rejection_of(files),
            "fastest: a schedule of a pool has an interval of 3, less than at its fastest");
}

// Protects: a certificate of one pool cannot stand for another pool's, and no pool can be left out.
TEST(Pools, AreThoseThatWerePosed) {
  const auto rejection_of = [](const Files& files) {
    const auto result = certify::check_files(files);
    EXPECT_TRUE(result.has_value());
    return result && result->rejection ? result->rejection->reason.substr(0, 30) : "";
  };
  const std::string claims =
      "verdict optimal\nchosen one\nfastest 3\nat-fastest fastest-1 one\n"
      "at-fastest fastest-2 two\n";
  const Files good = two_pools(claims);
  EXPECT_EQ(rejection_of(good), "");
  const auto edited = [&](const std::string& what, const std::string& with) {
    Files files = good;
    std::string& pools = files["pools"];
    EXPECT_NE(pools.find(what), std::string::npos);
    return pools.replace(pools.find(what), what.size(), with), files;
  };
  EXPECT_EQ(rejection_of(edited("at-fastest fastest-2 two\n", "")),
            "whole: there is no claim about");
  EXPECT_EQ(rejection_of(edited("pool-1 one\npool pool-2 two", "pool-2 one\npool pool-1 two")),
            "posed: pool-2 is about the pro");
  EXPECT_EQ(rejection_of(edited("pool-2 two", "pool-2 three")), "posed: pool three is not posed");
  EXPECT_EQ(rejection_of(edited("fastest 3\n", "")), "fastest: there are certificate");
}

// Protects: options that change the optimum are stated.
TEST(Pools, SayTheirOptions) {
  certify::PoolClaims claims;
  EXPECT_EQ(certify::lines_of(claims).front(), "costs      every op at its slowest");
  claims.from.options = {{"subtile", "0"}, {"pool", "2x64"}, {"hand-offs", ""}};
  EXPECT_EQ(certify::lines_of(claims).front(), "options    --subtile 0 --pool 2x64 --hand-offs");
}

// Protects: a text that is no file `pools`, or has another format version, is refused with a
// remedy.
TEST(Pools, AreReadWithCare) {
  const auto error_of = [](const std::string& text) {
    const auto read = certify::parse_pools(text, "pools");
    return read ? "" : read.error().message;
  };
  const std::string input = "input " + std::string(64, '0') + "\n";
  EXPECT_EQ(error_of("twill-pools 1\nend\n"),
            "it has version 1 of the format, and this Twill reads version 2; `twill schedule "
            "--certificate` writes that");
  EXPECT_EQ(error_of("twill-pools 2\n" + input + "pool a one\npool b one\nend\n"),
            "pool 'one' is listed twice");
  EXPECT_EQ(error_of("twill-pools 2\nend\n"), "there is no line `input`");
  EXPECT_EQ(error_of("twill-pools 2\n" + input + input), "there is a line `input` already");
  EXPECT_EQ(error_of("twill-pools 2\ninput 12\n"), "'12' is no SHA-256 in hexadecimal digits");
  EXPECT_EQ(error_of("twill-pools 2\nposed slow 12 one\n"),
            "'slow' is neither `fastest` nor `slowest`");
  // A repeated claim is refused: either of the two could be meant.
  for (const std::string line :
       {"rate slowest", "verdict optimal", "chosen one", "fastest 3", "machine"}) {
    const std::string hash = line == "machine" ? " " + std::string(64, '0') + " h200" : "";
    const std::string twice = line + hash + "\n" + line + hash + "\nend\n";
    EXPECT_EQ(error_of("twill-pools 2\n" + input + twice),
              "there is a line `" + line.substr(0, line.find(' ')) + "` already");
  }
  EXPECT_EQ(error_of("twill-pools 2\n" + input + "option subtile 0\noption subtile 64\nend\n"),
            "option 'subtile' is listed twice");
  EXPECT_EQ(error_of("twill-pools 2\n" + input + "rate quick\nend\n"),
            "'quick' is neither `fastest` nor `slowest`");
}

// Protects: for a pool that is not chosen, a bound at or above the answer suffices. A false claim
// that a pool is beaten is rejected.
TEST(Pools, MayBeBeatenWithoutAnAnswer) {
  const Problem problem = bundled("fwd_h1");
  const schedule::Answer best = solve::solve(problem);
  std::vector<std::int64_t> values;
  for (const schedule::ObjectiveValue& it : best.objectives) values.push_back(it.value);
  const auto nothing = certify_nothing_better(problem, values, {});
  ASSERT_TRUE(nothing) << nothing.error();
  EXPECT_TRUE(nothing->complete);
  EXPECT_EQ(nothing->checked.nothing_below, values);
  EXPECT_TRUE(nothing->checked.values.empty());
  Files files = certify::print_certificate(nothing->certificate);
  EXPECT_EQ(checked(files).nothing_below, values);
  ++values.back();
  EXPECT_EQ(certify_nothing_better(problem, values, {}).error(),
            "there is a schedule that the answer claims impossible");
  std::string& claims = files.at("claims");
  const std::string value = "value length " + std::to_string(values.back() - 1);
  ASSERT_NE(claims.find(value), std::string::npos);
  claims.replace(claims.find(value), value.size(), "value length " + std::to_string(values.back()));
  const auto forged = certify::check_files(files);
  ASSERT_TRUE(forged && forged->rejection);
  EXPECT_EQ(forged->rejection->reason, "case 1: a better schedule is not ruled out");
}

// Protects: if a limit ends the search for proofs, the certificate has fewer claims and is
// accepted.
TEST(Prove, WhatALimitEndsIsClaimedLess) {
  const Problem problem = bundled("fwd_h2");
  const schedule::Answer best = solve::solve(problem);
  ASSERT_EQ(best.verdict, Verdict::optimal);
  solve::Options little;
  little.work_limit = 1;
  const auto written = certify(problem, best, little);
  ASSERT_TRUE(written) << written.error();
  EXPECT_FALSE(written->complete);
  EXPECT_EQ(written->checked.verdict, Verdict::feasible);
  EXPECT_EQ(checked(certify::print_certificate(written->certificate)).verdict, Verdict::feasible);
}

/// Makes a certificate by hand, with the hash and the rules that it should have.
Files forged(const std::string& loop, const std::string& claims, Files proofs) {
  const Problem problem = problem_of(loop);
  std::string rules;
  for (const std::string& rule : certify::rules_of(problem)) rules += " " + rule;
  proofs["problem.loop"] = loop;
  proofs["claims"] = "twill-certificate 1\nproblem " + problem.name() + " " +
                     schedule::problem_hash(problem) + "\nrules" + rules + "\n" + claims + "end\n";
  return proofs;
}

std::string reason_against(const Files& files) {
  const auto result = certify::check_files(files);
  if (!result) return to_string(result.error());
  return result->rejection ? result->rejection->reason : "";
}

// Protects: a pipe that only the store of a transfer op uses counts towards the interval that
// decides feasibility. 20 does not decide.
TEST(Forged, AnIntervalThatDoesNotDecide) {
  const std::string loop =
      "loop pipe\nminimum-compute-groups 2\npipe P\ngroup A registers 8\ngroup B registers 8\n\n"
      "op v latency 1 issue 1 registers 1\nop r issue 1\nop s issue 1 uses P 100\n"
      "op l issue 1 registers 1\n\nv -> r\n\nhand-off v store s load l for r\n";
  const std::string proof =
      "twill-proof 1\ninterval 20\nanchor v\nrefute everything\nv used B\nv same v r\n"
      "v exists s\no compute-groups 1\no pipe P\nend\n";
  EXPECT_EQ(reason_against(forged(loop, "verdict infeasible\ncase\nnever proof never.proof\n",
                                  {{"never.proof", proof}})),
            "an interval of 20 decides nothing, one of 100 would");
}

// Protects: search and checker agree where the rule `pipe` is relaxed, so that no pipe counts.
TEST(Prove, NoScheduleWherePipesDoNotCount) {
  const Problem loop = problem_of(
      "loop rp\nrelax pipe\npipe P\nmemory M capacity 10\ngroup A registers 8\n"
      "op a latency 1 issue 1 occupies M 6 uses P 1000\nop b latency 1 issue 1 occupies M 6\n"
      "op c issue 1\na -> c\nb -> c\n");
  EXPECT_EQ(checked(files_of(loop)).verdict, Verdict::infeasible);
}

// Protects: a transferred value does not live for the readers that have a load.
TEST(Forged, AReaderAbroadThatHasALoad) {
  const std::string loop =
      "loop abroad\nminimum-compute-groups 2\ngroup A registers 8\ngroup B registers 8\n\n"
      "op v latency 1 issue 1 registers 4\nop r issue 1\nop s issue 1 latency 1\n"
      "op l issue 1 latency 1\n\nv -> r read-hold 50\n\nhand-off v store s load l for r\n";
  const std::string proof =
      "twill-proof 1\ninterval 19\nanchor v\nrefute everything\nv used B\nv leaves v A\n"
      "o compute-groups 1\no register-time A\nend\n";
  EXPECT_EQ(
      reason_against(forged(loop, "verdict undecided\ncase\nat-least interval 20 proof i.proof\n",
                            {{"i.proof", proof}})),
      "the sum does not overflow: register-time A");
}

// Protects against overflow: a claim makes distances larger again and again, until the sum wraps.
TEST(Forged, APathThatOverflows) {
  const std::string loop =
      "loop chain\nunit U\ngroup A registers 8\n\nop a on U for 1000000000\nop b issue 0\n\n"
      "a -> b\na -> a distance 1 delay 0\n\nschedule interval 1000000000\n  a at 0 in A\n"
      "  b at 1000777777 in A\n";
  std::string claims =
      "verdict optimal\nvalue interval 1000000000\nvalue groups 1\nvalue crossings 0\n"
      "value length 1000777778\ncase\nat-least interval 1000000000 unit U\n"
      "at-least groups 1 trivial\nat-least crossings 0 trivial\n"
      "at-least length 1000777778 chain a\n";
  for (int i = 0; i < 8797; ++i) claims += "  link a a delay 0 distance 1048576\n";
  EXPECT_THAT(reason_against(forged(loop, claims, {})), testing::HasSubstr("the path is too long"));
}

// Protects: a depth beyond every real depth exhausts neither stack nor time.
TEST(Forged, ADepthBeyondCounting) {
  const std::string loop =
      "loop deep\nmemory M capacity 1000000000\nunit U\ngroup A registers 8\n\n"
      "op a on U for 2 occupies M 1\nop b on U for 2\n\na -> b\n";
  for (const char* depth : {"10000", "10001", "100000", "1000000000"}) {
    const std::string proof =
        "twill-proof 1\ninterval 4\nanchor a\nrefute everything\nv deep a M " + std::string(depth) +
        "\no depth a M\nend\n";
    EXPECT_NE(
        reason_against(forged(loop, "verdict undecided\ncase\nat-least interval 5 proof i.proof\n",
                              {{"i.proof", proof}})),
        "");
  }
}

// Protects: a limit was kept for good and proved too tight. Clauses learned under the limit are
// part of the proof.
TEST(Prove, LimitsThatCannotBeKeptAreProven) {
  const Problem loop = problem_of(
      "loop lseonly\npipe MUFU\ngroup MMA warps 1\ngroup WG0\ngroup WG1 registers 212\n"
      "op mma latency 318 issue 8 warps 1\nop scale latency 128 issue 128 registers 128\n"
      "op row_max latency 171 issue 128 registers 1\n"
      "op vec_max latency 5 issue 1\n"
      "op sub latency 128 issue 128 registers 128\n"
      "op exp2 registers 128\n"
      "  way exp2 latency 820 issue 128 uses MUFU 1024\n"
      "  way exp2_quarter_fma latency 576 issue 352\n"
      "op row_sum latency 128 issue 128 registers 1\n"
      "op vec_sub_exp2_add latency 12 issue 4\n"
      "scale -> row_max\n"
      "row_max -> vec_max\n"
      "scale -> sub\n"
      "sub -> exp2\n"
      "exp2 -> row_sum\n"
      "row_sum -> vec_sub_exp2_add transfer 68\n");
  EXPECT_EQ(checked(files_of(loop)).verdict, Verdict::optimal);
}

}  // namespace
}  // namespace twill::prove
