#include "concurrent/mutants.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <regex>
#include <sstream>

namespace twill::tests {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

bool has(const std::string& line, const char* part) { return line.find(part) != std::string::npos; }

class Planting {
 public:
  explicit Planting(const std::string& module) : lines_(lines_of(module)) {}

  std::vector<Mutant> all() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      around_barriers(i);
      around_copies(i);
      around_products(i);
      around_buffers(i);
    }
    return std::move(mutants_);
  }

 private:
  void plant(const char* kind, std::size_t i, const Lines& changed) {
    mutants_.push_back({kind, static_cast<int>(i) + 1, joined(changed)});
  }

  void drop(const char* kind, std::size_t i) {
    Lines changed = lines_;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
    plant(kind, i, changed);
  }

  void twice(const char* kind, std::size_t i) {
    Lines changed = lines_;
    changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(i), lines_[i]);
    plant(kind, i, changed);
  }

  /// Changes what the expression matches, if it does and the line becomes another.
  void change(const char* kind, std::size_t i, const char* expression, const std::string& by) {
    Lines changed = lines_;
    changed[i] = std::regex_replace(lines_[i], std::regex(expression), by,
                                    std::regex_constants::format_first_only);
    if (changed[i] != lines_[i]) plant(kind, i, changed);
  }

  /// Changes the number that the expression's first group matches.
  void count(const char* kind, std::size_t i, const char* expression,
             const std::function<long(long)>& to) {
    std::smatch match;
    if (!std::regex_search(lines_[i], match, std::regex(expression))) return;
    const long before = std::stol(match[1]);
    const long after = to(before);
    if (after == before || after < 0) return;
    Lines changed = lines_;
    changed[i].replace(static_cast<std::size_t>(match.position(1)),
                       static_cast<std::size_t>(match.length(1)), std::to_string(after));
    plant(kind, i, changed);
  }

  /// Moves a line behind the next one with `part`, if it stands in the same block.
  void behind(const char* kind, std::size_t i, const char* part) {
    for (std::size_t j = i + 1; j < lines_.size(); ++j) {
      if (has(lines_[j], "}") && !has(lines_[j], "{")) return;
      if (!has(lines_[j], part)) continue;
      Lines changed = lines_;
      std::rotate(changed.begin() + static_cast<std::ptrdiff_t>(i),
                  changed.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                  changed.begin() + static_cast<std::ptrdiff_t>(j) + 1);
      plant(kind, i, changed);
      return;
    }
  }

  /// Moves a line and its slot in front of an earlier line: the last one in the same block with one
  /// of `parts`.
  void before(const char* kind, std::size_t i, std::initializer_list<const char*> parts) {
    const std::size_t first = i > 0 && has(lines_[i - 1], "memdesc_index") ? i - 1 : i;
    for (std::size_t j = first; j-- > 0;) {
      if (has(lines_[j], "}") != has(lines_[j], "{")) return;
      const bool here = std::any_of(parts.begin(), parts.end(),
                                    [&](const char* part) { return has(lines_[j], part); });
      if (!here) continue;
      Lines changed = lines_;
      const auto at = [&](std::size_t line) {
        return changed.begin() + static_cast<std::ptrdiff_t>(line);
      };
      std::rotate(at(j), at(first), at(i + 1));
      plant(kind, i, changed);
      return;
    }
  }

  void around_barriers(std::size_t i) {
    const std::string& line = lines_[i];
    if (has(line, "ttng.arrive_barrier")) {
      drop("arrival dropped", i);
      twice("arrival doubled", i);
      before("released too early", i,
             {"ttng.warp_group_dot_wait", "ttng.tmem_load", "ttg.local_load", "store_wait"});
      count("arrivals counted twice", i, ", (\\d+)[, ].*:", [](long n) { return n + 1; });
    }
    if (has(line, "ttng.wait_barrier")) {
      drop("wait dropped", i);
      change("wait for phase 0", i, "(wait_barrier %[^,]*), %[^ ,]+", "$1, %c0_i32");
      behind("wait behind its use", i, "ttng.warp_group_dot %");
      behind("wait behind its use", i, "ttng.async_tma_copy_global_to_local");
      behind("wait behind its use", i, "ttng.tc_gen5_mma");
      behind("wait behind its use", i, "ttng.tmem_load");
    }
    if (has(line, "ttng.init_barrier")) {
      twice("barrier initialized twice", i);
      count("count too high", i, ", (\\d+) :", [](long n) { return n + 1; });
      count("count too low", i, ", (\\d+) :", [](long n) { return n > 1 ? n - 1 : n; });
      drop("barrier not initialized", i);
    }
    if (has(line, "ttng.barrier_expect")) {
      drop("expect dropped", i);
      count("too few bytes", i, ", (\\d+),", [](long n) { return n / 2; });
      count("too many bytes", i, ", (\\d+),", [](long n) { return n + 16; });
    }
    if (has(line, "arith.xori")) change("parity", i, "arith.xori", "arith.andi");
  }

  void around_copies(std::size_t i) {
    const std::string& line = lines_[i];
    if (has(line, "ttng.async_tma_copy_global_to_local")) {
      drop("load dropped", i);
      twice("load doubled", i);
    }
    if (has(line, "ttng.async_copy_mbarrier_arrive")) {
      drop("copies do not arrive", i);
      change("arrival not counted", i, " \\{noIncrement\\}", "");
    }
    if (has(line, "ttng.fence_async_shared")) drop("fence dropped", i);
    if (has(line, "ttng.async_tma_store_wait")) drop("store not awaited", i);
    if (has(line, "ttg.local_store")) {
      behind("fence before the store", i, "fence_async_shared");
      behind("stored behind the arrival", i, "ttng.arrive_barrier");
    }
    if (has(line, "scf.for")) {
      change("loop one short", i, "= %c0\\w* to (.*) step (%\\w+)", "= $2 to $1 step $2");
    }
  }

  void around_products(std::size_t i) {
    if (has(lines_[i], "ttng.tc_gen5_commit")) drop("commit dropped", i);
    if (has(lines_[i], "ttng.tc_gen5_mma")) {
      change("product arrives nowhere", i,
             "(tc_gen5_mma [^:]*), %\\w+\\[%\\w+\\](.*), !ttg.memdesc<1xi64[^>]*>", "$1$2");
    }
    if (!has(lines_[i], "ttng.warp_group_dot_wait")) return;
    count("drained too late", i, "pendings = (\\d+)", [](long n) { return n + 1; });
    count("not drained", i, "pendings = (\\d+)", [](long n) { return n + 8; });
  }

  void around_buffers(std::size_t i) {
    const std::string& line = lines_[i];
    if (has(line, "ttg.memdesc_index")) change("slot", i, "\\[%[^\\]]+\\]", "[%c0_i32]");
    if (has(line, "arith.cmpi eq")) {
      change("ring wraps late", i, "(arith.cmpi eq), (%[^,]+), %[^ ]+", "$1, $2, $2");
    }
    if (has(line, "ttg.warp_specialize(")) swap_captures(i);
    if (has(line, "ttg.local_alloc : ()")) shorten(i);
  }

  /// Partitions get the barriers in another order.
  void swap_captures(std::size_t i) {
    std::smatch match;
    const std::regex barriers("(%[a-z0-9_]*full[a-z0-9_]*)(.*)(%[a-z0-9_]*empty[a-z0-9_]*)");
    if (!std::regex_search(lines_[i], match, barriers)) return;
    Lines changed = lines_;
    changed[i] = match.prefix().str() + match[3].str() + match[2].str() + match[1].str() +
                 match.suffix().str();
    plant("captures swapped", i, changed);
  }

  /// The ring, and all others of its type, lose a slot.
  void shorten(std::size_t i) {
    std::smatch match;
    const std::regex type("memdesc<(\\d+)(x\\d+x\\d+x[a-z0-9A-Z]+,)");
    if (!std::regex_search(lines_[i], match, type) || std::stol(match[1]) < 2) return;
    const std::string from = "memdesc<" + match[1].str() + match[2].str();
    const std::string to = "memdesc<" + std::to_string(std::stol(match[1]) - 1) + match[2].str();
    Lines changed = lines_;
    for (std::string& line : changed) {
      for (std::size_t at = line.find(from); at != std::string::npos;
           at = line.find(from, at + to.size())) {
        line.replace(at, from.size(), to);
      }
    }
    plant("ring one slot short", i, changed);
  }

  Lines lines_;
  std::vector<Mutant> mutants_;
};

}  // namespace

std::vector<Mutant> mutants_of(const std::string& module) { return Planting(module).all(); }

}  // namespace twill::tests
