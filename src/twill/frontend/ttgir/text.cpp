#include "twill/frontend/ttgir/text.h"

#include <span>

#include "twill/dialect/words.h"

namespace twill::frontend::ttgir {
namespace {

std::string_view before_hash(std::string_view name) { return name.substr(0, name.find('#')); }

class Printer {
 public:
  explicit Printer(const ir::Program& program) : program_(program) {}

  std::string all() {
    // An alias may use only aliases before it; parts without a printed alias are written out.
    for (const auto& [name, attribute] : program_.attribute_aliases()) {
      out_ += "#" + name + " = " + words_.attribute(attribute) + "\n";
      words_.name(attribute, "#" + name);
    }
    for (const auto& [name, type] : program_.type_aliases()) {
      out_ += "!" + name + " = " + words_.type(type) + "\n";
      words_.name(type, "!" + name);
    }
    print(program_.module());
    return std::move(out_);
  }

 private:
  void print_location(ir::Attribute location) {
    if (location == nullptr) return;
    const std::string* name = words_.name_of(location);
    out_ += " " + (name == nullptr ? location->text : "loc(" + *name + ")");
  }

  void indent() { out_.append(2 * depth_, ' '); }

  void print_results(const ir::Op& op) {
    std::size_t next = 0;
    bool any = false;
    while (next < op.results.size()) {
      const std::string& name = program_.value(op.results[next]).name;
      const std::string_view base = before_hash(name);
      std::size_t end = next + 1;
      while (base.size() < name.size() && end < op.results.size() &&
             before_hash(program_.value(op.results[end]).name) == base) {
        ++end;
      }
      if (!name.empty()) {
        out_.append(any ? ", %" : "%").append(base);
        if (end - next > 1) out_ += ":" + std::to_string(end - next);
        any = true;
      }
      next = end;
    }
    if (any) out_ += " = ";
  }

  void print_operands(const ir::Op& op) {
    out_ += '(';
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      out_ += (i == 0 ? "%" : ", %") + program_.value(op.operands[i]).name;
    }
    out_ += ')';
    for (std::size_t i = 0; i < op.successors.size(); ++i) {
      out_ += (i == 0 ? "[^" : ", ^") + label(op.successors[i]);
    }
    if (!op.successors.empty()) out_ += ']';
  }

  void print_types(std::span<const ir::ValueId> values) {
    out_ += '(';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_ += ", ";
      out_ += words_.type(program_.value(values[i]).type);
    }
    out_ += ')';
  }

  void print(ir::OpId id) {
    const ir::Op& op = program_.op(id);
    indent();
    print_results(op);
    out_ += '"' + op.name + '"';
    print_operands(op);
    for (std::size_t i = 0; i < op.regions.size(); ++i) {
      out_ += i == 0 ? " ({\n" : ", {\n";
      print(op.regions[i]);
      indent();
      out_ += i + 1 == op.regions.size() ? "})" : "}";
    }
    const std::vector<ir::NamedAttribute>& attributes = op.attributes;
    if (!attributes.empty() || !op.form.empty()) {
      out_ += " " + words_.entries(attributes);
    }
    if (!op.form.empty()) {
      out_.pop_back();
      out_.append(attributes.empty() ? "" : ", ")
          .append("twill.form = " + ir::string_text(op.form) + "}");
    }
    out_ += " : ";
    print_types(op.operands);
    out_ += " -> ";
    print_types(op.results);
    print_location(op.location);
    out_ += '\n';
  }

  void print(ir::RegionId region) {
    const std::vector<ir::BlockId>& blocks = program_.region(region).blocks;
    ++depth_;
    for (const ir::BlockId id : blocks) {
      const ir::Block& block = program_.block(id);
      const bool entry = id == blocks.front();
      if (!entry || !block.arguments.empty() || block.ops.empty() || blocks.size() > 1) {
        print_header(id);
      }
      for (const ir::OpId op : block.ops) print(op);
    }
    --depth_;
  }

  void print_header(ir::BlockId id) {
    const ir::Block& block = program_.block(id);
    out_.append(2 * depth_ - 1, ' ').append("^" + label(id));
    for (std::size_t i = 0; i < block.arguments.size(); ++i) {
      const ir::Value& argument = program_.value(block.arguments[i]);
      out_ += (i == 0 ? "(%" : ", %") + argument.name + ": " + words_.type(argument.type);
      print_location(argument.location);
    }
    out_ += block.arguments.empty() ? ":\n" : "):\n";
  }

  /// Label of a block; only the first block of a region may have none of its own.
  std::string label(ir::BlockId id) const {
    const ir::Block& block = program_.block(id);
    if (!block.label.empty()) return block.label;
    std::string free = "bb0";
    for (bool taken = true; taken;) {
      taken = false;
      for (const ir::BlockId other : program_.region(block.region).blocks) {
        taken = taken || program_.block(other).label == free;
      }
      if (taken) free += "_";
    }
    return free;
  }

  const ir::Program& program_;
  dialect::Words words_{dialect::Spelling::v3_6};
  std::string out_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string to_text(const ir::Program& program) { return Printer(program).all(); }

}  // namespace twill::frontend::ttgir
