#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "twill/extract/body.h"
#include "twill/extract/tile_graph.h"

/// Order that a loop needs although no value says so: by way of global memory, and by ops that
/// nothing may cross.
namespace twill::extract {

/// `second` comes after `first` of `distance` iterations before: they may touch the same places of
/// global memory, and one of them writes.
struct MemoryOrder {
  ir::OpId first;
  ir::OpId second;
  int distance = 0;
  friend bool operator==(const MemoryOrder&, const MemoryOrder&) = default;
};

/// Whether the loop changes memory that it also reads, by pairs of accesses in the order of the
/// text: within an iteration, and around the back edge. Accesses whose places are shown to be apart
/// are left out, and so are atomic operations of one kind, which commute. Cost: quadratic in the
/// accesses of the loop.
std::vector<MemoryOrder> memory_orders(const Body& body);

/// Fails if a plan of the loop could not keep an effect: one that no op of the Problem stands for
/// (`stands_for` says which do), or an op that others may not cross. Of what only people see it returns a note each.
Result<std::vector<std::string>> check_effects(const Body& body,
                                               const std::set<ir::OpId>& stands_for);

/// Fails if the loop writes an array that is read around it, or reads one that is written in front
/// of it: roles begin and end the loop each on their own.
Result<void> check_around(const Body& body);

/// Fails if an order that the loop needs is no edge of its graph.
Result<void> check_kept(const Body& body, const TileGraph& graph);

/// Which arrays a plan of the loop takes to be apart, for people; nullopt if the loop writes to
/// none, or to the only one.
std::optional<std::string> assumed_apart(const ir::Program& program, ir::OpId loop);
/// The sentence about these arrays, of which there are two at least.
std::string apart_in_words(const ir::Program& program, const std::set<ir::ValueId>& arrays);

}  // namespace twill::extract
