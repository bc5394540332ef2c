#include "twill/schedule/problem_json.h"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "twill/problem/problem.h"
#include "twill/schedule/loop_text.h"

namespace twill::schedule {
namespace {

std::string json_of(const std::string& text) {
  const Result<LoopText> loop = parse_loop(text, "test.loop");
  if (!loop) ADD_FAILURE() << to_string(loop.error());
  return problem_json(loop->problem);
}

constexpr const char* kText = R"(loop small
relax one-stream
unit TC
pipe ALU
memory SMEM capacity 100
group WG0 registers 208
op mma on TC for 8 latency 9 occupies SMEM 7 async
  source "mma @ 3:4"
op exp registers 5
  way mufu on TC for 2 uses ALU 3
  way poly latency 4
mma -> exp distance 1 delay 6 blocking transfer 5
exp -> mma read-hold 2
same-group exp mma
)";

// Protects the format that other tools read (docs/reference/problem-json.md): every key, in order.
TEST(ProblemJson, IsWhatTheReferenceDescribes) {
  const nlohmann::ordered_json json = nlohmann::ordered_json::parse(json_of(kText));
  nlohmann::ordered_json expected = nlohmann::ordered_json::parse(R"({
    "format": "twill-problem", "version": 2, "name": "small", "hash": "?",
    "relaxed": ["one-stream"], "objectives": ["groups", "crossings", "length"],
    "minimum_compute_groups": 1,
    "units": [{"name": "TC"}], "pipes": [{"name": "ALU", "port": false}],
    "memories": [{"name": "SMEM", "capacity": 100}],
    "groups": [{"name": "WG0", "warps": 4, "registers": 208, "loads": false}],
    "ops": [
      {"name": "mma", "warps": 4, "registers": 0, "footprint": [{"memory": "SMEM", "amount": 7}],
       "asynchronous": true, "variable_latency": false, "streaming": false,
       "alternatives": [{"name": "", "unit": "TC", "occupancy": 8, "latency": 9, "issue": 1, "pipes": []}],
       "source": ["mma @ 3:4"]},
      {"name": "exp", "warps": 4, "registers": 5, "footprint": [],
       "asynchronous": false, "variable_latency": false, "streaming": false,
       "alternatives": [{"name": "mufu", "unit": "TC", "occupancy": 2, "latency": 2, "issue": 2,
                 "pipes": [{"pipe": "ALU", "demand": 3}]},
                {"name": "poly", "unit": null, "occupancy": 0, "latency": 4, "issue": 0,
                 "pipes": []}],
       "source": []}],
    "dependences": [
      {"from": "mma", "to": "exp", "distance": 1, "delay": 6, "blocking": true,
       "carries_value": true, "read_hold": null, "in_place": false, "transfer": 5},
      {"from": "exp", "to": "mma", "distance": 0, "delay": null, "blocking": false,
       "carries_value": true, "read_hold": 2, "in_place": false, "transfer": 0}],
    "same_group": [["mma", "exp"]],
    "transfers": []
  })");
  expected["hash"] = problem_hash(parse_loop(kText, "test.loop")->problem);
  EXPECT_EQ(json.dump(1), expected.dump(1));
}

TEST(ProblemJson, ListsTransfers) {
  const auto json = nlohmann::ordered_json::parse(
      json_of("loop x\ngroup G registers 9\ngroup H registers 9\nop a registers 1\nop b\nop put\n"
              "op get registers 1\na -> b\nhand-off a store put load get for b\n"));
  EXPECT_EQ(json["transfers"].dump(),
            R"([{"value":"a","store":"put","loads":[{"load":"get","reader":"b"}]}])");
  EXPECT_EQ(json["dependences"].size(), 4U) << "with those of store and load";
}

TEST(ProblemJson, ListsRegisterBudgets) {
  const auto json = nlohmann::ordered_json::parse(
      json_of("loop x\ngroup G\ngroup H\nregister-budget 96 step 8 reserve 28 of H G\nop a\n"));
  EXPECT_EQ(json["register_budgets"].dump(),
            R"([{"groups":["G","H"],"total":96,"step":8,"reserve":28}])");
}

// Protects: source texts come from kernels and may hold any bytes; the output must stay JSON.
TEST(ProblemJson, SurvivesSourcesThatAreNotUtf8) {
  const std::string json = json_of("loop x\ngroup G\nop a\n  source \"\\xff \xc3(\"\n");
  EXPECT_TRUE(nlohmann::json::accept(json)) << json;
  EXPECT_EQ(json.back(), '\n');
}

}  // namespace
}  // namespace twill::schedule
