#include "twill/problem/transfer.h"

#include <algorithm>
#include <string>

#include "twill/problem/compute_groups.h"
#include "twill/support/check.h"
#include "twill/support/spelling.h"

namespace twill::problem {
namespace {

using Complaint = std::optional<Objection>;

/// Dependence by which the reader of a load reads the value; null if there is none.
const Dependence* reading(const Parts& parts, OpId value, OpId reader) {
  const auto found =
      std::find_if(parts.dependences.begin(), parts.dependences.end(), [&](const Dependence& it) {
        return it.from == value && it.to == reader && it.carries_value;
      });
  return found == parts.dependences.end() ? nullptr : &*found;
}

std::vector<Dependence> dependences_of(const Parts& parts, const Transfer& transfer) {
  Dependence give;
  give.from = transfer.value;
  give.to = transfer.store;
  std::vector<Dependence> out = {give};
  for (const Transfer::Load& load : transfer.loads) {
    const Dependence* direct = reading(parts, transfer.value, load.reader);
    TWILL_CHECK(direct != nullptr, "the reader of a load reads the value");
    out.front().blocking = out.front().blocking || direct->blocking;
    Dependence over;
    over.from = transfer.store;
    over.to = load.op;
    over.distance = direct->distance;
    over.blocking = true;
    out.push_back(over);
    Dependence take;
    take.from = load.op;
    take.to = load.reader;
    take.read_hold = direct->read_hold;
    take.in_place = direct->in_place;
    out.push_back(take);
  }
  return out;
}

/// Checks the transfers one after the other.
class Checker {
 public:
  explicit Checker(const Parts& parts) : parts_(parts), used_(parts.ops.size(), false) {}

  Complaint check() {
    if (parts_.transfers.empty()) return {};
    for (index_ = 0; index_ < parts_.transfers.size(); ++index_) {
      if (Complaint bad = check_ids(parts_.transfers[index_])) return bad;
    }
    transfer_ops_ = transfer_ops_among(parts_);
    std::vector<bool> transferred(parts_.ops.size(), false);
    for (index_ = 0; index_ < parts_.transfers.size(); ++index_) {
      const Transfer& it = parts_.transfers[index_];
      if (transferred[it.value.index()]) {
        return complain(name(it.value) + " is transferred twice",
                        "name all its loads in one transfer");
      }
      transferred[it.value.index()] = true;
      if (Complaint bad = check_ends(it)) return bad;
    }
    if (Complaint bad = check_dependences()) return bad;
    return check_sets();
  }

 private:
  Complaint complain(std::string message, std::string hint) const {
    return Objection{Part::transfer, index_, std::move(message), std::move(hint)};
  }
  const Op& op(OpId id) const { return parts_.ops[id.index()]; }
  std::string name(OpId id) const { return in_quotes(op(id).name); }

  Complaint check_ids(const Transfer& it) {
    if (it.loads.empty()) {
      return complain("a transfer without a load", "name a load for each reader in another group");
    }
    std::vector<OpId> all = {it.value, it.store};
    for (const Transfer::Load& load : it.loads) {
      all.push_back(load.op);
      all.push_back(load.reader);
    }
    for (const OpId id : all) {
      if (id.index() < parts_.ops.size()) continue;
      return complain("a transfer names an op that does not exist",
                      "the loop has " + std::to_string(parts_.ops.size()) + " ops");
    }
    if (Complaint bad = take(it.store)) return bad;
    for (const Transfer::Load& load : it.loads) {
      if (Complaint bad = take(load.op)) return bad;
    }
    return {};
  }

  Complaint take(OpId id) {
    if (used_[id.index()]) {
      return complain(name(id) + " stands twice in transfers",
                      "give each value a store, and each of its readers a load, of its own");
    }
    used_[id.index()] = true;
    return {};
  }

  Complaint check_ends(const Transfer& it) const {
    if (Complaint bad = check_ordinary(it.value)) return bad;
    if (Complaint bad = check_transfer_op(it.store, it.value)) return bad;
    if (op(it.store).registers != 0) {
      return complain("the store " + name(it.store) + " has a result in registers",
                      "what it writes may occupy a memory; the registers are the value's");
    }
    for (std::size_t i = 0; i < it.loads.size(); ++i) {
      const Transfer::Load& load = it.loads[i];
      if (Complaint bad = check_ordinary(load.reader)) return bad;
      if (Complaint bad = check_transfer_op(load.op, load.reader)) return bad;
      const auto same = [&](const Transfer::Load& other) { return other.reader == load.reader; };
      if (std::count_if(it.loads.begin(), it.loads.end(), same) > 1) {
        return complain(name(load.reader) + " has two loads of " + name(it.value), "keep one");
      }
      if (Complaint bad = check_reading(it.value, load)) return bad;
    }
    return {};
  }

  Complaint check_ordinary(OpId id) const {
    if (transfer_ops_[id.index()]) {
      return complain(name(id) + " is itself the store or load of a transfer",
                      "transfer values of ops that are always there");
    }
    if (!op(id).variable_latency) return {};
    return complain(
        name(id) + " has variable latency, so no group of threads can transfer its value",
        "a load group brings values to memory, where every group reads them");
  }

  /// Checks a transfer op beside the op whose group it shares.
  Complaint check_transfer_op(OpId id, OpId home) const {
    if (op(id).alternatives.size() != 1) {
      return complain(name(id) + " has several alternatives",
                      "a store or load of a transfer has one");
    }
    if (op(id).variable_latency) {
      return complain(name(id) + " has variable latency",
                      "a store or load of a transfer runs in the group of " + name(home));
    }
    if (op(id).warps == op(home).warps) return {};
    return complain(name(id) + " is not as wide as " + name(home) + ", whose group it shares",
                    "give both " + std::to_string(op(home).warps) + " warps");
  }

  Complaint check_reading(OpId value, const Transfer::Load& load) const {
    const OpId reader = load.reader;
    const std::string edge = name(value) + " -> " + name(reader);
    std::size_t count = 0;
    for (const Dependence& it : parts_.dependences) {
      if (it.from != value || it.to != reader) continue;
      if (it.transfer != 0) {
        return complain("dependence " + edge + " has a delay of its own for a transfer",
                        "drop the transfer: store and load say what crossing takes");
      }
      if (it.carries_value) ++count;
      if (it.in_place && share_memory(value, reader)) {
        return complain(edge + " updates a memory in place and is transferred",
                        "transfer values in registers only, or drop 'in-place'");
      }
      if (it.in_place && share_memory(load.op, reader)) {
        return complain(edge + " is in place, and the load " + name(load.op) +
                            " occupies a memory where " + name(reader) + " has its result",
                        "let the load occupy registers only, or drop 'in-place'");
      }
    }
    if (value == reader) {
      return complain(name(value) + " is transferred to itself", "it never leaves its group");
    }
    if (op(value).warps != op(reader).warps) {
      return complain(edge + " leads to another width",
                      "registers can only be transferred between groups of one width");
    }
    if (count == 1) return {};
    return complain(edge + (count == 0 ? " is no dependence with a value"
                                       : " are several dependences with a value"),
                    "a transfer is about exactly one");
  }

  /// Whether the results of both ops lie in one memory. With an in-place update both results would
  /// be one buffer, which one group alone may use.
  bool share_memory(OpId a, OpId b) const {
    const auto& first = op(a).footprint;
    const auto& second = op(b).footprint;
    return std::any_of(first.begin(), first.end(), [&](const Footprint& it) {
      return it.amount > 0 &&
             std::any_of(second.begin(), second.end(), [&](const Footprint& other) {
               return other.amount > 0 && other.memory == it.memory;
             });
    });
  }

  /// Refuses dependences from or to transfer ops, except those that `pose` itself makes.
  Complaint check_dependences() const {
    std::vector<Dependence> made;
    for (const Transfer& it : parts_.transfers) {
      const std::vector<Dependence> more = dependences_of(parts_, it);
      made.insert(made.end(), more.begin(), more.end());
    }
    for (std::size_t i = 0; i < parts_.dependences.size(); ++i) {
      const Dependence& it = parts_.dependences[i];
      if (!transfer_ops_[it.from.index()] && !transfer_ops_[it.to.index()]) continue;
      if (std::find(made.begin(), made.end(), it) != made.end()) continue;
      return Objection{Part::dependence, i,
                       "dependence " + name(it.from) + " -> " + name(it.to) +
                           " is about a store or load of a transfer",
                       "drop it: their dependences follow from the transfer"};
    }
    return {};
  }

  Complaint check_sets() const {
    for (std::size_t i = 0; i < parts_.same_group.size(); ++i) {
      for (const OpId id : parts_.same_group[i]) {
        if (!transfer_ops_[id.index()]) continue;
        return Objection{Part::same_group, i, name(id) + " is a store or load of a transfer",
                         "drop it: it follows its value or reader into its group"};
      }
    }
    return {};
  }

  const Parts& parts_;
  std::size_t index_ = 0;  ///< number of the transfer that is checked
  std::vector<bool> used_;
  std::vector<bool> transfer_ops_;
};

/// Makes the reader's dependence an order only where a transfer replaces the direct read.
template <class Crosses>
void drop_reads(Parts& parts, Crosses crosses) {
  for (const Transfer& it : parts.transfers) {
    for (const Transfer::Load& load : it.loads) {
      if (!crosses(it.value, load.reader)) continue;
      for (Dependence& direct : parts.dependences) {
        if (direct.from != it.value || direct.to != load.reader || !direct.carries_value) continue;
        direct.carries_value = direct.in_place = false;
        direct.read_hold.reset();
      }
    }
  }
}

/// Keeps the marked ops, and the parts that name marked ops only.
std::vector<OpId> keep(Parts& parts, const std::vector<bool>& kept) {
  std::vector<OpId> now(parts.ops.size());
  std::vector<OpId> before;
  std::vector<Op> ops;
  for (std::size_t i = 0; i < parts.ops.size(); ++i) {
    if (!kept[i]) continue;
    now[i] = OpId(ops.size());
    before.emplace_back(i);
    ops.push_back(std::move(parts.ops[i]));
  }
  parts.ops = std::move(ops);
  std::erase_if(parts.dependences, [&](const Dependence& it) {
    return !kept[it.from.index()] || !kept[it.to.index()];
  });
  for (Dependence& it : parts.dependences) {
    it.from = now[it.from.index()];
    it.to = now[it.to.index()];
  }
  for (std::vector<OpId>& set : parts.same_group) {
    for (OpId& op : set) op = now[op.index()];
  }
  return before;
}

template <class Exists, class Crosses>
Residual reduce(const Problem& problem, Exists exists, Crosses crosses) {
  Parts parts = problem.parts();
  const std::vector<std::optional<TransferOp>> transfer_ops = transfer_ops_of(problem);
  std::vector<bool> kept(parts.ops.size(), true);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (transfer_ops[i]) kept[i] = exists(*transfer_ops[i]);
  }
  // The rule minimum-groups counts ops that always exist, but transfer ops become ordinary ops
  // here.
  if (!parts.transfers.empty()) {
    parts.minimum_compute_groups = std::min(parts.minimum_compute_groups, compute_ops(parts));
  }
  drop_reads(parts, crosses);
  parts.transfers.clear();
  std::vector<OpId> before = keep(parts, kept);
  Result<Problem> posed = pose(std::move(parts));
  TWILL_CHECK(posed.has_value(), "a Problem stays well-formed without transfers");
  return {*std::move(posed), std::move(before)};
}

}  // namespace

std::optional<Objection> objection_to_transfers(const Parts& parts) {
  return Checker(parts).check();
}

std::vector<Dependence> with_transfer_ops(const Parts& parts) {
  if (parts.transfers.empty()) return parts.dependences;
  const std::vector<bool> transfer_ops = transfer_ops_among(parts);
  std::vector<Dependence> out;
  for (const Dependence& it : parts.dependences) {
    if (!transfer_ops[it.from.index()] && !transfer_ops[it.to.index()]) out.push_back(it);
  }
  for (const Transfer& it : parts.transfers) {
    const std::vector<Dependence> made = dependences_of(parts, it);
    out.insert(out.end(), made.begin(), made.end());
  }
  return out;
}

std::vector<std::optional<TransferOp>> transfer_ops_of(const Problem& problem) {
  std::vector<std::optional<TransferOp>> out(problem.ops().size());
  for (const Transfer& it : problem.transfers()) {
    TransferOp store{it.value, {}};
    for (const Transfer::Load& load : it.loads) {
      store.moves.emplace_back(it.value, load.reader);
      out[load.op.index()] = TransferOp{load.reader, {{it.value, load.reader}}};
    }
    out[it.store.index()] = std::move(store);
  }
  return out;
}

bool is_needed(const TransferOp& transfer_op, const std::vector<GroupId>& groups) {
  return std::any_of(transfer_op.moves.begin(), transfer_op.moves.end(), [&](const auto& move) {
    return groups[move.first.index()] != groups[move.second.index()];
  });
}

Residual residual_of(const Problem& problem, const std::vector<GroupId>& groups) {
  return reduce(
      problem, [&](const TransferOp& transfer_op) { return is_needed(transfer_op, groups); },
      [&](OpId value, OpId reader) { return groups[value.index()] != groups[reader.index()]; });
}

std::optional<OpId> Residual::now(OpId original) const {
  const auto at = std::lower_bound(ops.begin(), ops.end(), original);
  if (at == ops.end() || *at != original) return std::nullopt;
  return OpId(static_cast<std::size_t>(at - ops.begin()));
}

Residual common_part(const Problem& problem) {
  return reduce(
      problem, [](const TransferOp&) { return false; }, [](OpId, OpId) { return true; });
}

}  // namespace twill::problem
