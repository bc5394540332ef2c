#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

namespace twill::solve {

/// Work that all searches of one call to `solve` may spend together. Work is counted, not timed, so
/// a budget ends at the same place on every machine, unless the caller stops the search.
class Budget {
 public:
  /// `keep_going` is called now and then, and may be empty; a result of false ends the search.
  Budget(std::uint64_t work_limit, std::uint64_t hurry_after, std::size_t memory_limit,
         std::function<bool()> keep_going = {})
      : work_limit_(work_limit),
        hurry_after_(hurry_after),
        memory_limit_(memory_limit),
        keep_going_(std::move(keep_going)) {}
  /// Makes a budget without hurry.
  Budget(std::uint64_t work_limit, std::size_t memory_limit, std::function<bool()> keep_going = {})
      : Budget(work_limit, work_limit, memory_limit, std::move(keep_going)) {}

  /// Adds all work to `tally` as well, unless that is null.
  void tell(std::uint64_t* tally) { tally_ = tally; }
  void spend(std::uint64_t work) {
    work_ += work;
    if (tally_ != nullptr) *tally_ += work;
  }
  void count_conflict() { ++conflicts_; }

  /// Checks the limits, with the memory that is held right now.
  bool allows(std::size_t memory) {
    if (work_ > work_limit_) stop("the work limit");
    if (memory > memory_limit_) run_out_of_memory();
    return !stopped();
  }
  void run_out_of_memory() { stop("the memory limit"); }
  /// Asks the caller whether to go on.
  bool ask() {
    if (keep_going_ && !keep_going_()) stop("the caller");
    return !stopped();
  }

  bool stopped() const { return !stopped_by_.empty(); }
  std::string_view stopped_by() const { return stopped_by_; }
  std::size_t memory_limit() const { return memory_limit_; }
  std::uint64_t work() const { return work_; }
  std::uint64_t work_limit() const { return work_limit_; }
  std::uint64_t hurry_after() const { return hurry_after_; }
  std::uint64_t conflicts() const { return conflicts_; }

 private:
  void stop(std::string_view by) {
    if (!stopped()) stopped_by_ = by;
  }

  std::uint64_t work_limit_;
  std::uint64_t hurry_after_;
  std::size_t memory_limit_;
  std::function<bool()> keep_going_;
  std::uint64_t work_ = 0;
  std::uint64_t* tally_ = nullptr;
  std::uint64_t conflicts_ = 0;
  std::string_view stopped_by_;  ///< empty while the budget lasts
};

}  // namespace twill::solve
