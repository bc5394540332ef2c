#include "twill/driver/cluster.h"

#include <algorithm>
#include <array>
#include <vector>

#include "twill/driver/grid.h"
#include "twill/ir/loop.h"
#include "twill/ir/operands.h"
#include "twill/ir/type.h"

namespace twill::driver {
namespace {

constexpr int kCtas = 2;
constexpr std::int64_t kSwizzleRows = 8;  // rows after which the swizzle of a tile repeats

/// A load of the loop that TMA does ahead of its use.
struct Stream {
  problem::OpId op;
  Axes axes = 0;  ///< program ids on which its address depends
  std::int64_t bytes = 0;
};

class Chooser {
 public:
  Chooser(const Kernel& kernel, const report::Outcome& outcome)
      : kernel_(kernel), program_(kernel.program), outcome_(outcome) {}

  /// Whether the loop writes global memory. If not, a CTA may repeat its neighbour's tile without
  /// the writes of the epilogue.
  bool writes_in_loop() const {
    const std::vector<ir::OpId> all = ir::walk(program_, kernel_.choice.loop);
    return std::any_of(all.begin(), all.end(), [&](ir::OpId op) {
      const auto access = ir::memory_access(program_.op(op));
      return access && access->writes && access->space == ir::AccessSpace::global;
    });
  }

  /// The program ids on which the trip count depends.
  Axes axes_of_trips() const {
    const auto loop = ir::as_loop(program_, kernel_.choice.loop);
    Axes axes = 0;
    for (const auto& bound : {loop->lower, loop->upper, loop->step}) {
      if (bound) axes |= axes_of(program_, *bound);
    }
    return axes;
  }

  /// The program ids that the kernel reads: along other axes there is a single tile.
  Axes axes_asked() const {
    Axes axes = 0;
    const auto function = ir::enclosing(program_, kernel_.choice.loop, ir::OpKind::function);
    for (const ir::OpId id : ir::walk(program_, *function)) {
      const ir::Op& op = program_.op(id);
      if (op.kind != ir::OpKind::program_id) continue;
      axes |= axes_of(program_, op.results[0]);
    }
    return axes;
  }

  /// The streams whose tiles can be loaded in two halves.
  std::vector<Stream> streams(const plan::Setting& setting) const {
    std::vector<Stream> streams;
    for (std::size_t v = 0; v < outcome_.origins.size(); ++v) {
      const problem::Op& op = outcome_.problem.ops()[v];
      const bool told = v < setting.mechanisms.size() && setting.mechanisms[v];
      if (!op.variable_latency || !op.streaming || op.footprint.empty() || told) continue;
      if (const auto stream = stream_of(problem::OpId(v))) streams.push_back(*stream);
    }
    return streams;
  }

 private:
  std::optional<Stream> stream_of(problem::OpId id) const {
    Stream stream{id, 0, 0};
    for (const extract::Source& source : outcome_.origins[id.index()].sources) {
      const ir::Op& op = program_.op(source.op);
      if (op.kind != ir::OpKind::block_load) continue;
      // A load under a condition is left out: its condition would have to be analysed, too.
      if (ir::parent(program_, source.op) != kernel_.choice.loop) return std::nullopt;
      const auto access = *ir::memory_access(op);
      stream.axes |= axes_of(program_, access.address);
      for (const ir::ValueId at : access.coordinates) stream.axes |= axes_of(program_, at);
      const ir::Type block = ir::type_of(program_, access.address)->element;
      if (!has_halves(block)) return std::nullopt;
      stream.bytes += ir::element_count(block) * ir::element_bits(block) / 8;
    }
    return stream.bytes > 0 ? std::optional(stream) : std::nullopt;
  }

  static bool has_halves(ir::Type block) {
    const auto& shape = block->shape;
    return shape.size() >= 2 && shape[shape.size() - 2] % (kCtas * kSwizzleRows) == 0;
  }

  const Kernel& kernel_;
  const ir::Program& program_;
  const report::Outcome& outcome_;
};

std::int64_t shared_bytes(const std::vector<Stream>& streams, Axes axis) {
  std::int64_t bytes = 0;
  for (const Stream& stream : streams) bytes += (stream.axes & axis) == 0 ? stream.bytes : 0;
  return bytes;
}

}  // namespace

std::optional<std::string> choose_cluster(plan::Setting& setting, const Kernel& kernel,
                                          const report::Outcome& outcome) {
  if (setting.kernel->tiles != plan::Tiles::persistent) {
    return "no cluster: the kernel does not walk the grid on its own";
  }
  const Chooser chooser(kernel, outcome);
  if (chooser.writes_in_loop()) return "no cluster: the loop writes global memory";
  const std::vector<Stream> streams = chooser.streams(setting);
  const Axes usable = chooser.axes_asked() & ~chooser.axes_of_trips();
  constexpr std::array<plan::Axis, 3> kAxes = {plan::Axis::x, plan::Axis::y, plan::Axis::z};
  std::int64_t most = 0;
  Axes chosen = 0;
  for (std::size_t i = 0; i < kAxes.size(); ++i) {
    const Axes axis = 1U << i;
    if ((usable & axis) == 0 || shared_bytes(streams, axis) <= most) continue;
    most = shared_bytes(streams, axis);
    chosen = axis;
    setting.kernel->axis = kAxes[i];
  }
  if (most == 0) return "no cluster: no two tiles have a load in common";
  setting.kernel->cluster = kCtas;
  setting.mechanisms.resize(outcome.problem.ops().size());
  for (const Stream& stream : streams) {
    if ((stream.axes & chosen) != 0) continue;
    setting.mechanisms[stream.op.index()] = plan::Mechanism::tma_multicast;
  }
  return std::nullopt;
}

}  // namespace twill::driver
