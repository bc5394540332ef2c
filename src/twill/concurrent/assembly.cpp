#include "twill/concurrent/assembly.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

namespace twill::concurrent {
namespace {

/// First words of instructions that only compute in registers, read a clock, give a hint, or order
/// launches.
constexpr std::string_view kInRegisters[] = {
    "abs",           "activemask",   "add",      "addc",      "and",   "applypriority", "bfe",
    "bfi",           "bfind",        "bmsk",     "brev",      "clz",   "cnot",          "copysign",
    "cos",           "createpolicy", "cvt",      "cvta",      "div",   "dp2a",          "dp4a",
    "ex2",           "fma",          "fns",      "isspacep",  "lg2",   "lop3",          "mad",
    "mad24",         "madc",         "match",    "max",       "min",   "mma",           "mov",
    "movmatrix",     "mul",          "mul24",    "nanosleep", "neg",   "not",           "or",
    "pmevent",       "popc",         "prefetch", "prefetchu", "prmt",  "rcp",           "redux",
    "rem",           "rsqrt",        "sad",      "selp",      "set",   "setmaxnreg",    "setp",
    "shf",           "shfl",         "shl",      "shr",       "sin",   "slct",          "sqrt",
    "sub",           "subc",         "szext",    "tanh",      "testp", "vote",          "xor",
    "griddepcontrol"};

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Statements of the text: escapes and comments become blanks, and braces end a statement, too.
std::vector<std::string> statements_of(std::string_view ptx) {
  std::vector<std::string> statements(1);
  for (std::size_t i = 0; i < ptx.size(); ++i) {
    const std::string_view rest = ptx.substr(i);
    if (rest.starts_with("//")) {
      i = std::min(std::min(ptx.find('\n', i), ptx.find("\\0A", i)), ptx.find("\\n", i));
      if (i == std::string_view::npos) break;
      --i;
    } else if (rest.starts_with("/*")) {
      i = ptx.find("*/", i);
      if (i == std::string_view::npos) break;
      ++i;
    } else if (rest.starts_with("\\0A") || rest.starts_with("\\09")) {
      statements.back() += ' ';
      i += 2;
    } else if (rest.starts_with("\\n") || rest.starts_with("\\t")) {
      statements.back() += ' ';
      ++i;
    } else if (ptx[i] == ';' || ptx[i] == '{' || ptx[i] == '}') {
      statements.emplace_back();
    } else {
      statements.back() += is_space(ptx[i]) ? ' ' : ptx[i];
    }
  }
  return statements;
}

/// Words between blanks and commas.
std::vector<std::string> words_of(const std::string& statement) {
  std::vector<std::string> words(1);
  for (const char c : statement) {
    if (c != ' ' && c != ',') {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::optional<std::int64_t> number_in(const std::vector<std::string>& words, std::size_t index) {
  std::int64_t number = 0;
  if (index >= words.size()) return std::nullopt;
  const std::string& word = words[index];
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

bool has(const std::string& instruction, std::string_view part) {
  return instruction.find(part) != std::string::npos;
}

/// Step of a named barrier's instruction, as "bar.sync 1, 256"; nullopt for other instructions.
std::optional<AssemblyStep> barrier_step(const std::vector<std::string>& words) {
  const std::string& instruction = words.front();
  const bool named = instruction.starts_with("bar.") || instruction.starts_with("barrier.");
  if (!named || has(instruction, "cluster") || has(instruction, ".red")) return std::nullopt;
  const auto barrier = number_in(words, 1);
  if (!barrier || words.size() > 3) return std::nullopt;
  const auto threads = words.size() == 3 ? number_in(words, 2) : std::optional<std::int64_t>(0);
  if (!threads) return std::nullopt;
  if (has(instruction, ".sync")) return AssemblyStep{AssemblyStep::Kind::sync, *barrier, *threads};
  if (has(instruction, ".arrive") && *threads > 0) {
    return AssemblyStep{AssemblyStep::Kind::arrive, *barrier, *threads};
  }
  return std::nullopt;
}

bool is_in_registers(const std::string& instruction) {
  const std::string_view first = std::string_view(instruction).substr(0, instruction.find('.'));
  return std::find(std::begin(kInRegisters), std::end(kInRegisters), first) !=
         std::end(kInRegisters);
}

/// True for accesses to memory that is not shared. An instruction that names no memory takes a
/// generic pointer.
bool is_elsewhere(const std::string& instruction) {
  const bool accesses = instruction.starts_with("ld.") || instruction.starts_with("st.") ||
                        instruction.starts_with("red.") || instruction.starts_with("atom.");
  return accesses && !has(instruction, "shared") && !has(instruction, "async");
}

/// True for fences whose order the model of roles assumes anyway.
bool is_plain_fence(const std::string& instruction) {
  return instruction.starts_with("membar.") ||
         (instruction.starts_with("fence.") && !has(instruction, "proxy"));
}

}  // namespace

Assembly read_assembly(std::string_view ptx) {
  Assembly read;
  for (const std::string& statement : statements_of(ptx)) {
    std::vector<std::string> words = words_of(statement);
    while (!words.empty() && words.front().ends_with(':')) words.erase(words.begin());
    const bool sometimes = !words.empty() && words.front().starts_with('@');
    if (sometimes) words.erase(words.begin());
    if (words.empty() || words.front().starts_with('.')) continue;
    const std::string& instruction = words.front();
    if (is_in_registers(instruction) || is_elsewhere(instruction) || is_plain_fence(instruction)) {
      continue;
    }
    std::optional<AssemblyStep> step = barrier_step(words);
    if (instruction.starts_with("fence.proxy.async")) step = AssemblyStep{};
    if (instruction == "cp.async.bulk.wait_group")
      step = AssemblyStep{AssemblyStep::Kind::stored, 0, 0};
    if (!step || sometimes) {
      read.unknown = instruction;
      return read;
    }
    read.steps.push_back(*step);
  }
  return read;
}

}  // namespace twill::concurrent
