#include "twill/gate/ptxas.h"

#include <cctype>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace twill::gate {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// The number right before `unit`, as in "16 bytes spill stores".
std::optional<std::int64_t> number_before(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t first = at;
  while (first > 0 && std::isdigit(static_cast<unsigned char>(line[first - 1])) != 0) --first;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(line.data() + first, line.data() + at, value);
  if (error != std::errc() || end != line.data() + at) return std::nullopt;
  return value;
}

/// A line of ptxas after "ptxas info : " or a similar prefix, and its severity.
struct Line {
  bool loud = false;  ///< a warning or an error
  std::string_view text;
};

std::optional<Line> line_of_ptxas(std::string_view line) {
  constexpr std::string_view kProgram = "ptxas ";
  if (!line.starts_with(kProgram)) return std::nullopt;
  const std::size_t colon = line.find(" : ");
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view kind = trimmed(line.substr(0, colon));
  return Line{!kind.ends_with("info"), trimmed(line.substr(colon + 3))};
}

/// "(C7512) Potential ..." has the code C7512.
std::string code_of(std::string_view text) {
  if (!text.starts_with("(C")) return {};
  const std::size_t close = text.find(')');
  return close == std::string_view::npos ? std::string() : std::string(text.substr(1, close - 1));
}

std::string_view quoted(std::string_view text) {
  const std::size_t open = text.find('\'');
  const std::size_t close = text.find('\'', open + 1);
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  return text.substr(open + 1, close - open - 1);
}

class PtxasReader {
 public:
  void read(std::string_view line) {
    if (const std::optional<Line> said = line_of_ptxas(line)) {
      read_said(*said);
    } else if (current_) {
      read_sizes(line);
    }
  }

  PtxasReport take() { return std::move(report_); }

 private:
  void begin(std::string_view name, bool is_kernel) {
    current_ = report_.functions.size();
    report_.functions.push_back({.name = std::string(name), .is_kernel = is_kernel});
  }

  void read_said(const Line& said) {
    constexpr std::string_view kKernel = "Compiling entry function ";
    constexpr std::string_view kProperties = "Function properties for ";
    constexpr std::string_view kUsed = "Used ";
    const std::string code = code_of(said.text);
    if (said.loud || !code.empty()) {
      const std::string_view text = code.empty() ? said.text : said.text.substr(code.size() + 2);
      report_.remarks.push_back({code, std::string(trimmed(text))});
    } else if (said.text.starts_with(kKernel)) {
      begin(quoted(said.text), true);
    } else if (said.text.starts_with(kProperties)) {
      const std::string_view name = said.text.substr(kProperties.size());
      const bool announced = current_ && report_.functions[*current_].name == name;
      if (!announced) begin(name, false);
    } else if (said.text.starts_with(kUsed) && current_) {
      FunctionReport& function = report_.functions[*current_];
      const auto registers = number_before(said.text, " registers");
      function.has_registers = registers.has_value();
      function.registers = static_cast<int>(registers.value_or(0));
      function.barriers = static_cast<int>(number_before(said.text, " barriers").value_or(0));
      function.shared = number_before(said.text, " bytes smem").value_or(0);
    }
  }

  void read_sizes(std::string_view line) {
    FunctionReport& function = report_.functions[*current_];
    if (const auto stack = number_before(line, " bytes stack frame")) function.stack = *stack;
    if (const auto stores = number_before(line, " bytes spill stores")) {
      function.spill_stores = *stores;
    }
    if (const auto loads = number_before(line, " bytes spill loads")) {
      function.spill_loads = *loads;
      function.has_sizes = true;  // the sizes are the last figures of a function
    }
  }

  PtxasReport report_;
  std::optional<std::size_t> current_;
};

}  // namespace

PtxasReport read_ptxas(std::string_view text) {
  PtxasReader reader;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.read(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.take();
}

std::vector<std::string> refusals(const PtxasReport& report) {
  std::vector<std::string> reasons;
  for (const Remark& remark : report.remarks) {
    reasons.push_back(remark.code.empty() ? "ptxas: " + remark.text
                                          : fmt::format("ptxas {}: {}", remark.code, remark.text));
  }
  for (const FunctionReport& function : report.functions) {
    if (!function.has_sizes || (function.is_kernel && !function.has_registers)) {
      reasons.push_back(fmt::format("ptxas does not say what {} takes", function.name));
    }
    if (function.spill_stores > 0 || function.spill_loads > 0) {
      reasons.push_back(fmt::format("{} spills registers: {} bytes stored, {} bytes loaded",
                                    function.name, function.spill_stores, function.spill_loads));
    } else if (function.stack > 0) {
      reasons.push_back(
          fmt::format("{} keeps {} bytes in local memory", function.name, function.stack));
    }
  }
  return reasons;
}

}  // namespace twill::gate
