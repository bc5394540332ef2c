#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace twill {

/// Calls `work(i)` for every i below `count` on `jobs` threads, and `take(i, result)` for each
/// result on the calling thread, in ascending order of i. `jobs` is at least 1. There are no more
/// threads than work, nor than the system gives; if it gives none, the calling thread works. If
/// `take` returns false nothing new is begun or taken. Threads are joined before this returns. An
/// exception of `work` is thrown on where its result would be taken, an exception of `take` at
/// once. Results that wait for an earlier one are held in memory.
template <class Work, class Take>
void in_order(std::size_t count, std::size_t jobs, const Work& work, const Take& take) {
  using Value = decltype(work(std::size_t{0}));
  struct Slot {
    std::optional<Value> value;
    std::exception_ptr failure;
    bool done = false;
  };
  std::vector<Slot> slots(count);
  std::mutex mutex;  // guards everything here
  std::condition_variable finished;
  std::size_t next = 0;
  const auto begin_one = [&] {
    const std::lock_guard lock(mutex);
    return next < count ? next++ : count;
  };
  const auto run = [&] {
    for (std::size_t i = begin_one(); i < count; i = begin_one()) {
      Slot slot;
      try {
        slot.value.emplace(work(i));
      } catch (...) {
        slot.failure = std::current_exception();
      }
      slot.done = true;
      const std::lock_guard lock(mutex);
      slots[i] = std::move(slot);
      finished.notify_all();
    }
  };
  /// Joins all threads on every path: no thread outlives the data it refers to.
  struct Crew {
    std::vector<std::jthread> threads;
    std::mutex& mutex;
    std::size_t& next;
    std::size_t count;
    ~Crew() {
      const std::lock_guard lock(mutex);
      next = count;
    }
  } crew{{}, mutex, next, count};
  try {
    for (std::size_t i = 0; i < (jobs < count ? jobs : count); ++i) crew.threads.emplace_back(run);
  } catch (const std::system_error&) {  // the system gives no more threads
    if (crew.threads.empty()) run();
  }
  for (std::size_t i = 0; i < count; ++i) {
    Slot slot;
    {
      std::unique_lock lock(mutex);
      finished.wait(lock, [&] { return slots[i].done; });
      slot = std::move(slots[i]);
    }
    if (slot.failure) std::rethrow_exception(slot.failure);
    if (!take(i, *std::move(slot.value))) return;
  }
}

}  // namespace twill
