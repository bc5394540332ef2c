#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "machine/shipped_machine.h"

// A user's own machine file: each fault is named with its place and the expected entry. Every
// number states its unit and its source.
namespace twill::machine {
namespace {

/// The shipped H200 with one piece of text replaced.
std::string edited(const std::string& from, const std::string& to) {
  std::string text = shipped_text("h200");
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

struct Mistake {
  const char* from;
  const char* to;
  const char* message;
};

TEST(Load, NamesEveryClassOfMistakeWithItsPath) {
  const std::vector<Mistake> mistakes = {
      {"\"target\": \"sm_90\",", "", "the file: the member \"target\" is missing"},
      {"\"target\": \"sm_90\"", "\"target\": 90", "/target: expected a string, found 90"},
      {"\"measured\": true", "\"measured\": 1", "/measured: expected true or false, found 1"},
      {"\"name\": \"h200\"", "\"name\": \"h 200\"",
       "/name: expected a name of letters, digits and '_', a letter first, found 'h 200'"},
      {"\"issue_pipe\"", "\"issue_pipes\"", "/issue_pipes: unknown member"},
      {"\"tensor_unit\": \"TC\"", "\"tensor_unit\": \"TX\"",
       "/tensor_unit: expected one of TC, TMA, found 'TX'"},
      {"\"value\": 132, \"unit\": \"SMs\"", "\"value\": 0, \"unit\": \"SMs\"",
       "/numbers/sm_count/value: expected a number from 1 to 1e+06, found 0"},
      {"\"unit\": \"MHz\"", "\"unit\": \"GHz\"",
       "/numbers/clock: expected the unit \"MHz\", found 'GHz'"},
      {", \"source\": \"sync\"", "", "/numbers/mbarrier_signal: the member \"source\" is missing"},
      {"\"unit\": \"SMs\", \"source\": \"board\"", "\"unit\": \"SMs\", \"source\": \"hearsay\"",
       "/numbers/sm_count/source: no such key in /sources"},
      {"\"name\": \"TMA\"", "\"name\": \"TC\"", "/units: 'TC' occurs twice"},
      {"\"processors\"", "\"levels\"", "/levels: unknown member"},
      {"\"warpgroup\", \"sees\": [\"global\"", "\"warpgroup\", \"sees\": [\"globe\"",
       "/processors/2/sees/0: expected one of global, shared, tensor, register, found 'globe'"},
      {"\"warpgroup\", \"sees\": [\"global\"", "\"warpgroup\", \"sees\": [\"shared\"",
       "/processors/2/sees/1: 'shared' occurs twice"},
      {"{\"name\": \"warp\"", "{\"name\": \"block\"",
       "/processors/3/name: levels stand in order, the outermost first"},
      {"\"on\": \"MUFU\"", "\"on\": \"MUFFIN\"",
       "/operations/exp2/terms/0/on: expected one of occupancy, latency, issue, serial, MUFU, ALU, "
       "FMA, SHUFFLE, SMEM, RF, ISSUE, found 'MUFFIN'"},
      {"\"value\": 4096, \"slow\": 3830", "\"value\": 4096, \"slow\": 5000",
       "/operations/mma/terms/0/slow: faster than \"value\""},
      {"\"value\": 4096, \"slow\": 3830", "\"value\": 0, \"slow\": 3830",
       "/operations/mma/terms/0/value: a rate is at least 1e-06, found 0"},
      {"\"value\": 4096, \"slow\": 3830", "\"value\": 1e-9, \"slow\": 3830",
       "/operations/mma/terms/0/value: a rate is at least 1e-06, found 1e-09"},
      {"\"form\": \"RS\"", "\"form\": \"Rs\"",
       "/operations/mma/terms/4/form: expected one of SS, RS, TS, ST, RT, TT, found 'Rs'"},
      {"\"unit\": \"flop/cycle\"", "\"unit\": \"flop/second\"",
       "/operations/mma/terms/0/unit: expected \"cycle\", \"cycle/X\" or \"X/cycle\" where X is "
       "one "
       "of element, row, byte, flop, a_byte, b_byte, b_byte_row; found 'flop/second'"},
      {"\"default\": {", "\"fallback\": {", "/operations: the operation \"default\" is missing"},
      {"\"unit\": \"TC\",\n      \"asynchronous\": true", "\"unit\": \"TC\"",
       "/operations/mma: work on an exclusive unit is asynchronous: say \"asynchronous\": true"},
      {"{\"setmaxnreg\": 240", "{\"setmaxnreg\": 241",
       "/pools/0/warpgroups/1/setmaxnreg: expected a multiple of 8, found 241"},
      {"{\"setmaxnreg\": 240", "{\"setmaxnreg\": 256",
       "/pools/0/warpgroups: the setmaxnreg sum to 520, but a launch of 384 threads has 504 "
       "to hand out: setmaxnreg would wait forever"},
      {"\"warps\": 4", "\"warps\": 0",
       "/pools/0/warpgroups/1/groups/0/warps: expected a whole number from 1 to 32, found 0"},
      {"\"warps\": 4", "\"warps\": 5",
       "/pools/0/warpgroups/1/groups/0/warps: a group of more than 4 warps has whole warpgroups: "
       "8, 12, ..."},
      {"{\"name\": \"STORE\", \"warps\": 1}", "{\"name\": \"STORE\", \"warps\": 8}",
       "/pools/0/warpgroups/0/groups: a hardware warpgroup has 4 warps, and one group alone may "
       "have several"},
      {"\"about\": \"power of two of each element\"", "\"about\": \"\", \"or\": [\"polynomial\"]",
       "/operations/exp2/or: there is no operation 'polynomial'"},
      {"\"about\": \"power of two of each element\"", "\"about\": \"\", \"or\": [\"mma\"]",
       "/operations/exp2/or: alternatives are allowed only for synchronous work without a unit"},
      {"\"about\": \"power of two of each element\"", "\"about\": \"\", \"or\": [\"exp2\"]",
       "/operations/exp2/or: 'exp2' has alternatives itself"},
      {"\"objectives\": [\"groups\"", "\"objectives\": [\"group\"",
       "/objectives/0: expected one of groups, crossings, length, found 'group'"},
      {"\"minimum_compute_groups\": 2", "\"minimum_compute_groups\": 2.5",
       "/minimum_compute_groups: expected a whole number from 1 to 32, found 2.5"},
      {"\"issue_pipe\": \"ISSUE\"", "\"tensor_unit\": \"TC\"",
       "the member \"tensor_unit\" occurs twice in one object"},
  };
  for (const Mistake& mistake : mistakes) {
    const auto machine = load_machine(edited(mistake.from, mistake.to), "my.json");
    ASSERT_FALSE(machine.has_value()) << mistake.message;
    EXPECT_EQ(machine.error().message, mistake.message);
    EXPECT_EQ(machine.error().location.file, "my.json");
  }
}

// A group of eight warps is two warpgroups, each with its share of the launch's registers.
TEST(Load, AWideGroupTakesWholeWarpgroups) {
  const auto b200 = load_machine(shipped_text("b200"), "b200.json");
  ASSERT_TRUE(b200.has_value());
  const Pool* wide = b200->pool_named("1x128w8");
  ASSERT_NE(wide, nullptr);
  EXPECT_EQ(wide->setmaxnreg, (std::vector<int>{24, 240, 240}));
  EXPECT_EQ(wide->groups.back().warps, 8);
  EXPECT_EQ(wide->groups.back().registers, 240 - 28);

  const auto wider = load_machine(edited("\"warps\": 4", "\"warps\": 8"), "my.json");
  ASSERT_FALSE(wider.has_value());  // a second group of 240 registers beside it
  EXPECT_EQ(wider.error().message,
            "/pools/0/warpgroups: the setmaxnreg sum to 744, but a launch of 512 threads has "
            "512 to hand out: setmaxnreg would wait forever");
}

// Protects: groups whose setmaxnreg follows from their need share the launch's remaining registers,
// each up to its limit. Groups that may not share are refused.
TEST(Load, WarpgroupsShareRegisters) {
  const std::string range = "{\"setmaxnreg\": {\"least\": 24, \"most\": 232}";
  std::string text = shipped_text("h200");
  const auto share = [&] { text.replace(text.find("{\"setmaxnreg\": 240"), 18, range); };
  share();
  const auto alone = load_machine(text, "my.json");
  ASSERT_FALSE(alone.has_value());
  EXPECT_EQ(alone.error().message,
            "/pools/0/warpgroups: a single group shares registers: at least two must");
  share();
  const auto machine = load_machine(text, "my.json");
  ASSERT_TRUE(machine.has_value()) << to_string(machine.error());
  const Pool& pool = (*machine)->pools.front();
  EXPECT_EQ(pool.shared, (SharedRegisters{504 - 24, 24, 232}));
  EXPECT_EQ(pool.setmaxnreg, (std::vector<int>{24, 232, 232}));
  EXPECT_FALSE(pool.groups.front().shares);
  EXPECT_TRUE(pool.groups.back().shares);
  EXPECT_EQ(pool.groups.back().registers, 232 - 28);
  const Machine copying = with_copying_warpgroup(*machine);
  EXPECT_EQ(copying->pools.front().shared.total, 504 - 72);
  EXPECT_EQ(copying->pools.front().setmaxnreg, (std::vector<int>{72, 216, 216}));

  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string wrong = text;
    wrong.replace(wrong.find(from), from.size(), to);
    const auto loaded = load_machine(wrong, "my.json");
    return loaded ? std::string("accepted") : loaded.error().message;
  };
  EXPECT_EQ(refused("\"most\": 232", "\"most\": 240"),
            "/pools/0/warpgroups/2/setmaxnreg: groups that share registers have the same least and "
            "the same most");
  EXPECT_EQ(refused("\"least\": 24", "\"least\": 25"),
            "/pools/0/warpgroups/1/setmaxnreg/least: expected a multiple of 8, found 25");
  EXPECT_EQ(refused("{\"setmaxnreg\": 24,", range + ","),
            "/pools/0/warpgroups/0/groups/0: registers are shared by compute groups of 4 warps");
}

// Line, column and the line itself, as an editor counts them.
TEST(Load, PointsAtTheValueThatIsWrong) {
  const auto machine = load_machine(edited("\"target\": \"sm_90\"", "\"target\":   17"), "my.json");
  ASSERT_FALSE(machine.has_value());
  EXPECT_EQ(machine.error().location, (Location{"my.json", 4, 15}));
  EXPECT_EQ(machine.error().source_line, "  \"target\":   17,");
}

TEST(Load, SuggestsTheWordThatWasMeant) {
  const auto machine = load_machine(edited("\"on\": \"MUFU\"", "\"on\": \"MUFUU\""), "my.json");
  ASSERT_FALSE(machine.has_value());
  EXPECT_EQ(machine.error().hint, "did you mean 'MUFU'?");
}

TEST(Load, PointsAtWhatIsNotJson) {
  const auto machine = load_machine("{\n  \"name\": oops\n}", "my.json");
  ASSERT_FALSE(machine.has_value());
  EXPECT_EQ(machine.error().location.line, 2);
  EXPECT_TRUE(machine.error().message.starts_with("not valid JSON here: invalid literal"))
      << machine.error().message;
}

TEST(Load, SaysWhatIsOpenWhereAFileEnds) {
  const auto message_of = [](std::string_view text) {
    const auto machine = load_machine(text, "my.json");
    return machine ? std::string() : machine.error().message;
  };
  EXPECT_EQ(message_of("{\n  \"a\": [1, {\n\"b\": 2,"), "the file ends inside the '{' of line 2");
  EXPECT_EQ(message_of("{\n  \"a\": [1, 2"), "the file ends inside the '[' of line 2");
  EXPECT_EQ(message_of("{\n  \"a\\\"]"), "the file ends inside the string of line 2");
  EXPECT_EQ(message_of(""), "the file ends where a value is expected");
}

// No prefix of a machine file is a machine, and reading one is harmless: a truncated download.
TEST(Load, RefusesEveryTruncation) {
  const std::string text = shipped_text("b200");
  for (std::size_t size = 0; size + 2 < text.size(); size += 97) {
    EXPECT_FALSE(load_machine(std::string_view(text).substr(0, size), "my.json").has_value());
  }
}

TEST(Load, RefusesDeepNestingAndForeignJson) {
  EXPECT_FALSE(load_machine(std::string(1 << 20, '['), "my.json").has_value());
  EXPECT_FALSE(load_machine(std::string(200, '[') + std::string(200, ']'), "m").has_value());
  for (const char* text : {"", "null", "[]", "17", "\"h200\"", "{}", "{\"sources\": []}"}) {
    EXPECT_FALSE(load_machine(text, "my.json").has_value()) << text;
  }
}

// Shipped machines are complete: every number has a unit and a source, and no GPU has a measured
// number without a measurement. Every kind that the extraction emits has its own rule.
TEST(Load, ShippedMachinesAreComplete) {
  for (const char* name : {"h200", "h100", "b200"}) {
    const Machine machine = shipped(name);
    EXPECT_EQ(machine->name, name);
    for (const CostRule& rule : machine->operations) {
      EXPECT_FALSE(rule.about.empty()) << rule.kind;
      EXPECT_FALSE(rule.terms.empty()) << rule.kind;
      for (const Term& term : rule.terms) {
        EXPECT_FALSE(term.figure.unit.empty()) << rule.kind;
        EXPECT_GT(term.figure.source.size(), 20U) << rule.kind;
        EXPECT_TRUE(machine->measured || !term.figure.measured) << rule.kind;
      }
    }
    for (const char* kind : {"mma",
                             "exp2",
                             "special",
                             "fma",
                             "add",
                             "max",
                             "select",
                             "int",
                             "convert",
                             "reduce_max",
                             "reduce_sum",
                             "row",
                             "shuffle",
                             "smem_store",
                             "smem_load",
                             "tile_load",
                             "tile_store",
                             "tile_reduce_store",
                             "pointer_load",
                             "pointer_copy",
                             "pointer_store",
                             "atomic",
                             "make_descriptor"}) {
      EXPECT_NE(machine.rule_for(kind), nullptr) << kind;
    }
  }
  EXPECT_NE(shipped("b200").rule_for("tmem_load"), nullptr);
  EXPECT_NE(shipped("b200").rule_for("tmem_store"), nullptr);
}

// The pools that the measurements were made with: 240 - 28 and 160 - 28 registers.
TEST(Load, PoolsHaveTheRegistersThatAreUsable) {
  const Machine h200 = shipped("h200");
  const Pool* pool = h200.pool_named("2x64");
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(pool, &h200->pools.front());
  EXPECT_EQ(pool->groups.back().registers, 212);
  EXPECT_TRUE(pool->groups.front().loads);
  EXPECT_EQ(h200.pool_named("3x64")->groups.back().registers, 132);
  EXPECT_EQ(h200.pool_named("9x64"), nullptr);
}

// `twill machines h200` shows each unit, pipe, pool and kind of operation.
TEST(Load, DescriptionsShowEverything) {
  const Machine h200 = shipped("h200");
  const std::string text = describe(h200);
  for (const Pipe& pipe : h200->pipes) EXPECT_NE(text.find(pipe.name), std::string::npos);
  for (const Pool& pool : h200->pools) EXPECT_NE(text.find(pool.name), std::string::npos);
  for (const CostRule& rule : h200->operations) {
    EXPECT_NE(text.find(rule.kind), std::string::npos) << rule.kind;
  }
}

// Protects: one chip, one price list. The H100 has the SM and the L2 of the H200. The files differ
// only in the name, the sources of numbers, and the clock. (The H100's slowest loads had the rate
// of its memory, 12.8 bytes a cycle, and its kernels were scheduled for that.)
TEST(Load, TheH100IsTheH200ButForItsClock) {
  const auto without_origin = [](const char* name) {
    std::istringstream in(shipped_text(name));
    std::string out;
    bool in_sources = false;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("  \"sources\"")) in_sources = true;
      const bool origin = in_sources || line.starts_with("  \"name\"") ||
                          line.starts_with("  \"about\"") || line.starts_with("  \"measured\"") ||
                          line.starts_with("    \"clock\"");
      if (line == "  },") in_sources = false;
      if (!origin) out += line + "\n";
    }
    return out;
  };
  EXPECT_EQ(without_origin("h100"), without_origin("h200"));
  EXPECT_NE(without_origin("h100").find("\"pools\""), std::string::npos);
  EXPECT_NE(without_origin("h100").find("\"numbers\""), std::string::npos);
}

// Copies by threads: the load group is a warpgroup with registers for addresses, and a launch has
// enough registers for all.
TEST(Machines, CanHaveAWarpgroupThatCopies) {
  for (const char* name : {"h200", "h100", "b200"}) {
    const Machine machine = with_copying_warpgroup(shipped(name));
    for (const Pool& pool : machine->pools) {
      const int warpgroups = static_cast<int>(pool.setmaxnreg.size());
      int sum = 0, warps = 0;
      for (const int registers : pool.setmaxnreg) sum += registers;
      for (const PoolGroup& group : pool.groups) warps += group.warps;
      EXPECT_LE(sum, warpgroups * (65536 / (128 * warpgroups) / 8 * 8)) << name << " " << pool.name;
      EXPECT_EQ(warps, 4 * warpgroups) << name << " " << pool.name;
      EXPECT_TRUE(pool.groups[0].loads);
      EXPECT_EQ(pool.groups[0].warps, 4);
      EXPECT_EQ(pool.groups[0].registers, 72 - static_cast<int>(machine->register_overhead.value));
    }
  }
  const Machine machine = with_copying_warpgroup(shipped("h200"));
  EXPECT_EQ(machine.pool_named("2x64")->setmaxnreg, (std::vector<int>{72, 216, 216}));
  EXPECT_EQ(machine.pool_named("2x64")->groups[1].registers, 216 - 28);
}

// Protects: registers kept free are taken from every group, down to 0.
TEST(KeepingFree, LeavesGroupsFewerRegisters) {
  const Machine machine = keeping_free(shipped("h200"), 16);
  EXPECT_EQ(machine->register_overhead.value, 44);
  EXPECT_EQ(machine.pool_named("2x64")->groups[2].registers, 240 - 44);
  EXPECT_EQ(machine.pool_named("2x64")->groups[0].registers, 0);
}

// Protects: CTAs that share an SM together have no more of it than a single CTA, and only pools
// with which ptxas accepts setmaxnreg stay.
TEST(SharedBy, DividesMemoryAndRegisters) {
  const Machine alone = shipped("h200");
  const Machine machine = shared_by(alone, 2);
  EXPECT_EQ(machine->ctas_per_sm, 2);
  const double memory = machine->memories[0].capacity.value;
  EXPECT_EQ(2 * (memory + kBesideMemory), alone->memories[0].capacity.value + kBesideMemory);
  ASSERT_EQ(machine->pools.size(), 1U);
  const Pool& pool = machine->pools[0];
  EXPECT_EQ(pool.name, "1x64");
  EXPECT_EQ(pool.setmaxnreg, (std::vector<int>{24, 232}));
  EXPECT_EQ(2 * 128 * (24 + 232), alone->register_file.value);
  EXPECT_EQ(pool.groups.back().registers, 232 - 28);
  EXPECT_EQ(machine->minimum_compute_groups, 1);
  EXPECT_TRUE(shared_by(alone, 4)->pools.empty());
}

// Protects: a CTA alone has the whole SM.
TEST(SharedBy, OneCtaChangesNothing) {
  const Machine machine = shared_by(shipped("h200"), 1);
  EXPECT_EQ(machine->pools.size(), shipped("h200")->pools.size());
  EXPECT_EQ(machine->memories[0].capacity.value, shipped("h200")->memories[0].capacity.value);
}

}  // namespace
}  // namespace twill::machine
