#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "twill/plan/plan.h"

/// Internal to the explorer: contents of buffers. A buffer is a row of cells: for each copy as many
/// as the widest role has warps, or the cluster has CTAs. A warp of a role of k warps writes every
/// k-th cell. Each cell holds the name of its last written contents.
namespace twill::plan::testing {

using Cell = std::int32_t;

/// Tag of a complete write; a write under way leaves the negative tag.
Cell tag(OpId op, std::int64_t iteration);

/// Viewer of a cell: one warp, or asynchronous work, which sees all lanes. A CTA's share of a
/// multicast copy counts as a warp; there are as many of these as CTAs.
struct Viewer {
  int warp = 0;
  int warps = 1;
  bool all = false;
  std::size_t cta = 0;  ///< CTA of the memory
};

/// Layout and rules, the same in each CTA; the cells themselves belong to the state of the
/// exploration.
class ExploredMemory {
 public:
  ExploredMemory(const Plan& plan, const std::vector<RoleId>& role);

  std::vector<Cell> at_start() const;

  /// Whether the dependence updates its value in place: both ends have one place.
  bool in_place(const problem::Dependence& d) const;
  /// Whether a step brings its input before the loop, outside of all buffers.
  bool is_brought(const problem::Dependence& d) const;

  /// Fault of reading `value` of iteration n by `reader`; nothing if the value is there.
  std::optional<std::string> read(const std::vector<Cell>& cells, OpId value, OpId reader,
                                  std::int64_t n, Viewer viewer) const;
  /// The same for an op of iteration i that updates its input in place. The place must hold one of
  /// the values that it may update.
  std::optional<std::string> read_updated(const std::vector<Cell>& cells, OpId op, std::int64_t i,
                                          Viewer viewer) const;

  void write(std::vector<Cell>& cells, std::optional<BufferId> buffer, std::int64_t iteration,
             Cell value, Viewer viewer) const;
  /// Replaces the mark of an asynchronous write by its final contents; false if the mark is
  /// missing.
  bool finish(std::vector<Cell>& cells, OpId op, std::int64_t iteration, Viewer viewer) const;

 private:
  std::size_t cell(BufferId buffer, std::int64_t iteration) const;
  std::vector<std::size_t> lanes(BufferId buffer, std::int64_t iteration, Viewer viewer) const;
  void spoil(std::vector<Cell>& cells, BufferId id, std::int64_t iteration, Viewer viewer) const;

  const Plan& plan_;
  const std::vector<RoleId>& role_;
  std::size_t lanes_ = 1;
  std::vector<std::size_t> first_;  // by BufferId
  std::size_t cells_ = 0;
};

}  // namespace twill::plan::testing
