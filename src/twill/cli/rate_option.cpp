#include "twill/cli/rate_option.h"

#include <map>
#include <string>
#include <utility>

namespace twill::cli {

void add_rate_option(Command command, std::function<void(machine::Rate)> set,
                     const std::string& help) {
  const std::map<std::string, machine::Rate> rates = {{"fastest", machine::Rate::fastest},
                                                      {"slowest", machine::Rate::slowest}};
  command.add_choice("--rate", rates, std::move(set), help);
}

}  // namespace twill::cli
