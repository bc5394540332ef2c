#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "twill/support/spelling.h"
#include "twill/tasks/read_parts.h"
#include "twill/tasks/split.h"
#include "twill/tasks/text.h"

namespace twill::tasks {
namespace {

/// Limit of a tensor's dimensions, above any tensor in use.
constexpr std::int64_t kMostDimensions = 16;

constexpr std::size_t kMostArguments = 1024;

class TextReader {
 public:
  TextReader(std::string_view text, std::vector<Token> tokens) : cursor_(text, std::move(tokens)) {}

  Result<TaskText> read() {
    while (cursor_.peek().kind != Token::Kind::end) {
      if (cursor_.take("task")) {
        TWILL_TRY_VOID(read_task());
      } else if (cursor_.is("inner") || cursor_.is("leaf") || cursor_.is("external")) {
        TWILL_TRY_VOID(read_variant(cursor_.next()));
      } else if (cursor_.take("map")) {
        TWILL_TRY(Mapping next, read_mapping(cursor_));
        out_.mappings.push_back(std::move(next));
      } else {
        return cursor_.unexpected("'task', 'inner', 'leaf', 'external' or 'map'");
      }
    }
    return std::move(out_);
  }

 private:
  // --- Tasks ------------------------------------------------------------------------------------

  Result<Privilege> reduction() {
    TWILL_TRY_VOID(cursor_.expect("("));
    for (const auto privilege :
         {Privilege::reduces, Privilege::reduces_max, Privilege::reduces_min}) {
      const std::string_view name = name_of(privilege);  // "reduces(+)"
      const std::size_t open = name.find('(') + 1;
      if (!cursor_.take(name.substr(open, name.size() - open - 1))) continue;
      TWILL_TRY_VOID(cursor_.expect(")"));
      return privilege;
    }
    return cursor_.wrong(cursor_.peek(),
                         "expected '+', 'max' or 'min', not " + in_quotes(cursor_.peek().text) +
                             ": there are atomics for sums, the largest and the least",
                         "give each part its own row of a tensor, which a task behind it reduces");
  }

  Result<Argument> argument() {
    Argument made;
    made.where = cursor_.here();
    if (cursor_.take("reads")) {
      made.privilege = Privilege::reads;
    } else if (cursor_.take("writes")) {
      made.privilege = Privilege::writes;
    } else if (cursor_.take("updates")) {
      made.privilege = Privilege::updates;
    } else if (cursor_.take("reduces")) {
      TWILL_TRY(made.privilege, reduction());
    } else {
      return cursor_.unexpected("'reads', 'writes', 'updates' or 'reduces(+)'");
    }
    TWILL_TRY(made.name, cursor_.word("the argument's name"));
    TWILL_TRY_VOID(cursor_.expect(":"));
    TWILL_TRY(made.scalar, cursor_.scalar());
    TWILL_TRY_VOID(cursor_.expect("["));
    TWILL_TRY(made.shape, cursor_.sizes("]"));
    return made;
  }

  Result<void> read_task() {
    TaskValue task;
    task.where = cursor_.here();
    TWILL_TRY(task.name, cursor_.word("the task's name"));
    TWILL_TRY_VOID(cursor_.expect("("));
    do {
      if (cursor_.take("position")) {
        TWILL_TRY(std::string name, cursor_.word("the position's name"));
        task.positions.push_back(std::move(name));
        continue;
      }
      if (!task.positions.empty()) {
        return cursor_.unexpected("'position', as positions come behind all tensors");
      }
      TWILL_TRY(Argument next, argument());
      task.arguments.push_back(std::move(next));
    } while (cursor_.take(","));
    TWILL_TRY_VOID(cursor_.expect(")"));
    out_.library.tasks.push_back(std::move(task));
    return {};
  }

  Result<void> read_variant(std::string_view kind) {
    Variant variant;
    variant.where = cursor_.here();
    const Token& at = cursor_.peek();
    TWILL_TRY(const std::string name, cursor_.word("the name of a task"));
    TWILL_TRY_VOID(cursor_.expect("."));
    TWILL_TRY(variant.name, cursor_.word("the variant's name"));
    TaskValue* task = nullptr;
    for (TaskValue& it : out_.library.tasks) task = it.name == name ? &it : task;
    if (task == nullptr) {
      return cursor_.wrong(at, "M02: there is no task " + in_quotes(name) + " before this line",
                           names_like(name, names_of(out_.library.tasks)));
    }
    if (kind == "leaf") {
      TWILL_TRY(variant.body, read_leaf(cursor_, *task));
    } else if (kind == "external") {
      TWILL_TRY(External made, external());
      TWILL_TRY(variant.body, external_leaf(*task, std::move(made)));
    } else {
      TWILL_TRY(variant.body, cursor_.take("=") ? split(*task, variant.where) : inner());
    }
    task->variants.push_back(std::move(variant));
    return {};
  }

  /// Reads `means VARIANT calls NAMESPACE::NAME CODE`.
  Result<External> external() {
    External made;
    TWILL_TRY_VOID(cursor_.expect("means"));
    made.where = cursor_.here();
    TWILL_TRY(made.meaning, cursor_.word("the name of a leaf"));
    TWILL_TRY_VOID(cursor_.expect("calls"));
    TWILL_TRY(made.function, cursor_.word("the name of a function"));
    while (cursor_.take(":")) {
      TWILL_TRY_VOID(cursor_.expect(":"));
      TWILL_TRY(const std::string name, cursor_.word("the name of a function"));
      made.function += "::" + name;
    }
    TWILL_TRY(made.code, cursor_.code());
    return made;
  }

  // --- Inner variants ---------------------------------------------------------------------------

  /// Reads `split SIZE by LENGTH, SIZE into COUNT ...`.
  Result<Inner> split(const TaskValue& task, const Where& where) {
    TWILL_TRY_VOID(cursor_.expect("split"));
    std::vector<Split> splits;
    do {
      Split made;
      made.where = cursor_.here();
      TWILL_TRY(made.size, cursor_.word("a size of the signature"));
      made.into = cursor_.take("into");
      if (!made.into && !cursor_.take("by")) {
        return cursor_.unexpected("'by' and a part's length, or 'into' and the number of parts");
      }
      if (cursor_.peek().kind == Token::Kind::number) {
        const Token& at = cursor_.peek();
        TWILL_TRY(const std::int64_t number, cursor_.whole_number());
        if (number < 1) return cursor_.wrong(at, "parts have a length, and there is one at least");
        made.by = number;
      } else {
        TWILL_TRY(std::string name, cursor_.word("a tunable or a number"));
        made.by = Size::named(std::move(name));
      }
      splits.push_back(std::move(made));
    } while (cursor_.take(","));
    return split_into(task, splits, where);
  }

  Result<Inner> inner() {
    Inner made;
    if (cursor_.take("tunable")) {
      do {
        TWILL_TRY(std::string name, cursor_.word("a tunable's name"));
        made.tunables.push_back(std::move(name));
      } while (cursor_.take(","));
    }
    TWILL_TRY(made.body, block());
    return made;
  }
  Result<std::vector<Statement>> block() {
    const Cursor::Deeper deeper(cursor_);
    TWILL_TRY_VOID(cursor_.check_depth());
    TWILL_TRY_VOID(cursor_.expect("{"));
    std::vector<Statement> body;
    while (!cursor_.take("}")) {
      if (cursor_.is("if")) {
        TWILL_TRY_VOID(branch(body));
        continue;
      }
      TWILL_TRY(Statement next, statement());
      body.push_back(std::move(next));
    }
    return body;
  }
  /// Reads `if SIZE < SIZE { ... } else { ... }`. The `else` branch becomes a statement with the
  /// opposite condition.
  Result<void> branch(std::vector<Statement>& body) {
    Range range;
    range.where = cursor_.here();
    cursor_.next();
    TWILL_TRY(const Size left, cursor_.size());
    std::optional<Function> how;
    for (const Function it : {Function::less, Function::less_equal, Function::greater,
                              Function::greater_equal, Function::equal, Function::unequal}) {
      if (!how && cursor_.take(spelling_of(it).name)) how = it;
    }
    if (!how) return cursor_.unexpected("a comparison of sizes");
    TWILL_TRY(const Size right, cursor_.size());
    range.when = SizeComparison{left, *how, right};
    TWILL_TRY(range.body, block());
    const SizeComparison other = opposite(*range.when);
    body.push_back({std::move(range)});
    Range rest{false, {}, {}, cursor_.here(), other};
    if (!cursor_.take("else")) return {};
    TWILL_TRY(rest.body, block());
    body.push_back({std::move(rest)});
    return {};
  }
  Result<Statement> statement() {
    const Where where = cursor_.here();
    if (cursor_.is("prange") || cursor_.is("srange")) {
      Range range;
      range.parallel = cursor_.next() == "prange";
      range.where = where;
      do {
        Dimension dimension;
        TWILL_TRY(dimension.index, cursor_.word("an index"));
        TWILL_TRY_VOID(cursor_.expect("<"));
        TWILL_TRY(dimension.extent, cursor_.size());
        range.dimensions.push_back(std::move(dimension));
      } while (cursor_.take(","));
      TWILL_TRY(range.body, block());
      return Statement{std::move(range)};
    }
    TWILL_TRY(std::string name, cursor_.word("a launch, a range or a tensor"));
    if (cursor_.take("=")) {
      Make make{std::move(name), Scalar::f32, {}, where};
      if (!cursor_.is("tensor")) {
        return fail_task("T09", where,
                         "an inner variant makes tensors and launches tasks, and computes nothing",
                         "give a task a leaf that says it, and launch that");
      }
      cursor_.next();
      TWILL_TRY(make.scalar, cursor_.scalar());
      TWILL_TRY_VOID(cursor_.expect("["));
      TWILL_TRY(make.shape, cursor_.sizes("]"));
      return Statement{std::move(make)};
    }
    Launch launch{std::move(name), {}, where};
    TWILL_TRY_VOID(cursor_.expect("("));
    std::size_t tensors = kMostArguments;  // for an unknown task: takes all arguments for tensors
    for (const TaskValue& task : out_.library.tasks) {
      if (task.name == launch.task) tensors = task.arguments.size();
    }
    do {
      if (launch.pieces.size() >= tensors) {
        TWILL_TRY(Size position, cursor_.size());
        launch.positions.push_back(std::move(position));
        continue;
      }
      TWILL_TRY(Piece next, piece());
      launch.pieces.push_back(std::move(next));
    } while (cursor_.take(","));
    TWILL_TRY_VOID(cursor_.expect(")"));
    return Statement{std::move(launch)};
  }
  Result<Piece> piece() {
    const Cursor::Deeper deeper(cursor_);
    TWILL_TRY_VOID(cursor_.check_depth());
    const Where where = cursor_.here();
    TWILL_TRY(std::string name, cursor_.word("a tensor"));
    const bool picks = name == "pick", windows = name == "windows", by_mma = name == "mma";
    const bool slices = name == "slice";
    if ((name != "blocks" && !windows && !picks && !by_mma && !slices) || !cursor_.take("(")) {
      return Piece{std::move(name), {}, where};
    }
    TWILL_TRY(Piece of, piece());
    of.where = where;
    TWILL_TRY(Block block, picks    ? pick()
                           : by_mma ? fragment()
                           : slices ? slice()
                                    : tiles(windows));
    of.blocks.push_back(std::move(block));
    return of;
  }
  /// Reads `, INDEX)` or `, INDEX, DIMENSION)`.
  Result<Block> pick() {
    Block block;
    block.cut = Cut::pick;
    TWILL_TRY_VOID(cursor_.expect(","));
    TWILL_TRY(Size index, cursor_.size());
    block.index.push_back(std::move(index));
    if (cursor_.take(",")) {
      const Token& at = cursor_.peek();
      TWILL_TRY(const std::int64_t dimension, cursor_.whole_number());
      if (dimension < 0 || dimension > kMostDimensions) {
        return cursor_.wrong(at, "is no dimension: the first is 0");
      }
      block.picked = static_cast<std::size_t>(dimension);
    }
    TWILL_TRY_VOID(cursor_.expect(")"));
    return block;
  }
  /// Reads `, SIZE, ... from FIRST, ...)` or `, SIZE, ... from FIRST, ..., exact)`: a window with
  /// step 1.
  Result<Block> slice() {
    Block block;
    block.cut = Cut::windows;
    while (cursor_.take(",")) {
      TWILL_TRY(Size extent, cursor_.size());
      block.tile.push_back(std::move(extent));
    }
    TWILL_TRY_VOID(cursor_.expect("from"));
    do {
      TWILL_TRY(const bool is_edge, edge(block.edge));
      if (is_edge) break;
      TWILL_TRY(Size first, cursor_.size());
      block.index.push_back(std::move(first));
    } while (cursor_.take(","));
    TWILL_TRY_VOID(cursor_.expect(")"));
    block.step.assign(block.tile.size(), Size(1));
    return block;
  }
  /// Reads `, OPERAND, LEVEL, ROWS, COLUMNS, DEPTH)[INDEX]`.
  Result<Block> fragment() {
    Block block;
    block.cut = Cut::mma;
    TWILL_TRY_VOID(cursor_.expect(","));
    const auto operand = fragment_named(cursor_.peek().text);
    if (!operand) return cursor_.unexpected("an operand: a, b, bt (b transposed) or c");
    block.fragment = *operand;
    cursor_.next();
    TWILL_TRY_VOID(cursor_.expect(","));
    if (!cursor_.is("warp") && !cursor_.is("thread")) {
      return cursor_.unexpected("'warp' or 'thread'");
    }
    block.level = cursor_.next() == "thread" ? Level::thread : Level::warp;
    for (int i = 0; i < 3; ++i) {
      TWILL_TRY_VOID(cursor_.expect(","));
      TWILL_TRY(Size extent, cursor_.size());
      block.tile.push_back(std::move(extent));
    }
    TWILL_TRY_VOID(cursor_.expect(")"));
    TWILL_TRY_VOID(cursor_.expect("["));
    TWILL_TRY(block.index, cursor_.sizes("]"));
    return block;
  }
  /// Reads `exact`, `clip` or `fill(NUMBER)` at the end of a list. Returns false if none is
  /// present.
  Result<bool> edge(EdgeRule& to) {
    for (const Edge it : {Edge::exact, Edge::clip}) {
      if (!cursor_.is(name_of(it)) || !cursor_.is(")", 1)) continue;
      cursor_.next();
      to = it;
      return true;
    }
    if (!cursor_.is(name_of(Edge::fill)) || !cursor_.is("(", 1)) return false;
    cursor_.next();
    cursor_.next();
    const bool negative = cursor_.take("-");
    double number = std::numeric_limits<double>::infinity();
    if (!cursor_.take("inf")) {
      const bool is_number = cursor_.peek().kind == Token::Kind::number;
      if (!is_number) return cursor_.unexpected("a number or 'inf'");
      TWILL_TRY(number, cursor_.number());
    }
    to = fill(negative ? -number : number);
    TWILL_TRY_VOID(cursor_.expect(")"));
    return true;
  }

  /// Reads `, SIZE, ...)[INDEX, ...]`; for windows `, SIZE, ... by STEP, ... every SIZE,
  /// ...)[INDEX, ...]`.
  Result<Block> tiles(bool windows) {
    Block block;
    block.cut = windows ? Cut::windows : Cut::blocks;
    auto* sizes = &block.tile;
    while (cursor_.take(",")) {
      TWILL_TRY(const bool is_edge, edge(block.edge));
      if (is_edge) break;
      TWILL_TRY(Size extent, cursor_.size());
      sizes->push_back(std::move(extent));
      for (const auto& [word, next] : {std::pair("by", &block.step), {"every", &block.every}}) {
        const auto* before = next == &block.step ? &block.tile : &block.step;
        if (!windows || sizes != before || !cursor_.take(word)) continue;
        sizes = next;
        TWILL_TRY(Size first, cursor_.size());
        sizes->push_back(std::move(first));
      }
    }
    if (!windows && (cursor_.is("by") || cursor_.is("every"))) {
      return cursor_.wrong(cursor_.peek(), "blocks lie side by side: windows have steps",
                           "as in `windows(X, 64, 64 by 1, 64)[i, k]`");
    }
    if (windows && block.step.empty()) {
      return cursor_.wrong(cursor_.peek(), "expected 'by' and the steps of the windows",
                           "as in `windows(X, 64, 64 by 1, 64)[i, k]`");
    }
    TWILL_TRY_VOID(cursor_.expect(")"));
    TWILL_TRY_VOID(cursor_.expect("["));
    TWILL_TRY(block.index, cursor_.sizes("]"));
    return block;
  }

  Cursor cursor_;
  TaskText out_;
};

}  // namespace

Result<TaskText> read_tasks(std::string_view text, const std::string& file_name) {
  TWILL_TRY(std::vector<Token> tokens, tokens_of(text, file_name));
  auto read = TextReader(text, std::move(tokens)).read();
  if (!read && read.error().source_line.empty()) {
    read.error().source_line = line_of(text, read.error().location.line);
  }
  return read;
}

Result<std::vector<Mapping>> read_mappings(std::string_view text, const std::string& file_name) {
  TWILL_TRY(std::vector<Token> tokens, tokens_of(text, file_name));
  Cursor cursor(text, std::move(tokens));
  std::vector<Mapping> all;
  do {
    if (!cursor.take("map")) {
      return cursor.wrong(cursor.peek(), "expected 'map', as files of mappings have nothing else",
                          "as in `map NAME for TASK on MACHINE { ... }`");
    }
    TWILL_TRY(Mapping next, read_mapping(cursor));
    all.push_back(std::move(next));
  } while (cursor.peek().kind != Token::Kind::end);
  return all;
}

bool begins_tasks(std::string_view line) { return line.starts_with("task "); }

}  // namespace twill::tasks
