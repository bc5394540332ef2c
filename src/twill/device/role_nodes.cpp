#include <algorithm>

#include "twill/device/role.h"

/// Nodes of a role, one by one.
namespace twill::device {

ValueId RoleBuilder::add_value(const std::string& name, ir::Type type) {
  kernel_.values.push_back({name, type});
  return ValueId(kernel_.values.size() - 1);
}

Node& RoleBuilder::emit(NodeKind kind, std::vector<ValueId> operands, std::vector<ValueId> results,
                        std::vector<std::int64_t> numbers) {
  now_->push_back({kind, std::move(operands), std::move(results), std::move(numbers)});
  return now_->back();
}

ValueId RoleBuilder::make(NodeKind kind, std::vector<ValueId> operands, const std::string& name,
                          ir::Type type, std::vector<std::int64_t> numbers) {
  const ValueId value = add_value(name, type);
  emit(kind, std::move(operands), {value}, std::move(numbers));
  return value;
}

ValueId RoleBuilder::constant(std::int64_t number, ir::Type type) {
  const auto known = constants_.find({number, type});
  if (known != constants_.end()) return known->second;
  std::string name = (number < 0 ? "m" : "c") + std::to_string(number < 0 ? -number : number);
  if (type == sketch_.i1()) name = number != 0 ? "true" : "false";
  const ValueId value = add_value(name, type);
  head_.push_back({NodeKind::constant, {}, {value}, {number}});
  return constants_[{number, type}] = value;
}

ValueId RoleBuilder::integer(NodeKind kind, ValueId a, ValueId b, const std::string& name) {
  const bool truth = kind == NodeKind::equal || kind == NodeKind::at_most;
  return make(kind, {a, b}, name, truth ? sketch_.i1() : type_of(a));
}

ValueId RoleBuilder::capture(ValueId value) {
  if (!isolated_) {
    captures_.emplace(value, value);
    return value;
  }
  const auto known = captures_.find(value);
  if (known != captures_.end()) return known->second;
  const ValueId own = add_value(kernel_[value].name, type_of(value));
  return captures_[value] = own;
}

RoleBuilder::Want RoleBuilder::relayout(ValueId value, ir::Type type) {
  const ir::Type have = type_of(value);
  if (type == nullptr || have == type || !is_tile(have)) return value;
  if (have->shape != type->shape || have->element != type->element) {
    return fail({program_.file()}, "bug of Twill's: " + have->text + " is wanted as " + type->text);
  }
  const auto known = derived_.find({value, {}, type, now_});
  if (known != derived_.end()) return known->second;
  return derived_[{value, {}, type, now_}] =
             make(NodeKind::relayout, {value}, kernel_[value].name, type);
}

/// Makes a loop carry a value, beginning with `first`. Returns the value in the body, which is the
/// last block. The value behind the loop is the last result.
ValueId RoleBuilder::carry(Node& node, const std::string& name, ir::Type type, ValueId first) {
  node.operands.push_back(first);
  node.results.push_back(add_value(name, type));
  if (node.kind == NodeKind::repeat) {  // the test passes it on
    Block& test = node.blocks.front();
    test.arguments.push_back(add_value(name, type));
    test.yields.push_back(test.arguments.back());
  }
  node.blocks.back().arguments.push_back(add_value(name, type));
  return node.blocks.back().arguments.back();
}

/// Makes writes of the role's threads visible to the async proxy.
void RoleBuilder::fence() {
  if (order_.written_for_copies) {
    make(NodeKind::global_fence, {}, "fenced", sketch_.i32());
  } else {
    emit(NodeKind::proxy_fence);
  }
}

/// Waits until at most `pending` bulk stores of the role are under way.
void RoleBuilder::wait_stores(std::int64_t pending) {
  if (stores_boxes_) emit(NodeKind::wait_stores, {}, {}, {pending});
  if (order_.stored_for_readers) {
    make(NodeKind::end_stores, {}, "stored", sketch_.i32(), {pending});
  }
}

}  // namespace twill::device
