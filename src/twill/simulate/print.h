#pragma once

#include <optional>
#include <string>

#include "twill/simulate/simulate.h"

namespace twill::simulate {

/// Account of a simulated interval: cycles per iteration in the steady state. Each field adds one
/// cause of delay. A field is empty where its run is too short for a steady state.
struct Account {
  std::optional<double> scheduled;  ///< the plan's order at its own costs, on units, too; empty
                                    ///< also where that order waits for itself
  std::optional<double> own;        ///< at its own costs, units first come, first served
  std::optional<double> order;      ///< its order at the costs of the run
  std::optional<double> pipes;      ///< also with shared pipes, if the run has them
  std::optional<double> barriers;   ///< also with the signals of barriers
  std::optional<double> loads;      ///< also with the latency of loads
};

/// Accounts for the interval by six short runs. Fails as `simulate` does.
tl::expected<Account, Fault> account_for(const plan::Plan& plan, const Setting& setting);

/// Names a step and the role that it waits for: "wait load0 [n], on LOAD".
std::string to_text(const plan::Plan& plan, const Cause& cause);

/// Prints the run for people.
std::string to_text(const plan::Plan& plan, const Simulation& run, const Account& account);

/// "version" of the JSON, which docs/reference/simulation.md describes.
inline constexpr int kSimulationJsonVersion = 1;
std::string simulation_json(const plan::Plan& plan, const Simulation& run, const Account& account);

}  // namespace twill::simulate
