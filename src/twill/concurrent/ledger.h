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

/// A side from which memory is accessed: threads, or TMA, wgmma and tcgen05. The latter see what
/// threads wrote only after a fence.
enum class Proxy : unsigned char { generic, async };

/// Memory of buffers. What threads write into shared memory reaches async work past a proxy fence
/// only. Tensor memory has no proxies: Triton waits for the stores of `tmem_store` itself (PTX ISA,
/// tcgen05.wait::st).
enum class Space : unsigned char { shared, tensor };

/// One access, by a role or by work that it began.
struct Access {
  std::size_t agent = 0;
  std::uint32_t time = 0;  ///< of the agent
  bool in_order = false;   ///< the agent's accesses follow each other by themselves
  Proxy proxy = Proxy::generic;
  ir::OpId op;
  Whereabouts by;
  std::optional<Number> number = {};  ///< that a write leaves in all elements
};

/// Records reads and writes of every element of every buffer, and whether each was safe. An access
/// is compared with all earlier ones that no known event separates from it. Findings hold for every
/// order of the same events, not only for the order that was run.
class Ledger {
 public:
  Ledger(const ir::Program& program, Findings& findings) : program_(program), findings_(findings) {}

  /// Adds a buffer without any access so far. `name`: of the value that stands for it.
  void add(const std::shared_ptr<execute::Tile>& storage, std::string name, Space space);

  /// The view's buffer is looked at with another type from now on: its bytes are recorded in place
  /// of its elements.
  void record_bytes(const execute::View& view);

  /// The access begins when `known` is; `view` is a part of an added buffer.
  /// Cost: linear in the rows of the view that do not follow each other in memory.
  void read(const execute::View& view, const Access& access, const Knowledge& known);
  void write(const execute::View& view, const Access& access, const Knowledge& known);

  /// The number in all elements of the view; nothing where that is not known.
  std::optional<Number> number_in(const execute::View& view) const;
  /// Adds all draws that are in memory.
  void add_draws(std::set<std::size_t>& draws) const;

  /// "%k[1]"
  std::string name(const execute::View& view) const;

 private:
  using State = std::uint32_t;  ///< number of an entry of `states_`; 0: no access yet
  static constexpr std::uint32_t kNobody = UINT32_MAX;
  struct Past {
    std::uint32_t write = kNobody;     ///< number of the access
    std::vector<std::uint32_t> reads;  ///< since then, ascending; the last of each agent
    friend auto operator<=>(const Past&, const Past&) = default;
  };
  /// Elements from there to the next run's first.
  struct Run {
    std::int64_t first = 0;
    State state = 0;
  };
  struct Buffer {
    std::shared_ptr<execute::Tile> storage;
    std::string name;
    Space space = Space::shared;
    std::vector<Run> runs;  ///< of all elements, in order
    bool in_bytes = false;  ///< else in elements
    std::int64_t end = 0;   ///< of the last element, or byte
  };
  /// The bytes of views that were met, by the type, the offset and the shape.
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
  std::shared_ptr<Known> bytes_ = std::make_shared<Known>();  ///< one for all copies of this
  std::vector<Access> accesses_;
  std::vector<Past> states_ = {Past()};
  std::map<Past, State> numbers_ = {{Past(), 0}};
};

}  // namespace twill::concurrent
