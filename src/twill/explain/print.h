#pragma once

#include <string>

#include "twill/explain/explain.h"

namespace twill::explain {

/// Origin of the loop, for the heading.
struct Heading {
  std::string input;    ///< as the user named it
  std::string loop;     ///< loop of the input; empty for `.loop` files
  std::string machine;  ///< empty for `.loop` files
  std::string pool;     ///< of the machine; empty for `.loop` files
  std::string rate;     ///< rate of the costs, "slowest" or "fastest"; empty for `.loop` files
  bool machine_measured = true;
  std::string story = {};  ///< story of the answer (report/story.h), whole lines
};

/// Prints the explanation in sentences, for readers who know kernels and GPUs but no solvers. At
/// most 100 columns of plain ASCII.
std::string explanation_text(const Heading& heading, const Explanation& it);

inline constexpr int kExplanationJsonVersion = 2;

/// Prints the explanation as JSON with every detail (docs/reference/cli.md). Equal explanations
/// give equal bytes.
std::string explanation_json(const Heading& heading, const Explanation& it);

/// Joins the dependences of a core to chains, one line each: "qkA --660--> ldSA --160--> rmaxA".
std::vector<std::string> chains_of(const problem::Problem& problem,
                                   const std::vector<std::size_t>& dependences);

}  // namespace twill::explain
