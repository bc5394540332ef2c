#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "twill/concurrent/barriers.h"
#include "twill/concurrent/finding.h"
#include "twill/concurrent/guide.h"
#include "twill/concurrent/ledger.h"
#include "twill/concurrent/quantities.h"
#include "twill/concurrent/role.h"
#include "twill/concurrent/turned.h"
#include "twill/execute/interpreter.h"

/// Interpreter of kernels whose warps have roles: one thread of control for each role, and memory
/// that records its accesses. The model: docs/reference/warp-roles.md.
namespace twill::concurrent {

/// Order of a run, where the hardware may choose one. The order decides the values of a wrong
/// kernel, and which of several findings appears. A race is found in any order.
struct Order {
  enum class Landing : unsigned char { late, early, random };
  Landing landing = Landing::late;  ///< landing of work that roles begin
  std::size_t first = 0;  ///< the role that runs while possible; the next roles follow in turn
  bool random = false;    ///< roles take turns at random, from one step to the next
  std::uint64_t seed = 1;
};

struct Options {
  Order order;
  bool tiles = true;  ///< compute tiles; else only scalars and views, which decide the steps
  /// Ops that are computed with their tiles even without `tiles`. Must outlive the machine.
  const std::set<ir::OpId>* deciding = nullptr;
  /// Guide of a run with unknown arguments, which asks questions (`Machine::follow`). Runs without
  /// tiles, and in one order only. Must outlive the machine.
  const Guide* guide = nullptr;
  bool checked = false;  ///< types are known to fit from another run of the function
  std::int64_t most_steps = 20'000'000;  ///< a run with more steps fails
  /// Called after each op of a role, with the role's number and its values at that point.
  std::function<void(std::size_t role, const Role& state, ir::OpId op)> watch = {};
};

/// One CTA.
class Machine {
 public:
  /// Keeps references to all arguments, which must outlive the machine. Findings go to `findings`.
  Machine(const ir::Program& program, execute::Memory& memory, const execute::Launch& launch,
          std::array<std::int64_t, 3> program_id, const Options& options, Findings& findings);

  /// Runs a function to its end, or to a finding that makes all later results meaningless. Fails,
  /// at the op's line, for ops that the model does not know.
  Result<void> run(ir::OpId function, const std::map<ir::ValueId, execute::Value>& arguments);

  /// Starts a function whose arguments are all unknown.
  Result<void> start(ir::OpId function);
  /// Goes on until a question about a quantity arises: call `answer`, then `follow` again. Returns
  /// no question at the end, or after a finding that makes all later results meaningless. Fails, at
  /// the op's line, for ops that the model does not follow.
  Result<std::optional<Question>> follow();
  const OpenNumber& quantity(const Question& question);
  void answer(const Question& question, bool more);
  /// Text of the state. States with equal texts have the same continuations, except for trip counts
  /// that have no effect any more. Forgets quantities that no role can ask about. Precondition:
  /// `follow` has returned a question.
  std::string state();

  /// The largest trip count of each reached loop, over all roles.
  const std::map<ir::OpId, std::int64_t>& trips() const { return trips_; }
  /// Ops that roles have executed; each time that an op had to wait counts, too.
  std::int64_t steps() const { return steps_; }
  /// Whether the run failed because a number from the arguments was divided by zero.
  bool divided_by_zero() const { return divided_by_zero_; }

 private:
  /// Work that a role began and that ends asynchronously.
  struct Work {
    enum class Kind : unsigned char { load, copy, copy_arrival, store, product, product_arrival };
    Kind kind = Kind::load;
    std::size_t role = 0;
    ir::OpId op;
    std::uint32_t time = 0;                          ///< time in its queue
    std::map<ir::ValueId, execute::Value> operands;  ///< values of the operands when the work began
    std::vector<execute::View> barriers;             ///< mbarriers at which the work arrives
    Visit visit;                                     ///< the visit at these mbarriers
    std::int64_t amount = 0;                         ///< bytes, or number of arrivals
    Knowledge known;                                 ///< knowledge of the role that began the work
  };
  /// Creates work of a queue, with the next number of the queue.
  static Work next_in(Queue& queue, Work::Kind kind, std::size_t role, ir::OpId op);
  enum class Progress : unsigned char { goes_on, waits };

  // machine.cpp: choice of the next role
  Result<void> check_alone(ir::OpId function) const;
  Result<void> run_roles();
  std::optional<std::size_t> next_role();
  bool can_go(const Role& role) const;
  Result<bool> land_some(bool forced);
  Result<Progress> advance(std::size_t role);
  Result<void> step(std::size_t role, ir::OpId op);
  std::size_t add_role(std::string name);
  void report_deadlock();
  std::string plight(const Role& role) const;
  void check_exit();

  // guided.cpp: questions about unknown quantities
  std::optional<std::size_t> next_guided_role();
  std::optional<Question> question_of(const Role& role);
  std::optional<Question> asks(std::size_t quantity, std::int64_t threshold, ir::OpId op);
  Scope scope_of(const Role& role, const std::optional<ir::OpId>& through = {}) const;
  std::size_t occurrence_of(const Role& role, const CountedLoop& loop) const;
  OpenNumber& number_of(std::size_t form, std::size_t occurrence, const Scope& scope);
  const OpenNumber* known_about(std::size_t quantity, std::int64_t threshold);
  const CountedLoop& counted(const Role& role, ir::OpId loop, Scope& scope) const;
  std::pair<std::size_t, std::int64_t> asked_by(const Role& role, ir::OpId op);
  const Condition& condition_at(const Role& role, ir::OpId op) const;
  Scope scope_of_draw(const Role& role, const std::optional<ir::ValueId>& drawn) const;
  std::optional<bool> holds(const Role& role, ir::OpId op);
  Result<void> begin_followed_loop(std::size_t role, ir::OpId op);
  bool next_followed_iteration(Role& role, Frame& frame, ir::ValueId induction);
  bool goes_on(std::size_t quantity, std::int64_t position);
  void leave(std::size_t quantity, std::size_t role);
  std::optional<std::int64_t> exact_value(const Role& role, ir::OpId op, ir::ValueId value);
  Result<void> compute_needed(Role& role, ir::OpId op);
  Result<void> compute_known(Role& role, ir::OpId op);
  Result<void> check_needed(const Role& role, ir::OpId op) const;
  Result<void> check_shifted(const Role& role, ir::OpId op) const;
  std::optional<Question> asks_about_tile(const Role& role, ir::OpId op);
  bool is_within_tile(const Role& role, const Frame& frame);
  bool knows_operands(const Role& role, ir::OpId op) const;
  void forget_results(Role& role, ir::OpId op);

  // number.cpp: numbers that roles hand to each other
  std::optional<Number> number_in(const Role& role, ir::ValueId value) const;
  Number draw_number(bool counted);
  void follow_number(Role& role, ir::OpId op);
  void follow_load(Role& role, ir::ValueId result, const execute::View& view) const;
  std::optional<Number> stored_number(const Role& role, ir::ValueId value);
  std::set<std::size_t> draws_in_use() const;

  // state.cpp: texts of states; past.cpp: parts of a state that can no longer matter
  friend class StateText;
  std::vector<std::vector<ir::ValueId>> keep_live();
  bool can_reach(std::size_t role, ir::OpId op) const;
  Turned turned(const std::vector<std::vector<ir::ValueId>>& live);
  void shift_counters(const std::vector<std::vector<ir::ValueId>>& live);
  void forget_quantities();
  bool is_past(std::size_t role, const Scope& scope);

  // control.cpp: loops, branches, and where roles begin and end
  Result<bool> control(std::size_t role, ir::OpId op);
  Result<void> begin_loop(std::size_t role, ir::OpId op);
  Result<void> begin_while(std::size_t role, ir::OpId op);
  Result<void> begin_branch(std::size_t role, ir::OpId op);
  Result<void> begin_roles(std::size_t role, ir::OpId op);
  Result<void> end_block(std::size_t role);
  Result<void> end_iteration(Role& role);
  bool next_iteration(Role& role, Frame& frame, ir::ValueId induction);
  Result<void> end_condition(Role& role, ir::OpId condition);
  Result<void> end_function_block(Role& role);
  void end_role(std::size_t role);
  void forward(Role& role, std::span<const ir::ValueId> from, std::span<const ir::ValueId> to);
  void enter(Role& role, Frame frame);
  void count_trip(ir::OpId loop, std::int64_t trips);

  // synchronize.cpp: ops that order roles
  Result<bool> synchronize(std::size_t role, ir::OpId op);
  Result<bool> may_pass(const Role& role, ir::OpId op) const;
  Result<void> init_barrier(Role& role, ir::OpId op);
  Result<void> end_barrier(Role& role, ir::OpId op);
  bool is_new(const Barrier& barrier) const;
  Result<void> visit_barrier(Role& role, ir::OpId op);
  Result<void> arrive_later(std::size_t role, ir::OpId op);
  Result<void> drain(std::size_t role, ir::OpId op);
  Result<void> drain_queue(std::size_t role, Work::Kind kind, const Queue& queue,
                           std::uint32_t until);
  Result<Barrier*> barrier_of(const Role& role, ir::OpId op, ir::ValueId value);
  Result<execute::View> mbarrier_at(const Role& role, ir::OpId op, ir::ValueId value) const;
  Visit visit_of(const Role& role, ir::OpId op) const;

  // named.cpp: inline assembly
  Result<bool> assemble(std::size_t role, ir::OpId op);
  Barrier& named_barrier(const Role& role, ir::OpId op, std::int64_t number, std::int64_t threads);
  const Barrier& named_barrier(std::int64_t number) const;

  // transfers.cpp: accesses to memory
  Result<bool> transfer(std::size_t role, ir::OpId op);
  Result<void> allocate(Role& role, ir::OpId op);
  Result<void> view(Role& role, ir::OpId op);
  Result<void> look_otherwise(Role& role, ir::OpId op);
  Result<void> access(Role& role, ir::OpId op);
  Result<void> begin_load(std::size_t role, ir::OpId op);
  Result<void> begin_copy(std::size_t role, ir::OpId op);
  Result<void> begin_store(std::size_t role, ir::OpId op);
  Result<void> compute(Role& role, ir::OpId op);
  Result<void> land(std::size_t index);
  bool may_land(std::size_t index) const;
  bool has_tiles(ir::OpId op) const {
    return options_.tiles || (options_.deciding != nullptr && options_.deciding->contains(op));
  }
  void add_work(Work work);
  Access access_by(Role& role, ir::OpId op) const;
  Access access_by(const Role& role, ir::OpId op, const Queue& queue) const;
  Result<execute::View> view_of(const Role& role, ir::OpId op, ir::ValueId value) const;
  Result<bool> skipped(const Role& role, ir::OpId op) const;
  void tick(Role& role);

  // products.cpp: products and copies to tensor memory
  void check_in_flight(const Role& role, ir::OpId op);
  Result<void> multiply(Role& role, ir::OpId op);
  Result<void> await_products(Role& role, ir::OpId op);
  Result<void> begin_product(std::size_t role, ir::OpId op);
  Result<void> begin_tensor_copy(std::size_t role, ir::OpId op);

  const ir::Program& program_;
  execute::Memory& memory_;
  const execute::Launch& launch_;
  std::array<std::int64_t, 3> program_id_;
  Options options_;
  Findings& findings_;
  Ledger ledger_;
  Barriers barriers_;
  execute::Interpreter scratch_;  ///< computes results of work when it lands
  std::deque<Role> roles_;
  std::deque<Work> work_;
  std::vector<std::pair<Visit, std::string>> loads_;  ///< landed loads: their agents and buffers
  std::map<std::int64_t, std::shared_ptr<execute::TileMemory>>
      named_;  ///< named barriers, by number
  std::map<ir::OpId, std::int64_t> trips_;
  std::mt19937_64 draw_;
  std::size_t agents_ = 0;
  std::size_t next_draw_ = 0;
  std::set<std::size_t> in_use_;                        ///< draws in the last state
  std::map<ir::OpId, const execute::Tile*> allocated_;  ///< memory of each allocation
  std::vector<bool> may_turn_;  ///< by turn: no role can reach an op that tells slots apart
  std::int64_t steps_ = 0;
  std::int64_t behind_finding_ = 0;  ///< steps since the first finding
  Quantities quantities_;
  bool divided_by_zero_ = false;
  bool stopped_ = false;  ///< later results are meaningless
};

}  // namespace twill::concurrent
