#include "twill/gate/matching.h"

#include <cstddef>
#include <utility>

namespace twill::gate {
namespace {

using Reasons = std::vector<std::string>;

class Matching {
 public:
  Matching(const std::vector<LoopCode>& planned, const FunctionCode& code) : planned_(planned) {
    for (const RoleCode& role : code.roles) {
      for (const LoopCode& loop : role.loops) found_.push_back(&loop);
    }
    taken_.assign(found_.size(), false);
    current_.resize(planned_.size());
  }

  std::vector<Reasons> best() && {
    match(0, 0);
    return std::move(best_);
  }

 private:
  void match(std::size_t at, std::size_t reasons) {
    if (!best_.empty() && reasons >= least_) return;
    if (at == planned_.size()) {
      best_ = current_;
      least_ = reasons;
      return;
    }
    for (std::size_t f = 0; f < found_.size(); ++f) {
      if (taken_[f]) continue;
      taken_[f] = true;
      current_[at] = shortfalls(planned_[at], *found_[f]);
      match(at + 1, reasons + current_[at].size());
      taken_[f] = false;
    }
    current_[at] = {"there is no loop of products of its own"};
    match(at + 1, reasons + kNone);
  }

  static constexpr std::size_t kNone = 1000;  // reasons without a partner: worse than any loop
  const std::vector<LoopCode>& planned_;
  std::vector<const LoopCode*> found_;
  std::vector<bool> taken_;
  std::vector<Reasons> current_, best_;
  std::size_t least_ = 0;
};

}  // namespace

std::vector<std::vector<std::string>> shortfalls(const std::vector<LoopCode>& planned,
                                                 const FunctionCode& code) {
  return Matching(planned, code).best();
}

}  // namespace twill::gate
