#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "twill/certify/certificate.h"
#include "twill/certify/words.h"
#include "twill/problem/problem.h"

/// Text form of the claims.
namespace twill::certify {
namespace {

using problem::Problem;
using schedule::Verdict;

/// Words that follow the word of a reason.
enum class Tail : std::uint8_t { nothing, unit, pipe, op, memory, ops, links, op_and_links, file };
struct Spelling {
  const char* word;
  Reason::Kind kind;
  Tail tail;
};
constexpr std::array<Spelling, 13> kSpellings = {{
    {"trivial", Reason::Kind::trivial, Tail::nothing},
    {"unit", Reason::Kind::unit, Tail::unit},
    {"pipe", Reason::Kind::pipe, Tail::pipe},
    {"op", Reason::Kind::op, Tail::op},
    {"issue", Reason::Kind::issue, Tail::ops},
    {"circuit", Reason::Kind::circuit, Tail::links},
    {"apart", Reason::Kind::apart, Tail::ops},
    {"chain", Reason::Kind::chain, Tail::op_and_links},
    {"proof", Reason::Kind::proof, Tail::file},
    {"no-group", Reason::Kind::no_group, Tail::op},
    {"too-few-groups", Reason::Kind::too_few_groups, Tail::nothing},
    {"memory", Reason::Kind::too_large, Tail::memory},
    {"registers", Reason::Kind::registers, Tail::ops},
}};

const Spelling& spelling_of(Reason::Kind kind) {
  return kSpellings[static_cast<std::size_t>(kind)];
}

std::string text_of(const Reason& reason, const Problem& problem) {
  const Spelling& spelling = spelling_of(reason.kind);
  std::string text = spelling.word;
  const auto op = [&](std::size_t index) { return " " + problem.ops()[index].name; };
  switch (spelling.tail) {
    case Tail::nothing:
    case Tail::links:
      break;
    case Tail::unit:
      text += " " + problem.units()[reason.index].name;
      break;
    case Tail::pipe:
      text += " " + problem.pipes()[reason.index].name;
      break;
    case Tail::memory:
      text += " " + problem.memories()[reason.index].name;
      break;
    case Tail::op:
    case Tail::op_and_links:
      text += op(reason.index);
      break;
    case Tail::file:
      text += " " + reason.file;
      break;
    case Tail::ops:
      for (const std::size_t it : reason.ops) text += op(it);
      break;
  }
  text += "\n";
  for (const Link& link : reason.links) {
    text += fmt::format("  link{}{} delay {} distance {}\n", op(link.from), op(link.to), link.delay,
                        link.distance);
  }
  return text;
}

std::string text_of(const Case& it, const Problem& problem) {
  std::string text = it.any ? "case any" : "case";
  for (const auto& [op, alternative] : it.alternatives) {
    text += " " + problem.ops()[op].name + " " + problem.ops()[op].alternatives[alternative].name;
  }
  text += "\n";
  for (const AtLeast& bound : it.bounds) {
    text +=
        fmt::format("at-least {} {} {}", bound.level, bound.value, text_of(bound.reason, problem));
  }
  if (it.with_room) {
    text += fmt::format("with-room interval {} {}", it.with_room->value,
                        text_of(it.with_room->reason, problem));
  }
  if (it.never) text += "never " + text_of(*it.never, problem);
  return text;
}

/// Whether a name is a file beside the claims, without a path out of the folder.
bool is_file_name(std::string_view name) {
  const auto fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= 100 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), fine);
}

class ClaimsReader {
 public:
  ClaimsReader(std::string_view text, const std::string& file, const Problem& problem)
      : in_(text, file), problem_(problem), names_(problem) {}

  Result<Claims> read() {
    TWILL_TRY_VOID(read_heading(in_, "twill-certificate", 1));
    while (in_.next_line()) {
      const std::string_view word = in_.word();
      if (word == "end") {
        TWILL_TRY_VOID(in_.finish());
        if (in_.next_line()) return in_.fail("there is text after `end`");
        return std::move(claims_);
      }
      TWILL_TRY_VOID(word == "link" ? link() : line(word));
      TWILL_TRY_VOID(in_.finish());
    }
    return in_.fail("the claims do not end with `end`");
  }

 private:
  Result<void> line(std::string_view word) {
    last_ = nullptr;
    const bool once = word == "problem" || word == "rules" || word == "verdict";
    if (once && !seen_.insert(std::string(word)).second) {
      return in_.fail(fmt::format("there is a line {} already", quoted(word)));
    }
    if (word == "problem") {
      claims_.problem = in_.word();
      claims_.hash = in_.word();
    } else if (word == "rules") {
      while (!in_.at_end()) claims_.rules.emplace_back(in_.word());
    } else if (word == "verdict") {
      return verdict();
    } else if (word == "value") {
      const std::string level(in_.word());
      TWILL_TRY(const std::int64_t value, in_.number(0, kLargest));
      claims_.values.emplace_back(level, value);
    } else if (word == "exchange") {
      TWILL_TRY(claims_.exchanges.emplace_back(), names_.pairs(in_));
    } else if (word == "case") {
      return start_case();
    } else if (word == "at-least" || word == "with-room" || word == "never") {
      return reason(word);
    } else {
      return in_.fail(fmt::format("{} is no claim", quoted(word)));
    }
    return {};
  }

  Result<void> verdict() {
    TWILL_TRY(claims_.verdict, verdict_in(in_));
    return {};
  }

  Result<void> start_case() {
    Case& it = claims_.cases.emplace_back();
    while (!in_.at_end()) {
      const WordReader before = in_;
      if (it.alternatives.empty() && in_.word() == "any" && in_.at_end()) {
        it.any = true;
        return {};
      }
      in_ = before;
      TWILL_TRY(const std::size_t op, names_.op(in_));
      const std::string_view name = in_.word();
      const auto& alternatives = problem_.ops()[op].alternatives;
      const auto alternative =
          std::find_if(alternatives.begin(), alternatives.end(),
                       [&](const problem::Alternative& w) { return w.name == name; });
      if (alternative == alternatives.end())
        return in_.fail(fmt::format("there is no alternative {}", quoted(name)));
      it.alternatives.emplace_back(op,
                                   static_cast<std::size_t>(alternative - alternatives.begin()));
    }
    return {};
  }

  Result<void> reason(std::string_view claim) {
    if (claims_.cases.empty()) return in_.fail("a `case` comes before its bounds");
    Case& it = claims_.cases.back();
    if ((claim == "never" && it.never) || (claim == "with-room" && it.with_room)) {
      return in_.fail(fmt::format("there is a `{}` in this case already", claim));
    }
    Reason* reason = nullptr;
    if (claim == "never") {
      reason = &it.never.emplace();
    } else {
      AtLeast& bound = claim == "with-room" ? it.with_room.emplace() : it.bounds.emplace_back();
      bound.level = in_.word();
      TWILL_TRY(bound.value, in_.number(0, kLargest));
      reason = &bound.reason;
    }
    const std::string_view word = in_.word();
    const auto spelling = std::find_if(kSpellings.begin(), kSpellings.end(),
                                       [&](const Spelling& s) { return s.word == word; });
    if (spelling == kSpellings.end()) return in_.fail(fmt::format("{} is no reason", quoted(word)));
    reason->kind = spelling->kind;
    const bool has_links = spelling->tail == Tail::links || spelling->tail == Tail::op_and_links;
    if (has_links) last_ = reason;
    return tail(spelling->tail, *reason);
  }

  Result<void> tail(Tail tail, Reason& reason) {
    switch (tail) {
      case Tail::nothing:
      case Tail::links:
        return {};
      case Tail::unit:
        return take(reason.index, names_.unit(in_));
      case Tail::pipe:
        return take(reason.index, names_.pipe(in_));
      case Tail::memory:
        return take(reason.index, names_.memory(in_));
      case Tail::op:
      case Tail::op_and_links:
        return take(reason.index, names_.op(in_));
      case Tail::ops:
        return take(reason.ops, names_.ops(in_));
      case Tail::file:
        break;
    }
    reason.file = in_.word();
    if (is_file_name(reason.file)) return {};
    return in_.fail(fmt::format("{} is no file of a certificate", quoted(reason.file)));
  }

  template <class T>
  static Result<void> take(T& place, Result<T> value) {
    if (!value) return tl::unexpected(std::move(value).error());
    place = *std::move(value);
    return {};
  }

  Result<void> link() {
    if (last_ == nullptr) return in_.fail("a `link` belongs to a circuit or chain");
    Link link;
    TWILL_TRY(link.from, names_.op(in_));
    TWILL_TRY(link.to, names_.op(in_));
    if (in_.word() != "delay") return in_.fail("here should stand `delay`");
    TWILL_TRY(link.delay, in_.number(0, kLargest));
    if (in_.word() != "distance") return in_.fail("here should stand `distance`");
    TWILL_TRY(link.distance, in_.number(0, kLargest >> 20));
    last_->links.push_back(link);
    return {};
  }

  WordReader in_;
  std::set<std::string> seen_;  // words of lines that may stand once, so far
  const Problem& problem_;
  Names names_;
  Claims claims_;
  Reason* last_ = nullptr;  ///< reason to which a link belongs
};

}  // namespace

std::string print_claims(const Claims& claims, const Problem& problem) {
  std::string out =
      fmt::format("twill-certificate 1\nproblem {} {}\nrules {}\nverdict {}\n", claims.problem,
                  claims.hash, fmt::join(claims.rules, " "), schedule::name_of(claims.verdict));
  for (const auto& [level, value] : claims.values)
    out += fmt::format("value {} {}\n", level, value);
  for (const Exchange& exchange : claims.exchanges) {
    out += "exchange";
    for (const auto& [a, b] : exchange) {
      out += fmt::format(" {} {}", problem.ops()[a].name, problem.ops()[b].name);
    }
    out += "\n";
  }
  for (const Case& it : claims.cases) out += text_of(it, problem);
  return out + "end\n";
}

Result<Claims> parse_claims(std::string_view text, const std::string& file,
                            const Problem& problem) {
  return ClaimsReader(text, file, problem).read();
}

}  // namespace twill::certify
