#include <algorithm>
#include <cstdint>
#include <utility>

#include "twill/tasks/holes.h"
#include "twill/tasks/read_parts.h"

namespace twill::tasks {
namespace {

constexpr std::int64_t kMostShared = std::int64_t{1} << 30;

class MappingReader {
 public:
  explicit MappingReader(Cursor& cursor) : cursor_(cursor) {}

  Result<Mapping> read() {
    Mapping mapping;
    mapping.where = cursor_.here();
    TWILL_TRY(mapping.name, cursor_.word("the mapping's name"));
    TWILL_TRY_VOID(cursor_.expect("for"));
    TWILL_TRY(mapping.task, cursor_.word("a task"));
    if (cursor_.take("on")) {
      TWILL_TRY(mapping.machine, cursor_.word("a machine"));
    }
    TWILL_TRY_VOID(cursor_.expect("{"));
    while (!cursor_.take("}")) {
      if (cursor_.take(",")) continue;
      TWILL_TRY(const bool restricts, restriction(mapping.restrictions));
      if (restricts) continue;
      if (is_limit()) {
        TWILL_TRY(mapping.shared, shared_limit());
      } else if (cursor_.is("=", 1)) {
        TWILL_TRY(Setting next, setting());
        mapping.tunables.push_back(std::move(next));
      } else {
        TWILL_TRY(Instance next, instance());
        mapping.instances.push_back(std::move(next));
      }
    }
    return mapping;
  }

 private:
  Result<Setting> setting() {
    Setting made;
    made.where = cursor_.here();
    TWILL_TRY(made.tunable, cursor_.word("a tunable"));
    TWILL_TRY_VOID(cursor_.expect("="));
    if (cursor_.take("?")) return made;
    if (cursor_.take("{")) {
      do {
        TWILL_TRY(const std::int64_t next, cursor_.whole_number());
        made.values.push_back(next);
      } while (cursor_.take(","));
      TWILL_TRY_VOID(cursor_.expect("}"));
      return made;
    }
    TWILL_TRY(const std::int64_t first, cursor_.whole_number());
    made.values = {first};
    if (!cursor_.take("..")) return made;
    const Token& at = cursor_.peek();
    TWILL_TRY(const std::int64_t last, cursor_.whole_number());
    std::int64_t step = 1;
    if (cursor_.take("by")) {
      TWILL_TRY(step, cursor_.whole_number());
    }
    if (step < 1 || last < first || (last - first) / step >= std::int64_t{kMostChoices}) {
      return cursor_.wrong(
          at, "is no end of a range of up to " + std::to_string(kMostChoices) + " values");
    }
    for (std::int64_t next = first; next <= last - step;) made.values.push_back(next += step);
    return made;
  }

  // --- Restrictions -----------------------------------------------------------------------------

  tl::unexpected<Diagnostic> twice(const Token& at) const {
    return cursor_.wrong(at, "M03: " + in_quotes(at.text) + " is stated twice");
  }
  /// Reads a restriction; false if the text has none here.
  Result<bool> restriction(Restrictions& all) {
    const Token& at = cursor_.peek();
    if (cursor_.is(":", 1)) return false;  // an instance with that name
    if (cursor_.is(kDepth) && cursor_.is("=", 1)) {
      if (all.depth) return twice(at);
      TWILL_TRY(all.depth, setting());
      return true;
    }
    if (!cursor_.take(kSpecialize)) return false;
    if (all.specialize) return twice(at);
    Specialize made{true, {at.location}};
    if (cursor_.take("=")) {
      if (cursor_.take("?")) return true;
      made.wanted = cursor_.is("yes");
      if (!made.wanted && !cursor_.is("no")) return cursor_.unexpected("'yes', 'no' or '?'");
      cursor_.next();
    }
    all.specialize = made;
    return true;
  }
  bool is_limit() const {
    return cursor_.is(kLimit) && cursor_.peek(1).kind == Token::Kind::word && cursor_.is("=", 2);
  }
  /// Reads `limit shared = 160 KiB`, or a number of bytes.
  Result<SharedLimit> shared_limit() {
    SharedLimit limit;
    limit.where = cursor_.here();
    cursor_.next();
    TWILL_TRY_VOID(cursor_.expect("shared"));
    TWILL_TRY_VOID(cursor_.expect("="));
    const Token& at = cursor_.peek();
    TWILL_TRY(limit.bytes, cursor_.whole_number());
    if (limit.bytes < 1 || limit.bytes > kMostShared) {
      return cursor_.wrong(at, "M07: is no size of a shared memory", "as in 160 KiB");
    }
    if (cursor_.take("KiB")) limit.bytes *= 1024;
    return limit;
  }

  // --- Instances --------------------------------------------------------------------------------

  bool is_placement() const {
    const bool memory = memory_named(cursor_.peek(2).text) || cursor_.is("?", 2);
    return cursor_.peek().kind == Token::Kind::word && cursor_.is(":", 1) && memory &&
           !cursor_.is(".", 3);
  }
  Result<void> placement(Instance& of) {
    const Token& name = cursor_.peek();
    const auto memory = memory_named(cursor_.peek(2).text);
    if (memory) of.memories.push_back({std::string(name.text), *memory, {name.location}});
    for (int token = 0; token < 3; ++token) cursor_.next();
    const bool is_swizzle = cursor_.is(kSwizzle) && cursor_.peek(1).kind == Token::Kind::number;
    if (memory != Memory::shared || !is_swizzle) return {};
    const Where where = cursor_.here();
    cursor_.next();
    TWILL_TRY(const std::int64_t bytes, cursor_.whole_number());
    constexpr std::int64_t kMost = 1 << 20;  // above any reasonable number
    of.memories.back().swizzle = Swizzle{static_cast<int>(std::min(bytes, kMost)), where};
    return {};
  }
  Result<void> level(Instance& of) {
    if (cursor_.take("?")) return {};
    of.processor = processor_named(cursor_.peek().text);
    if (!of.processor) {
      return cursor_.wrong(cursor_.peek(), "M05: there is no such level of the machine",
                           "levels are host, block, warpgroup, warp and thread");
    }
    cursor_.next();
    return {};
  }
  Result<Instance> instance() {
    Instance made;
    made.entry = cursor_.is("entry") && !cursor_.is(":", 1) && cursor_.take("entry");
    made.where = cursor_.here();
    TWILL_TRY(made.name, cursor_.word("an instance's name"));
    TWILL_TRY_VOID(cursor_.expect(":"));
    TWILL_TRY(made.task, cursor_.word("a task"));
    TWILL_TRY_VOID(cursor_.expect("."));
    TWILL_TRY(made.variant, cursor_.word("a variant"));
    if (cursor_.take("at")) {
      TWILL_TRY_VOID(level(made));
    }
    while (true) {
      if (cursor_.take(",")) continue;
      TWILL_TRY(const bool restricts, restriction(made.restrictions));
      if (restricts) continue;
      if (cursor_.is("=", 1)) {
        TWILL_TRY(Setting next, setting());
        made.tunables.push_back(std::move(next));
      } else if (is_placement()) {
        TWILL_TRY_VOID(placement(made));
      } else if (cursor_.is("calls") && cursor_.peek(1).kind == Token::Kind::word &&
                 !cursor_.is(":", 1)) {
        cursor_.next();
        do {
          TWILL_TRY(std::string next, cursor_.word("an instance"));
          made.calls.push_back(std::move(next));
        } while (cursor_.take(","));
      } else {
        return made;
      }
    }
  }

  Cursor& cursor_;
};

}  // namespace

Result<Mapping> read_mapping(Cursor& cursor) { return MappingReader(cursor).read(); }

}  // namespace twill::tasks
