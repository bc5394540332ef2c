#include "twill/certify/words.h"
#include "twill/problem/problem.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace twill::certify {

bool WordReader::next_line() {
  while (!rest_.empty()) {
    whole_ = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(whole_.size() + 1, rest_.size()));
    ++number_;
    left_ = whole_;
    if (!at_end()) return true;
  }
  return false;
}

bool WordReader::at_end() {
  left_.remove_prefix(std::min(left_.find_first_not_of(' '), left_.size()));
  return left_.empty();
}

std::string_view WordReader::word() {
  if (at_end()) return {};
  const std::string_view found = left_.substr(0, left_.find(' '));
  left_.remove_prefix(found.size());
  return found;
}

Result<std::int64_t> WordReader::number(std::int64_t least, std::int64_t most) {
  const std::string_view text = word();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && value >= least && value <= most) return value;
  return fail(fmt::format("{} is no number from {} to {}", quoted(text), least, most));
}

Result<void> WordReader::finish() {
  if (at_end()) return {};
  return fail(fmt::format("{} is one word too many", quoted(word())));
}

tl::unexpected<Diagnostic> WordReader::fail(std::string message) const {
  return twill::fail({file_, number_, 0}, std::move(message));
}

std::string rest_of(WordReader& in) {
  std::string text;
  while (!in.at_end()) {
    if (!text.empty()) text += ' ';
    text += in.word();
  }
  return text;
}

Result<void> read_heading(WordReader& in, std::string_view word, std::int64_t version) {
  if (!in.next_line() || in.word() != word) return in.fail(fmt::format("this is no {}", word));
  TWILL_TRY(const std::int64_t found, in.number(1, 1'000'000));
  if (found == version) return in.finish();
  return in.fail(fmt::format(
      "it has version {} of the format, and this Twill reads version {}; `twill schedule "
      "--certificate` writes that",
      found, version));
}

Result<schedule::Verdict> verdict_in(WordReader& in) {
  using schedule::Verdict;
  const std::string_view word = in.word();
  for (const Verdict verdict :
       {Verdict::optimal, Verdict::feasible, Verdict::infeasible, Verdict::undecided}) {
    if (schedule::name_of(verdict) == word) return verdict;
  }
  return in.fail(fmt::format("{} is no verdict", quoted(word)));
}

Names::Names(const problem::Problem& problem) {
  const auto fill = [](Table& table, const auto& all) {
    for (std::size_t i = 0; i < all.size(); ++i) table.emplace(all[i].name, i);
  };
  fill(ops_, problem.ops());
  fill(groups_, problem.groups());
  fill(memories_, problem.memories());
  fill(units_, problem.units());
  fill(pipes_, problem.pipes());
}

Result<std::vector<std::size_t>> Names::ops(WordReader& in) const {
  std::vector<std::size_t> out;
  while (!in.at_end()) {
    TWILL_TRY(const std::size_t it, op(in));
    out.push_back(it);
  }
  return out;
}

Result<std::vector<std::pair<std::size_t, std::size_t>>> Names::pairs(WordReader& in) const {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  while (!in.at_end()) {
    TWILL_TRY(const std::size_t a, op(in));
    TWILL_TRY(const std::size_t b, op(in));
    out.emplace_back(a, b);
  }
  return out;
}

Result<std::size_t> Names::find(WordReader& in, const Table& table, std::string_view kind) {
  const std::string_view word = in.word();
  const auto found = table.find(word);
  if (found != table.end()) return found->second;
  return in.fail(fmt::format("the problem has no {} {}", kind, quoted(word)));
}

std::string quoted(std::string_view word) {
  constexpr std::size_t kShown = 60;
  std::string text = "'";
  for (const char c : word.substr(0, kShown)) text += c >= ' ' && c <= '~' ? c : '?';
  return text + (word.size() > kShown ? "...'" : "'");
}

}  // namespace twill::certify
