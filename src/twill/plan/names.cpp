#include "twill/plan/plan.h"
#include "twill/support/check.h"

namespace twill::plan {

std::string_view name_of(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::threads:
      return "threads";
    case Mechanism::scoreboard:
      return "scoreboard";
    case Mechanism::tma_load:
      return "tma-load";
    case Mechanism::tma_multicast:
      return "tma-multicast";
    case Mechanism::cp_async:
      return "cp-async";
    case Mechanism::wgmma:
      return "wgmma";
    case Mechanism::tcgen05:
      return "tcgen05";
    case Mechanism::bulk_store:
      return "bulk-store";
  }
  TWILL_CHECK(false, "unknown mechanism");
}

std::string_view name_of(StepKind kind) {
  switch (kind) {
    case StepKind::compute:
      return "compute";
    case StepKind::issue:
      return "issue";
    case StepKind::stage:
      return "stage";
    case StepKind::acquire:
      return "acquire";
    case StepKind::expect:
      return "expect";
    case StepKind::commit:
      return "commit";
    case StepKind::wait:
      return "wait";
    case StepKind::release:
      return "release";
    case StepKind::peek:
      return "peek";
    case StepKind::drain_groups:
      return "drain-groups";
    case StepKind::pass:
      return "pass";
    case StepKind::take:
      return "take";
    case StepKind::rendezvous:
      return "rendezvous";
    case StepKind::fence:
      return "fence";
    case StepKind::leave:
      return "leave";
  }
  TWILL_CHECK(false, "unknown step kind");
}

std::string_view name_of(Fence fence) {
  switch (fence) {
    case Fence::none:
      return "none";
    case Fence::proxy:
      return "proxy";
    case Fence::wgmma:
      return "wgmma";
    case Fence::tensor_before:
      return "tensor-before";
    case Fence::tensor_after:
      return "tensor-after";
    case Fence::pin:
      return "pin";
  }
  TWILL_CHECK(false, "unknown fence");
}

std::string_view name_of(Arrival arrival) {
  return arrival == Arrival::threads ? "threads" : "asynchronous";
}

std::string_view name_of(By by) { return by == By::every_warp ? "every-warp" : "one-warp"; }

std::string_view name_of(Residence residence) {
  switch (residence) {
    case Residence::shared:
      return "shared";
    case Residence::tensor:
      return "tensor";
    case Residence::registers:
      return "registers";
  }
  TWILL_CHECK(false, "unknown residence");
}

std::string_view name_of(StagingFormat format) {
  switch (format) {
    case StagingFormat::fragment:
      return "fragment";
    case StagingFormat::row_vector:
      return "row-vector";
    case StagingFormat::operand:
      return "operand";
    case StagingFormat::tile:
      return "tile";
  }
  TWILL_CHECK(false, "unknown staging format");
}

std::string_view name_of(ChannelKind kind) {
  switch (kind) {
    case ChannelKind::pipeline:
      return "pipeline";
    case ChannelKind::signal:
      return "signal";
    case ChannelKind::token:
      return "token";
  }
  TWILL_CHECK(false, "unknown channel kind");
}

std::string_view name_of(Scope scope) { return scope == Scope::cta ? "cta" : "cluster"; }

std::string_view name_of(Instance::From from) {
  switch (from) {
    case Instance::From::first:
      return "first";
    case Instance::From::window:
      return "window";
    case Instance::From::last:
      return "last";
    case Instance::From::tile:
      return "tile";
  }
  TWILL_CHECK(false, "unknown anchor");
}

std::string_view name_of(Channel::Counts counts) {
  return counts == Channel::Counts::iterations ? "iterations" : "tiles";
}

std::string_view name_of(PerTileOp::When when) {
  switch (when) {
    case PerTileOp::When::before:
      return "before";
    case PerTileOp::When::after:
      return "after";
    case PerTileOp::When::end:
      return "end";
  }
  TWILL_CHECK(false, "unknown time of an op around the loop");
}

std::string_view name_of(Tiles tiles) {
  switch (tiles) {
    case Tiles::one_per_cta:
      return "one-per-cta";
    case Tiles::program_loop:
      return "program-loop";
    case Tiles::persistent:
      return "persistent";
  }
  TWILL_CHECK(false, "unknown order of tiles");
}

std::string_view name_of(TileOrder order) {
  return order == TileOrder::row_major ? "row-major" : "grouped";
}

std::string_view name_of(Placing placing) {
  switch (placing) {
    case Placing::within:
      return "within";
    case Placing::behind:
      return "behind";
    case Placing::before_roles:
      return "before-roles";
    case Placing::after_roles:
      return "after-roles";
  }
  return "?";
}

std::string_view name_of(Axis axis) { return axis == Axis::x ? "x" : axis == Axis::y ? "y" : "z"; }

}  // namespace twill::plan
