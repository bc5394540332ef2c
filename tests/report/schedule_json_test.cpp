#include "twill/report/schedule_json.h"

#include <string>

#include <gtest/gtest.h>

#include "twill/schedule/loop_text.h"

namespace twill::report {
namespace {

const char* const kText = R"(loop tiny
unit TC
memory SMEM capacity 100
group VL warps 1 registers 8 loads
group WG0 registers 10
op load warps 1 occupies SMEM 10 issue 1 latency 7 async streaming
op mul on TC for 4 registers 3
op add registers 2 issue 1 latency 1
load -> mul blocking read-hold 3
mul -> add
add -> add distance 1
schedule interval 5
  load at 0 in VL offset SMEM 90
  mul at 0 in WG0
  add at 4 in WG0
)";

Outcome outcome() {
  auto loop = schedule::parse_loop(kText, "tiny.loop");
  if (!loop) throw std::runtime_error(to_string(loop.error()));
  Outcome outcome(loop->problem);
  outcome.input = "tiny.loop";
  outcome.problem_hash = schedule::problem_hash(outcome.problem);
  outcome.problem_text = schedule::print_loop(schedule::loop_text_of(outcome.problem));
  outcome.answer.verdict = schedule::Verdict::feasible;
  outcome.answer.schedule = loop->schedule;
  outcome.timings.solve = 1.25;
  return outcome;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// Protects `twill verify`, which relies on it: printed JSON reads back as the same problem and
// schedule.
TEST(ScheduleJson, RoundTrips) {
  const Outcome printed = outcome();
  const auto read = read_schedule_json(schedule_json(printed, {}), "tiny.json");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->problem, printed.problem);
  EXPECT_EQ(read->schedule, *printed.answer.schedule);
}

// Protects: files that an earlier Twill wrote stay readable.
TEST(ScheduleJson, ReadsTheVersionBefore) {
  const Outcome printed = outcome();
  std::string text = replaced(schedule_json(printed, {}), "\"version\": 2", "\"version\": 1");
  while (text.find("\"alternative\"") != std::string::npos) {
    text = replaced(text, "\"alternative\"", "\"way\"");
  }
  const auto read = read_schedule_json(text, "tiny.json");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->schedule, *printed.answer.schedule);
}

// Protects: seconds differ from run to run, so they appear only on request.
TEST(ScheduleJson, TimingOnlyOnRequest) {
  EXPECT_EQ(schedule_json(outcome(), {}).find("seconds"), std::string::npos);
  EXPECT_NE(schedule_json(outcome(), {0, true}).find("\"solve\": 1.25"), std::string::npos);
}

// Protects: every kind of wrong file is refused with a message and without a crash.
TEST(ScheduleJson, RefusesWhatItCannotTrust) {
  const std::string good = schedule_json(outcome(), {});
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {good.substr(0, good.size() / 2), "not valid JSON"},
      {"{\"version\": 1e999}", "not valid JSON"},
      {"[]", "/format"},
      {replaced(good, "twill-schedule", "other"), "not a schedule"},
      {replaced(good, "\"version\": 2", "\"version\": 99"), "version 99"},
      {replaced(good, "\"hash\": \"", "\"hash\": \"0"), "hash"},
      {replaced(good, "\"group\": \"WG0\"", "\"group\": \"nobody\""), "unknown group 'nobody'"},
      {replaced(good, "\"name\": \"mul\"", "\"name\": \"load\""), "second time"},
      {replaced(good, "\"issue_cycle\": 4", "\"issue_cycle\": 4.5"), "not an integer"},
      {replaced(good, "\"offset\": 90", "\"offset\": \"90\""), "not an integer"},
      {replaced(good, "\"value\": \"load\"", "\"value\": \"store\""), "unknown op 'store'"},
      {replaced(good, "\"initiation_interval\": 5", "\"initiation_interval\": null"),
       "no schedule"},
  };
  for (const auto& [text, message] : wrong) {
    const auto read = read_schedule_json(text, "wrong.json");
    ASSERT_FALSE(read) << message;
    EXPECT_NE(read.error().message.find(message), std::string::npos) << read.error().message;
  }
}

}  // namespace
}  // namespace twill::report
