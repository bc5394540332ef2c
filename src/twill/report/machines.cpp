#include "twill/report/machines.h"

#include "twill/support/text_table.h"

namespace twill::report {

std::string machine_list(std::span<const machine::Machine> machines) {
  using enum TextTable::Align;
  TextTable table({left, left, left, left});
  for (const machine::Machine& machine : machines) {
    table.add({machine->name, machine->target, machine->measured ? "measured" : "model only",
               machine->about});
  }
  return table.to_string();
}

}  // namespace twill::report
