// Protects: a certificate is about one input on one machine. Swapping, dropping, renaming or
// changing a part is rejected with the rule that it breaks, or weakens the claim visibly. A
// certificate never changes the answer.

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "driver/request.h"
#include "twill/certify/pools.h"
#include "twill/report/summary.h"
#include "twill/schedule/loop_text.h"
#include "twill/support/sha256.h"

namespace twill::driver {
namespace {

using certify::Files;

Input bundled(const std::string& path) { return request_for(path).input; }

Request limited_request(const std::string& path) {
  Request request = request_for(path);
  request.limits.work_limit = 30'000'000;
  return request;
}

const std::string kKernel = "kernels/fa_bwd_dq/sm_100/m128n64d128.pre.ttgir";
const std::string kOther = "kernels/gemm/sm_100/tma_128x128x64.pre.ttgir";

/// The certificate of the kernel, made once.
const Files& good() {
  static const Files files = [] {
    auto certified = certify_loop(limited_request(kKernel));
    EXPECT_TRUE(certified.has_value());
    return certified ? std::move(certified->certificate) : Files();
  }();
  return files;
}

/// Objection of the check to the files, for this input and machine: "posed: ..."; empty without an
/// objection.
std::string objection(const Files& files, const std::string& path = kKernel,
                      const std::string& machine = "b200") {
  const auto checked = check_certificate(files, bundled(path), machine);
  if (!checked) return "error: " + checked.error().message;
  return checked->rejection ? checked->rejection->reason : "";
}

std::string rule(const std::string& objection) { return objection.substr(0, objection.find(':')); }

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

Files with(const std::string& file, const std::string& what, const std::string& by) {
  Files files = good();
  files.at(file) = replaced(files.at(file), what, by);
  return files;
}

/// The lines of `pools` that begin with the word.
std::vector<std::string> lines_of(const Files& files, const std::string& word) {
  std::vector<std::string> lines;
  std::istringstream in(files.at("pools"));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(word + " ")) lines.push_back(line);
  }
  return lines;
}

TEST(Certificates, AreAboutOneInputAndMachine) {
  EXPECT_EQ(objection(good()), "");
  EXPECT_EQ(rule(objection(good(), kOther)), "input");
  EXPECT_EQ(rule(objection(good(), kKernel, "h200")), "error");  // no sm_90 kernel
  const auto unchecked = certify::check_files(good());
  ASSERT_TRUE(unchecked && !unchecked->rejection);
  EXPECT_NE(unchecked->lines.back().find("input not checked"), std::string::npos);
}

// The same machine with another cost, under its old name.
TEST(Certificates, AreAboutTheCostsOfTheMachine) {
  const Input b200 = bundled("machines/b200.json");
  const std::string file = testing::TempDir() + "twill_certificate_b200.json";
  std::ofstream(file) << b200.text << "\n";
  EXPECT_EQ(rule(objection(good(), kKernel, file)), "machine");
}

TEST(Certificates, OfThePoolsThatWerePosed) {
  const std::vector<std::string> pools = lines_of(good(), "pool");
  const std::vector<std::string> fastest = lines_of(good(), "at-fastest");
  const std::vector<std::string> posed = lines_of(good(), "posed");
  ASSERT_FALSE(pools.empty());
  ASSERT_GE(posed.size(), 4U);  // several pools at both rates
  const std::vector<std::string>& all = fastest.empty() ? pools : fastest;
  ASSERT_GE(all.size(), 2U);
  for (const std::string& line : all) {  // drops a pool
    if (line == pools.front() && fastest.empty()) continue;
    const std::string found = rule(objection(with("pools", line + "\n", "")));
    EXPECT_TRUE(found == "whole" || found == "chosen") << line << " " << found;
  }
  for (const std::string& line : posed) {  // drops a Problem, or replaces it by another
    const std::string found = rule(objection(with("pools", line + "\n", "")));
    EXPECT_TRUE(found == "anew") << line << " " << found;
    Files files = good();
    std::string other = line;
    other[line.find(' ', 7) + 1] = line[line.find(' ', 7) + 1] == '0' ? '1' : '0';
    files.at("pools") = replaced(files.at("pools"), line, other);
    EXPECT_EQ(rule(objection(files)), "anew") << line;
  }
  // Exchanges two folders: claims proven of one pool are no proof for another.
  const auto folder_of = [](const std::string& line) {
    const std::size_t begin = line.find(' ') + 1;
    return line.substr(begin, line.find(' ', begin) - begin);
  };
  Files swapped;
  const std::string one = folder_of(all[0]);
  const std::string two = folder_of(all[1]);
  for (const auto& [name, text] : good()) {
    std::string to = name;
    if (name.starts_with(one + "/")) to = two + name.substr(one.size());
    if (name.starts_with(two + "/")) to = one + name.substr(two.size());
    swapped[to] = text;
  }
  EXPECT_EQ(rule(objection(swapped)), "posed");
  const auto without_input = certify::check_files(swapped);
  ASSERT_TRUE(without_input && without_input->rejection);
  EXPECT_EQ(rule(without_input->rejection->reason), "posed");
}

// Edits every Problem, and corrects all hashes: only a check that poses the Problem again can
// object.
TEST(Certificates, OfProblemsThatWereEdited) {
  const std::map<std::string, std::string> edits = {{"loop fa_", "loop fb_"},
                                                    {" latency ", " latency 1"}};
  for (const auto& [what, by] : edits) {
    Files files = good();
    for (const auto& [name, text] : good()) {
      if (!name.ends_with("problem.loop")) continue;
      const auto before = schedule::parse_loop(text, name);
      const std::string edited = replaced(text, what, by);
      const auto after = schedule::parse_loop(edited, name);
      ASSERT_TRUE(before && after) << edited;
      const std::string old_hash = schedule::problem_hash(before->problem);
      const std::string new_hash = schedule::problem_hash(after->problem);
      files.at(name) = edited;
      std::string& claims = files.at(name.substr(0, name.find('/')) + "/claims");
      claims = replaced(claims, before->problem.name() + " " + old_hash,
                        after->problem.name() + " " + new_hash);
      files.at("pools") = replaced(files.at("pools"), old_hash, new_hash);
    }
    EXPECT_EQ(rule(objection(files)), "anew") << what;
  }
}

TEST(Certificates, OfOtherOptionsAreOfOtherProblems) {
  const std::string verdict = lines_of(good(), "verdict").front();
  for (const std::string option :
       {"subtile 64", "transfer-ops", "spare-registers 64", "normalize 300"}) {
    const std::string found =
        rule(objection(with("pools", verdict, "option " + option + "\n" + verdict)));
    EXPECT_EQ(found, "anew") << option;
  }
  EXPECT_EQ(objection(with("pools", verdict, "option colour blue\n" + verdict)),
            "error: there is no option 'colour blue' that changes what is posed");
}

TEST(Certificates, OfBoundsThatAreForeign) {
  const std::string fastest = lines_of(good(), "fastest").front();
  EXPECT_EQ(rule(objection(with("pools", fastest, "fastest 99999"))), "fastest");
  const std::string chosen = lines_of(good(), "chosen").front();
  EXPECT_EQ(rule(objection(with("pools", chosen, "chosen none"))), "chosen");
  const std::string rate = lines_of(good(), "rate").front();
  const std::string other = rate == "rate slowest" ? "rate fastest" : "rate slowest";
  EXPECT_NE(objection(with("pools", rate, other)), "");
}

// Protects: no line of `pools` stands there twice, since a reader could take either.
TEST(Certificates, HaveEveryLineOnce) {
  std::istringstream in(good().at("pools"));
  for (std::string line; std::getline(in, line);) {
    const std::string twice = line + "\n" + line + "\n";
    EXPECT_EQ(rule(objection(with("pools", line + "\n", twice))), "error") << line;
  }
}

// Protects: options that change the posed Problems are recorded, and used when posing again.
TEST(Certificates, RecordTheOptionsThatTheyArePosedWith) {
  for (const int kind : {0, 1, 2, 3}) {
    Request request = limited_request(kOther);
    if (kind == 0) request.subtile = 0;
    if (kind == 1) request.normalize = problem::Normalization{200, problem::NormalForm::repaired};
    if (kind == 2) request.pool = "1x128";
    if (kind == 3) request.loop = "0";
    auto certified = certify_loop(request);
    if (kind == 2 && !certified) continue;  // the machine has no such pool
    ASSERT_TRUE(certified.has_value()) << kind << certified.error().message;
    EXPECT_EQ(objection(certified->certificate, kOther), "") << kind;
    EXPECT_EQ(lines_of(certified->certificate, "option").size(), 1U) << kind;
  }
}

TEST(Certificates, OfALoopAreAboutThatText) {
  auto certified = certify_loop(limited_request("loops/fwd_h1.loop"));
  ASSERT_TRUE(certified.has_value());
  EXPECT_EQ(objection(certified->certificate, "loops/fwd_h1.loop", ""), "");
  EXPECT_EQ(rule(objection(certified->certificate, "loops/fwd_h2.loop", "")), "anew");
}

// Protects: the answer is the same, byte for byte, with a certificate and without.
TEST(Certificates, DoNotChangeTheAnswer) {
  for (const std::string& path : {kKernel, kOther, std::string("loops/fwd_h1.loop"),
                                  std::string("loops/published/fa3_forward_hopper.loop")}) {
    const Request request = limited_request(path);
    auto plain = schedule_loop(request);
    auto certified = certify_loop(request);
    ASSERT_TRUE(plain && certified) << path;
    EXPECT_EQ(report::summary(*plain, {}), report::summary(certified->outcome, {})) << path;
    EXPECT_TRUE(certified->warnings.empty()) << path;
    EXPECT_EQ(plain->answer.work, certified->outcome.answer.work) << path;
  }
}

}  // namespace
}  // namespace twill::driver
