#include <limits>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "twill/problem/transfer.h"
#include "twill/report/schedule_json.h"
#include "twill/schedule/loop_text.h"

namespace twill::report {
namespace {

using UnorderedJson = nlohmann::json;

constexpr int kVersionBefore = kScheduleJsonVersion - 1;

/// Looks up members by path in a JSON value; messages name the path.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  tl::unexpected<Diagnostic> wrong(const std::string& message) const {
    return fail({file_}, message, "docs/reference/schedule-json.md describes the format");
  }

  Result<const UnorderedJson*> member(const UnorderedJson& of, const std::string& path,
                                      const char* name) const {
    if (!of.is_object() || !of.contains(name)) {
      return wrong("the schedule has no member " + path + "/" + name);
    }
    return &of.at(name);
  }

  Result<std::string> text(const UnorderedJson& of, const std::string& path,
                           const char* name) const {
    TWILL_TRY(const UnorderedJson* found, member(of, path, name));
    if (!found->is_string()) return wrong(path + "/" + name + " is not a string");
    return found->get<std::string>();
  }

  Result<std::int64_t> number(const UnorderedJson& of, const std::string& path,
                              const char* name) const {
    TWILL_TRY(const UnorderedJson* found, member(of, path, name));
    const bool fits = found->is_number_integer() &&
                      (!found->is_number_unsigned() ||
                       found->get<std::uint64_t>() <=
                           static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
    if (!fits) return wrong(path + "/" + name + " is not an integer of 64 bits");
    return found->get<std::int64_t>();
  }

 private:
  std::string file_;
};

template <class Items>
std::map<std::string, std::size_t, std::less<>> index_of(const Items& items) {
  std::map<std::string, std::size_t, std::less<>> index;
  for (std::size_t i = 0; i < items.size(); ++i) index.emplace(items[i].name, i);
  return index;
}

Result<problem::Problem> read_problem(const Reader& reader, const UnorderedJson& json,
                                      const std::string& file) {
  TWILL_TRY(const UnorderedJson* part, reader.member(json, "", "problem"));
  TWILL_TRY(const std::string text, reader.text(*part, "/problem", "text"));
  TWILL_TRY(const std::string hash, reader.text(*part, "/problem", "hash"));
  TWILL_TRY(schedule::LoopText loop, schedule::parse_loop(text, file + " (/problem/text)"));
  if (schedule::problem_hash(loop.problem) != hash) {
    return reader.wrong("/problem/hash is not the hash of /problem/text");
  }
  return std::move(loop.problem);
}

Result<schedule::Placement> read_placement(const Reader& reader, const UnorderedJson& json,
                                           const std::string& path, const problem::Problem& problem,
                                           const problem::Op& op) {
  schedule::Placement placement;
  TWILL_TRY(placement.issue, reader.number(json, path, "issue_cycle"));
  TWILL_TRY(const std::string group, reader.text(json, path, "group"));
  const auto groups = index_of(problem.groups());
  if (!groups.contains(group))
    return reader.wrong(path + " names an unknown group '" + group + "'");
  placement.group = problem::GroupId(groups.at(group));
  const char* const member = json.contains("way") ? "way" : "alternative";  // version 1 has "way"
  TWILL_TRY(const std::string alternative, reader.text(json, path, member));
  const auto alternatives = index_of(op.alternatives);
  if (!alternatives.contains(alternative))
    return reader.wrong(path + " names an unknown alternative '" + alternative + "'");
  placement.alternative = static_cast<int>(alternatives.at(alternative));
  return placement;
}

/// Reads the offsets in /buffers; older files have none.
Result<std::vector<schedule::Address>> read_addresses(const Reader& reader,
                                                      const UnorderedJson& json,
                                                      const problem::Problem& problem) {
  std::map<std::pair<std::size_t, std::size_t>, Amount> offsets;  // by op, then memory
  std::vector<schedule::Address> addresses;
  if (!json.contains("buffers")) return addresses;
  const UnorderedJson& list = json.at("buffers");
  if (!list.is_array()) return reader.wrong("/buffers is not an array");
  const auto ops = index_of(problem.ops());
  const auto memories = index_of(problem.memories());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = "/buffers/" + std::to_string(i);
    if (!list[i].is_object() || !list[i].contains("offset") || list[i].at("offset").is_null()) {
      continue;
    }
    TWILL_TRY(const std::string value, reader.text(list[i], path, "value"));
    if (!ops.contains(value)) return reader.wrong(path + " names an unknown op '" + value + "'");
    TWILL_TRY(const std::string memory, reader.text(list[i], path, "memory"));
    if (!memories.contains(memory)) {
      return reader.wrong(path + " names an unknown memory '" + memory + "'");
    }
    TWILL_TRY(const Amount offset, reader.number(list[i], path, "offset"));
    if (!offsets.try_emplace({ops.at(value), memories.at(memory)}, offset).second) {
      return reader.wrong(path + " is a second buffer of '" + value + "' in '" + memory + "'");
    }
  }
  for (const auto& [at, offset] : offsets) {
    addresses.push_back({problem::OpId(at.first), problem::MemoryId(at.second), offset});
  }
  return addresses;
}

Result<schedule::Schedule> read_schedule(const Reader& reader, const UnorderedJson& json,
                                         const problem::Problem& problem) {
  schedule::Schedule schedule;
  TWILL_TRY(const UnorderedJson* ii, reader.member(json, "", "initiation_interval"));
  if (ii->is_null())
    return reader.wrong("there is no schedule in it: no loop of this verdict has one");
  TWILL_TRY(schedule.initiation_interval, reader.number(json, "", "initiation_interval"));
  TWILL_TRY(const UnorderedJson* list, reader.member(json, "", "ops"));
  if (!list->is_array()) return reader.wrong("/ops is not an array");
  const auto index = index_of(problem.ops());
  std::vector<bool> placed(index.size(), false);
  schedule.ops.resize(index.size());
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string path = "/ops/" + std::to_string(i);
    TWILL_TRY(const std::string name, reader.text((*list)[i], path, "name"));
    if (!index.contains(name)) return reader.wrong(path + " names an unknown op '" + name + "'");
    const std::size_t op = index.at(name);
    if (placed[op]) return reader.wrong(path + " places op '" + name + "' a second time");
    placed[op] = true;
    TWILL_TRY(schedule.ops[op],
              read_placement(reader, (*list)[i], path, problem, problem.ops()[op]));
  }
  const auto transfer_ops = problem::transfer_ops_of(problem);
  for (const auto& [name, op] : index) {
    if (placed[op]) continue;
    if (!transfer_ops[op]) return reader.wrong("/ops does not place op '" + name + "'");
    schedule.ops[op].exists = false;
  }
  TWILL_TRY(schedule.addresses, read_addresses(reader, json, problem));
  return schedule::at_home(problem, std::move(schedule));
}

/// Parses the text; a syntax error has its line and column.
Result<UnorderedJson> parse(std::string_view text, const std::string& file) {
  try {
    return UnorderedJson::parse(text);
  } catch (const UnorderedJson::parse_error& error) {
    return fail_at(text, error.byte == 0 ? 0 : error.byte - 1, file, "not valid JSON");
  } catch (const UnorderedJson::exception&) {  // a number beyond every type
    return fail({file}, "not valid JSON: a number in it is out of range");
  }
}

}  // namespace

Result<ScheduleFile> read_schedule_json(std::string_view text, const std::string& file) {
  const Reader reader(file);
  TWILL_TRY(const UnorderedJson json, parse(text, file));
  TWILL_TRY(const std::string format, reader.text(json, "", "format"));
  if (format != "twill-schedule")
    return reader.wrong("not a schedule: /format is '" + format + "'");
  TWILL_TRY(const std::int64_t version, reader.number(json, "", "version"));
  if (version != kScheduleJsonVersion && version != kVersionBefore) {
    return reader.wrong("version " + std::to_string(version) + " of the format is not known here");
  }
  TWILL_TRY(problem::Problem problem, read_problem(reader, json, file));
  TWILL_TRY(schedule::Schedule schedule, read_schedule(reader, json, problem));
  return ScheduleFile{std::move(problem), std::move(schedule)};
}

}  // namespace twill::report
