#include "twill/gate/front_end.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

namespace twill::gate {
namespace {

constexpr std::array<int, 3> kUnreachable = {111, 128, 186};

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "kernel.cu(204): warning #550-D: variable ...", and the same with "error: ..." behind the place.
std::optional<Complaint> complaint_of(std::string_view line) {
  const std::size_t close = line.find("): ");
  if (close == std::string_view::npos) return std::nullopt;
  const std::size_t open = line.rfind('(', close);
  if (open == std::string_view::npos) return std::nullopt;
  const auto number = number_of(line.substr(open + 1, close - open - 1));
  if (!number) return std::nullopt;
  Complaint complaint;
  complaint.file = line.substr(0, open);
  complaint.line = *number;
  std::string_view rest = line.substr(close + 3);
  complaint.is_error = rest.starts_with("error") || rest.starts_with("catastrophic error");
  if (!complaint.is_error && !rest.starts_with("warning")) return std::nullopt;
  const std::size_t colon = rest.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view kind = rest.substr(0, colon);
  if (const std::size_t hash = kind.find('#'); hash != std::string_view::npos) {
    const std::string_view code = kind.substr(hash + 1);
    complaint.number = number_of(code.substr(0, code.find('-'))).value_or(0);
  }
  complaint.text = rest.substr(colon + 2);
  return complaint;
}

std::string words_of(const Complaint& complaint) {
  const std::string file = std::filesystem::path(complaint.file).filename().string();
  const std::string code = complaint.number == 0 ? "" : fmt::format(" {}", complaint.number);
  return fmt::format("nvcc{}{}: {}:{}: {}", complaint.is_error ? " error" : " warning", code, file,
                     complaint.line, complaint.text);
}

}  // namespace

std::vector<Complaint> read_complaints(std::string_view text) {
  std::vector<Complaint> complaints;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (auto complaint = complaint_of(line)) complaints.push_back(*std::move(complaint));
  }
  return complaints;
}

std::vector<std::string> refusals(const std::vector<Complaint>& complaints) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> reasons;
  for (const bool errors : {true, false}) {
    std::size_t count = 0;
    for (const Complaint& it : complaints) {
      const bool harmless = !it.is_error && std::count(kUnreachable.begin(), kUnreachable.end(),
                                                       it.number) > 0;
      if (it.is_error != errors || harmless) continue;
      if (++count <= kMost) reasons.push_back(words_of(it));
    }
    if (count > kMost) {
      reasons.push_back(fmt::format("nvcc: {} more {}", count - kMost,
                                    errors ? "errors" : "warnings"));
    }
  }
  return reasons;
}

}  // namespace twill::gate
