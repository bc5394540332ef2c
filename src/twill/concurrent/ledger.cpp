#include "twill/concurrent/ledger.h"

#include <algorithm>
#include <utility>

namespace twill::concurrent {
namespace {

using execute::View;

/// The dimensions of a view with more than one element, the widest stride first: the same elements
/// in the order of memory.
struct Walk {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
};

Walk in_order_of_memory(const View& view) {
  std::vector<std::pair<std::int64_t, std::int64_t>> dimensions;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] != 1) dimensions.emplace_back(view.strides[d], view.shape[d]);
  }
  std::sort(dimensions.rbegin(), dimensions.rend());
  Walk walk;
  for (const auto& [stride, extent] : dimensions) {
    const bool continues = !walk.strides.empty() && walk.strides.back() == stride * extent;
    if (continues) {
      walk.strides.back() = stride;
      walk.extents.back() *= extent;
      continue;
    }
    walk.strides.push_back(stride);
    walk.extents.push_back(extent);
  }
  return walk;
}

/// Calls visit(first, stride, count) for every row of the view.
template <class Visit>
void for_each_row(const View& view, Visit visit) {
  const Walk walk = in_order_of_memory(view);
  if (execute::size_of(view.shape) == 0) return;
  const std::size_t rows = walk.extents.empty() ? 0 : walk.extents.size() - 1;
  std::vector<std::int64_t> at(rows, 0);
  while (true) {
    std::int64_t first = view.offset;
    for (std::size_t d = 0; d < rows; ++d) first += at[d] * walk.strides[d];
    visit(first, walk.strides.empty() ? 1 : walk.strides.back(),
          walk.extents.empty() ? 1 : walk.extents.back());
    std::size_t d = rows;
    while (d > 0 && ++at[d - 1] == walk.extents[d - 1]) {
      at[d - 1] = 0;
      --d;
    }
    if (d == 0) return;
  }
}

}  // namespace

/// One access while the ledger checks it.
struct Ledger::Step {
  bool writes = false;
  std::uint32_t number = 0;
  const Access& access;
  const Knowledge& known;
  const View& view;
  Space space = Space::shared;
  State last = UINT32_MAX;  ///< the last state met, and its successor
  State then = 0;
};

void Ledger::add(const std::shared_ptr<execute::Tile>& storage, std::string name, Space space) {
  const auto end = static_cast<std::int64_t>(storage->size());
  buffers_[storage.get()] = {storage, std::move(name), space, {Run{}}, false, end};
}

void Ledger::record_bytes(const View& view) {
  const auto found = buffers_.find(view.storage.get());
  if (found == buffers_.end() || found->second.in_bytes || !view.storage->own) return;
  Buffer& buffer = found->second;
  const execute::ByteLayout& layout = *view.storage->own;
  buffer.end = static_cast<std::int64_t>(view.storage->bytes.size());
  std::vector<State> states(view.storage->bytes.size(), 0);
  for (std::size_t run = 0; run < buffer.runs.size(); ++run) {
    const auto end = run + 1 < buffer.runs.size()
                         ? static_cast<std::size_t>(buffer.runs[run + 1].first)
                         : layout.at.size();
    for (auto i = static_cast<std::size_t>(buffer.runs[run].first); i < end; ++i) {
      std::fill_n(states.begin() + static_cast<std::ptrdiff_t>(layout.at[i]), layout.width,
                  buffer.runs[run].state);
    }
  }
  buffer.in_bytes = true;
  buffer.runs.clear();
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (buffer.runs.empty() || buffer.runs.back().state != states[i]) {
      buffer.runs.push_back({static_cast<std::int64_t>(i), states[i]});
    }
  }
}

const std::vector<execute::Range>& Ledger::byte_ranges(const View& view) {
  const auto [place, added] = bytes_->try_emplace(
      {view.as.get(), view.storage.get(), view.offset, view.shape, view.strides});
  if (added) place->second = execute::byte_ranges(view);
  return place->second;
}

void Ledger::read(const View& view, const Access& access, const Knowledge& known) {
  accesses_.push_back(access);
  Step step{false, static_cast<std::uint32_t>(accesses_.size() - 1), access, known, view};
  touch(view, step);
}

void Ledger::write(const View& view, const Access& access, const Knowledge& known) {
  accesses_.push_back(access);
  Step step{true, static_cast<std::uint32_t>(accesses_.size() - 1), access, known, view};
  touch(view, step);
}

std::optional<Number> Ledger::number_in(const View& view) const {
  const auto found = buffers_.find(view.storage.get());
  if (found == buffers_.end() || found->second.in_bytes) return std::nullopt;
  const std::vector<Run>& runs = found->second.runs;
  std::set<std::uint32_t> writes;
  for_each_row(view, [&](std::int64_t first, std::int64_t stride, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto behind =
          std::upper_bound(runs.begin(), runs.end(), first + i * stride,
                           [](std::int64_t at, const Run& run) { return at < run.first; });
      if (behind != runs.begin()) writes.insert(states_[std::prev(behind)->state].write);
    }
  });
  if (writes.size() != 1 || *writes.begin() == kNobody) return std::nullopt;
  return accesses_[*writes.begin()].number;
}

void Ledger::add_draws(std::set<std::size_t>& draws) const {
  for (const auto& [storage, buffer] : buffers_) {
    for (const Run& run : buffer.runs) {
      const std::uint32_t write = states_[run.state].write;
      const bool known = write != kNobody && accesses_[write].number;
      if (known && accesses_[write].number->draw) draws.insert(*accesses_[write].number->draw);
    }
  }
}

void Ledger::touch(const View& view, Step& step) {
  const auto found = buffers_.find(view.storage.get());
  if (found == buffers_.end()) return;
  step.space = found->second.space;
  if (found->second.in_bytes) {
    for (const execute::Range& range : byte_ranges(view)) {
      change(found->second, range.begin, range.end, step);
    }
    return;
  }
  for_each_row(view, [&](std::int64_t first, std::int64_t stride, std::int64_t count) {
    if (stride == 1) return change(found->second, first, first + count, step);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = first + i * stride;
      change(found->second, at, at + 1, step);
    }
  });
}

/// Changes the elements [first, end) to their next states.
void Ledger::change(Buffer& buffer, std::int64_t first, std::int64_t end, Step& step) {
  std::vector<Run>& runs = buffer.runs;
  const auto split = [&](std::int64_t at) {
    const auto behind = std::upper_bound(
        runs.begin(), runs.end(), at, [](std::int64_t x, const Run& run) { return x < run.first; });
    const auto index = static_cast<std::size_t>(behind - runs.begin());
    if (runs[index - 1].first == at) return index - 1;
    if (at >= buffer.end) return index;
    runs.insert(behind, Run{at, runs[index - 1].state});
    return index;
  };
  if (first < 0 || first >= end) return;
  std::size_t from = split(first);
  const std::size_t to = split(end);
  for (std::size_t i = from; i < to; ++i) {
    State& state = runs[i].state;
    if (state != step.last) {
      const State before = state;
      step.then = after(before, step);
      step.last = before;
    }
    state = step.then;
  }
  from = from == 0 ? 1 : from;
  const auto begin = runs.begin() + static_cast<std::ptrdiff_t>(from - 1);
  const auto stop = runs.begin() + static_cast<std::ptrdiff_t>(std::min(to + 1, runs.size()));
  runs.erase(
      std::unique(begin, stop, [](const Run& a, const Run& b) { return a.state == b.state; }),
      stop);
}

Ledger::State Ledger::after(State before, Step& step) {
  Past past = states_[before];
  if (step.writes) {
    check_write(past, step);
    return state_of({step.number, {}});
  }
  check_read(past, step);
  std::erase_if(past.reads,
                [&](std::uint32_t read) { return accesses_[read].agent == step.access.agent; });
  past.reads.push_back(step.number);
  return state_of(std::move(past));
}

Ledger::State Ledger::state_of(Past past) {
  const auto [place, added] = numbers_.try_emplace(past, static_cast<State>(states_.size()));
  if (added) states_.push_back(std::move(past));
  return place->second;
}

bool Ledger::ordered(const Access& first, const Step& step) const {
  if (first.agent == step.access.agent && first.in_order) return true;
  return step.known.done.covers(first.agent, first.time);
}

/// Whether writes of threads in the first access are visible to the present access.
bool Ledger::fenced(const Access& first, const Step& step) const {
  if (step.space == Space::tensor) return true;
  if (first.proxy == Proxy::async || step.access.proxy == Proxy::generic) return true;
  return step.known.visible.covers(first.agent, first.time);
}

void Ledger::check_read(const Past& past, const Step& step) {
  const Access& reader = step.access;
  if (past.write == kNobody) {
    findings_.add({Rule::read_before_write, reader.op, std::nullopt,
                   name(step.view) + " is read by " + *reader.by + ", and nobody has written it"});
    return;
  }
  const Access& writer = accesses_[past.write];
  if (!ordered(writer, step)) {
    findings_.add({Rule::read_before_write, reader.op, writer.op,
                   name(step.view) + " is read by " + *reader.by +
                       ", which does not know that it has been written by " + place(writer)});
  } else if (!fenced(writer, step)) {
    findings_.add({Rule::fence, reader.op, writer.op,
                   name(step.view) + " is read by " + *reader.by +
                       " past the threads, with no proxy fence since it was written by " +
                       place(writer)});
  }
}

void Ledger::check_write(const Past& past, const Step& step) {
  const Access& writer = step.access;
  const auto clashes = [&](const Access& first, const std::string& how) {
    findings_.add({Rule::overwrite, writer.op, first.op,
                   name(step.view) + " is written by " + *writer.by +
                       ", which does not know that " + how + " " + place(first) + " has ended"});
  };
  for (const std::uint32_t read : past.reads) {
    if (!ordered(accesses_[read], step)) clashes(accesses_[read], "the reading by");
  }
  if (past.write == kNobody) return;
  const Access& first = accesses_[past.write];
  if (!ordered(first, step)) {
    clashes(first, "the writing by");
  } else if (!fenced(first, step)) {
    findings_.add({Rule::fence, writer.op, first.op,
                   name(step.view) + " is written by " + *writer.by +
                       " past the threads, with no proxy fence since it was written by " +
                       place(first)});
  }
}

std::string Ledger::place(const Access& access) const {
  return *access.by + " (line " + std::to_string(program_.op(access.op).line) + ")";
}

std::string Ledger::name(const View& view) const {
  const auto found = buffers_.find(view.storage.get());
  if (found == buffers_.end()) return "a buffer";
  const execute::Shape& shape = view.storage->shape;
  std::string name = "%" + found->second.name;
  if (view.as) {
    const std::vector<execute::Range> bytes = execute::byte_ranges(view);
    return "bytes " + std::to_string(bytes.front().begin) + " to " +
           std::to_string(bytes.back().end - 1) + " of " + name;
  }
  if (shape.empty() || shape.size() <= view.shape.size() || shape[0] == 0) return name;
  return name + "[" + std::to_string(view.offset / (execute::size_of(shape) / shape[0])) + "]";
}

}  // namespace twill::concurrent
