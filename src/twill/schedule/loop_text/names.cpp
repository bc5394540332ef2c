#include "twill/schedule/loop_text/names.h"

#include <string>
#include <utility>

#include "twill/support/spelling.h"

namespace twill::schedule {

void LoopNames::declare(const Token& name, int line) {
  index_.emplace(name.spelling, names_.size());
  names_.push_back(name.spelling);
  lines_.push_back(line);
  columns_.push_back(name.column);
}

Result<std::size_t> LoopNames::read(LoopLine& line) const {
  const std::string kind(kind_);
  TWILL_TRY(const Token name, line.word((kind == "op" ? "an " : "a ") + kind));
  const auto found = index_.find(name.spelling);
  if (found != index_.end()) return found->second;
  std::string hint = did_you_mean(name.spelling, names_);
  if (hint.empty()) hint = "declare it above with a line '" + kind + " ...'";
  return line.fail_at(name.column, "there is no " + kind + " " + in_quotes(name.spelling),
                      std::move(hint));
}

Result<std::size_t> LoopNames::read(LoopLine& line, const LoopNames& other,
                                    OtherAlternative alternative) const {
  LoopLine ahead = line;
  const Token name = ahead.take();
  if (contains(name.spelling) || !other.contains(name.spelling)) return read(line);
  if (ahead.peek().spelling == "for") ahead.take();
  std::string written(alternative.before);
  written += name.spelling;
  written += alternative.between;
  written += ahead.at_end() ? "CYCLES" : ahead.peek().spelling;
  return line.fail_at(name.column,
                      in_quotes(name.spelling) + " is a " + std::string(other.kind_) +
                          ", and not a " + std::string(kind_),
                      "write `" + written + "`");
}

}  // namespace twill::schedule
