#include "twill/ir/by_value.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"

namespace twill::ir {
namespace {

Program three_values() {
  return *frontend::read_ttgir(R"(
tt.func @f() {
  %a = arith.constant 1 : i32
  %b = arith.constant 2 : i32
  %c = arith.constant 3 : i32
  tt.return
}
)",
                               "three.ttgir");
}

constexpr ValueId kA(0), kB(1), kC(2);

TEST(ByValue, EntriesAreFoundByTheirValue) {
  const Program program = three_values();
  ByValue<std::string> table(program);
  EXPECT_EQ(table.find(kA), nullptr);
  table.set(kC, "c");
  table.set(kA, "a");
  table.set(kC, "new");
  EXPECT_EQ(*table.find(kA), "a");
  EXPECT_EQ(*table.find(kC), "new");
  EXPECT_EQ(table.find(kB), nullptr);
}

TEST(ByValue, EntriesStayWhereTheyAre) {
  const Program program = three_values();
  ByValue<std::string> table(program);
  table.set(kA, "a");
  const std::string* const first = table.find(kA);
  table.set(kB, "b");
  table.set(kC, "c");
  EXPECT_EQ(table.find(kA), first);
}

TEST(ByValue, OnlyWantedEntriesAreKept) {
  const Program program = three_values();
  ByValue<std::string> table(program);
  table.set(kA, "a");
  table.set(kC, "c");
  const ByValue<std::string> before = table;
  table.keep(std::array{kC, kB, kC});
  EXPECT_EQ(table.find(kA), nullptr);
  EXPECT_EQ(table.find(kB), nullptr);
  EXPECT_EQ(*table.find(kC), "c");
  EXPECT_EQ(*before.find(kA), "a");
}

}  // namespace
}  // namespace twill::ir
