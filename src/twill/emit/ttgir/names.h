#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "twill/device/kernel.h"
#include "twill/dialect/words.h"

/// Internal to the TTGIR printer: names of values. Partitions share the names of their function.
namespace twill::emit::ttgir {

class Names {
 public:
  using Values = std::vector<device::ValueId>;

  Names(const device::Kernel& kernel, dialect::Words& words) : kernel_(kernel), words_(words) {}

  /// Makes a name like `base`, without its %, that no other value has.
  std::string unique(std::string base);
  /// Names a value, as "%a".
  std::string define(device::ValueId value);
  const std::string& name(device::ValueId value) const { return names_.at(value); }
  std::string type(device::ValueId value) { return words_.type(kernel_[value].type); }

  // Lists with commas: names as "%a, %b", types, and new names with " = " behind.
  std::string names(const Values& values) const;
  std::string types(const Values& values);
  std::string defined(const Values& values);
  /// First values of a loop, as "%new = %first, ...".
  std::string begun(const Values& values, const Values& first);
  /// Declaration of new names, as "%a: i32, %b: i32".
  std::string declared(const Values& values);

 private:
  const device::Kernel& kernel_;
  dialect::Words& words_;
  std::map<device::ValueId, std::string> names_;
  std::map<std::string, int> used_;
  std::set<std::string> taken_;
};

}  // namespace twill::emit::ttgir
