#pragma once

#include <cstddef>
#include <string>

#include "twill/problem/ops.h"

/// Scheduling problems as SMT-LIB 2 text (logic QF_LIA) for any SMT solver. So an independent
/// program can confirm a verdict of `solve`. Nothing is decided here.
namespace twill::emit {

/// "Does this problem have a schedule at the interval `ii`?" by docs/reference/rules.md, with the
/// alternatives of ops. Satisfiable exactly if there is one, of any number of stages; the model is
/// one: `stage!OP`, `slot!OP`, `in!OP!GROUP`, `alternative!OP!NAME` (of ops with
/// several). Values of a transfer op count only where `exists!OP` is true, which follows from the
/// groups. `exists!OP` is not printed for an op that always or never exists.
///
/// An independent encoding: it shares no code with `solve`, and breaks no symmetry. The only
/// redundant constraint: the occupancies of a unit sum to at most `ii`. Precondition: 1 <= ii <=
/// problem::kLargestTotal, and at most kMostSmtlibAlternatives alternatives of all ops. Cost and
/// length of the text: O(ops^2 * alternatives^2 + values^2 * readers).
std::string smtlib(const problem::Problem& problem, Cycles ii);
inline constexpr std::size_t kMostSmtlibAlternatives = 1'000;

/// The straight-line program Q of the paper's section 4: ceil(length / ii) copies of the iteration,
/// `ii` cycles apart, the steady state executed once.
struct StraightLine {
  Cycles ii = 1;      ///< at least 1
  Cycles length = 1;  ///< L, cycles of one iteration; at least 1
};

/// Cycles of the whole program: T = (ceil(L / I) - 1) * I + L.
Cycles total_of(const StraightLine& shape);

/// "Do Figures 4 to 6 of the paper have a solution at this I and L?", as printed there, with its
/// names: `op!OP!COPY!CYCLE`, `live!OP!COPY!CYCLE`, `opw!OP!GROUP`. docs/paper.md lists the
/// readings that the figures leave open, and the features of Twill's problems beyond the paper.
///
/// Fails if an op has several alternatives, or if there are transfer ops: the paper has neither.
/// Fails if the text would have more than about kMostLiteralTerms terms. It grows with T, so
/// normalize first (problem/normalize.h). Cost and length of the text: O(ops^2 * copies * T).
Result<std::string> smtlib_literal(const problem::Problem& problem, const StraightLine& shape);
inline constexpr double kMostLiteralTerms = 5e6;

}  // namespace twill::emit
