#include "twill/emit/ttgir/names.h"

#include <cctype>
#include <cstddef>

namespace twill::emit::ttgir {

using device::ValueId;

namespace {

template <class TextOf>
std::string list(const Names::Values& values, const TextOf& text_of) {
  std::string text;
  for (const ValueId value : values) {
    const std::string one = text_of(value);
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

}  // namespace

std::string Names::unique(std::string base) {
  for (char& letter : base) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
    if (!plain) letter = '_';
  }
  if (base.empty() || std::isdigit(static_cast<unsigned char>(base[0])) != 0) base = "v" + base;
  std::string name = base;
  for (int& number = used_[base]; !taken_.insert(name).second;) {
    name = base + "_" + std::to_string(++number);
  }
  return name;
}

std::string Names::define(ValueId value) {
  return names_[value] = "%" + unique(kernel_[value].name);
}

std::string Names::names(const Values& values) const {
  return list(values, [&](ValueId value) { return name(value); });
}

std::string Names::types(const Values& values) {
  return list(values, [&](ValueId value) { return type(value); });
}

std::string Names::defined(const Values& values) {
  const std::string text = list(values, [&](ValueId value) { return define(value); });
  return text.empty() ? text : text + " = ";
}

std::string Names::begun(const Values& values, const Values& first) {
  auto next = first.begin();
  return list(values, [&](ValueId value) {
    const std::string initial = name(*next++);
    return define(value) + " = " + initial;
  });
}

std::string Names::declared(const Values& values) {
  return list(values, [&](ValueId value) { return define(value) + ": " + type(value); });
}

}  // namespace twill::emit::ttgir
