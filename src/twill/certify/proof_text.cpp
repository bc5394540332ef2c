#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "twill/certify/proof.h"
#include "twill/certify/words.h"

/// Text form of a proof: a head, the variables, the steps.
namespace twill::certify {
namespace {

using problem::Problem;

constexpr std::int64_t kMostVariables = 100'000'000;

std::string join(const std::vector<std::size_t>& ops, const Problem& problem) {
  std::string text;
  for (const std::size_t op : ops) text += " " + problem.ops()[op].name;
  return text;
}

int head_lines(const Subject& subject) {
  return 4 + static_cast<int>(subject.with_room ? 1 : 0) +
         static_cast<int>(subject.tiles.empty() ? 0 : 1) +
         static_cast<int>(subject.exchanges.size() + subject.accumulators.size() +
                          subject.given.size());
}

void print_subject(const Subject& subject, const Problem& problem, std::string& out) {
  out +=
      fmt::format("interval {}\nanchor {}\n", subject.interval, problem.ops()[subject.anchor].name);
  if (!subject.tiles.empty()) out += "tiles" + join(subject.tiles, problem) + "\n";
  for (const Exchange& exchange : subject.exchanges) {
    out += "exchange";
    for (const auto& [a, b] : exchange) {
      out += fmt::format(" {} {}", problem.ops()[a].name, problem.ops()[b].name);
    }
    out += "\n";
  }
  for (const auto& ops : subject.accumulators) out += "accumulator" + join(ops, problem) + "\n";
  for (const Predicate& it : subject.given) out += "given " + text_of(it, problem) + "\n";
  if (subject.with_room) out += "with-room\n";
  out += "refute " +
         (subject.refuted ? text_of(*subject.refuted, problem) : std::string("everything")) + "\n";
}

void print_step(const Proof& proof, const Step& step, const Problem& problem, std::string& out) {
  switch (step.kind) {
    case StepKind::difference:
      out += "d";
      break;
    case StepKind::overflow:
      out += "o " + text_of(proof.sums[step.sum], problem);
      break;
    case StepKind::learned:
      out += "l";
      break;
    case StepKind::dropped:
      out += "x";
      break;
  }
  for (const std::int32_t number : proof.numbers_of(step)) {
    out += ' ';
    out += fmt::format_int(number).c_str();
  }
  out += '\n';
}

class ProofReader {
 public:
  ProofReader(std::string_view text, const std::string& file, const Problem& problem)
      : in_(text, file), names_(problem) {}

  Result<Proof> read() {
    if (!in_.next_line() || in_.word() != "twill-proof") return in_.fail("this is no twill-proof");
    if (auto version = in_.number(1, 1); !version) return tl::unexpected(version.error());
    TWILL_TRY_VOID(in_.finish());
    TWILL_TRY_VOID(expect("interval"));
    TWILL_TRY(proof_.subject.interval, in_.number(1, kLargest));
    TWILL_TRY_VOID(in_.finish());
    TWILL_TRY_VOID(expect("anchor"));
    TWILL_TRY(proof_.subject.anchor, names_.op(in_));
    TWILL_TRY_VOID(in_.finish());
    while (in_.next_line()) {
      const std::string_view word = in_.word();
      if (word == "end") {
        TWILL_TRY_VOID(in_.finish());
        if (!refutes_) return in_.fail("a `refute` line is missing");
        if (in_.next_line()) return in_.fail("there is text after `end`");
        return std::move(proof_);
      }
      TWILL_TRY_VOID(line(word));
      TWILL_TRY_VOID(in_.finish());
    }
    return in_.fail("the proof does not end with `end`");
  }

 private:
  Result<void> expect(std::string_view word) {
    if (in_.next_line() && in_.word() == word) return {};
    return in_.fail(fmt::format("here should stand `{}`", word));
  }

  Result<void> line(std::string_view word) {
    if (word == "d") return step(StepKind::difference);
    if (word == "o") return step(StepKind::overflow);
    if (word == "l") return step(StepKind::learned);
    if (word == "x") return step(StepKind::dropped);
    if (!proof_.steps.empty()) {
      return in_.fail(fmt::format("{} is no step of a proof", quoted(word)));
    }
    if (word == "v") {
      TWILL_TRY(const Predicate variable, predicate());
      if (!is_variable(variable.kind)) return in_.fail("this is no variable");
      proof_.variables.push_back(variable);
      return {};
    }
    if (!proof_.variables.empty() || refutes_) {
      return in_.fail(fmt::format("{} is no line of a proof", quoted(word)));
    }
    return head(word);
  }

  Result<void> head(std::string_view word) {
    Subject& subject = proof_.subject;
    if (word == "tiles") {
      if (!subject.tiles.empty()) return in_.fail("there are `tiles` already");
      TWILL_TRY(subject.tiles, names_.ops(in_));
      return {};
    }
    if (word == "accumulator") {
      TWILL_TRY(subject.accumulators.emplace_back(), names_.ops(in_));
      return {};
    }
    if (word == "exchange") {
      TWILL_TRY(subject.exchanges.emplace_back(), names_.pairs(in_));
      return {};
    }
    if (word == "given") {
      TWILL_TRY(const Predicate it, limit());
      subject.given.push_back(it);
      return {};
    }
    if (word == "with-room") {
      if (std::exchange(subject.with_room, true)) return in_.fail("there is `with-room` already");
      return {};
    }
    if (word != "refute") return in_.fail(fmt::format("{} is no line of a proof", quoted(word)));
    refutes_ = true;
    const WordReader before = in_;
    if (in_.word() == "everything") return {};
    in_ = before;
    TWILL_TRY(const Predicate it, limit());
    subject.refuted = it;
    return {};
  }

  Result<Predicate> limit() {
    TWILL_TRY(const Predicate it, predicate());
    if (it.kind == Predicate::Kind::groups || it.kind == Predicate::Kind::crossings ||
        it.kind == Predicate::Kind::length)
      return it;
    return in_.fail("this is no limit of an objective");
  }

  Result<std::size_t> index_of(Noun noun) {
    switch (noun) {
      case Noun::nothing:
        return std::size_t{0};
      case Noun::op:
        return names_.op(in_);
      case Noun::group:
        return names_.group(in_);
      case Noun::pipe:
        return names_.pipe(in_);
      case Noun::memory:
        return names_.memory(in_);
      case Noun::accumulator:
        break;
    }
    const auto count = static_cast<std::int64_t>(proof_.subject.accumulators.size());
    TWILL_TRY(const std::int64_t number, in_.number(1, count));
    return static_cast<std::size_t>(number - 1);
  }

  Result<Predicate> predicate() {
    const std::string_view word = in_.word();
    int kind = 0;
    while (kind < kPredicateKinds && form_of(static_cast<Predicate::Kind>(kind)).word != word) {
      ++kind;
    }
    if (kind == kPredicateKinds) return in_.fail(fmt::format("{} says nothing", quoted(word)));
    Predicate out;
    out.kind = static_cast<Predicate::Kind>(kind);
    const Form& form = form_of(out.kind);
    TWILL_TRY(out.first, index_of(form.first));
    TWILL_TRY(out.second, index_of(form.second));
    if (!form.number) return out;
    if (form.of_memory) {
      TWILL_TRY(const std::size_t memory, names_.memory(in_));
      out.number = static_cast<std::int64_t>(memory);
      return out;
    }
    std::int64_t least = 0;
    std::int64_t most = kLargest;
    if (out.kind == Predicate::Kind::slot || out.kind == Predicate::Kind::stage) least = -kLargest;
    if (out.kind == Predicate::Kind::alive || out.kind == Predicate::Kind::held) least = 1;
    if (out.kind == Predicate::Kind::before || out.kind == Predicate::Kind::counts) {
      most = static_cast<std::int64_t>(proof_.subject.accumulators[out.first].size());
      least = 1;
    }
    TWILL_TRY(out.number, in_.number(least, most));
    if (out.kind == Predicate::Kind::before || out.kind == Predicate::Kind::counts) --out.number;
    return out;
  }

  Result<void> step(StepKind kind) {
    if (!refutes_) return in_.fail("a `refute` line comes before the steps");
    Step step{kind, 0, static_cast<std::uint32_t>(proof_.numbers.size()), 0};
    if (kind == StepKind::overflow) {
      TWILL_TRY(const Predicate sum, predicate());
      if (!is_sum(sum.kind)) return in_.fail("this is no sum");
      step.sum = static_cast<std::uint32_t>(proof_.sums.size());
      proof_.sums.push_back(sum);
    }
    const auto variables = static_cast<std::int64_t>(proof_.variables.size());
    const bool dropped = kind == StepKind::dropped;
    while (!in_.at_end()) {
      TWILL_TRY(const std::int64_t number,
                dropped ? in_.number(1, kMostVariables) : in_.number(-variables, variables));
      if (number == 0) return in_.fail("0 is no literal");
      proof_.numbers.push_back(static_cast<std::int32_t>(number));
    }
    step.end = static_cast<std::uint32_t>(proof_.numbers.size());
    proof_.steps.push_back(step);
    return {};
  }

  WordReader in_;
  Names names_;
  Proof proof_;
  bool refutes_ = false;
};

}  // namespace

std::string print_proof(const Proof& proof, const Problem& problem) {
  std::string out = "twill-proof 1\n";
  print_subject(proof.subject, problem, out);
  for (const Predicate& it : proof.variables) out += "v " + text_of(it, problem) + "\n";
  for (const Step& step : proof.steps) print_step(proof, step, problem, out);
  return out + "end\n";
}

Result<Proof> parse_proof(std::string_view text, const std::string& file, const Problem& problem) {
  return ProofReader(text, file, problem).read();
}

int line_of_step(const Proof& proof, std::size_t step) {
  return head_lines(proof.subject) + static_cast<int>(proof.variables.size() + step) + 1;
}

}  // namespace twill::certify
