#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "twill/extract/axes.h"
#include "twill/extract/body.h"
#include "twill/extract/classify.h"
#include "twill/extract/tile_graph.h"
#include "twill/ir/operands.h"

/// Working state of `contract`; other files include contract.h instead.
namespace twill::extract {

class Contractor {
 public:
  explicit Contractor(const Body& body) : body_(body), axes_(body) {}
  TileGraph run();

 private:
  // contract.cpp: the choice of ops, and register arithmetic
  bool is_root(ir::OpId id) const;
  std::optional<TileOpId> make(ir::OpId id);
  std::optional<TileOpId> make_elementwise(ir::OpId id, const Elementwise& work);
  std::optional<TileOpId> make_reduction(ir::OpId id);
  std::optional<TileOpId> make_unknown(ir::OpId id);
  void make_conditional(const RareBranch& rare);
  void read_conditions();
  TileOpId add(ir::OpId id, TileOp op);
  Source source_of(ir::OpId id) const;

  /// Source ops of a register value, seen through all free ops; `distance` iterations ago.
  /// Loop-invariant tiles are noted as invariant buffers.
  struct From {
    TileOpId op;
    int distance = 0;
    bool decides = false;  ///< computes the condition of a branch that yields the value, or a value
                           ///< of its other side
  };
  struct Gathered {
    std::set<ir::ValueId> seen;
    std::set<ir::ValueId> decisions;
    std::set<ir::ValueId> alternatives;
    std::vector<From> from;
  };
  std::vector<From> producers_of(ir::ValueId value);
  void gather(ir::ValueId value, int distance, bool decides, Gathered& out);
  void read(ir::ValueId value, TileOpId by, Flow flow = Flow::value);
  void note_invariant(ir::ValueId value);

  // contract_product.cpp
  std::optional<TileOpId> make_product(ir::OpId id);
  void read_operand(ir::OpId id, ir::ValueId operand, TileOpId product, std::string& side);
  void read_accumulator(ir::OpId id, const ir::MmaOperands& operands, TileOpId product);
  std::optional<ir::OpId> maker_of(ir::ValueId value) const;
  bool is_spread(ir::ValueId value, TileOpId by);
  TileOpId spread(ir::ValueId value, ir::OpId id, TileOpId product);
  TileOpId promote(ir::OpId id, TileOpId product, std::int64_t additions);
  TileOpId through_shared(TileOpId from, ir::OpId id, bool load_back);

  // contract_memory.cpp: loads, stores, copies, moves
  std::optional<TileOpId> make_access(ir::OpId id, const ir::MemoryAccess& access);
  std::optional<TileOpId> make_copy(ir::OpId id, const ir::MemoryAccess& access, ir::ValueId tile,
                                    const std::string& kind);
  std::optional<TileOpId> make_load(ir::OpId id, const ir::MemoryAccess& access);
  std::optional<TileOpId> make_store(ir::OpId id, const ir::MemoryAccess& access);
  std::optional<TileOpId> make_move_in(ir::OpId id, const ir::MemoryAccess& access);
  std::optional<TileOpId> make_move_out(ir::OpId id, const ir::MemoryAccess& access);
  std::string label_of(ir::ValueId address) const;
  bool only_fills_shared(ir::ValueId tile) const;
  void absorb_addresses(const ir::MemoryAccess& access, TileOpId into);
  void absorb_descriptor(ir::ValueId value, TileOpId into, std::set<ir::ValueId>& seen);
  void absorb_address(ir::ValueId value, TileOpId into, std::set<ir::ValueId>& seen);
  bool is_orientable(TileOpId op) const;
  TileOpId in_registers(TileOpId op, ir::OpId id, bool transposed);

  // buffers.cpp: versions of memory, and values that live for the whole loop
  struct Access {
    TileOpId op;
    bool reads = false;
    bool writes = false;
    bool accumulates = false;
  };
  using Accesses = std::map<ir::ValueId, std::vector<Access>>;  ///< by buffer, in program order
  void connect_buffers();
  void collect(ir::OpId id, TileOpId op, Accesses& accesses) const;
  ir::ValueId buffer_of(ir::ValueId memdesc) const;
  void connect_versions(const std::vector<Access>& accesses, bool carried);
  void name_rescale(TileOpId store);
  void connect_memory();
  std::vector<TileOpId> ops_doing(ir::OpId id) const;
  void note_invariant_buffers(const Accesses& accesses);
  void note_staging();
  void sort_by_text();

  const ir::Program& program() const { return *body_.program; }

  const Body& body_;
  Axes axes_;
  TileGraph graph_;
  std::map<ir::OpId, std::optional<TileOpId>> made_;
  std::map<ir::OpId, TileOpId> promoted_;     ///< product -> its op, if `made_` has the promotion
  std::map<TileOpId, TileOpId> loaded_back_;  ///< copy -> its load into registers
  std::map<TileOpId, TileOpId> exchanged_;    ///< register op -> its transposition
  std::set<TileOpId> orientable_;             ///< element-wise ops made of loads alone
  std::set<ir::ValueId> noted_;               ///< invariants already in `invariant_buffers`
};

}  // namespace twill::extract
