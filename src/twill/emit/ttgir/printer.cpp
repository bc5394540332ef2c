#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "twill/dialect/attributes.h"
#include "twill/dialect/spell.h"
#include "twill/emit/ttgir.h"
#include "twill/emit/ttgir/names.h"
#include "twill/emit/ttgir/node_words.h"
#include "twill/ir/builder.h"

namespace twill::emit {
namespace ttgir {
namespace {

using device::Block;
using device::Node;
using device::NodeKind;
using device::ValueId;
using dialect::Phrase;

class Printer : Names {
 public:
  Printer(const ir::Program& program, const device::Kernel& kernel, dialect::Spelling spelling)
      : Names(kernel, words_),
        program_(program),
        kernel_(kernel),
        builder_(program),
        words_(spelling, true) {}

  Result<std::string> all() {
    head();
    for (const Node& node : kernel_.setup) {
      TWILL_TRY_VOID(print(node));
    }
    TWILL_TRY_VOID(roles());
    for (const Node& node : kernel_.finish) {
      TWILL_TRY_VOID(print(node));
    }
    line("tt.return");
    close();
    close();
    return words_.definitions() + text_;
  }

 private:
  ir::TypeTable& table() { return builder_.types(); }

  void line(const std::string& words) { text_.append(2 * depth_, ' ').append(words).append("\n"); }
  void open(const std::string& words, const std::string& remark = "") {
    line(words + " {" + (remark.empty() ? "" : "  // " + remark));
    ++depth_;
  }
  void close(const std::string& more = "") {
    --depth_;
    line("}" + more);
  }

  /// Makes the compiler launch with at most as many registers as the kernel may take.
  void limit_registers(std::vector<ir::NamedAttribute>& attributes) {
    if (kernel_.registers_at_launch == 0) return;
    const std::string name = "ttg.maxnreg";
    std::erase_if(attributes, [&](const ir::NamedAttribute& a) { return a.first == name; });
    const auto at = std::find_if(attributes.begin(), attributes.end(),
                                 [&](const ir::NamedAttribute& a) { return a.first > name; });
    attributes.emplace(at, name, i32(kernel_.registers_at_launch));
  }

  // --- Frame ----------------------------------------------------------------------------------
  void head() {
    const ir::Op& module = program_.op(program_.module());
    std::vector<ir::NamedAttribute> attributes = module.attributes;
    for (auto& [key, value] : attributes) {
      if (!key.ends_with(".num-warps")) continue;
      value = table().integer(kernel_.roles.front().warps, value->type);
    }
    // Triton does not know Twill's attributes, which modules made of tasks have.
    std::erase_if(attributes, [](const ir::NamedAttribute& a) {
      return a.first == "sym_name" || a.first.starts_with("twill.");
    });
    limit_registers(attributes);
    open("module attributes " + words_.entries(attributes));
    const ir::Op& function = program_.op(kernel_.function);
    const ir::Attribute arguments = dialect::attribute(function, "arg_attrs");
    std::string list;
    for (std::size_t i = 0; i < kernel_.arguments.size(); ++i) {
      const ValueId argument = kernel_.arguments[i];
      list += (i == 0 ? "" : ", ") + define(argument) + ": " + type(argument);
      if (arguments == nullptr || arguments->elements[i]->entries.empty()) continue;
      list += " " + words_.entries(arguments->elements[i]->entries);
    }
    std::vector<ir::NamedAttribute> rest = function.attributes;
    std::erase_if(rest, [](const ir::NamedAttribute& a) {
      return a.first == "sym_name" || a.first == "sym_visibility" || a.first == "arg_attrs" ||
             a.first == "function_type" || a.first == "res_attrs";
    });
    const auto visibility = dialect::string_attribute(function, "sym_visibility");
    const std::string public_or_not = visibility ? std::string(*visibility) + " " : "";
    const std::string tail = rest.empty() ? "" : " attributes " + words_.entries(rest);
    open(fmt::format("tt.func {}@{}({}){}", public_or_not,
                     ir::symbol_name(program_, kernel_.function), list, tail));
  }

  Result<void> roles() {
    std::string registers;
    bool all_known = true;
    for (std::size_t i = 1; i < kernel_.roles.size(); ++i) {
      registers += fmt::format("{}{}", i == 1 ? "" : ", ", kernel_.roles[i].registers);
      all_known = all_known && kernel_.roles[i].registers > 0;
    }
    std::string tail;
    if (all_known && kernel_.roles.size() > 1) {
      tail = " attributes {requestedRegisters = array<i32: " + registers + ">}";
    }
    line(fmt::format("ttg.warp_specialize({}){}", names(kernel_.captures), tail));
    open("default", kernel_.roles.front().name);
    TWILL_TRY_VOID(print(kernel_.roles.front().body.nodes));
    line("ttg.warp_yield");
    const std::string type = " : (" + types(kernel_.captures) + ") -> ()";
    close(kernel_.roles.size() == 1 ? type : "");
    for (std::size_t i = 1; i < kernel_.roles.size(); ++i) {
      const device::Role& role = kernel_.roles[i];
      const std::string arguments = declared(role.body.arguments);
      open(fmt::format("partition{}({}) num_warps({})", i - 1, arguments, role.warps), role.name);
      TWILL_TRY_VOID(print(role.body.nodes));
      line("ttg.warp_return");
      close(i + 1 == kernel_.roles.size() ? type : "");
    }
    return {};
  }

  /// Prints nodes. The remark of a step stands above the step, or behind it if the step is short.
  Result<void> print(const std::vector<Node>& nodes) {
    constexpr std::size_t kShort = 2;
    std::size_t end = 0;  // end of the present short step
    std::string remark;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Node& node = nodes[i];
      if (!node.remark.empty() && node.span > kShort) line("// " + node.remark);
      if (!node.remark.empty() && node.span <= kShort) {
        end = i + node.span;
        remark = node.remark;
      }
      TWILL_TRY_VOID(print(node));
      if (node.source) place(*node.source);
      if (i + 1 == end) text_.insert(text_.size() - 1, "  // " + remark);
    }
    return {};
  }

  /// Notes behind the last line the place of an operation in the user's source.
  void place(ir::OpId op) {
    const auto where = ir::source_location(program_, op);
    if (!where || where->file.find_first_of("\"\\") != std::string::npos) return;
    text_.insert(text_.size() - 1,
                 fmt::format(" loc(\"{}\":{}:{})", where->file, where->line, where->column));
  }

  // --- Nodes ----------------------------------------------------------------------------------
  Result<void> print(const Node& node) {
    switch (node.kind) {
      case NodeKind::loop:
        return loop(node);
      case NodeKind::repeat:
        return repeat(node);
      case NodeKind::branch:
        return branch(node);
      case NodeKind::leave:
        return leave(node);
      case NodeKind::global_fence:
        return assembly(node, "fence.proxy.async;"), Result<void>();
      case NodeKind::end_stores:
        return assembly(node, fmt::format("cp.async.bulk.wait_group {};", node.numbers[0])),
               Result<void>();
      default:
        break;
    }
    const Phrase made = phrase(node);
    const bool has_region = node.source && !program_.op(*node.source).regions.empty();
    if (!has_region) return line(spell(made, words_)), Result<void>();
    const auto [before, behind] = around_region(made, words_);
    line(before + " ({");
    ++depth_;
    TWILL_TRY_VOID(region(program_.op(*node.source).regions.front()));
    close(")" + behind);
    return {};
  }

  /// Prints an instruction that TTGIR has no op for; each thread runs it. The dialect requires a
  /// result.
  void assembly(const Node& node, const std::string& instruction) {
    line(
        fmt::format("{}tt.elementwise_inline_asm \"{} mov.u32 $0, 0;\" {{constraints = \"=r\", "
                    "packed_element = 1 : i32, pure = false}} -> i32",
                    defined(node.results), instruction));
  }

  /// Prints the nodes of a block, and the values that the block yields.
  Result<void> print(const Block& block) {
    TWILL_TRY_VOID(print(block.nodes));
    if (block.yields.empty()) return {};
    return line(fmt::format("scf.yield {} : {}", names(block.yields), types(block.yields))),
           Result<void>();
  }

  Result<void> loop(const Node& node) {
    const Block& body = node.blocks.front();
    const std::vector<ValueId> first(node.operands.begin() + 3, node.operands.end());
    const std::string bounds = fmt::format("{} to {} step {}", name(node.operands[0]),
                                           name(node.operands[1]), name(node.operands[2]));
    const std::string counter = define(body.arguments[0]);
    std::string carried = begun({body.arguments.begin() + 1, body.arguments.end()}, first);
    if (!first.empty()) carried = fmt::format(" iter_args({}) -> ({})", carried, types(first));
    const std::string type = this->type(body.arguments[0]);
    const std::string width = type == "index" ? "" : "  : " + type;
    const std::string results = defined(node.results);
    open(fmt::format("{}scf.for {} = {}{}{}", results, counter, bounds, carried, width));
    TWILL_TRY_VOID(print(body));
    close();
    return {};
  }

  /// Prints a loop that goes on while the first yield of its first block is true.
  Result<void> repeat(const Node& node) {
    const Block &test = node.blocks[0], &body = node.blocks[1];
    std::string carried = begun(test.arguments, node.operands);
    if (!carried.empty()) carried = "(" + carried + ") ";
    const std::string results = defined(node.results);
    open(fmt::format("{}scf.while {}: ({}) -> ({})", results, carried, types(node.operands),
                     types(node.results)));
    TWILL_TRY_VOID(print(test.nodes));
    const std::vector<ValueId> passed(test.yields.begin() + 1, test.yields.end());
    const std::string given = passed.empty() ? "" : " " + names(passed) + " : " + types(passed);
    line(fmt::format("scf.condition({}){}", name(test.yields[0]), given));
    --depth_;
    open("} do");
    if (!body.arguments.empty()) line("^bb0(" + declared(body.arguments) + "):");
    TWILL_TRY_VOID(print(body));
    if (body.yields.empty()) line("scf.yield");
    close();
    return {};
  }

  Result<void> branch(const Node& node) {
    const std::string condition = name(node.operands[0]);
    const std::string arrow = node.results.empty() ? "" : " -> (" + types(node.results) + ")";
    open(fmt::format("{}scf.if {}{}", defined(node.results), condition, arrow));
    TWILL_TRY_VOID(print(node.blocks[0]));
    --depth_;
    open("} else");
    TWILL_TRY_VOID(print(node.blocks[1]));
    close();
    return {};
  }

  /// Prints the function's early end; later nodes stand in a block of their own.
  Result<void> leave(const Node& node) {
    const int number = ++leaves_;
    const char* const first = node.numbers[0] != 0 ? "leave" : "go";
    const char* const second = node.numbers[0] != 0 ? "go" : "leave";
    line(fmt::format("cf.cond_br {0}, ^{1}{3}, ^{2}{3}", name(node.operands[0]), first, second,
                     number));
    text_ += fmt::format("  ^leave{}:\n", number);
    TWILL_TRY_VOID(print(node.blocks.front().nodes));
    line("tt.return");
    text_ += fmt::format("  ^go{}:\n", number);
    return {};
  }

  /// Name and attributes of a node: from the text, or from the table.
  Phrase words_of(const Node& node) {
    const ir::Op* const op = node.source ? &program_.op(*node.source) : nullptr;
    switch (node.kind) {
      case NodeKind::source: {
        Phrase made{op->name, {}, op->attributes, {}, {}, op->form};
        for (auto& [key, value] : made.attributes) {
          if (key == "start" && !node.numbers.empty()) value = i32(node.numbers[0]);
          if (key == "end" && !node.numbers.empty()) value = i32(node.numbers[1]);
        }
        return made;
      }
      case NodeKind::product: {
        Phrase made{op->name, {}, op->attributes};
        std::erase_if(made.attributes, [](const auto& a) { return a.first == "isAsync"; });
        made.attributes.emplace_back("isAsync", table().boolean(true));
        return made;
      }
      case NodeKind::convert: {
        const ir::Type from = kernel_[node.operands[0]].type, to = kernel_[node.results[0]].type;
        const bool truth = from->name == "i1";
        return {from->bits > to->bits ? "arith.trunci" : truth ? "arith.extui" : "arith.extsi"};
      }
      case NodeKind::constant: {
        const ir::Type type = kernel_[node.results[0]].type;
        const std::int64_t number = node.numbers[0];
        return {"arith.constant",
                {},
                {{"value", type->name == "i1" ? table().boolean(number != 0)
                                              : table().integer(number, type)}}};
      }
      default:
        break;
    }
    const bool updates = op != nullptr && op->kind == ir::OpKind::block_update;
    if (updates) return {"ttng.async_tma_reduce", {}, op->attributes};
    Phrase made{ttgir::words_of(node.kind).op, {}, attributes_of(node)};
    if (const std::vector<std::int64_t> sizes = segments_of(node); !sizes.empty()) {
      made.attributes.emplace_back("operandSegmentSizes", array(sizes));
    }
    return made;
  }

  Phrase phrase(const Node& node) {
    Phrase made = words_of(node);
    for (const ValueId operand : node.operands) {
      made.operands.push_back({name(operand), kernel_[operand].type});
    }
    for (const ValueId result : node.results) {
      made.results.push_back(define(result));
      made.result_types.push_back(kernel_[result].type);
    }
    return made;
  }

  /// Attributes from a node's numbers.
  std::vector<ir::NamedAttribute> attributes_of(const Node& node) {
    std::vector<ir::NamedAttribute> made;
    auto next = node.numbers.begin();
    std::istringstream pieces{std::string(ttgir::words_of(node.kind).attributes)};
    for (std::string piece; pieces >> piece;) {
      const std::size_t end = piece.find_first_of("=[!-");
      const std::string key = piece.substr(0, end),
                        more = piece.substr(std::min(end, piece.size()));
      if (more == "-") {
        ++next;
      } else if (more == "!") {
        made.emplace_back(key, table().unit());
      } else if (more == "[]") {
        made.emplace_back(key, array(node.numbers));
      } else if (more.empty()) {
        made.emplace_back(key, i32(*next++));
      } else {
        const ir::Type type = table().scalar(more.substr(more.find(':') + 1));
        const std::int64_t number = std::stoll(more.substr(1));
        made.emplace_back(
            key, type->bits == 1 ? table().boolean(number != 0) : table().integer(number, type));
      }
    }
    return made;
  }

  /// Number of operands in each segment, where the total does not determine it.
  static std::vector<std::int64_t> segments_of(const Node& node) {
    const std::size_t count = node.operands.size();
    if (node.kind == NodeKind::copy) return {1, 1, count > 2 ? 1 : 0, count > 3 ? 1 : 0};
    if (node.kind != NodeKind::create_map) return {};
    const std::int64_t rank = node.numbers[0];
    return {1, 1, rank, rank, rank - 1, rank};  // the innermost dimension has no stride
  }

  ir::Attribute i32(std::int64_t number) { return table().integer(number, table().scalar("i32")); }
  /// A dense array, as in `array<i32: 1, 0>`.
  ir::Attribute array(const std::vector<std::int64_t>& numbers) {
    std::vector<ir::Attribute> elements;
    for (const std::int64_t number : numbers) elements.push_back(i32(number));
    return table().dense_array(table().scalar("i32"), std::move(elements));
  }

  /// The region of a reduction, with names of its own.
  Result<void> region(ir::RegionId id) {
    const ir::Block& block = program_.block(program_.region(id).blocks.front());
    std::map<ir::ValueId, std::string> names;
    const auto define_here = [&](ir::ValueId value) {
      return names[value] = "%" + unique("r" + program_.value(value).name);
    };
    std::string arguments;
    for (const ir::ValueId argument : block.arguments) {
      arguments += (arguments.empty() ? "" : ", ") + define_here(argument) + ": " +
                   words_.type(ir::type_of(program_, argument));
    }
    line("^bb0(" + arguments + "):");
    for (const ir::OpId inner : block.ops) {
      const ir::Op& op = program_.op(inner);
      Phrase made{op.name, {}, op.attributes, {}, {}, op.form};
      for (const ir::ValueId operand : op.operands) {
        const auto known = names.find(operand);
        if (known == names.end()) {
          return fail(ir::text_location(program_, inner),
                      op.name + " in a region reads a value from outside of it");
        }
        made.operands.push_back({known->second, ir::type_of(program_, operand)});
      }
      for (const ir::ValueId result : op.results) {
        made.results.push_back(define_here(result));
        made.result_types.push_back(ir::type_of(program_, result));
      }
      line(spell(made, words_));
    }
    return {};
  }

  const ir::Program& program_;
  const device::Kernel& kernel_;
  ir::ProgramBuilder builder_;
  dialect::Words words_;
  std::string text_;
  std::size_t depth_ = 0;
  int leaves_ = 0;
};

}  // namespace
}  // namespace ttgir

Result<std::string> ttgir_kernel(const ir::Program& program, const device::Kernel& kernel,
                                 dialect::Spelling spelling) {
  return ttgir::Printer(program, kernel, spelling).all();
}

}  // namespace twill::emit
