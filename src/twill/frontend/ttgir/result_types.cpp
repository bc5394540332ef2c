#include "twill/frontend/ttgir/result_types.h"

#include <string>

namespace twill::frontend::ttgir {
namespace {

/// `element` in the shape of `like`, or alone if `like` is a scalar.
ir::Type in_shape_of(ir::Type like, ir::Type element, ir::TypeTable& types) {
  if (like->kind != ir::TypeKind::tensor) return element;
  return types.tensor(like->shape, element, like->encoding);
}

ir::Type pointee(ir::Type type, ir::TypeTable& types) {
  const ir::Type pointer = type->kind == ir::TypeKind::tensor ? type->element : type;
  // Older Tritons state the type that is loaded instead of the pointer's.
  if (pointer->kind != ir::TypeKind::pointer) return type;
  return in_shape_of(type, pointer->element, types);
}

/// Asynchronous token in the op's spelling: before Triton 3.2, dialects were spelled out.
ir::Type token_of(std::string_view name, ir::TypeTable& types) {
  const bool is_old = name.substr(0, 7) == "triton_";
  return types.token(is_old ? "!triton_gpu.async.token" : "!ttg.async.token");
}

/// Types after the arrow; without an arrow, the last types, as many as the op has results. A single
/// type for several results is the type of each.
std::vector<ir::Type> listed(const TypeSection& stated, std::size_t count) {
  std::vector<ir::Type> found = stated.has_arrow ? stated.after : stated.before;
  if (found.size() == 1) found.assign(count, found[0]);
  if (found.size() > count && !stated.has_arrow) {
    found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(count));
  }
  return found;
}

}  // namespace

std::vector<ir::Type> result_types(std::string_view name, ResultRule rule,
                                   const TypeSection& stated, std::size_t count,
                                   ir::TypeTable& types) {
  std::vector<ir::Type> found;
  const ir::Type first = stated.before.empty() ? nullptr : stated.before.front();
  switch (rule) {
    case ResultRule::listed:
      found = listed(stated, count);
      break;
    case ResultRule::tokens:
      found = stated.after;
      while (found.size() < count) found.push_back(token_of(name, types));
      break;
    case ResultRule::only_tokens:
      found.assign(count, token_of(name, types));
      break;
    case ResultRule::pointee:
      if (stated.has_arrow) return listed(stated, count);
      if (first != nullptr) found.push_back(pointee(first, types));
      break;
    case ResultRule::truth:
      if (first != nullptr) found.push_back(in_shape_of(first, types.scalar("i1"), types));
      break;
    case ResultRule::first:
      if (first != nullptr) found.push_back(first);
      break;
    case ResultRule::last:
      if (first != nullptr) found.push_back(stated.before.back());
      break;
    case ResultRule::element:
      if (first != nullptr) found.push_back(first->element != nullptr ? first->element : first);
      break;
    case ResultRule::index:
      found.assign(count, types.scalar("index"));
      break;
  }
  while (found.size() < count) found.push_back(types.other(std::string(kUnknownType)));
  found.resize(count);
  return found;
}

}  // namespace twill::frontend::ttgir
