#include "twill/numerics/slots.h"

#include <gtest/gtest.h>

#include "twill/schedule/loop_text.h"

// Protects the buffers of a plan as places: a write destroys the old contents.
namespace twill::numerics {
namespace {

constexpr const char* kLoop = R"(
loop empty
unit U
group G warps 1 registers 8
op x on U for 1 latency 1 issue 1 warps 1
)";

plan::Buffer shared(const std::string& name, Amount offset, Amount size, int depth) {
  plan::Buffer buffer;
  buffer.name = name;
  buffer.memory = "SMEM";
  buffer.offset = offset;
  buffer.size = size;
  buffer.depth = depth;
  return buffer;
}

class Places : public ::testing::Test {
 protected:
  Places() : plan_(schedule::parse_loop(kLoop, "test.loop")->problem) {
    plan_.buffers = {shared("ring", 0, 100, 2), shared("other", 150, 100, 1)};
    plan::Buffer registers;
    registers.name = "registers";
    registers.residence = plan::Residence::registers;
    registers.size = 4;
    plan_.buffers.push_back(registers);
  }
  static Content number(float value) {
    const execute::Tile tile{{1}, execute::Numbers{value}};
    return {{Thing(7), {{{0, 1}}, std::make_shared<const execute::Tile>(tile)}}};
  }
  static float of(const Piece* piece) { return piece == nullptr ? -1 : piece->tile->numbers()[0]; }

  plan::Plan plan_;
};

// Protects: iterations use the copies in turn, iterations before the loop included.
TEST_F(Places, IterationsTakeTurns) {
  const Slots slots(plan_);
  EXPECT_EQ(slots.of(BufferId(0), 0), slots.of(BufferId(0), 2));
  EXPECT_NE(slots.of(BufferId(0), 0), slots.of(BufferId(0), 1));
  EXPECT_EQ(slots.of(BufferId(0), -1), slots.of(BufferId(0), 1));
}

// Protects: buffers with addresses in common destroy each other; registers have none.
TEST_F(Places, WritesDestroyWhatLiesThere) {
  Slots slots(plan_);
  const std::size_t first = slots.of(BufferId(0), 0), second = slots.of(BufferId(0), 1);
  const std::size_t other = slots.of(BufferId(1), 0), registers = slots.of(BufferId(2), 0);
  slots.put(first, number(1));
  slots.put(second, number(2));
  slots.put(registers, number(3));
  slots.put(other, number(4));  // the second copy is at 100 .. 199
  EXPECT_EQ(of(slots.find(first, Thing(7), 0)), 1);
  EXPECT_EQ(slots.find(second, Thing(7), 0), nullptr);
  EXPECT_EQ(of(slots.find(registers, Thing(7), 0)), 3);
  EXPECT_EQ(of(slots.find(other, Thing(7), 0)), 4);
  EXPECT_EQ(slots.find(other, Thing(8), 0), nullptr);
}

// Protects: contents under writing are visible only to the queue that writes them in order.
TEST_F(Places, NobodyReadsWhatIsBeingWritten) {
  Slots slots(plan_);
  const std::size_t slot = slots.of(BufferId(2), 0);
  slots.put(slot, number(1));
  const std::int64_t before = slots.changes(slot, 5);
  slots.begin_write(slot, 5, true);
  EXPECT_EQ(slots.find(slot, Thing(7), 0), nullptr);
  EXPECT_EQ(slots.find(slot, Thing(7), 6), nullptr);
  EXPECT_EQ(of(slots.find(slot, Thing(7), 5)), 1);
  slots.end_write(slot, number(2), 5);
  EXPECT_EQ(of(slots.find(slot, Thing(7), 0)), 2);
  EXPECT_EQ(slots.changes(slot, 5), before) << "its own work is no change to a queue";
  EXPECT_GT(slots.changes(slot, 0), before);
  slots.begin_write(slot, 5, false);
  EXPECT_EQ(slots.find(slot, Thing(7), 5), nullptr) << "nothing is added to: it is gone";
}

}  // namespace
}  // namespace twill::numerics
