#include "twill/emit/ttgir/names.h"

#include <cctype>
#include <cstddef>

namespace twill::emit::ttgir {

using device::ValueId;

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

std::string Names::names(const std::vector<ValueId>& values) const {
  std::string text;
  for (const ValueId value : values) text += (text.empty() ? "" : ", ") + name(value);
  return text;
}

std::string Names::types(const std::vector<ValueId>& values) {
  std::string text;
  for (const ValueId value : values) text += (text.empty() ? "" : ", ") + type(value);
  return text;
}

std::string Names::defined(const std::vector<ValueId>& values) {
  std::string text;
  for (const ValueId value : values) text += (text.empty() ? "" : ", ") + define(value);
  return text.empty() ? text : text + " = ";
}

std::string Names::begun(const std::vector<ValueId>& values, const std::vector<ValueId>& first) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string initial = name(first[i]);
    text += (i == 0 ? "" : ", ") + define(values[i]) + " = " + initial;
  }
  return text;
}

std::string Names::declared(const std::vector<ValueId>& values) {
  std::string text;
  for (const ValueId value : values) {
    text += (text.empty() ? "" : ", ") + define(value) + ": " + type(value);
  }
  return text;
}

}  // namespace twill::emit::ttgir
