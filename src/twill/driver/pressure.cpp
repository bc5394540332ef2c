#include "twill/driver/pressure.h"

#include <algorithm>
#include <map>
#include <set>

#include "twill/device/kernel.h"
#include "twill/dialect/register_layouts.h"
#include "twill/ir/encoding.h"

namespace twill::driver {
namespace {

using device::Block;
using device::Node;
using device::NodeKind;
using device::ValueId;

/// A tile in registers.
bool is_register_tile(ir::Type type) { return ir::is_tensor(type) && !type->shape.empty(); }

using LiveValues = std::set<ValueId>;
using ValueIds = std::vector<ValueId>;

/// Relations between values of a role and registers.
class RegisterFacts {
 public:
  RegisterFacts(const ir::Program& program, const device::Kernel& kernel, const Block& body)
      : program_(program), kernel_(kernel) {
    note(body);
  }

  /// The value whose registers contain a value: a view of a tile has the registers of that tile.
  ValueId root_of(ValueId value) const {
    for (auto at = views_.find(value); at != views_.end(); at = views_.find(value)) {
      value = at->second;
    }
    return value;
  }

  /// The values whose registers contain all inputs of a value: its root, or for a tile of rows and
  /// columns their roots.
  LiveValues roots_of(ValueId value) const {
    const ValueId root = root_of(value);
    const auto found = of_edges_.find(root);
    if (found == of_edges_.end()) return {root};
    LiveValues roots;
    for (const ValueId edge : found->second) roots.merge(roots_of(edge));
    return roots;
  }

  /// Registers of a thread that a value takes. Tiles that only depend on scalars take none:
  /// offsets, masks and constants are computed where they are read.
  int size_of(ValueId value) const {
    const ir::Type type = kernel_[value].type;
    if (ir::is_scalar(type)) return constants_.contains(value) ? 0 : 1;
    if (!ir::is_tensor(type) || !data_.contains(value)) return 0;
    const auto elements = dialect::elements_of_thread(type->encoding, type->shape);
    return static_cast<int>((elements.value_or(0) * ir::element_bits(type) + 31) / 32);
  }

  bool is_of_product(ValueId value) const { return products_.contains(value); }
  bool is_accumulator(ValueId value) const { return accumulators_.contains(value); }

  /// The tile in registers that is an operand of the product with result `value`.
  std::optional<ValueId> operand_of(ValueId value) const {
    const auto found = operands_.find(value);
    return found == operands_.end() ? std::nullopt : std::optional(found->second);
  }

  bool is_view(const Node& node) const {
    if (node.kind == NodeKind::wait_products) return true;
    if (node.kind == NodeKind::relayout) {
      return dialect::is_of_operand(kernel_[node.results[0]].type->encoding) &&
             dialect::is_of_product(kernel_[node.operands[0]].type->encoding);
    }
    const ir::OpKind kind = kind_of(node);
    return is_spread(node) || kind == ir::OpKind::expand_dims || kind == ir::OpKind::reshape ||
           kind == ir::OpKind::transpose;
  }

  /// Whether a node spreads a row, a column or a loaded scalar over a tile.
  bool is_spread(const Node& node) const {
    const ir::OpKind kind = kind_of(node);
    return kind == ir::OpKind::broadcast ||
           (kind == ir::OpKind::splat && data_.contains(node.operands[0]));
  }

  /// Whether a compiler may compute a node's result element by element, together with its readers.
  bool is_by_element(const Node& node) const {
    if (is_view(node)) return node.kind != NodeKind::wait_products;
    if (node.kind == NodeKind::both || node.kind == NodeKind::choose) return true;
    return ir::class_of(kind_of(node)) == ir::OpClass::elementwise;
  }

 private:
  ir::OpKind kind_of(const Node& node) const {
    const bool carried_over = node.kind == NodeKind::source && node.source;
    return carried_over ? program_.op(*node.source).kind : ir::OpKind::other;
  }

  bool makes_data(const Node& node) const {
    if (node.kind == NodeKind::product || node.kind == NodeKind::read) return true;
    if (node.kind == NodeKind::source) {
      const ir::OpClass of = ir::class_of(kind_of(node));
      if (of == ir::OpClass::load || of == ir::OpClass::update || of == ir::OpClass::other) {
        return true;
      }
    }
    return std::any_of(node.operands.begin(), node.operands.end(),
                       [&](ValueId value) { return data_.contains(value); });
  }

  /// Whether an elementwise node computes addresses, offsets or masks from rows and columns of its
  /// tile. Compilers compute these where they are read.
  bool is_of_edges(const Node& node) const {
    if (node.results.size() != 1) return false;
    const ir::Type type = kernel_[node.results[0]].type;
    if (!is_register_tile(type) || type->element->kind == ir::TypeKind::floating) return false;
    if (ir::class_of(kind_of(node)) != ir::OpClass::elementwise) return false;
    return std::all_of(node.operands.begin(), node.operands.end(), [&](ValueId value) {
      return !data_.contains(value) || spread_.contains(value) || of_edges_.contains(value);
    });
  }

  /// Marks results as data where the matching inputs are data: `from` beginning at `first`, and
  /// `to` at `second`.
  void pass(const ValueIds& from, std::size_t first, const ValueIds& to, std::size_t second) {
    for (; first < from.size() && second < to.size(); ++first, ++second) {
      if (data_.contains(from[first])) data_.insert(to[second]);
    }
  }

  void note(const Block& block) {
    for (const Node& node : block.nodes) note(node);
  }

  void note(const Node& node) {
    const bool is_loop = node.kind == NodeKind::loop;
    if (is_loop || node.kind == NodeKind::repeat) {
      const Block& body = node.blocks.front();
      const std::size_t carried = is_loop ? 1 : 0;
      pass(node.operands, is_loop ? 3 : 0, body.arguments, carried);
      for (int round = 0; round < 2; ++round) {
        note(body);
        pass(body.yields, 0, body.arguments, carried);
      }
    } else {
      for (const Block& block : node.blocks) note(block);
    }
    for (const Block& block : node.blocks) pass(block.yields, 0, node.results, 0);
    if (node.blocks.empty()) note_results(node);
  }

  void note_results(const Node& node) {
    if (node.kind == NodeKind::constant) constants_.insert(node.results[0]);
    if (node.kind == NodeKind::product) {
      products_.insert(node.results[0]);
      accumulators_.insert(node.operands[2]);
      if (is_register_tile(kernel_[node.operands[0]].type))
        operands_[node.results[0]] = node.operands[0];
    }
    if (node.kind == NodeKind::wait_products)
      products_.insert(node.results.begin(), node.results.end());
    if (makes_data(node)) data_.insert(node.results.begin(), node.results.end());
    if (is_of_edges(node)) of_edges_[node.results[0]] = node.operands;
    if (is_spread(node)) spread_.insert(node.results[0]);
    if (!is_view(node)) return;
    for (std::size_t i = 0; i < node.results.size(); ++i)
      views_[node.results[i]] = node.operands[i];
  }

  const ir::Program& program_;
  const device::Kernel& kernel_;
  std::map<ValueId, ValueId> views_, operands_;
  std::map<ValueId, ValueIds> of_edges_;  ///< tiles of rows and columns, and these rows and columns
  LiveValues spread_;                     ///< rows, columns and scalars spread over tiles
  LiveValues products_;                   ///< results of products, in flight or complete
  LiveValues accumulators_;               ///< accumulators of products
  LiveValues data_, constants_;
};

/// A role's registers, by walking its nodes backwards. A value lives from its node to its last
/// reader, and a loop keeps the values that its body reads. A chain of nodes that are computed
/// element by element, with no wait or order between them, counts as one node. Values of later
/// readers, and products' results there, live after the chain. Compilers keep the registers of a
/// product apart from values computed from them, unless the next product adds to such a value.
class LiveWalk {
 public:
  explicit LiveWalk(const RegisterFacts& facts) : facts_(facts) {}

  int most(const Block& body) {
    LiveValues live;
    block(body, live);
    return most_;
  }

 private:
  int size_of(const LiveValues& live) const {
    int sum = 0;
    for (const ValueId value : live) sum += facts_.size_of(value);
    return sum;
  }

  void use(ValueId value, LiveValues& live) const {
    for (const ValueId root : facts_.roots_of(value)) {
      if (facts_.size_of(root) > 0) live.insert(root);
    }
  }
  void use(const ValueIds& values, LiveValues& live) const {
    for (const ValueId value : values) use(value, live);
  }
  static void forget(const ValueIds& values, LiveValues& live) {
    for (const ValueId value : values) live.erase(value);
  }
  void look(int size) { most_ = std::max(most_, size); }

  /// Changes the values that live after a block into those that live before it.
  void block(const Block& block, LiveValues& live) {
    use(block.yields, live);
    for (auto node = block.nodes.rbegin(); node != block.nodes.rend();) {
      if (facts_.is_by_element(*node)) {
        node = by_element(node, block.nodes.rend(), live);
      } else {
        one(*node++, live);
      }
    }
    look(size_of(live));
    forget(block.arguments, live);
  }

  /// Handles the last of a chain of nodes that count as one; returns the node before the chain.
  template <class At>
  At by_element(At node, At end, LiveValues& live) {
    int size = size_of(live);
    for (; node != end && facts_.is_by_element(*node); ++node) {
      forget(node->results, live);
      const bool apart = !facts_.is_view(*node) && !facts_.is_accumulator(node->results[0]);
      for (const ValueId value : node->operands) {
        const ValueId root = facts_.root_of(value);
        if (apart && facts_.is_of_product(root) && !live.contains(root)) {
          size += facts_.size_of(root);
        }
        use(value, live);
      }
    }
    look(size);
    return node;
  }

  void one(const Node& node, LiveValues& live) {
    if (node.kind == NodeKind::loop || node.kind == NodeKind::repeat) return loop(node, live);
    if (!node.blocks.empty()) return branch(node, live);
    look(size_of(live));
    if (node.kind == NodeKind::wait_products) {
      // A product reads its operand in registers until it is done.
      for (const ValueId value : node.operands) {
        if (const auto operand = facts_.operand_of(value)) use(*operand, live);
      }
    }
    if (node.kind == NodeKind::product) {
      forget(node.results, live);  // the results take the accumulator's place
    } else {
      use(node.results, live);
    }
    use(node.operands, live);
    look(size_of(live));
    forget(node.results, live);
  }

  void loop(const Node& node, LiveValues& live) {
    forget(node.results, live);
    // Values that live after the loop, or that its body reads from outside, live through the loop.
    for (int round = 0; round < 2; ++round) {
      LiveValues inside = live;
      block(node.blocks.front(), inside);
      live.insert(inside.begin(), inside.end());
    }
    use(node.operands, live);
    look(size_of(live));
  }

  void branch(const Node& node, LiveValues& live) {
    forget(node.results, live);
    LiveValues front;
    for (const Block& inner : node.blocks) {
      LiveValues inside = live;
      block(inner, inside);
      front.insert(inside.begin(), inside.end());
    }
    live = std::move(front);
    use(node.operands, live);
    look(size_of(live));
  }

  const RegisterFacts& facts_;
  int most_ = 0;
};

}  // namespace

std::vector<Pressure> register_pressure(const ir::Program& program, const device::Kernel& kernel) {
  std::vector<Pressure> found;
  for (const device::Role& role : kernel.roles) {
    bool copies = false, tiles = false;
    device::walk(role.body.nodes, [&](const Node& node) {
      const NodeKind kind = node.kind;
      copies |= kind == NodeKind::copy || kind == NodeKind::load_box;
      tiles |= kind == NodeKind::product || kind == NodeKind::read || kind == NodeKind::write;
    });
    // A role that only copies has tiles of addresses. A compiler keeps one address for each piece
    // that is copied at once.
    const bool is_known = tiles || !copies;
    const RegisterFacts facts(program, kernel, role.body);
    found.push_back({is_known ? LiveWalk(facts).most(role.body) : 0, role.registers});
  }
  return found;
}

int instruction_registers(ir::Type result) {
  const auto layout = ir::mma_encoding(result->encoding);
  if (!layout || layout->instr_shape.size() < 2) return 0;
  constexpr std::int64_t kRows = 64, kThreads = 128;
  const std::int64_t bits = layout->instr_shape[1] * ir::element_bits(result);
  return static_cast<int>(kRows * bits / (32 * kThreads));
}

}  // namespace twill::driver
