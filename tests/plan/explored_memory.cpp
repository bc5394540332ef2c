#include "plan/explored_memory.h"

#include <algorithm>

namespace twill::plan::testing {
namespace {

constexpr Cell kGarbage = 0;

Cell initial_tag(std::int64_t iteration) { return static_cast<Cell>(1'000'000 + iteration); }
Cell tag_of(OpId op, std::int64_t iteration) {
  return iteration < 0 ? initial_tag(iteration) : tag(op, iteration);
}

std::int64_t slot_of(const Buffer& buffer, std::int64_t iteration) {
  const std::int64_t depth = buffer.depth;
  return ((iteration % depth) + depth) % depth;
}

}  // namespace

Cell tag(OpId op, std::int64_t iteration) {
  return static_cast<Cell>(op.index() * 128 + static_cast<std::size_t>(iteration + 32) + 1);
}

ExploredMemory::ExploredMemory(const Plan& plan, const std::vector<RoleId>& role)
    : plan_(plan), role_(role), lanes_(static_cast<std::size_t>(cluster_size(plan))) {
  for (const Role& r : plan.roles) lanes_ = std::max(lanes_, static_cast<std::size_t>(r.warps));
  for (const Buffer& buffer : plan.buffers) {
    first_.push_back(cells_);
    cells_ += static_cast<std::size_t>(buffer.depth) * lanes_;
  }
}

/// If there are fewer copies than iterations before the loop, the copies hold the last of these
/// iterations.
std::vector<Cell> ExploredMemory::at_start() const {
  std::vector<Cell> cells(cells_, kGarbage);
  for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
    for (int i = plan_.buffers[b].initial; i >= 1; --i) {
      for (const std::size_t at : lanes(BufferId(b), -i, {0, 1, true, 0}))
        cells[at] = initial_tag(-i);
    }
  }
  return cells;
}

std::size_t ExploredMemory::cell(BufferId buffer, std::int64_t iteration) const {
  return first_[buffer.index()] +
         static_cast<std::size_t>(slot_of(plan_[buffer], iteration)) * lanes_;
}

std::vector<std::size_t> ExploredMemory::lanes(BufferId buffer, std::int64_t iteration,
                                               Viewer viewer) const {
  std::vector<std::size_t> found;
  const std::size_t first = cell(buffer, iteration);
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    const bool mine =
        lane % static_cast<std::size_t>(viewer.warps) == static_cast<std::size_t>(viewer.warp);
    if (viewer.all || mine) found.push_back(first + lane);
  }
  return found;
}

bool ExploredMemory::in_place(const problem::Dependence& d) const {
  const auto home = plan_.values[d.to.index()].home;
  return d.in_place && d.carries_value && home && home == plan_.values[d.from.index()].home &&
         d.distance % plan_[*home].depth == 0;
}

bool ExploredMemory::is_brought(const problem::Dependence& d) const {
  const auto home = plan_.values[d.from.index()].home;
  const bool registers = home && plan_[*home].residence == Residence::registers;
  return !home || (registers && role_[d.from.index()] != role_[d.to.index()]);
}

std::optional<std::string> ExploredMemory::read(const std::vector<Cell>& cells, OpId value,
                                                OpId reader, std::int64_t n, Viewer viewer) const {
  const auto home = plan_.values[value.index()].home;
  if (!home) return std::nullopt;
  const bool registers = plan_[*home].residence == Residence::registers;
  const bool own = role_[value.index()] == role_[reader.index()];
  const auto from = registers && !own ? plan_.values[value.index()].staged : home;
  const std::string& name = plan_.problem[value].name;
  if (!from) return name + " does not leave its role";
  const bool threads = plan_.mechanisms[reader.index()] == Mechanism::threads;
  const bool apart = (own && registers) || (plan_[*from].residence == Residence::tensor && threads);
  if (!apart) viewer.all = true;
  for (const std::size_t at : lanes(*from, n, viewer)) {
    if (cells[at] == tag_of(value, n)) continue;
    return plan_.problem[reader].name + " reads something else than " + name + " of " +
           std::to_string(n);
  }
  return std::nullopt;
}

std::optional<std::string> ExploredMemory::read_updated(const std::vector<Cell>& cells, OpId op,
                                                        std::int64_t i, Viewer viewer) const {
  const BufferId home = *plan_.values[op.index()].home;
  const auto is_one = [&](Cell now) {
    for (const problem::Dependence& d : plan_.problem.dependences()) {
      if (d.to != op || !in_place(d)) continue;
      if (now == tag_of(d.from, i - d.distance)) return true;
    }
    return false;
  };
  for (const std::size_t at : lanes(home, i, viewer)) {
    if (!is_one(cells[at])) return plan_.problem[op].name + " updates something else";
  }
  return std::nullopt;
}

void ExploredMemory::write(std::vector<Cell>& cells, std::optional<BufferId> buffer,
                           std::int64_t iteration, Cell value, Viewer viewer) const {
  if (!buffer) return;
  for (const std::size_t at : lanes(*buffer, iteration, viewer)) cells[at] = value;
  spoil(cells, *buffer, iteration, viewer);
}

bool ExploredMemory::finish(std::vector<Cell>& cells, OpId op, std::int64_t iteration,
                            Viewer viewer) const {
  const auto home = plan_.values[op.index()].home;
  if (!home) return true;
  for (const std::size_t at : lanes(*home, iteration, viewer)) {
    if (cells[at] != -tag(op, iteration)) return false;
    cells[at] = tag(op, iteration);
  }
  return true;
}

/// Marks all other contents of the place as gone. In tensor memory a warp reaches only its own
/// lanes.
void ExploredMemory::spoil(std::vector<Cell>& cells, BufferId id, std::int64_t iteration,
                           Viewer viewer) const {
  const Buffer& buffer = plan_[id];
  if (buffer.residence == Residence::registers) return;
  if (buffer.residence != Residence::tensor) viewer.all = true;
  const Amount from = buffer.offset + slot_of(buffer, iteration) * buffer.size;
  for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
    const Buffer& other = plan_.buffers[b];
    const bool shares = other.residence == buffer.residence && other.memory == buffer.memory;
    if (BufferId(b) == id || !shares) continue;
    for (int s = 0; s < other.depth; ++s) {
      const Amount at = other.offset + s * other.size;
      if (at >= from + buffer.size || from >= at + other.size) continue;
      for (const std::size_t lane : lanes(BufferId(b), s, viewer)) cells[lane] = kGarbage;
    }
  }
}

}  // namespace twill::plan::testing
