#include "twill/solve/exclusion.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "twill/schedule/difference.h"

namespace twill::solve {
namespace {

using schedule::OpId;
using schedule::Schedule;

/// Key of a structure: equal for schedules of equal structure, and only for these.
std::vector<std::int64_t> key_of(const Instance& instance, const Schedule& schedule) {
  std::vector<std::int64_t> key;
  for (const std::size_t group : ordered_groups(instance, schedule)) {
    key.push_back(static_cast<std::int64_t>(group));
  }
  for (std::size_t a = 0; a < instance.op_count(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (!schedule::has_round(*instance.problem, schedule, OpId(a), OpId(b))) continue;
      key.push_back(schedule::round_after(schedule, OpId(a), OpId(b)));
    }
  }
  return key;
}

bool keeps_alternatives(const Exchange& exchange, const std::vector<int>& alternatives) {
  for (std::size_t i = 0; i < exchange.size(); ++i) {
    if (alternatives[exchange[i]] != alternatives[i]) return false;
  }
  return true;
}

/// Removes the alternatives of `schedule`, if they are the candidate's; returns whether they are.
bool take_alternatives(const Candidate& candidate, Schedule& schedule) {
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    if (schedule.ops[i].alternative != candidate.alternatives[i]) return false;
    schedule.ops[i].alternative = 0;
  }
  return true;
}

}  // namespace

Schedule image_of(const Schedule& schedule, const Exchange& exchange) {
  Schedule image = schedule;
  for (std::size_t i = 0; i < exchange.size(); ++i) image.ops[exchange[i]] = schedule.ops[i];
  for (schedule::Address& it : image.addresses) {
    it.value = problem::OpId(exchange[it.value.index()]);
  }
  std::sort(image.addresses.begin(), image.addresses.end(), schedule::comes_before);
  return image;
}

std::vector<Schedule> excluded_in(const Candidate& candidate, const SubTiles& of_problem,
                                  const Exclusion& exclusion) {
  std::vector<Schedule> all;
  for (Schedule schedule : exclusion.structures) {
    if (take_alternatives(candidate, schedule)) all.push_back(std::move(schedule));
  }
  if (all.empty()) return all;
  std::vector<Exchange> exchanges = find_sub_tiles(candidate.problem).exchanges;
  for (const Exchange& exchange : of_problem.exchanges) {
    if (keeps_alternatives(exchange, candidate.alternatives)) exchanges.push_back(exchange);
  }
  const Instance instance = instance_of(candidate.problem);
  std::set<std::vector<std::int64_t>> seen;
  for (const Schedule& schedule : all) seen.insert(key_of(instance, schedule));
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Exchange& exchange : exchanges) {
      Schedule image = image_of(all[i], exchange);
      if (seen.insert(key_of(instance, image)).second) all.push_back(std::move(image));
    }
  }
  return all;
}

std::vector<std::size_t> ordered_groups(const Instance& instance, const Schedule& schedule) {
  const auto kind_of = [&](std::size_t group) {
    return schedule::kind_of(*instance.problem, problem::GroupId(group));
  };
  std::map<schedule::GroupKind, std::vector<std::size_t>> unnamed;
  for (std::size_t i = instance.group_count(); i-- > 0;) unnamed[kind_of(i)].push_back(i);
  std::map<std::size_t, std::size_t> names;
  for (std::size_t op = 0; op < schedule.ops.size(); ++op) {
    if (!instance.tasks[op].always()) continue;
    const std::size_t index = schedule.ops[op].group.index();
    const auto [name, fresh] = names.try_emplace(index, 0);
    if (!fresh) continue;
    auto& left = unnamed[kind_of(index)];
    name->second = left.back();
    left.pop_back();
  }
  std::vector<std::size_t> out;
  for (std::size_t op = 0; op < schedule.ops.size(); ++op) {
    const Task& task = instance.tasks[op];
    out.push_back(names.at(schedule.ops[task.always() ? op : task.home].group.index()));
  }
  return out;
}

}  // namespace twill::solve
