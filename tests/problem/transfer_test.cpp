#include "twill/problem/transfer.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "problem/parts.h"
// Protects transfers of a Problem. Their dependences follow from the transfer and are made once.
// Residual problems, and the common part of all choices of groups, are ordinary Problems. Nonsense
// is refused with the transfer, dependence or set that is to blame.
namespace twill::problem {
namespace {

Op op(std::string name, int registers = 0) {
  Op it;
  it.name = std::move(name);
  it.alternatives.push_back({"", std::nullopt, 0, 1, 1, {}});
  it.registers = registers;
  return it;
}

constexpr std::size_t kValue = 0;
constexpr std::size_t kReader = 1;
constexpr std::size_t kOther = 2;
constexpr std::size_t kPut = 3;
constexpr std::size_t kGet = 4;
constexpr std::size_t kGetOther = 5;

/// Makes a value with two readers, each of which may be in another group.
Parts good_transfer() {
  Parts parts;
  parts.name = "good";
  parts.memories = {{"SMEM", 100}};
  parts.groups = {{"G", 4, 9, false}, {"H", 4, 9, false}, {"L", 4, 0, true}};
  parts.ops = {op("value", 2), op("reader"), op("other"),
               op("put"),      op("get", 2), op("get_other", 2)};
  parts.ops[kPut].footprint = {{MemoryId(0), 64}};
  parts.dependences = {edge(kValue, kReader), edge(kValue, kOther)};
  parts.dependences[0].distance = 1;
  parts.dependences[0].blocking = true;
  parts.dependences[1].in_place = true;
  parts.transfers = {
      {OpId(kValue), OpId(kPut), {{OpId(kGet), OpId(kReader)}, {OpId(kGetOther), OpId(kOther)}}}};
  return parts;
}

Problem posed(Parts parts) {
  Result<Problem> problem = pose(std::move(parts));
  if (!problem) ADD_FAILURE() << to_string(problem.error());
  return *std::move(problem);
}

std::vector<std::string> names(const Problem& problem) {
  std::vector<std::string> out;
  for (const Op& it : problem.ops()) out.push_back(it.name);
  return out;
}

TEST(Transfers, MakeTheirDependences) {
  const Problem problem = posed(good_transfer());
  ASSERT_EQ(problem.dependences().size(), 7U);
  const auto made = problem.dependences().subspan(2);
  EXPECT_EQ(made[0].from, OpId(kValue));
  EXPECT_EQ(made[0].to, OpId(kPut));
  EXPECT_TRUE(made[0].blocking);  // one reader of the value blocks
  EXPECT_EQ(made[1].to, OpId(kGet));
  EXPECT_EQ(made[1].distance, 1);
  EXPECT_TRUE(made[1].blocking);
  EXPECT_EQ(made[2].to, OpId(kReader));
  EXPECT_EQ(made[2].distance, 0);
  EXPECT_FALSE(made[2].in_place);
  EXPECT_TRUE(made[4].in_place);
  EXPECT_EQ(posed(problem.parts()), problem) << "posed again, nothing is made twice";
}

TEST(Transfers, AreThereIfTheGroupsDiffer) {
  const Problem problem = posed(good_transfer());
  const GroupId g(0);
  const GroupId h(1);
  const auto left = [&](GroupId value, GroupId reader, GroupId other) {
    return residual_of(problem, {value, reader, other, value, reader, other});
  };
  EXPECT_EQ(names(left(g, g, g).problem), (std::vector<std::string>{"value", "reader", "other"}));
  EXPECT_EQ(names(left(g, h, g).problem),
            (std::vector<std::string>{"value", "reader", "other", "put", "get"}));
  EXPECT_EQ(left(g, g, h).ops, (std::vector<OpId>{OpId(0), OpId(1), OpId(2), OpId(3), OpId(5)}));
  EXPECT_EQ(left(g, h, h).problem.ops().size(), 6U);
  EXPECT_TRUE(left(g, h, h).problem.transfers().empty());

  const Residual one = left(g, h, g);
  for (const Dependence& it : one.problem.dependences()) {
    const bool direct = it.from == OpId(kValue) && it.to == OpId(kReader);
    EXPECT_EQ(it.carries_value, !direct);  // the value goes by store and load, the order stays
  }
}

TEST(Transfers, LeaveACommonPart) {
  const Residual part = common_part(posed(good_transfer()));
  EXPECT_EQ(names(part.problem), (std::vector<std::string>{"value", "reader", "other"}));
  for (const Dependence& it : part.problem.dependences()) EXPECT_FALSE(it.carries_value);
}

struct TransferRefusal {
  std::string label;
  std::function<void(Parts&)> spoil;
  Part part;
  std::size_t index;
  std::string says;
};

void PrintTo(const TransferRefusal& refusal, std::ostream* out) { *out << refusal.label; }

class RefusedTransfer : public testing::TestWithParam<TransferRefusal> {};

TEST_P(RefusedTransfer, NamesWhatIsToBlame) {
  const TransferRefusal& refusal = GetParam();
  Parts parts = good_transfer();
  refusal.spoil(parts);
  const std::optional<Objection> objection = objection_to(parts);
  ASSERT_TRUE(objection);
  EXPECT_EQ(objection->part, refusal.part);
  EXPECT_EQ(objection->index, refusal.index);
  EXPECT_NE(objection->message.find(refusal.says), std::string::npos) << objection->message;
  EXPECT_FALSE(objection->hint.empty());
  EXPECT_FALSE(pose(std::move(parts)));
}

Transfer& first(Parts& parts) { return parts.transfers[0]; }

const std::vector<TransferRefusal> kRefusals = {
    {"no_load", [](Parts& p) { first(p).loads.clear(); }, Part::transfer, 0, "without a load"},
    {"no_such_op", [](Parts& p) { first(p).store = OpId(9); }, Part::transfer, 0, "does not exist"},
    {"store_is_load", [](Parts& p) { first(p).loads[0].op = OpId(kPut); }, Part::transfer, 0,
     "'put' stands twice"},
    {"two_loads_for_one", [](Parts& p) { first(p).loads[1].reader = OpId(kReader); },
     Part::transfer, 0, "two loads"},
    {"value_is_store", [](Parts& p) { first(p).value = OpId(kPut); }, Part::transfer, 0,
     "itself the store or load"},
    {"twice",
     [](Parts& p) {
       p.ops.push_back(op("put2"));
       p.ops.push_back(op("get2"));
       p.transfers.push_back({OpId(kValue), OpId(6), {{OpId(7), OpId(kOther)}}});
     },
     Part::transfer, 1, "transferred twice"},
    {"store_with_registers", [](Parts& p) { p.ops[kPut].registers = 1; }, Part::transfer, 0,
     "result in registers"},
    {"store_of_other_width", [](Parts& p) { p.ops[kPut].warps = 8; }, Part::transfer, 0,
     "not as wide"},
    {"load_with_ways",
     [](Parts& p) {
       p.ops[kGet].alternatives = {{"x", {}, 0, 1, 1, {}}, {"y", {}, 0, 1, 1, {}}};
     },
     Part::transfer, 0, "several alternatives"},
    {"load_of_variable_latency", [](Parts& p) { p.ops[kGet].variable_latency = true; },
     Part::transfer, 0, "variable latency"},
    {"value_of_load_group", [](Parts& p) { p.ops[kValue].variable_latency = true; }, Part::transfer,
     0, "variable latency"},
    {"reader_of_other_width", [](Parts& p) { p.ops[kReader].warps = p.ops[kGet].warps = 8; },
     Part::transfer, 0, "another width"},
    {"transfer", [](Parts& p) { p.dependences[0].transfer = 1; }, Part::transfer, 0,
     "a delay of its own for a transfer"},
    {"load_where_it_is_updated_in_place",
     [](Parts& p) {
       p.ops[kOther].footprint = {{MemoryId(0), 1}};
       p.ops[kGetOther].footprint = {{MemoryId(0), 2}};
     },
     Part::transfer, 0, "the load 'get_other' occupies a memory"},
    {"no_dependence", [](Parts& p) { p.dependences.erase(p.dependences.begin()); }, Part::transfer,
     0, "no dependence"},
    {"two_dependences", [](Parts& p) { p.dependences.push_back(edge(kValue, kReader)); },
     Part::transfer, 0, "several dependences"},
    {"dependence_of_a_store", [](Parts& p) { p.dependences.push_back(edge(kReader, kPut)); },
     Part::dependence, 2, "'reader' -> 'put'"},
    {"same_group",
     [](Parts& p) {
       p.same_group = {{OpId(kReader), OpId(kPut)}};
     },
     Part::same_group, 0, "'put' is a store or load"},
};

INSTANTIATE_TEST_SUITE_P(Transfers, RefusedTransfer, testing::ValuesIn(kRefusals),
                         [](const auto& test) { return test.param.label; });

}  // namespace
}  // namespace twill::problem
