// Reading a declaration of element types, and comparing a node with it.
#include "ir/op_types.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "ir/fault.h"
#include "ir/op_def.h"

namespace tenfold::ir {
namespace {

constexpr auto kTypes = static_cast<std::uint32_t>(DType::count_);

template <class Belongs>
TypeSet all_that(Belongs&& belongs) {
  std::uint32_t types = 0;
  for (std::uint32_t i = 0; i < kTypes; ++i)
    if (belongs(static_cast<DType>(i))) types |= 1u << i;
  return TypeSet(types);
}

bool is_whole(DType type) { return is_integer(type) && bits(type) >= 8; }
bool is_unsigned(DType type) { return is_whole(type) && name(type).front() == 'u'; }

struct Word {
  const char *word, *text;
  TypeSet types;
};
// The widest first, so that text() finds the shortest description.
const std::vector<Word>& words() {
  static const std::vector<Word> list = {
      {"any", "any type", all_that([](DType) { return true; })},
      {"dense", "numbers or booleans", all_that([](DType t) { return t != DType::string; })},
      {"number", "numbers", all_that([](DType t) { return is_float(t) || is_integer(t); })},
      {"float", "floats", all_that([](DType t) { return is_float(t); })},
      {"real", "floats of 16 bits or more", all_that([](DType t) { return is_float(t) && bits(t) >= 16; })},
      {"integer", "integers", all_that([](DType t) { return is_integer(t); })},
      {"int", "integers of 8 bits or more", all_that([](DType t) { return is_whole(t); })},
      {"uint", "unsigned integers of 8 bits or more", all_that([](DType t) { return is_unsigned(t); })},
  };
  return list;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<std::string> parts(const std::string& text, char between) {
  std::vector<std::string> all;
  std::size_t from = 0;
  for (std::size_t at = text.find(between); at != std::string::npos; from = at + 1, at = text.find(between, from))
    all.push_back(trimmed(text.substr(from, at - from)));
  all.push_back(trimmed(text.substr(from)));
  return all;
}

TypeSet parse_set(const std::string& text) {
  std::uint32_t types = 0;
  for (const std::string& part : parts(text, '|')) {
    const auto word = std::find_if(words().begin(), words().end(), [&](const Word& w) { return w.word == part; });
    if (word != words().end()) {
      types |= word->types.bits();
      continue;
    }
    const auto type = dtype_from_name(part);
    check(type.has_value(), "'", part, "' is no element type, nor a set of them");
    types |= 1u << static_cast<unsigned>(*type);
  }
  return TypeSet(types);
}

using Letters = std::map<std::string, TypeSet>;

std::vector<OpTypes::Slot> parse_slots(const std::string& text, const Letters& letters, bool& repeats) {
  std::vector<OpTypes::Slot> slots;
  if (trimmed(text).empty()) return slots;
  for (std::string word : parts(text, ',')) {
    repeats = word.ends_with("...");
    if (repeats) word.resize(word.size() - 3);
    if (word.ends_with('?')) word.pop_back();   // ir/signature.h
    const auto letter = letters.find(word);
    if (word == "*") slots.push_back({.free = true});
    else if (letter != letters.end()) slots.push_back({.letter = word, .types = letter->second});
    else slots.push_back({.types = parse_set(word)});
  }
  return slots;
}

}  // namespace

std::string TypeSet::text() const {
  for (const Word& word : words())
    if (word.types.bits() == types_) return word.text;
  std::vector<std::string> all;
  std::uint32_t rest = types_;
  for (const Word& word : words())
    if ((rest & word.types.bits()) == word.types.bits() && word.types.bits() != 0) all.emplace_back(word.text), rest &= ~word.types.bits();
  for (std::uint32_t i = 0; i < kTypes; ++i)
    if (rest >> i & 1) all.emplace_back(name(static_cast<DType>(i)));
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) text += (i == 0 ? "" : i + 1 == all.size() ? " or " : ", ") + all[i];
  return text;
}

OpTypes::OpTypes(const char* text) : text_(text) {
  if (text_.empty()) return;
  const std::vector<std::string> clauses = parts(text_, ';');
  const std::size_t arrow = clauses[0].find("->");
  check(arrow != std::string::npos, "'", text_, "' has no '->'");
  Letters letters;
  for (std::size_t i = 1; i < clauses.size(); ++i) {
    const std::vector<std::string> pair = parts(clauses[i], ':');
    check(pair.size() == 2, "'", text_, "': 'LETTER: TYPES' expected, not '", clauses[i], "'");
    letters[pair[0]] = parse_set(pair[1]);
  }
  operands_ = parse_slots(clauses[0].substr(0, arrow), letters, repeats_operand_);
  results_ = parse_slots(clauses[0].substr(arrow + 2), letters, repeats_result_);
}

const OpTypes::Slot* OpTypes::at(const std::vector<Slot>& slots, bool repeats, int i) {
  const auto size = static_cast<int>(slots.size());
  if (i < size) return &slots[static_cast<std::size_t>(i)];
  return repeats && size > 0 ? &slots.back() : nullptr;
}

int OpTypes::first_of(const Node& node, const Slot& slot, int own) const {
  for (int i = 0; i < own && !slot.letter.empty(); ++i)
    if (const Slot* other = operand(i); node.in(i) && other && other->letter == slot.letter) return i;
  return own;
}

// No words before they are needed: every node of a plan that is loaded comes by here.
void OpTypes::check_operands(const Node& node) const {
  const int all = static_cast<int>(node.inputs.size()), own = node.anchor_inputs >= 0 ? std::min(node.anchor_inputs, all) : all;
  const auto refuse = [&](int i, const std::string& expected) {
    const Value& value = *node.in(i);
    const bool tensor = value.type.kind == ValueType::Kind::tensor;
    const std::string message =
        cat("operand ", i, value.name.empty() ? "" : cat(" ('", value.name, "')"), " of ", node.op(), " is ",
            tensor ? std::string(name(value.dtype())) : ir::text(value.type), ", expected ", expected);
    // The standard lets many operators take strings or sequences that Tenfold only moves.
    supported(tensor && value.dtype() != DType::string, message);
    validate(false, message);
  };
  for (int i = 0; i < own; ++i) {
    const Slot* slot = operand(i);
    const Value* value = node.in(i);
    if (!value || !slot || slot->free) continue;
    if (value->type.kind != ValueType::Kind::tensor || !slot->types.has(value->dtype())) refuse(i, slot->types.text());
    const int first = first_of(node, *slot, own);
    if (first < i && node.in(first)->dtype() != value->dtype())
      refuse(i, cat(name(node.in(first)->dtype()), " as operand ", first, " is"));
  }
}

void OpTypes::check_results(const Node& node) const {
  for (int o = 0; o < static_cast<int>(node.outputs.size()); ++o) {
    const Slot* slot = result(o);
    const ValueType& found = node.out(o)->type;
    if (!slot || slot->free || found.kind != ValueType::Kind::tensor) continue;
    const int own = static_cast<int>(node.inputs.size()), first = first_of(node, *slot, own);
    const bool fits = slot->types.has(found.tensor.dtype) && (first == own || node.in(first)->dtype() == found.tensor.dtype);
    if (!fits) fail(ErrorKind::internal, cat("result ", o, " of ", node.op(), " is ", name(found.tensor.dtype), ", declared is ", text_));
  }
}

}  // namespace tenfold::ir
