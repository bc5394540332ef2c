#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "twill/concurrent/clock.h"
#include "twill/concurrent/finding.h"
#include "twill/concurrent/number.h"
#include "twill/execute/interpreter.h"

namespace twill::concurrent {

/// Path by which memory is accessed: threads are generic; TMA, wgmma and tcgen05 are async. Async
/// work sees writes of threads only after a fence.
enum class Proxy : unsigned char { generic, async };

/// Memory of buffers. Writes of threads into shared memory reach async work only past a proxy
/// fence. Tensor memory has no proxies: Triton waits for the stores of `tmem_store` itself (PTX
/// ISA, tcgen05.wait::st).
enum class Space : unsigned char { shared, tensor };

/// One access, by a role or by work that a role began.
struct Access {
  std::size_t agent = 0;
  std::uint32_t time = 0;  ///< time of the agent
  bool in_order = false;   ///< accesses of the agent follow each other without synchronization
  Proxy proxy = Proxy::generic;
  ir::OpId op;
  Whereabouts by;
  std::optional<Number> number = {};  ///< the number that a write leaves in all elements
};

/// Records reads and writes of every element of every buffer, and whether each access was safe. An
/// access is compared with all earlier accesses that no known event separates from the new one.
/// Findings hold for every order of the same events, not only for the order of the run.
class Ledger {
 public:
  Ledger(const ir::Program& program, Findings& findings) : program_(program), findings_(findings) {}

  /// Adds a buffer without accesses. `name`: name of the value that stands for the buffer.
  void add(const std::shared_ptr<execute::Tile>& storage, std::string name, Space space);

  /// Switches the view's buffer to records of bytes in place of elements, as a view has another
  /// type.
  void record_bytes(const execute::View& view);

  /// Records a read that begins with the knowledge `known`; `view` is a part of an added buffer.
  /// Cost: linear in the rows of the view that do not follow each other in memory.
  void read(const execute::View& view, const Access& access, const Knowledge& known);
  void write(const execute::View& view, const Access& access, const Knowledge& known);

  /// The number in all elements of the view; nullopt if unknown.
  std::optional<Number> number_in(const execute::View& view) const;
  /// Adds all draws that are in memory.
  void add_draws(std::set<std::size_t>& draws) const;

  /// Whether accesses of that memory are recorded byte by byte.
  bool is_in_bytes(const execute::Tile* storage) const {
    const auto found = buffers_.find(storage);
    return found != buffers_.end() && found->second.in_bytes;
  }

  /// Name of a view, as "%k[1]".
  std::string name(const execute::View& view) const;

 private:
  using State = std::uint32_t;  ///< number of an entry of `states_`; 0: no access yet
  static constexpr std::uint32_t kNobody = UINT32_MAX;
  struct Past {
    std::uint32_t write = kNobody;     ///< number of the access
    std::vector<std::uint32_t> reads;  ///< since the write, ascending; the last of each agent
    friend auto operator<=>(const Past&, const Past&) = default;
  };
  /// Run of elements in one state: from its first element to the next run's first element.
  struct Run {
    std::int64_t first = 0;
    State state = 0;
  };
  struct Buffer {
    std::shared_ptr<execute::Tile> storage;
    std::string name;
    Space space = Space::shared;
    std::vector<Run> runs;  ///< runs of all elements, in order
    bool in_bytes = false;  ///< runs count bytes, else elements
    std::int64_t end = 0;   ///< end of the last element, or byte
  };
  /// Bytes of the views met so far, by type, offset and shape.
  using Key = std::tuple<const execute::ByteLayout*, const execute::Tile*, std::int64_t,
                         execute::Shape, execute::Shape>;
  using Known = std::map<Key, std::vector<execute::Range>>;
  struct Step;
  friend class StateText;

  void touch(const execute::View& view, Step& step);
  const std::vector<execute::Range>& byte_ranges(const execute::View& view);
  void change(Buffer& buffer, std::int64_t first, std::int64_t end, Step& step);
  State after(State before, Step& step);
  void check_read(const Past& past, const Step& step);
  void check_write(const Past& past, const Step& step);
  bool ordered(const Access& first, const Step& step) const;
  bool fenced(const Access& first, const Step& step) const;
  State state_of(Past past);
  std::string place(const Access& access) const;

  const ir::Program& program_;
  Findings& findings_;
  std::map<const execute::Tile*, Buffer> buffers_;
  std::shared_ptr<Known> bytes_ = std::make_shared<Known>();  ///< shared by all copies
  std::vector<Access> accesses_;
  std::vector<Past> states_ = {Past()};
  std::map<Past, State> numbers_ = {{Past(), 0}};
};

}  // namespace twill::concurrent
