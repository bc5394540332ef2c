#include "twill/emit/ttgir/spell.h"

#include <algorithm>
#include <set>

#include "twill/dialect/dialects.h"
#include "twill/dialect/formats.h"

namespace twill::emit::ttgir {
namespace {

using dialect::Format;
using dialect::FormatElement;
using dialect::TypeForm;
using Kind = FormatElement::Kind;

std::string list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::vector<std::string> names_of(const Phrase& phrase) {
  std::vector<std::string> names;
  for (const Phrase::Operand& operand : phrase.operands) names.push_back(operand.name);
  return names;
}

std::vector<ir::Type> operand_types(const Phrase& phrase) {
  std::vector<ir::Type> types;
  for (const Phrase::Operand& operand : phrase.operands) types.push_back(operand.type);
  return types;
}

std::string left_of(const Phrase& phrase) {
  return phrase.results.empty() ? "" : list(phrase.results) + " = ";
}

/// Sizes of groups of operands are for the generic form alone.
bool is_of_generic_form(const ir::NamedAttribute& attribute) {
  return attribute.first == "operandSegmentSizes";
}

/// Writes a custom form piece by piece. What stands next to a bracket or a comma has no blank
/// between.
class FormatPrinter {
 public:
  FormatPrinter(const Phrase& phrase, Words& words) : phrase_(phrase), words_(words) {}

  std::string print(const Format& format) {
    for (const FormatElement& element : format.elements) take(element);
    dictionary();
    return text_;
  }

 private:
  void add(const std::string& word) {
    const bool indexes = word == "[" && !text_.ends_with(',');
    const bool closes = word == "," || word == "]" || word == ")" || indexes;
    const bool opened = !text_.empty() && (text_.back() == '[' || text_.back() == '(');
    if (!text_.empty() && !closes && !opened) text_ += ' ';
    text_ += word;
  }

  const ir::Attribute* attribute(const std::string& name) {
    for (const ir::NamedAttribute& attribute : phrase_.attributes) {
      if (attribute.first == name) return &attribute.second;
    }
    return nullptr;
  }

  /// Operands of a role that are not written yet; of ops without roles, the next.
  std::vector<std::string> operands(const std::string& role, bool all) {
    std::vector<std::string> found;
    const bool by_role = !phrase_.operands.empty() && !phrase_.operands.front().role.empty();
    for (std::size_t i = 0; i < phrase_.operands.size(); ++i) {
      const Phrase::Operand& operand = phrase_.operands[i];
      if (written_.contains(i) || (by_role && operand.role != role)) continue;
      if (!all && !found.empty()) break;
      found.push_back(operand.name);
      taken_.push_back(i);
    }
    return found;
  }

  void write(const std::string& role, bool all) {
    taken_.clear();
    const std::vector<std::string> found = operands(role, all);
    written_.insert(taken_.begin(), taken_.end());
    if (!found.empty()) add(list(found));
  }

  bool has(const FormatElement& element) {
    switch (element.kind) {
      case Kind::operand:
      case Kind::operands:
        taken_.clear();
        return !operands(element.name, true).empty();
      case Kind::keyword:
      case Kind::flag:
      case Kind::integer:
      case Kind::integers:
      case Kind::symbol:
      case Kind::string:
        return attribute(element.name) != nullptr;
      case Kind::optional:
      case Kind::repeated:
        return has_group(element);
      default:
        return false;
    }
  }

  bool has_group(const FormatElement& group) {
    return std::any_of(group.inside.begin(), group.inside.end(),
                       [&](const FormatElement& element) { return has(element); });
  }

  void take(const FormatElement& element) {
    switch (element.kind) {
      case Kind::operand:
        return write(element.name, false);
      case Kind::operands:
        return write(element.name, true);
      case Kind::literal:
        return add(element.name);
      case Kind::attributes:
        return dictionary();
      case Kind::optional:
      case Kind::repeated:
        while (has_group(element)) {
          for (const FormatElement& inside : element.inside) take(inside);
          if (element.kind == Kind::optional) break;
        }
        return;
      default:
        return word(element);
    }
  }

  /// An attribute that the form writes in words of its own.
  void word(const FormatElement& element) {
    said_.insert(element.name);
    const ir::Attribute* const found = attribute(element.name);
    if (found == nullptr) return;
    const ir::Attribute value = *found;
    if (element.kind == Kind::keyword) {
      const auto number = static_cast<std::size_t>(value->integer - element.first_number);
      if (number < element.words.size()) add(element.words[number]);
    } else if (element.kind == Kind::flag) {
      add(element.words.front());
    } else if (element.kind == Kind::integer) {
      add(std::to_string(value->integer));
    } else if (element.kind == Kind::integers) {
      std::vector<std::string> numbers;
      for (const ir::Attribute one : value->elements) {
        numbers.push_back(std::to_string(one->integer));
      }
      add(list(numbers));
    } else {
      add(value->text);
    }
  }

  void dictionary() {
    std::vector<ir::NamedAttribute> rest;
    for (const ir::NamedAttribute& attribute : phrase_.attributes) {
      if (!said_.contains(attribute.first) && !is_of_generic_form(attribute)) {
        rest.push_back(attribute);
        said_.insert(attribute.first);
      }
    }
    if (!rest.empty()) add(words_.entries(rest));
  }

  const Phrase& phrase_;
  Words& words_;
  std::string text_;
  std::set<std::size_t> written_;
  std::vector<std::size_t> taken_;
  std::set<std::string> said_;
};

std::string types_of(const Phrase& phrase, TypeForm form, Words& words) {
  const std::vector<ir::Type> in = operand_types(phrase);
  const std::vector<ir::Type>& out = phrase.result_types;
  const auto several = [&](std::size_t first, std::size_t count) {
    std::string text;
    for (std::size_t i = first; i < first + count && i < in.size(); ++i) {
      text += (text.empty() ? "" : ", ") + words.type(in[i]);
    }
    return text;
  };
  switch (form) {
    case TypeForm::result:
      return words.type(out.front());
    case TypeForm::first:
      return words.type(in.front());
    case TypeForm::operands: {
      // Coordinates of a box have no types.
      std::string text;
      for (const Phrase::Operand& operand : phrase.operands) {
        if (operand.role == "indices") continue;
        text += (text.empty() ? "" : ", ") + words.type(operand.type);
      }
      return text;
    }
    case TypeForm::cast:
      return words.type(in.front()) + " to " + words.type(out.front());
    case TypeForm::arrow: {
      if (out.empty()) return words.type(in.front()) + " -> " + words.type(in.back());
      const bool one = phrase.op != "tt.join";
      return several(0, one ? 1 : in.size()) + " -> " + words.type(out.front());
    }
    case TypeForm::function:
      return "(" + several(0, in.size()) + ") -> " + words.types(out);
    case TypeForm::product:
      return words.type(in[0]) + " * " + words.type(in[1]) + " -> " + words.type(out.front());
    case TypeForm::address:
      return words.type(out.front()) + ", " + words.type(in[1]);
    case TypeForm::choice:
      return (in[0]->kind == ir::TypeKind::tensor ? words.type(in[0]) + ", " : "") +
             words.type(out.front());
    case TypeForm::copy_in: {
      std::string descriptor, barrier, buffer;
      for (const Phrase::Operand& operand : phrase.operands) {
        if (operand.role == "desc") descriptor = words.type(operand.type);
        if (operand.role == "barrier") barrier = words.type(operand.type);
        if (operand.role == "destination") buffer = words.type(operand.type);
      }
      return descriptor + ", " + barrier + " -> " + buffer;
    }
    case TypeForm::copy:
      return words.type(in[0]) + " -> " + words.short_type(in[1]);
    case TypeForm::generic:
      break;
  }
  return "";
}

/// The text of an op in a custom form that we do not know, with other names.
std::string by_form(const Phrase& phrase) {
  std::string text;
  std::size_t next = 0;
  for (const char letter : phrase.form) {
    if (letter == '%' && next < phrase.operands.size()) {
      text += phrase.operands[next++].name;
    } else {
      text += letter;
    }
  }
  return text;
}

}  // namespace

std::pair<std::string, std::string> around_region(const Phrase& phrase, Words& words) {
  std::string in;
  for (const ir::Type type : operand_types(phrase)) {
    in += (in.empty() ? "" : ", ") + words.type(type);
  }
  std::string behind;
  if (!phrase.attributes.empty()) behind = " " + words.entries(phrase.attributes);
  behind += " : (" + in + ") -> " + words.types(phrase.result_types);
  return {left_of(phrase) + "\"" + phrase.op + "\"(" + list(names_of(phrase)) + ")", behind};
}

std::string spell(const Phrase& phrase, Words& words) {
  const TypeForm form = dialect::type_form(dialect::todays_name(phrase.op));
  const Format* const format = dialect::format_of(dialect::todays_name(phrase.op));
  if (form == TypeForm::generic) {
    if (phrase.form.empty()) {
      const auto [before, behind] = around_region(phrase, words);
      return before + behind;
    }
    return left_of(phrase) + phrase.op + " " + by_form(phrase);
  }
  std::string text = left_of(phrase) + phrase.op;
  std::string rest;
  if (format != nullptr && format->has_syntax) {
    rest = FormatPrinter(phrase, words).print(*format);
  } else {
    rest = list(names_of(phrase));
    std::vector<ir::NamedAttribute> attributes = phrase.attributes;
    std::erase_if(attributes, is_of_generic_form);
    if (!attributes.empty()) rest += (rest.empty() ? "" : " ") + words.entries(attributes);
  }
  if (!rest.empty()) text += " " + rest;
  return text + " : " + types_of(phrase, form, words);
}

}  // namespace twill::emit::ttgir
