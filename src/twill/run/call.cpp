#include "twill/run/call.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "twill/gate/process.h"
#include "twill/run/build.h"

namespace twill::run {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Takes the text up to the next tab, and the tab.
std::string_view word(std::string_view& line) {
  const std::size_t tab = std::min(line.find('\t'), line.size());
  const std::string_view head = line.substr(0, tab);
  line.remove_prefix(std::min(tab + 1, line.size()));
  return head;
}

Finding finding_in(std::string_view line) {
  Finding finding;
  finding.kind = word(line);
  for (int* const number : {&finding.line, &finding.times}) {
    const std::string_view text = word(line);
    std::from_chars(text.data(), text.data() + text.size(), *number);
  }
  finding.thread = word(line);
  finding.message = line;
  return finding;
}

std::string last_words(const gate::Finished& finished) {
  std::string_view output = finished.output;
  while (output.ends_with('\n')) output.remove_suffix(1);
  const std::size_t line = output.rfind('\n');
  const std::string said(line == std::string_view::npos ? output : output.substr(line + 1));
  const std::string how =
      finished.status > kSignalled
          ? fmt::format("signal {} ended the program", finished.status - kSignalled)
          : fmt::format("the program ended with status {}", finished.status);
  return said.empty() ? how : how + ": " + said;
}

/// Reads a result; false if the text is incomplete.
bool read_result(std::string_view text, const Case& call, Called& called) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view what = word(line);
    if (what == "launch") called.refusal = line;
    if (what == "finding") called.findings.push_back(finding_in(line));
    if (what == "memory") break;
  }
  for (const Buffer& buffer : call.buffers) {
    if (text.size() < buffer.bytes.size()) return false;
    called.memory.emplace_back(text.substr(0, buffer.bytes.size()));
    text.remove_prefix(buffer.bytes.size());
  }
  return text.empty();
}

}  // namespace

Result<Called> call(const std::filesystem::path& program, const Kernel& kernel, const Case& call,
                    const Machine& machine, std::chrono::seconds limit, const gate::GoOn& go_on) {
  const std::filesystem::path folder = program.parent_path();
  TWILL_TRY_VOID(write_bytes(folder / "call", call_text(kernel, call, machine)));
  std::error_code ignored;
  std::filesystem::remove(folder / "result", ignored);
  const auto finished = gate::run(
      {program.string(), (folder / "call").string(), (folder / "result").string()}, limit, go_on);
  Called called;
  if (!finished) {
    called.fault = finished.error().message;
    return called;
  }
  if (finished->status != 0) called.fault = last_words(*finished);
  const std::string result = read_file(folder / "result");
  if (!read_result(result, call, called) && called.fault.empty()) {
    called.fault = "the program left no memory behind";
  }
  if (!called.fault.empty()) called.memory.clear();
  return called;
}

}  // namespace twill::run
