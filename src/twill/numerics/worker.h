#pragma once

#include <map>
#include <optional>
#include <queue>
#include <vector>

#include "twill/numerics/reader.h"
#include "twill/simulate/simulate.h"

/// Internal to the room: the work of a run of the loop while the machine is simulated.
namespace twill::numerics {

class Worker final : public simulate::Listener {
 public:
  Worker(LoopContext& context, std::vector<std::string>& hazards);

  void begins(OpId op, std::int64_t iteration, double now) override;
  void ends(OpId op, std::int64_t iteration, double read, double done) override;
  void stages(OpId op, std::int64_t iteration, double now, double done) override;
  void around(const plan::Step& step, double now) override;

  /// Moves the loop's results to the places where later text reads them. Called after the run.
  Result<void> leave();

 private:
  /// Product in flight: its operands and its addend.
  struct Product {
    ir::OpId made;
    Thing thing;
    Box box;
    TilePtr a, b;
    std::optional<execute::Tile> sums;   ///< addend as a tile; otherwise:
    std::optional<std::size_t> in_slot;  ///< addend: the contents of this slot at the product's end
    Thing in_thing;
    std::int64_t changes = 0;  ///< changes of that slot at the product's begin
    bool skipped = false;      ///< in a branch that is not taken: the addend stays unchanged
  };
  /// Store with all its operands.
  struct Store {
    ir::OpId made;
    ir::ValueId source;
    TilePtr tile;
    Box box;
    std::optional<execute::Descriptor> descriptor;
    std::map<ir::ValueId, TilePtr> operands;
  };
  struct Work {
    OpId op;
    std::int64_t iteration = 0;
    Queue queue = 0;
    std::optional<std::size_t> home;
    bool writing = false;  ///< the home is being written
    Content content;
    std::optional<Product> product;
    std::optional<Store> store;
    const TwoSided* other_sides = nullptr;  ///< branch whose other sides are computed with the op
    std::vector<Reading> readings;
    bool spoiled = false;  ///< operands changed while they were read
  };
  struct Event {
    enum class Kind { read, done, staged } kind = Kind::read;
    double time = 0;
    std::size_t number = 0;
    std::size_t work = 0;
    friend bool operator>(const Event& a, const Event& b) {
      return a.time != b.time ? a.time > b.time : a.number > b.number;
    }
  };

  Result<void> fill_before();
  bool is_filled_by_step(plan::BufferId buffer) const;
  Result<void> fill_initial(plan::BufferId buffer);
  Result<void> begin(Work& work);
  Result<void> begin_product(Work& work, Reader& reader, ir::OpId made);
  bool adds_numbers(const Product& product) const;
  Result<void> begin_sums(Work& work, Reader& reader, Product& product);
  Result<void> begin_store(Work& work, Reader& reader, ir::OpId made);
  Result<void> compute(Work& work, Reader& reader);
  Result<bool> is_skipped(Reader& reader, ir::OpId made) const;
  Result<bool> is_skipped_there(Reader& reader, OpId op) const;
  Result<void> do_other_sides(const Work& work, const TwoSided& branch);
  Result<std::optional<ir::ValueId>> other_than(Thing thing, Reader& reader) const;
  Result<TilePtr> instead(const Work& work, Reader& reader, Thing thing, const Box& box) const;
  std::optional<Input> in_place(OpId op) const;
  Result<void> leave_while(Reader& reader, std::vector<std::pair<ir::ValueId, TilePtr>>& results);
  Result<TilePtr> make(const Work& work, Reader& reader, Thing thing, const Box& box);
  void advance(double now);
  void happen(const Event& event);
  void check(Work& work);
  Result<void> finish(Work& work);
  Result<void> finish_product(Work& work);
  Result<void> finish_store(Work& work);
  void note(const Work& work, const std::string& what);
  void note_missing(const Work& work, const Reader& reader);
  void push(Event::Kind kind, double time, std::size_t work);
  Queue queue_of(OpId op);
  void keep(const Result<void>& result);
  std::string name(const Work& work) const;

  LoopContext& context_;
  const Meaning& meaning_;
  const plan::Plan& plan_;
  Slots slots_;
  std::vector<std::string>& hazards_;
  std::vector<Work> works_;
  std::map<std::pair<OpId, std::int64_t>, std::size_t> under_way_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Queue> queues_;  ///< by OpId
  std::map<Queue, double> last_done_;
  std::size_t events_so_far_ = 0;
  std::optional<Diagnostic> wrong_;
};

}  // namespace twill::numerics
