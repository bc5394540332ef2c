// Any bytes read as a certificate: its files one after the other, each below a line "== NAME". The
// certificate is refused or rejected with a reason, or accepted. If it is accepted, its claims
// about a small loop are what the search finds.

#include <string>

#include "fuzz.h"
#include "twill/certify/certificate.h"
#include "twill/schedule/loop_text.h"
#include "twill/solve/solve.h"

namespace {

using namespace twill;

certify::Files files_of(std::string_view text) {
  certify::Files files;
  std::string* file = nullptr;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with("== ")) {
      file = &files[std::string(line.substr(3))];
    } else if (file != nullptr) {
      *file += std::string(line) + "\n";
    }
  }
  return files;
}

/// Texts that the readers take are printed so that they read back.
void expect_texts(const certify::Files& files) {
  const auto problem = files.find("problem.loop");
  const auto claims = files.find("claims");
  if (problem == files.end() || claims == files.end()) return;
  const auto loop = schedule::parse_loop(problem->second, "problem.loop");
  if (!loop) return;
  if (const auto read = certify::parse_claims(claims->second, "claims", loop->problem)) {
    const std::string printed = certify::print_claims(*read, loop->problem);
    const auto again = certify::parse_claims(printed, "claims", loop->problem);
    fuzz::expect(again && *again == *read, "printed claims read back equal");
  }
  for (const auto& [name, text] : files) {
    const auto read = certify::parse_proof(text, name, loop->problem);
    if (!read) continue;
    const std::string printed = certify::print_proof(*read, loop->problem);
    const auto again = certify::parse_proof(printed, name, loop->problem);
    fuzz::expect(again && certify::print_proof(*again, loop->problem) == printed,
                 "printed proofs read back to the same text");
  }
}

void expect_right(const certify::Files& files, const certify::Checked& checked) {
  const auto problem = files.find("problem.loop");
  if (problem == files.end()) return;  // several pools
  const auto loop = schedule::parse_loop(problem->second, "problem.loop");
  solve::Options options;
  options.work_limit = 3'000'000;
  options.memory_limit = std::size_t{256} << 20;
  const schedule::Answer answer = solve::solve(loop->problem, options);
  if (answer.verdict == schedule::Verdict::infeasible) {
    fuzz::expect(checked.values.empty(), "no schedule is accepted of a loop that has none");
  }
  if (!answer.schedule) return;
  fuzz::expect(checked.verdict != schedule::Verdict::infeasible,
               "no loop with a schedule is accepted as infeasible");
  fuzz::expect(checked.interval_bound <= answer.schedule->initiation_interval,
               "no schedule is faster than an accepted bound");
  if (checked.verdict != schedule::Verdict::optimal) return;
  for (std::size_t i = 0; i < checked.values.size(); ++i) {
    if (checked.values[i] == answer.objectives[i].value) continue;
    fuzz::expect(checked.values[i] < answer.objectives[i].value,
                 "nothing better is found than what is accepted as optimal");
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const certify::Files files = files_of(fuzz::text_of(data, size));
  expect_texts(files);
  const auto checked = certify::check_files(files);
  if (!checked) return fuzz::expect_readable(checked.error()), 0;
  if (checked->rejection) {
    fuzz::expect(!checked->rejection->reason.empty(), "a rejection gives a reason");
    fuzz::expect(checked->rejection->reason.size() < 10'000, "a reason is short");
    return 0;
  }
  expect_right(files, *checked);
  return 0;
}
