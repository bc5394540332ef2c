#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "twill/extract/tile_graph.h"
#include "twill/ir/program.h"
#include "twill/machine/machine.h"
#include "twill/problem/ops.h"

/// Makes the scheduling Problem from a loop of a Program and a Machine. The rules are in
/// docs/reference/extraction.md.
namespace twill::extract {

/// Whether threads copy tiles of the loop into shared memory through pointers, and no other op is
/// for a single warp. In this case the load group should be a whole warpgroup
/// (machine::with_copying_warpgroup). False for a loop that cannot be read.
bool copies_by_threads(const ir::Program& program, ir::OpId loop);

/// Whether a pipeliner has already transformed the loop: it waits for barriers or copies. False for
/// a loop that cannot be read.
bool is_already_pipelined(const ir::Program& program, ir::OpId loop);

struct Options {
  std::optional<std::int64_t> subtile;  ///< rows of a sub-tile; 0: none; unset: the machine's
  std::string pool;                     ///< name of a pool; empty: the machine's first
  machine::Rate rate = machine::Rate::fastest;
  bool strict = false;        ///< refuse ops without a price instead of warning
  bool transfers = false;     ///< values in registers change groups by transfer ops (stores and
                              ///< loads), instead of a delay
  bool load_latency = false;  ///< readers of loads that run ahead also wait for their latency, and
                              ///< the copies that hide it count as memory
};

/// Origin of an op of the Problem.
struct OpOrigin {
  std::vector<Source> sources;  ///< in program order
  int part = -1;                ///< sub-tile; -1: shared by all, or nothing is cut
  std::int64_t row_begin = 0;   ///< first row along the cut axis; both 0 if the op is not cut
  std::int64_t row_end = 0;
  bool forwards = false;  ///< moves the values of its operands to another place; `sources` lists
                          ///< the ops that need them
};

/// Memory or registers that are in use for the whole loop, and not available to the Problem.
struct Reserved {
  std::string what;    ///< "ttg.local_alloc @ 31:10"
  std::string memory;  ///< "SMEM", "TMEM" or "registers"
  Amount amount = 0;   ///< bytes, columns, or registers per thread
  std::string why;
  std::optional<ir::OpId> op;  ///< op that makes the tile; none for staging
  bool staging = false;        ///< staging of a store after the loop
};

struct Extraction {
  problem::Problem problem;
  std::vector<OpOrigin> origins;  ///< for each problem::OpId
  std::vector<Reserved> reserved;
  std::vector<std::string> notes;    ///< approximations made by rules, one sentence each
  std::vector<Diagnostic> warnings;  ///< findings for the user's attention
  bool live_only = false;  ///< the problem models iterations that execute the branches it prices
  int sub_tiles = 1;
  std::int64_t sub_tile_rows = 0;  ///< 0: nothing is cut
  std::string pool;
};

/// Precondition: `loop` is an op of `program`, as returned by `choose_loop`. Fails if the op is no
/// loop, holds another loop, has no tensor-core work, or was compiled for another architecture.
/// Fails if the loop needs more memory than the machine has, cannot be cut as asked, or has an op
/// without a price under `strict`. Deterministic. Cost: about linear in the loop's ops.
Result<Extraction> extract(const ir::Program& program, ir::OpId loop,
                           const machine::Machine& machine, const Options& options);

}  // namespace twill::extract
