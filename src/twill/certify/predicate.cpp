#include "twill/certify/predicate.h"

#include <array>

#include "twill/problem/problem.h"

namespace twill::certify {
namespace {

constexpr std::array<Form, kPredicateKinds> kForms = {{
    {"slot", Noun::op, Noun::op, true},
    {"stage", Noun::op, Noun::op, true},
    {"in", Noun::op, Noun::group, false},
    {"used", Noun::group, Noun::nothing, false},
    {"opened", Noun::group, Noun::op, false},
    {"same", Noun::op, Noun::op, false},
    {"waits", Noun::op, Noun::nothing, false},
    {"alive", Noun::op, Noun::op, true},
    {"held", Noun::op, Noun::op, true},
    {"together", Noun::accumulator, Noun::op, false},
    {"before", Noun::accumulator, Noun::op, true},
    {"counts", Noun::accumulator, Noun::op, true},
    {"gathered", Noun::accumulator, Noun::group, false},
    {"leaves", Noun::op, Noun::group, false},
    {"crosses", Noun::op, Noun::group, false},
    {"handed", Noun::op, Noun::nothing, true},
    {"exists", Noun::op, Noun::nothing, false},
    {"runs", Noun::op, Noun::group, false},
    {"steps", Noun::group, Noun::nothing, true},
    {"deep", Noun::op, Noun::memory, true},
    {"shorter", Noun::op, Noun::memory, true},
    {"above", Noun::op, Noun::op, true, true},
    {"groups", Noun::nothing, Noun::nothing, true},
    {"crossings", Noun::nothing, Noun::nothing, true},
    {"length", Noun::nothing, Noun::nothing, true},
    {"pipe", Noun::pipe, Noun::nothing, false},
    {"memory", Noun::memory, Noun::op, false},
    {"depth", Noun::op, Noun::memory, false},
    {"registers", Noun::op, Noun::nothing, false},
    {"issue", Noun::group, Noun::nothing, false},
    {"register-time", Noun::group, Noun::nothing, false},
    {"compute-groups", Noun::nothing, Noun::nothing, false},
    {"register-budget", Noun::group, Noun::nothing, false},
}};

std::string name_of(Noun noun, std::size_t index, const problem::Problem& problem) {
  switch (noun) {
    case Noun::nothing:
      return "";
    case Noun::op:
      return " " + problem.ops()[index].name;
    case Noun::group:
      return " " + problem.groups()[index].name;
    case Noun::pipe:
      return " " + problem.pipes()[index].name;
    case Noun::memory:
      return " " + problem.memories()[index].name;
    case Noun::accumulator:
      return " " + std::to_string(index + 1);
  }
  return "";
}

}  // namespace

bool is_variable(Predicate::Kind kind) { return kind <= Predicate::Kind::length; }

bool is_sum(Predicate::Kind kind) {
  return kind >= Predicate::Kind::groups && kind != Predicate::Kind::length;
}

const Form& form_of(Predicate::Kind kind) { return kForms[static_cast<std::size_t>(kind)]; }

std::string text_of(const Predicate& predicate, const problem::Problem& problem) {
  const Form& form = form_of(predicate.kind);
  std::string text = form.word + name_of(form.first, predicate.first, problem) +
                     name_of(form.second, predicate.second, problem);
  if (!form.number) return text;
  if (form.of_memory) {
    return text + name_of(Noun::memory, static_cast<std::size_t>(predicate.number), problem);
  }
  const bool position =  // position of an accumulator's value: from 1 in texts
      predicate.kind == Predicate::Kind::before || predicate.kind == Predicate::Kind::counts;
  text += " " + std::to_string(predicate.number + (position ? 1 : 0));
  return text;
}

}  // namespace twill::certify
