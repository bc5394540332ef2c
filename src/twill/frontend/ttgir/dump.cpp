#include "twill/frontend/ttgir/dump.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace twill::frontend::ttgir {
namespace {

constexpr std::string_view kHeader = "// -----// IR Dump ";

/// Passes of Triton whose input is the loop to be scheduled; later Tritons first.
constexpr std::string_view kPasses[] = {"Before TritonGPUAssignLatencies",
                                        "Before TritonGPUPipeline"};

/// The input of a pass: one module.
struct Dump {
  std::size_t begin = 0;  ///< of its header, in the text
  std::size_t end = 0;
  int line = 0;
  std::string_view header;
  std::string_view kernel;  ///< the first public function; empty: none
};

std::string_view line_at(std::string_view text, std::size_t at) {
  return text.substr(at, text.find('\n', at) - at);
}

/// Word after `mark`, up to a parenthesis.
std::string_view name_behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + mark.size());
  return rest.substr(0, rest.find('('));
}

void name_kernels(std::string_view text, std::vector<Dump>& dumps) {
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    Dump& dump = dumps[i];
    dump.end = i + 1 < dumps.size() ? dumps[i + 1].begin : text.size();
    const std::string_view body = text.substr(dump.begin, dump.end - dump.begin);
    dump.kernel = name_behind(body, "tt.func public @");
    if (dump.kernel.empty()) dump.kernel = name_behind(body, "tt.func @");
  }
}

/// Finds modules that follow each other without headers. Locations follow a module's end. The next
/// module begins with a new alias, or with an alias that the module before also has.
std::vector<Dump> modules_in(std::string_view text) {
  std::vector<Dump> modules;
  std::set<std::string_view> aliases;
  enum class At { front, inside, behind } where = At::behind;
  int line = 1;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::string_view here = line_at(text, at);
    const bool opens = here.starts_with("module ");
    const std::string_view alias =
        here.starts_with('#') ? here.substr(0, here.find(' ')) : std::string_view();
    const bool begins = opens || (!alias.empty() && (modules.empty() || aliases.contains(alias) ||
                                                     !alias.starts_with("#loc")));
    if (where == At::behind && begins) {
      modules.push_back({at, text.size(), line, {}, {}});
      aliases.clear();
      where = At::front;
    }
    if (opens) where = At::inside;
    if (where == At::inside && here.starts_with('}')) where = At::behind;
    if (!alias.empty()) aliases.insert(alias);
    at += here.size() + 1;
  }
  name_kernels(text, modules);
  return modules;
}

std::vector<Dump> dumps_in(std::string_view text) {
  std::vector<Dump> dumps;
  int line = 1;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::string_view here = line_at(text, at);
    if (here.starts_with(kHeader)) {
      dumps.push_back({at, text.size(), line, here, {}});
    }
    at += here.size() + 1;
  }
  name_kernels(text, dumps);
  return dumps;
}

/// Selects the dumps before the latest pass that the text has.
std::vector<Dump> before_pipelining(const std::vector<Dump>& dumps) {
  std::vector<Dump> found;
  for (const std::string_view pass : kPasses) {
    std::copy_if(dumps.begin(), dumps.end(), std::back_inserter(found), [&](const Dump& dump) {
      return dump.header.find(pass) != std::string_view::npos && !dump.kernel.empty();
    });
    if (!found.empty()) break;
  }
  return found;
}

/// "NAME:LINE"
std::string numbered(const Dump& dump) {
  return std::string(dump.kernel) + ":" + std::to_string(dump.line);
}

bool is_named(const Dump& dump, std::string_view kernel) {
  return kernel.empty() || kernel == dump.kernel || kernel == numbered(dump);
}

std::string blank_but(const std::string& text, const Dump& kept) {
  std::string out(static_cast<std::size_t>(std::count(
                      text.begin(), text.begin() + static_cast<std::ptrdiff_t>(kept.begin), '\n')),
                  '\n');
  return out.append(text, kept.begin, kept.end - kept.begin);
}

std::string names_of_dumps(const std::vector<Dump>& dumps) {
  constexpr std::size_t kMost = 12;
  std::string names;
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    if (i == kMost) return names + ", ...";
    const auto same = std::count_if(dumps.begin(), dumps.end(), [&](const Dump& other) {
      return other.kernel == dumps[i].kernel;
    });
    names += (i > 0 ? ", " : "");
    names += same > 1 ? numbered(dumps[i]) : std::string(dumps[i].kernel);
  }
  return names;
}

}  // namespace

Result<std::string> module_of_dump(std::string text, const std::string& file,
                                   std::string_view kernel) {
  const std::vector<Dump> dumps = dumps_in(text);
  const bool plain = dumps.size() < 2;
  const std::vector<Dump> before = plain ? modules_in(text) : before_pipelining(dumps);
  if (plain && before.size() < 2) {
    const std::string name(kernel.substr(0, kernel.find(':')));
    const bool there = text.find("@" + name + "(") != std::string::npos;
    if (kernel.empty() || there) return text;
    return fail({file}, "has no kernel '" + name + "'");
  }
  if (before.empty()) {
    return fail(
        {file},
        "has " + std::to_string(dumps.size()) + " dumps, and none from before Triton's pipelining",
        "dump everything: MLIR_ENABLE_DUMP=1, and TRITON_ALWAYS_COMPILE=1");
  }
  std::vector<Dump> named;
  std::copy_if(before.begin(), before.end(), std::back_inserter(named),
               [&](const Dump& dump) { return is_named(dump, kernel); });
  if (named.empty()) {
    return fail({file}, "has no kernel '" + std::string(kernel) + "'",
                "there are " + names_of_dumps(before));
  }
  if (named.size() > 1) {
    return fail(
        {file, named[1].line, 1},
        "has " + std::to_string(named.size()) + " kernels, or one that was compiled as often",
        "choose one by --kernel: " + names_of_dumps(named));
  }
  return blank_but(text, named.front());
}

}  // namespace twill::frontend::ttgir
