#include "twill/certify/pools.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "twill/certify/words.h"
#include "twill/problem/problem.h"

namespace twill::certify {
namespace {

using schedule::Verdict;

bool is_folder_name(std::string_view name) {
  return !name.empty() && name.size() <= 100 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

/// Rank of a pool's answer: interval, missing compute groups, then the other levels.
std::vector<std::int64_t> rank_of(const Checked& it, int wanted) {
  std::vector<std::int64_t> rank = {it.values.front(), std::max(wanted - it.compute_groups, 0)};
  rank.insert(rank.end(), it.values.begin(), it.values.end());
  return rank;
}

/// Whether a pool certainly has no better schedule than the chosen schedule.
bool is_beaten(const Checked& it, const Checked& best, int wanted) {
  if (it.verdict == Verdict::infeasible || it.interval_bound > best.values.front()) return true;
  const int here = std::max(wanted - it.most_groups, 0);  // least number of missing groups
  const int there = std::max(wanted - best.compute_groups, 0);
  if (here > there && it.interval_bound == best.values.front()) return true;
  if (here == there && !it.nothing_below.empty()) return !(it.nothing_below < best.values);
  return it.verdict == Verdict::optimal && !(rank_of(it, wanted) < rank_of(best, wanted));
}

/// Objection unless all certificates are about the same loop.
std::string objection_to_loops(const std::vector<PoolClaim>& claims,
                               const std::vector<Checked>& checked, const Checked& first) {
  for (std::size_t i = 0; i < checked.size(); ++i) {
    if (checked[i].loop == first.loop) continue;
    return fmt::format("loop: {} is about another loop than the first pool", claims[i].folder);
  }
  return {};
}

}  // namespace

std::string loop_of(const problem::Problem& problem) {
  std::set<std::size_t> transfer_ops;  // transfer ops depend on the groups of the pool
  for (const problem::Transfer& it : problem.transfers()) {
    transfer_ops.insert(it.store.index());
    for (const problem::Transfer::Load& load : it.loads) transfer_ops.insert(load.op.index());
  }
  std::set<std::string> sources;
  for (std::size_t i = 0; i < problem.ops().size(); ++i) {
    const std::vector<std::string>& source = problem.ops()[i].source;
    if (!transfer_ops.contains(i)) sources.insert(source.begin(), source.end());
  }
  std::string out = problem.name() + "\nrelaxed";
  for (const problem::Rule rule : problem.relaxed()) out += fmt::format(" {}", name_of(rule));
  out += "\nlevels";
  for (const std::string& level : levels_of(problem)) out += " " + level;
  for (const std::string& source : sources) out += "\n" + source;
  return out;
}

std::string print_pools(const PoolClaims& claims) {
  std::string out = "twill-pools 2\n" + print_provenance(claims.from);
  out += fmt::format("verdict {}\nrate {}\n", schedule::name_of(claims.verdict), claims.rate);
  if (!claims.chosen.empty()) out += "chosen " + claims.chosen + "\n";
  for (const PoolClaim& it : claims.pools) out += fmt::format("pool {} {}\n", it.folder, it.pool);
  if (claims.fastest) out += fmt::format("fastest {}\n", *claims.fastest);
  for (const PoolClaim& it : claims.at_fastest) {
    out += fmt::format("at-fastest {} {}\n", it.folder, it.pool);
  }
  return out + "end\n";
}

Result<PoolClaims> parse_pools(std::string_view text, const std::string& file) {
  WordReader in(text, file);
  TWILL_TRY_VOID(read_heading(in, "twill-pools", 2));
  PoolClaims out;
  std::set<std::string> folders;
  std::set<std::string> pools;  // each with the word before it
  std::set<std::string> said;   // words of lines that may stand once, so far
  while (in.next_line()) {
    const std::string_view word = in.word();
    if (word == "end") {
      TWILL_TRY_VOID(in.finish());
      if (in.next_line()) return in.fail("there is text after `end`");
      if (out.from.input.empty()) return in.fail("there is no line `input`");
      return out;
    }
    TWILL_TRY(const bool read, read_provenance_line(in, word, out.from));
    if (read) {
      TWILL_TRY_VOID(in.finish());
      continue;
    }
    const bool once = word == "rate" || word == "verdict" || word == "chosen" || word == "fastest";
    if (once && !said.emplace(word).second) {
      return in.fail(fmt::format("there is a line `{}` already", word));
    }
    if (word == "rate") {
      TWILL_TRY(out.rate, rate_in(in));
    } else if (word == "verdict") {
      TWILL_TRY(out.verdict, verdict_in(in));
    } else if (word == "chosen") {
      out.chosen = rest_of(in);
    } else if (word == "fastest") {
      TWILL_TRY(out.fastest, in.number(1, std::int64_t{1} << 40U));
    } else if (word == "pool" || word == "at-fastest") {
      const std::string folder(in.word());
      if (!is_folder_name(folder) || !folders.insert(folder).second) {
        return in.fail(fmt::format("{} is no folder of its own", quoted(folder)));
      }
      const std::string kind(word);
      const std::string pool = rest_of(in);
      if (!pools.insert(kind + " " + pool).second) {
        return in.fail(fmt::format("pool {} is listed twice", quoted(pool)));
      }
      (kind == "pool" ? out.pools : out.at_fastest).push_back({pool, folder});
    } else {
      return in.fail(fmt::format("{} is no claim", quoted(word)));
    }
    TWILL_TRY_VOID(in.finish());
  }
  return in.fail("the claims do not end with `end`");
}

namespace {

/// Objection unless each certificate is about the Problem that is posed for its pool at that rate.
std::string objection_to_hashes(const PoolClaims& claims, const std::string& rate,
                                const std::vector<PoolClaim>& pools,
                                const std::vector<Checked>& checked) {
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const std::string* posed = claims.from.hash_of(rate, pools[i].pool);
    if (posed == nullptr) {
      return fmt::format("posed: pool {} is not posed at the {} rates", pools[i].pool, rate);
    }
    if (*posed == checked[i].hash) continue;
    return fmt::format("posed: {} is about the problem {}, and pool {} at the {} rates is {}",
                       pools[i].folder, checked[i].hash, pools[i].pool, rate, *posed);
  }
  return {};
}

std::string objection_to_problems(const PoolClaims& claims, const std::vector<Checked>& checked,
                                  const std::vector<Checked>& fastest) {
  std::string wrong = objection_to_hashes(claims, claims.rate, claims.pools, checked);
  if (wrong.empty()) wrong = objection_to_hashes(claims, "fastest", claims.at_fastest, fastest);
  if (!wrong.empty()) return wrong;
  const bool of_pools = fastest.empty() && claims.rate == "fastest";
  const std::vector<PoolClaim>& all = of_pools ? claims.pools : claims.at_fastest;
  for (const PosedProblem& it : claims.from.posed) {
    if (it.rate != "fastest") continue;
    const bool there = std::any_of(all.begin(), all.end(),
                                   [&](const PoolClaim& claim) { return claim.pool == it.pool; });
    if (!there)
      return fmt::format("whole: there is no claim about pool {} at the fastest rates", it.pool);
  }
  return {};
}

std::string objection_to_verdict(const PoolClaims& claims, const std::vector<Checked>& checked) {
  if (std::string wrong = objection_to_loops(claims.pools, checked, checked[0]); !wrong.empty()) {
    return wrong;
  }
  int wanted = 0;
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < checked.size(); ++i) {
    wanted = std::max(wanted, checked[i].wanted_groups);
    if (claims.pools[i].pool == claims.chosen) chosen = i;
  }
  const bool has_schedule =
      claims.verdict == Verdict::optimal || claims.verdict == Verdict::feasible;
  if (!has_schedule && !claims.chosen.empty())
    return "chosen: a pool is chosen, but there is no schedule";
  if (claims.verdict == Verdict::infeasible) {
    for (std::size_t i = 0; i < checked.size(); ++i) {
      if (checked[i].verdict == Verdict::infeasible) continue;
      return fmt::format("infeasible: pool {} is not known to be infeasible", claims.pools[i].pool);
    }
  }
  if (!has_schedule) return {};
  if (!chosen || checked[*chosen].values.empty()) return "chosen: the chosen pool has no schedule";
  if (claims.verdict == Verdict::feasible) return {};
  const Checked& best = checked[*chosen];
  if (best.verdict != Verdict::optimal)
    return "optimal: the chosen pool's schedule is not proven optimal";
  for (std::size_t i = 0; i < checked.size(); ++i) {
    if (i == *chosen || is_beaten(checked[i], best, wanted)) continue;
    return fmt::format("better: pool {} may have a better schedule", claims.pools[i].pool);
  }
  return {};
}

std::string objection_to_fastest(const PoolClaims& claims, const std::vector<Checked>& checked,
                                 const std::vector<Checked>& fastest) {
  if (!claims.fastest) {
    return fastest.empty() ? "" : "fastest: there are certificates, and no interval";
  }
  const bool of_pools = fastest.empty();
  if (of_pools && claims.rate != "fastest") {
    return "fastest: an interval at the fastest rates and its certificates go together";
  }
  const std::vector<PoolClaim>& pools = of_pools ? claims.pools : claims.at_fastest;
  const std::vector<Checked>& each = of_pools ? checked : fastest;
  for (std::size_t i = 0; i < each.size(); ++i) {
    if (each[i].verdict == Verdict::infeasible) continue;
    if (each[i].interval_bound >= *claims.fastest) continue;
    return fmt::format("fastest: pool {} is only known to need {}", pools[i].pool,
                       each[i].interval_bound);
  }
  for (const Checked& it : checked) {
    if (it.values.empty() || it.values.front() >= *claims.fastest) continue;
    return fmt::format(
        "fastest: a schedule of a pool has an interval of {}, less than at its fastest",
        it.values.front());
  }
  return objection_to_loops(claims.at_fastest, fastest, checked[0]);
}

}  // namespace

std::string objection_to(const PoolClaims& claims, const std::vector<Checked>& checked,
                         const std::vector<Checked>& fastest) {
  if (claims.pools.empty()) return "pools: there are none";
  std::string wrong = objection_to_problems(claims, checked, fastest);
  if (wrong.empty()) wrong = objection_to_verdict(claims, checked);
  if (wrong.empty()) wrong = objection_to_fastest(claims, checked, fastest);
  return wrong;
}

std::vector<std::string> lines_of(const PoolClaims& claims) {
  std::vector<std::string> lines;
  if (claims.fastest) {
    const std::size_t pools =
        claims.at_fastest.empty() ? claims.pools.size() : claims.at_fastest.size();
    lines.push_back(
        fmt::format("bracket    at least {} for {} pool{} of {}, with every op at its fastest",
                    *claims.fastest, pools, pools == 1 ? "" : "s", claims.from.machine));
  }
  std::string costs = "every op at its " + claims.rate;
  std::string options;
  for (const PosingOption& it : claims.from.options) {
    if (it.name == "normalize") costs = "normalized to " + it.value;
    options += " --" + it.name + (it.value.empty() ? "" : " " + it.value);
  }
  if (!options.empty()) lines.push_back("options   " + options);
  lines.push_back("costs      " + costs);
  lines.push_back(fmt::format("together   {}{}", schedule::name_of(claims.verdict),
                              claims.chosen.empty() ? "" : " for pool " + claims.chosen));
  return lines;
}

}  // namespace twill::certify
