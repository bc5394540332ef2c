#include <cstdint>
#include <utility>

#include "twill/tasks/read_parts.h"

namespace twill::tasks {
namespace {

constexpr std::size_t kMostValues = 4096;  // of a hole

class MappingReader {
 public:
  explicit MappingReader(Cursor& cursor) : cursor_(cursor) {}

  Result<Mapping> read() {
    Mapping mapping;
    mapping.where = cursor_.here();
    TWILL_TRY(mapping.name, cursor_.word("the mapping's name"));
    TWILL_TRY_VOID(cursor_.expect("for"));
    TWILL_TRY(mapping.task, cursor_.word("a task"));
    TWILL_TRY_VOID(cursor_.expect("on"));
    TWILL_TRY(mapping.machine, cursor_.word("a machine"));
    TWILL_TRY_VOID(cursor_.expect("{"));
    while (!cursor_.take("}")) {
      if (cursor_.take(",")) continue;
      if (cursor_.is("=", 1)) {
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
    if (cursor_.is("?")) {
      return cursor_.wrong(cursor_.peek(), "M13: a hole needs the values it may have",
                           "as in {64, 128} or 64..256 by 64");
    }
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
    if (step < 1 || last < first || (last - first) / step >= std::int64_t{kMostValues}) {
      return cursor_.wrong(
          at, "is no end of a range of up to " + std::to_string(kMostValues) + " values");
    }
    for (std::int64_t next = first; next <= last - step;) made.values.push_back(next += step);
    return made;
  }
  bool is_placement() const {
    return cursor_.peek().kind == Token::Kind::word && cursor_.is(":", 1) &&
           memory_named(cursor_.peek(2).text) && !cursor_.is(".", 3);
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
      made.processor = processor_named(cursor_.peek().text);
      if (!made.processor) {
        return cursor_.wrong(cursor_.peek(), "M05: there is no such level of the machine",
                             "levels are host, block and warpgroup");
      }
      cursor_.next();
    }
    while (true) {
      if (cursor_.take(",")) continue;
      if (cursor_.is("=", 1)) {
        TWILL_TRY(Setting next, setting());
        made.tunables.push_back(std::move(next));
      } else if (is_placement()) {
        const Where where = cursor_.here();
        made.memories.push_back(
            {std::string(cursor_.peek().text), *memory_named(cursor_.peek(2).text), where});
        for (int token = 0; token < 3; ++token) cursor_.next();
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
