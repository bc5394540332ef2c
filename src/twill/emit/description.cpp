#include "twill/emit/description.h"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

namespace twill::emit {
namespace {

using Json = nlohmann::ordered_json;
using Kind = Parameter::Kind;

constexpr std::string_view kFormat = "twill-kernel";
constexpr std::array<std::pair<Kind, std::string_view>, 5> kKinds = {
    {{Kind::pointer, "pointer"},
     {Kind::descriptor, "descriptor"},
     {Kind::scalar, "scalar"},
     {Kind::stamps, "stamps"},
     {Kind::stamp_limit, "stamp-limit"}}};

Json parameter_json(const Parameter& parameter) {
  Json json;
  json["name"] = parameter.name;
  for (const auto& [kind, name] : kKinds) {
    if (kind == parameter.kind) json["kind"] = name;
  }
  json["type"] = parameter.type;
  json["multiple_of"] = parameter.multiple_of;
  if (parameter.kind != Kind::descriptor) return json;
  json["block"] = parameter.block;
  json["sizes"] = parameter.sizes;
  json["strides"] = parameter.strides;
  return json;
}

/// Throws the library's exception for a member that is missing or of another type.
Parameter parameter_of(const Json& json, int count) {
  Parameter parameter;
  parameter.name = json.at("name").get<std::string>();
  const auto kind = json.at("kind").get<std::string>();
  bool known = false;
  for (const auto& [it, name] : kKinds) {
    if (name != kind) continue;
    parameter.kind = it;
    known = true;
  }
  if (!known) throw std::out_of_range("no parameter is a '" + kind + "'");
  parameter.type = json.at("type").get<std::string>();
  parameter.multiple_of = json.at("multiple_of").get<std::int64_t>();
  if (parameter.multiple_of < 1) throw std::out_of_range("'multiple_of' is at least 1");
  if (parameter.kind != Kind::descriptor) return parameter;
  parameter.block = json.at("block").get<std::vector<std::int64_t>>();
  parameter.sizes = json.at("sizes").get<std::vector<int>>();
  parameter.strides = json.at("strides").get<std::vector<int>>();
  for (const auto& places : {parameter.sizes, parameter.strides}) {
    if (places.size() != parameter.block.size()) {
      throw std::out_of_range("a descriptor has a size and a stride for each dimension");
    }
    for (const int place : places) {
      if (place < 0 || place >= count) throw std::out_of_range("there is no such parameter");
    }
  }
  return parameter;
}

Description description_of(const Json& json) {
  Description made;
  made.name = json.at("name").get<std::string>();
  made.launch = json.at("launch").get<std::string>();
  const Json& input = json.at("input");
  made.input = input.at("name").get<std::string>();
  made.sha256 = input.at("sha256").get<std::string>();
  made.loop = input.at("loop").get<int>();
  made.runtime = json.value("runtime_sha256", "");
  made.machine = json.at("machine").get<std::string>();
  made.options = json.at("options").get<std::vector<std::string>>();
  const Json& parameters = json.at("parameters");
  for (const Json& it : parameters) {
    made.parameters.push_back(parameter_of(it, static_cast<int>(parameters.size())));
  }
  made.threads = json.at("threads").get<int>();
  made.shared_bytes = json.at("shared_bytes").get<std::int64_t>();
  made.cluster = json.at("cluster").get<int>();
  made.deepest_ring = json.value("deepest_ring", 1);
  const Json& tiles = json.at("tiles");
  made.tiles = tiles.at("walk").get<std::string>();
  made.order = tiles.value("order", "");
  made.group = tiles.value("group", 1);
  made.notes = json.value("notes", std::vector<std::string>());
  return made;
}

}  // namespace

std::string description_json(const Description& description) {
  Json json;
  json["format"] = kFormat;
  json["version"] = kDescriptionVersion;
  json["name"] = description.name;
  json["launch"] = description.launch;
  json["input"] = {{"file", "kernel.ttgir"},
                   {"name", description.input},
                   {"sha256", description.sha256},
                   {"loop", description.loop}};
  json["runtime_sha256"] = description.runtime;
  json["machine"] = description.machine;
  json["options"] = description.options;
  json["threads"] = description.threads;
  json["shared_bytes"] = description.shared_bytes;
  json["cluster"] = description.cluster;
  json["deepest_ring"] = description.deepest_ring;
  json["tiles"] = {{"walk", description.tiles}};
  if (!description.order.empty()) {
    json["tiles"]["order"] = description.order;
    json["tiles"]["group"] = description.group;
  }
  json["notes"] = description.notes;
  json["parameters"] = Json::array();
  for (const Parameter& it : description.parameters) {
    json["parameters"].push_back(parameter_json(it));
  }
  return json.dump(1) + "\n";
}

Result<Description> read_description(std::string_view text, const std::string& file) {
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || json.value("format", "") != kFormat) {
      return fail({file}, "is no description of an emitted kernel");
    }
    if (json.value("version", 0) != kDescriptionVersion) {
      return fail({file}, "is of another version than 1", "emit the kernel again");
    }
    return description_of(json);
  } catch (const nlohmann::json::exception& error) {
    return fail({file}, std::string("cannot be read: ") + error.what(), "emit the kernel again");
  } catch (const std::out_of_range& error) {
    return fail({file}, std::string("cannot be read: ") + error.what(), "emit the kernel again");
  }
}

}  // namespace twill::emit
