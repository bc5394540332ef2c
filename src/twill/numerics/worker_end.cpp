#include <limits>

#include "twill/execute/evaluate.h"
#include "twill/ir/operands.h"
#include "twill/numerics/worker.h"

/// Ends of work, and of the loop.
namespace twill::numerics {

using execute::Tile;

namespace {

Tile spoilt(const Tile& tile) { return execute::poison(tile.shape, tile.is_floating()); }

}  // namespace

/// Checks that the operands stayed in place until the end of the read.
void Worker::check(Work& work) {
  for (const Reading& reading : work.readings) {
    if (slots_.changes(reading.slot, work.queue) == reading.changes) continue;
    note(work, "reads " + slots_.name(reading.slot) + " while others write it");
    work.spoiled = true;
  }
  if (work.spoiled && work.home && !work.writing) slots_.destroy(*work.home);
}

Result<void> Worker::finish(Work& work) {
  if (work.product) return finish_product(work);
  if (work.store) return finish_store(work);
  if (!work.writing) return {};
  if (work.spoiled) {
    for (auto& [thing, piece] : work.content) piece.tile = share(spoilt(*piece.tile));
  }
  slots_.end_write(*work.home, std::move(work.content), work.queue);
  return {};
}

Result<void> Worker::finish_product(Work& work) {
  const ir::Program& program = meaning_.program();
  Product& product = *work.product;
  if (work.other_sides != nullptr) {
    TWILL_TRY_VOID(do_other_sides(work, *work.other_sides));
    if (product.skipped) {
      Reader reader(context_, slots_, work.op, work.iteration, work.queue);
      TWILL_TRY(const TilePtr sums, instead(work, reader, product.thing, product.box));
      note_missing(work, reader);
      product.sums = *sums;
    }
  }
  if (product.in_slot) {
    const Piece* piece = slots_.find(*product.in_slot, product.in_thing, work.queue);
    const bool same = slots_.changes(*product.in_slot, work.queue) == product.changes;
    if (piece == nullptr) note(work, "does not find its sums in " + slots_.name(*product.in_slot));
    if (!same) note(work, "adds to " + slots_.name(*product.in_slot) + " while others write it");
    work.spoiled = work.spoiled || !same || piece == nullptr;
    product.sums = piece == nullptr
                       ? execute::poison(execute::shape_of(product.box), adds_numbers(product))
                       : *piece->tile;
  }
  Tile sums = *std::move(product.sums);
  if (!product.skipped) {
    TWILL_TRY_VOID(execute::check_product(program, product.made, *product.a, *product.b, sums));
    execute::multiply_add(*product.a, *product.b, sums);
  }
  if (work.spoiled) sums = spoilt(sums);
  TWILL_TRY(Tile result, execute::converted(program, product.made, std::move(sums),
                                            ir::type_of(program, product.thing)));
  Content content;
  content.emplace(product.thing, Piece{product.box, share(std::move(result))});
  slots_.end_write(*work.home, std::move(content), work.queue);
  product = Product{};
  return {};
}

Result<void> Worker::finish_store(Work& work) {
  const ir::Program& program = meaning_.program();
  Store& store = *work.store;
  execute::Interpreter& outside = context_.outside();
  const execute::Descriptor* descriptor = store.descriptor ? &*store.descriptor : nullptr;
  const auto lookup = [&](ir::ValueId value) -> Result<TilePtr> {
    return store.operands.at(value);
  };
  const Tile tile = work.spoiled ? spoilt(*store.tile) : *store.tile;
  TWILL_TRY(const Tile before, execute::write_global(program, store.made, outside.memory(),
                                                     descriptor, tile, lookup, store.box));
  store = Store{};
  return {};
}

/// Finds the results of a while loop: values that its condition passes on in the last iteration.
Result<void> Worker::leave_while(Reader& reader,
                                 std::vector<std::pair<ir::ValueId, TilePtr>>& results) {
  const ir::Program& program = meaning_.program();
  for (const ir::Forwarded& forwarded : meaning_.loop().forwarded) {
    const ir::Type type = ir::type_of(program, forwarded.result);
    if (type->kind == ir::TypeKind::token || program.value(forwarded.result).uses.empty()) continue;
    const Box box = execute::whole(type->shape);
    const ir::ValueId passed = meaning_.behind_renaming(forwarded.passed);
    const ir::Carried* carried = meaning_.carried(passed);
    TilePtr tile;
    if (meaning_.is_known(passed)) {
      TWILL_TRY(tile, context_.pure(passed, context_.trips()));
    } else if (carried != nullptr && context_.trips() > 0) {
      TWILL_TRY(tile, reader.value(carried->yielded, 0, box));
    } else if (carried != nullptr) {
      TWILL_TRY(tile, context_.before(carried->init, box));
    } else {
      return execute::cannot(program, meaning_.loop().op,
                             "passes on what it computes in front of its condition");
    }
    results.emplace_back(forwarded.result, std::move(tile));
  }
  return {};
}

Result<void> Worker::leave() {
  advance(std::numeric_limits<double>::infinity());
  if (wrong_) return tl::unexpected(*wrong_);
  const ir::Program& program = meaning_.program();
  execute::Interpreter& outside = context_.outside();
  Reader reader(context_, slots_, std::nullopt, context_.trips() - 1, 0);
  std::vector<std::pair<ir::ValueId, TilePtr>> results;
  for (const ir::Carried& carried : meaning_.loop().carried) {
    if (!carried.result) continue;
    const ir::Type type = ir::type_of(program, *carried.result);
    if (type->kind == ir::TypeKind::token || program.value(*carried.result).uses.empty()) continue;
    const Box box = execute::whole(type->shape);
    TWILL_TRY(TilePtr tile, context_.trips() == 0 ? context_.before(carried.init, box)
                                                  : reader.value(carried.yielded, 0, box));
    results.emplace_back(*carried.result, std::move(tile));
  }
  TWILL_TRY_VOID(leave_while(reader, results));
  for (std::size_t i = 0; context_.trips() > 0 && i < program.value_count(); ++i) {
    const ir::ValueId root(i);
    const auto* view = std::get_if<execute::View>(&outside.value(root));
    if (view == nullptr || !meaning_.is_left(root)) continue;
    TWILL_TRY(const TilePtr tile,
              reader.content(root, 0, execute::whole(ir::type_of(program, root)->shape)));
    execute::write(*view, *tile);
  }
  for (auto& [value, tile] : results) outside.set(value, std::move(tile));
  for (const std::string& what : reader.missing()) {
    if (hazards_.size() < kMostHazards) hazards_.push_back("after the loop there is no " + what);
  }
  return {};
}

}  // namespace twill::numerics
