#include "twill/gate/sass.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace twill::gate {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<std::uint32_t> hexadecimal(std::string_view digits) {
  std::uint32_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

/// Splits at commas that are not in brackets.
std::vector<std::string> split_operands(std::string_view text) {
  std::vector<std::string> operands;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size()) {
      depth += (text[i] == '[' || text[i] == '(') ? 1 : 0;
      depth -= (text[i] == ']' || text[i] == ')') ? 1 : 0;
      if (text[i] != ',' || depth > 0) continue;
    }
    const std::string_view operand = without_blanks(text.substr(start, i - start));
    if (!operand.empty()) operands.emplace_back(operand);
    start = i + 1;
  }
  return operands;
}

/// Takes the first word from `text`.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
  const std::string_view word = text.substr(0, end);
  text = without_blanks(text.substr(end));
  return word;
}

/// Reads "/*0100*/  @!P1 BRA 0x2d0 ;  /* 0x00... */". No value if the line is no instruction.
std::optional<Instruction> read_instruction(std::string_view line) {
  if (!line.starts_with("/*")) return std::nullopt;
  const std::size_t close = line.find("*/");
  if (close == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint32_t> address = hexadecimal(line.substr(2, close - 2));
  const std::size_t end = line.find(';');
  if (!address || end == std::string_view::npos || end < close) return std::nullopt;
  std::string_view rest = without_blanks(line.substr(close + 2, end - close - 2));
  Instruction instruction;
  instruction.address = *address;
  if (rest.starts_with('@')) instruction.guard = take_word(rest);
  instruction.opcode = take_word(rest);
  instruction.operands = split_operands(rest);
  if (instruction.opcode.empty()) return std::nullopt;
  return instruction;
}

bool has_target(std::string_view opcode) {
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  return base == "BRA" || base == "BSSY" || base == "CALL" || base == "JMP" || base == "WARPSYNC";
}

class SassReader {
 public:
  void read(std::string_view line) {
    constexpr std::string_view kCuobjdump = "Function : ";
    constexpr std::string_view kNvdisasm = ".text.";
    if (line.starts_with(kCuobjdump)) {
      begin(line.substr(kCuobjdump.size()));
    } else if (line.starts_with(kNvdisasm) && line.ends_with(':')) {
      begin(line.substr(kNvdisasm.size(), line.size() - kNvdisasm.size() - 1));
    } else if (line.starts_with(".L") && line.ends_with(':')) {
      labels_here_.emplace_back(line.substr(0, line.size() - 1));
    } else if (std::optional<Instruction> instruction = read_instruction(line)) {
      add(std::move(*instruction));
    }
  }

  std::vector<SassFunction> take() {
    end();
    return std::move(functions_);
  }

 private:
  void begin(std::string_view name) {
    end();
    functions_.push_back({std::string(name), {}});
  }

  void add(Instruction instruction) {
    if (functions_.empty()) return;
    for (std::string& label : labels_here_) labels_[std::move(label)] = instruction.address;
    labels_here_.clear();
    functions_.back().instructions.push_back(std::move(instruction));
  }

  /// Ends a function, once all its labels are known: gives branches their targets.
  void end() {
    if (!functions_.empty()) {
      for (Instruction& instruction : functions_.back().instructions) {
        instruction.target = target_of(instruction);
      }
      if (functions_.back().instructions.empty()) functions_.pop_back();
    }
    labels_.clear();
    labels_here_.clear();
  }

  std::optional<std::uint32_t> target_of(const Instruction& instruction) const {
    if (!has_target(instruction.opcode) || instruction.operands.empty()) return std::nullopt;
    const std::string_view last = instruction.operands.back();
    if (last.starts_with("0x")) return hexadecimal(last.substr(2));
    if (!last.starts_with("`(") || !last.ends_with(')')) return std::nullopt;
    const auto label = labels_.find(last.substr(2, last.size() - 3));
    if (label == labels_.end()) return std::nullopt;
    return label->second;
  }

  std::vector<SassFunction> functions_;
  std::map<std::string, std::uint32_t, std::less<>> labels_;
  std::vector<std::string> labels_here_;  ///< labels of the next instruction
};

}  // namespace

Result<std::vector<SassFunction>> read_sass(std::string_view text, const std::string& file) {
  SassReader reader;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.read(without_blanks(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::vector<SassFunction> functions = reader.take();
  if (functions.empty()) return fail({file}, "no machine code in what the disassembler prints");
  return functions;
}

}  // namespace twill::gate
