#include "twill/dialect/spell.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "twill/dialect/attributes.h"
#include "twill/dialect/dialects.h"
#include "twill/dialect/formats.h"
#include "twill/dialect/roles.h"

namespace twill::dialect {
namespace {

using Kind = FormatElement::Kind;

constexpr std::string_view kIndices = "indices";
/// Sizes of groups of operands, for the generic form alone.
constexpr std::string_view kSegmentSizes = "operandSegmentSizes";

/// An operand with its role; the role is empty if the op has none.
struct Argument {
  std::string_view role;
  std::string name;
  ir::Type type;
};

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

std::vector<ir::Type> types_of_operands(const Phrase& phrase) {
  std::vector<ir::Type> types;
  for (const Phrase::Operand& operand : phrase.operands) types.push_back(operand.type);
  return types;
}

std::string left_of(const Phrase& phrase) {
  return phrase.results.empty() ? "" : list(phrase.results) + " = ";
}

std::vector<Argument> arguments_of(const Phrase& phrase) {
  std::vector<std::string_view> roles(phrase.operands.size());
  const std::span<const OperandRole> declared = roles_of(phrase.op);
  if (const auto sizes = operand_segments(phrase.op, roles.size(), phrase.attributes)) {
    auto next = roles.begin();
    for (std::size_t i = 0; i < declared.size(); ++i) {
      next = std::fill_n(next, (*sizes)[i], declared[i].name);
    }
  }
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    arguments.push_back({roles[i], phrase.operands[i].name, phrase.operands[i].type});
  }
  return arguments;
}

/// Writes a custom form piece by piece. No blank stands next to a bracket or a comma.
class FormatPrinter {
 public:
  FormatPrinter(const Phrase& phrase, Words& words)
      : words_(words), operands_(arguments_of(phrase)), attributes_(phrase.attributes) {
    std::erase_if(attributes_, [](const auto& it) { return it.first == kSegmentSizes; });
  }

  std::string print(const std::vector<FormatElement>& elements) {
    note_spoken(elements);
    for (const FormatElement& element : elements) take(element);
    dictionary();
    return text_;
  }

 private:
  /// Notes attributes that the form writes as words, so that the dictionary leaves them out.
  void note_spoken(const std::vector<FormatElement>& elements) {
    for (const FormatElement& element : elements) {
      spoken_.insert(element.name);
      note_spoken(element.inside);
    }
  }

  void add(const std::string& word) {
    const bool indexes = word == "[" && !text_.ends_with(',');
    const bool closes = word == "," || word == "]" || word == ")" || indexes;
    const bool opened = !text_.empty() && (text_.back() == '[' || text_.back() == '(');
    if (!text_.empty() && !closes && !opened) text_ += ' ';
    text_ += word;
  }

  /// First unwritten attribute of that name.
  auto attribute(const std::string& name) {
    return std::find_if(attributes_.begin(), attributes_.end(),
                        [&](const ir::NamedAttribute& it) { return it.first == name; });
  }
  /// Next unwritten operand of that role. An empty role takes any operand; for an op without roles,
  /// the next operand is taken.
  auto operand(const std::string& role) {
    return std::find_if(operands_.begin(), operands_.end(), [&](const Argument& it) {
      return role.empty() || it.role.empty() || it.role == role;
    });
  }

  void write_operands(const std::string& role, bool all) {
    std::vector<std::string> names;
    for (auto at = operand(role); at != operands_.end(); at = operand(role)) {
      names.push_back(at->name);
      operands_.erase(at);
      if (!all) break;
    }
    if (!names.empty()) add(list(names));
  }

  bool has(const FormatElement& element) {
    switch (element.kind) {
      case Kind::operand:
      case Kind::operands:
        return operand(element.name) != operands_.end();
      case Kind::optional:
      case Kind::repeated:
        return std::any_of(element.inside.begin(), element.inside.end(),
                           [&](const FormatElement& inside) { return has(inside); });
      case Kind::literal:
      case Kind::attributes:
        return false;
      default:
        return attribute(element.name) != attributes_.end();
    }
  }

  void take(const FormatElement& element) {
    switch (element.kind) {
      case Kind::operand:
      case Kind::operands:
        return write_operands(element.name, element.kind == Kind::operands);
      case Kind::literal:
        return add(element.name);
      case Kind::attributes:
        return dictionary();
      case Kind::optional:
      case Kind::repeated:
        while (has(element)) {
          for (const FormatElement& inside : element.inside) take(inside);
          if (element.kind == Kind::optional) break;
        }
        return;
      default:
        return word(element);
    }
  }

  /// Writes an attribute as a word of the form.
  void word(const FormatElement& element) {
    const auto found = attribute(element.name);
    if (found == attributes_.end()) return;
    const ir::Attribute value = found->second;
    attributes_.erase(found);
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
    const auto rest =
        std::stable_partition(attributes_.begin(), attributes_.end(),
                              [&](const auto& it) { return spoken_.contains(it.first); });
    if (rest != attributes_.end()) add(words_.entries({rest, attributes_.end()}));
    attributes_.erase(rest, attributes_.end());
  }

  Words& words_;
  std::string text_;
  std::set<std::string> spoken_;
  // Operands without text so far.
  std::vector<Argument> operands_;
  std::vector<ir::NamedAttribute> attributes_;
};

/// Types that follow the form.
std::string types_of(const Phrase& phrase, TypeForm form, Words& words) {
  const std::vector<Argument> operands = arguments_of(phrase);
  const std::vector<ir::Type> in = types_of_operands(phrase);
  const auto result = [&] { return words.type(phrase.result_types.front()); };
  const auto of_role = [&](std::string_view role) {
    const auto found = std::find_if(operands.begin(), operands.end(),
                                    [&](const Argument& it) { return it.role == role; });
    return found == operands.end() ? "" : words.type(found->type);
  };
  switch (form) {
    case TypeForm::none:
      return "";
    case TypeForm::result:
      return " : " + result();
    case TypeForm::first:
      return " : " + words.type(in.front());
    case TypeForm::operands: {
      std::vector<ir::Type> typed;  // coordinates of a box are written without types
      for (const auto& [role, name, type] : operands) {
        if (role != kIndices) typed.push_back(type);
      }
      return " : " + words.list(typed);
    }
    case TypeForm::cast:
      return " : " + words.type(in.front()) + " to " + result();
    case TypeForm::arrow:
      if (phrase.result_types.empty()) {
        return " : " + words.type(in.front()) + " -> " + words.type(in.back());
      }
      return " : " + words.type(in.front()) + " -> " + result();
    case TypeForm::function:
      return " : (" + words.list(in) + ") -> " + words.types(phrase.result_types);
    case TypeForm::product:
      return " : " + words.type(in[0]) + " * " + words.type(in[1]) + " -> " + result();
    case TypeForm::address:
      return " : " + result() + ", " + words.type(in[1]);
    case TypeForm::choice:
      return " : " + (ir::is_tensor(in[0]) ? words.type(in[0]) + ", " : "") + result();
    case TypeForm::copy_in:
      return " : " + of_role("desc") + ", " + of_role("barrier") + " -> " + of_role("destination");
    case TypeForm::copy:
      return " : " + words.type(in[0]) + " -> " + words.short_type(in[1]);
    case TypeForm::generic:
      break;
  }
  return "";
}

/// The value of a constant, in the type of the result.
std::string constant_of(const Phrase& phrase, Words& words) {
  const ir::Attribute value =
      std::find_if(phrase.attributes.begin(), phrase.attributes.end(), [](const auto& it) {
        return it.first == "value";
      })->second;
  if (value->kind != ir::AttributeKind::dense) return value->text;
  return value->text.substr(0, value->text.size() - value->type->text.size()) +
         words.type(phrase.result_types.front());
}

/// Text of an op in an unknown custom form, with other names of values.
std::string by_form(const Phrase& phrase) {
  std::string text;
  std::size_t next = 0;
  for (const char letter : phrase.form) {
    const bool names = letter == '%' && next < phrase.operands.size();
    text += names ? phrase.operands[next++].name : std::string(1, letter);
  }
  return text;
}

}  // namespace

std::pair<std::string, std::string> around_region(const Phrase& phrase, Words& words) {
  const std::string in = words.list(types_of_operands(phrase));
  std::string behind;
  if (!phrase.attributes.empty()) behind = " " + words.entries(phrase.attributes);
  behind += " : (" + in + ") -> " + words.types(phrase.result_types);
  return {left_of(phrase) + "\"" + phrase.op + "\"(" + list(names_of(phrase)) + ")", behind};
}

std::string spell(const Phrase& phrase, Words& words) {
  const std::string head = left_of(phrase) + phrase.op + " ";
  if (kind_of(phrase.op) == ir::OpKind::constant) return head + constant_of(phrase, words);
  const TypeForm form = type_form(todays_name(phrase.op));
  if (form == TypeForm::generic && phrase.form.empty()) {
    const auto [before, behind] = around_region(phrase, words);
    return before + behind;
  }
  if (form == TypeForm::generic) return head + by_form(phrase);
  FormatElement all;  // for an op without a format
  all.kind = Kind::operands;
  const Format* const format = format_of(todays_name(phrase.op));
  const bool has_syntax = format != nullptr && format->has_syntax;
  const std::string words_of_form =
      FormatPrinter(phrase, words)
          .print(has_syntax ? format->elements : std::vector<FormatElement>{all});
  std::string text = head + words_of_form;
  if (words_of_form.empty()) text.pop_back();
  return text + types_of(phrase, form, words);
}

}  // namespace twill::dialect
