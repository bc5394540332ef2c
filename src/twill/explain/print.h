#pragma once

#include <string>

#include "twill/explain/explain.h"

namespace twill::explain {

/// Where the loop comes from, for the heading.
struct Heading {
  std::string input;    ///< as the user named it
  std::string loop;     ///< which loop of it; empty for `.loop` files
  std::string machine;  ///< empty for `.loop` files
  std::string pool;     ///< of the machine; empty likewise
  std::string rate;     ///< "slowest" or "fastest" costs; empty likewise
  bool machine_measured = true;
  std::string story = {};  ///< the story of the answer (report/story.h), whole lines
};

/// The explanation in sentences, for readers who know kernels and GPUs but no solvers. At most 100
/// columns of plain ASCII.
std::string explanation_text(const Heading& heading, const Explanation& it);

inline constexpr int kExplanationJsonVersion = 2;

/// The explanation as JSON with every detail, documented in docs/reference/cli.md. Same
/// explanation, same bytes.
std::string explanation_json(const Heading& heading, const Explanation& it);

/// "qkA --660--> ldSA --160--> rmaxA", one line per chain: the dependences of a core, joined.
std::vector<std::string> chains_of(const problem::Problem& problem,
                                   const std::vector<std::size_t>& dependences);

}  // namespace twill::explain
