// Filters: {{ value | name }}.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "text/chat/renderer.h"
#include "text/chat/strings.h"

namespace tenfold::chat {
namespace {

using Filter = Value (*)(Renderer&, const Value&, Given&);

// By "name", "name.other" or a place.
Value by_path(Renderer& r, Value of, const Value& path) {
  if (!path.text()) return r.item(of, path);
  r.charge(static_cast<std::int64_t>(path.text()->size() / 16));
  for (const Value& part : split(*path.text(), ".", -1, false)) {
    std::int64_t place = 0;
    const std::string& name = *part.text();
    const bool number = !name.empty() && std::from_chars(name.data(), name.data() + name.size(), place).ptr == name.data() + name.size();
    of = number ? r.item(of, place) : r.item(of, part);
  }
  return of;
}

// What items are ordered by: an attribute, texts without regard to case.
Value key_of(Renderer& r, const Value& item, const Value& attribute, bool cased) {
  const Value key = attribute.is_none() ? item : by_path(r, item, attribute);
  return key.text() && !cased ? Value(lower(*key.text())) : key;
}

Value mapped(Renderer& r, const Value& of, Given& given) {
  const Value all = r.sequence(of);
  List results;
  Arguments rest = given.rest();
  const auto named = [&](const char* name) {
    const auto at = std::find_if(rest.named.begin(), rest.named.end(), [&](const auto& one) { return one.first == name; });
    return at == rest.named.end() ? Value() : at->second;
  };
  if (rest.positional.empty()) {
    const Value path = named("attribute"), otherwise = named("default");
    if (path.is_undefined()) r.refuse("map() takes the name of a filter or attribute='name'");
    for (const Value& one : *all.items()) {
      Value found = by_path(r, one, path);
      results.push_back(found.is_undefined() && !otherwise.is_undefined() ? otherwise : std::move(found));
    }
  } else {
    const std::string name = text_of(rest.positional[0]);
    rest.positional.erase(rest.positional.begin());
    for (const Value& one : *all.items()) {
      Arguments own = rest;
      results.push_back(r.filtered(name, one, own));
    }
  }
  return Value::list(std::move(results));
}

// Those that pass a test, or do not; without a test: those that are true.
template <bool kKeep, bool kByAttribute>
Value selected(Renderer& r, const Value& of, Given& given) {
  const Value all = r.sequence(of);
  Arguments rest = given.rest();
  const auto taken = [&] {
    const Value first = rest.positional.front();
    rest.positional.erase(rest.positional.begin());
    return first;
  };
  if (kByAttribute && rest.positional.empty()) r.refuse(given.what() + " takes the name of an attribute");
  const Value path = kByAttribute ? taken() : Value(None{});
  const std::string test = rest.positional.empty() ? "" : text_of(taken());
  List kept;
  for (const Value& one : *all.items()) {
    const Value tested = kByAttribute ? by_path(r, one, path) : one;
    Arguments own = rest;
    if ((test.empty() ? tested.truth() : r.passes(test, tested, own)) == kKeep) kept.push_back(one);
  }
  return Value::list(std::move(kept));
}

// Values by their keys, which stand before them.
Value in_order(Renderer& r, std::vector<std::pair<Value, Value>> keyed, bool backwards) {
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    r.charge(1);
    return backwards ? compare(b.first, a.first) < 0 : compare(a.first, b.first) < 0;
  });
  List items;
  for (auto& one : keyed) items.push_back(std::move(one.second));
  return Value::list(std::move(items));
}

Value sorted(Renderer& r, const Value& of, Given& given) {
  const bool backwards = given.next("reverse", false).truth(), cased = given.next("case_sensitive", false).truth();
  const Value attribute = given.next("attribute", None{}), all = r.sequence(of);
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& one : *all.items()) keyed.emplace_back(key_of(r, one, attribute, cased), one);
  return in_order(r, std::move(keyed), backwards);
}

Value unique(Renderer& r, const Value& of, Given& given) {
  const bool cased = given.next("case_sensitive", false).truth();
  const Value attribute = given.next("attribute", None{}), all = r.sequence(of);
  List keys, kept;
  for (const Value& one : *all.items()) {
    const Value key = key_of(r, one, attribute, cased);
    r.charge(static_cast<std::int64_t>(keys.size()) * (1 + key.extent().size / 64) / 4);
    if (std::any_of(keys.begin(), keys.end(), [&](const Value& old) { return equal(old, key); })) continue;
    keys.push_back(key), kept.push_back(one);
  }
  return Value::list(std::move(kept));
}

template <bool kLargest>
Value extreme(Renderer& r, const Value& of, Given& given) {
  const bool cased = given.next("case_sensitive", false).truth();
  const Value attribute = given.next("attribute", None{}), all = r.sequence(of);
  if (all.items()->empty()) return Value::undefined("an element of an empty list");
  const Value* best = &all.items()->front();
  Value best_key = key_of(r, *best, attribute, cased);
  for (const Value& one : *all.items()) {
    Value key = key_of(r, one, attribute, cased);
    const int order = compare(key, best_key);
    if (kLargest ? order > 0 : order < 0) best = &one, best_key = std::move(key);
  }
  return *best;
}

Value dict_sorted(Renderer& r, const Value& of, Given& given) {
  if (!of.pairs()) r.refuse("dictsort takes an object");
  const bool cased = given.next("case_sensitive", false).truth();
  const bool by_value = text_of(given.next("by", "key")) == "value";
  const bool backwards = given.next("reverse", false).truth();
  r.charge(static_cast<std::int64_t>(of.pairs()->size()));
  std::vector<std::pair<Value, Value>> keyed;
  for (const auto& [key, value] : *of.pairs())
    keyed.emplace_back(key_of(r, by_value ? value : key, None{}, cased), Value::list({key, value}, true));
  return in_order(r, std::move(keyed), backwards);
}

Value joined(Renderer& r, const Value& of, Given& given) {
  const std::string between = text_of(given.next("d", ""));
  const Value attribute = given.next("attribute", None{}), all = r.sequence(of);
  std::string out;
  bool first = true;
  for (const Value& one : *all.items()) {
    if (!first) out += between;
    first = false, out += text_of(attribute.is_none() ? one : by_path(r, one, attribute));
    if (out.size() > static_cast<std::size_t>(Value::kLargest)) break;
  }
  r.charge(static_cast<std::int64_t>(out.size() / 32));
  return Value::bounded(std::move(out));
}

Value as_json(Renderer& r, const Value& of, Given& given) {
  JsonStyle style{.comma = ", ", .colon = ": "};
  style.ascii = given.next("ensure_ascii", false).truth();
  const Value indent = given.next("indent", None{}), separators = given.next("separators", None{});
  style.sorted = given.next("sort_keys", false).truth();
  if (indent.is_integer()) style.indent = static_cast<int>(std::clamp<std::int64_t>(indent.integer(), 0, 64)), style.comma = ",";
  if (const List* both = separators.items(); both && both->size() == 2)
    style.comma = text_of((*both)[0]), style.colon = text_of((*both)[1]);
  if (of.is_undefined()) r.refuse("JSON has no value for what is undefined");
  r.charge(of.extent().size / 8);
  std::string text = json_of(of, style);
  r.charge(static_cast<std::int64_t>(text.size() / 32));
  return Value::bounded(std::move(text));
}

Value whole(Renderer&, const Value& of, Given& given) {
  const Value otherwise = given.next("default", 0);
  const std::int64_t base = given.next("base", 10).integer();
  if (of.is_number()) return of.integer();
  if (!of.text() || base < 2 || base > 36) return otherwise;
  const std::string digits = stripped(*of.text(), "", true, true);
  std::int64_t number = 0;
  const char* const begin = digits.data() + (digits.starts_with('+') ? 1 : 0);
  const char* const end = digits.data() + digits.size();
  if (begin != end && std::from_chars(begin, end, number, static_cast<int>(base)).ptr == end) return number;
  double real = 0;
  if (begin != end && std::from_chars(begin, end, real).ptr == end) return Value(real).integer();
  return otherwise;
}

Value real(Renderer&, const Value& of, Given& given) {
  const Value otherwise = given.next("default", 0.0);
  if (of.is_number()) return of.real();
  const std::string digits = of.text() ? stripped(*of.text(), "", true, true) : "";
  double number = 0;
  const char* const end = digits.data() + digits.size();
  return !digits.empty() && std::from_chars(digits.data(), end, number).ptr == end ? Value(number) : otherwise;
}

Value rounded(Renderer& r, const Value& of, Given& given) {
  const auto digits = static_cast<int>(std::clamp<std::int64_t>(given.next("precision", 0).integer(), 0, 300));
  const std::string how = text_of(given.next("method", "common"));
  if (!of.is_number()) r.refuse("round takes a number");
  const double power = std::pow(10.0, digits);
  if (how == "ceil") return std::ceil(of.real() * power) / power;
  if (how == "floor") return std::floor(of.real() * power) / power;
  if (how != "common") r.refuse("round: the method is common, ceil or floor");
  char text[700];
  const auto end = std::to_chars(text, text + sizeof text, of.real(), std::chars_format::fixed, digits).ptr;
  double value = 0;
  std::from_chars(text, end, value);
  return of.is_integer() ? Value(of.integer()) : Value(value);
}

Value indented(Renderer& r, const Value& of, Given& given) {
  const Value width = given.next("width", 4);
  const bool first = given.next("first", false).truth(), blank = given.next("blank", false).truth();
  if (width.is_integer() && width.integer() > 1000) r.refuse("indent: the width is above 1,000");
  const std::string before =
      width.text() ? *width.text() : std::string(static_cast<std::size_t>(std::max<std::int64_t>(width.integer(), 0)), ' ');
  const List all = lines(text_of(of) + "\n");
  std::string out = first ? before : "";
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string& line = *all[i].text();
    if (i > 0) out += "\n" + (blank || !line.empty() ? before : "");
    out += line;
    if (out.size() > static_cast<std::size_t>(Value::kLargest)) break;
  }
  r.charge(static_cast<std::int64_t>(out.size() / 32));
  return Value::bounded(std::move(out));
}

Value length(Renderer& r, const Value& of, Given&) {
  if (!of.text() && !of.items() && !of.pairs() && !of.is_undefined())
    r.refuse(std::string("a value of the type '") + of.type() + "' has no length");
  return r.sequence(of).items()->size();
}

Value reversed(Renderer& r, const Value& of, Given&) {
  const Value all = r.sequence(of);
  List items(all.items()->rbegin(), all.items()->rend());
  if (!of.text()) return Value::list(std::move(items));
  std::string out;
  for (const Value& one : items) out += *one.text();
  return out;
}

Value summed(Renderer& r, const Value& of, Given& given) {
  const Value attribute = given.next("attribute", None{}), start = given.next("start", 0), all = r.sequence(of);
  double real = start.real();
  std::int64_t number = start.integer();
  bool whole = start.is_integer();
  for (const Value& one : *all.items()) {
    const Value part = attribute.is_none() ? one : by_path(r, one, attribute);
    if (!part.is_number()) r.refuse("sum takes numbers");
    whole = whole && part.is_integer(), real += part.real();
    if (whole && __builtin_add_overflow(number, part.integer(), &number)) r.refuse("a whole number is larger than 2^63");
  }
  return whole ? Value(number) : Value(real);
}

Value defaulted(Renderer&, const Value& of, Given& given) {
  const Value otherwise = given.next("default_value", "");
  const bool false_too = given.next("boolean", false).truth();
  return of.is_undefined() || (false_too && !of.truth()) ? otherwise : of;
}

Value absolute(Renderer& r, const Value& of, Given&) {
  if (!of.is_number()) r.refuse("abs takes a number");
  if (!of.is_integer()) return std::abs(of.real());
  return of.integer() < 0 && of.integer() != INT64_MIN ? -of.integer() : of.integer();
}

bool begins_word(char32_t c) { return is_white(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<'; }

const std::map<std::string, Filter>& filters() {
  static const std::map<std::string, Filter> all{
      {"map", mapped},
      {"select", selected<true, false>},
      {"reject", selected<false, false>},
      {"selectattr", selected<true, true>},
      {"rejectattr", selected<false, true>},
      {"sort", sorted},
      {"unique", unique},
      {"max", extreme<true>},
      {"min", extreme<false>},
      {"dictsort", dict_sorted},
      {"join", joined},
      {"tojson", as_json},
      {"int", whole},
      {"float", real},
      {"round", rounded},
      {"indent", indented},
      {"length", length},
      {"count", length},
      {"reverse", reversed},
      {"sum", summed},
      {"default", defaulted},
      {"d", defaulted},
      {"abs", absolute},
      {"list", [](Renderer& r, const Value& of, Given&) { return Value::list(*r.sequence(of).items()); }},
      {"string", [](Renderer&, const Value& of, Given&) { return Value::bounded(text_of(of)); }},
      {"safe", [](Renderer&, const Value& of, Given&) { return Value::bounded(text_of(of)); }},
      {"upper", [](Renderer&, const Value& of, Given&) -> Value { return upper(text_of(of)); }},
      {"lower", [](Renderer&, const Value& of, Given&) -> Value { return lower(text_of(of)); }},
      {"capitalize", [](Renderer&, const Value& of, Given&) -> Value { return capitalized(text_of(of)); }},
      {"title", [](Renderer&, const Value& of, Given&) -> Value { return titled(text_of(of), begins_word); }},
      {"escape", [](Renderer&, const Value& of, Given&) { return Value::bounded(escaped(text_of(of))); }},
      {"e", [](Renderer&, const Value& of, Given&) { return Value::bounded(escaped(text_of(of))); }},
      {"trim",
       [](Renderer&, const Value& of, Given& g) -> Value {
         const Value which = g.next("chars", None{});
         return stripped(text_of(of), which.is_none() ? "" : text_of(which), true, true);
       }},
      {"first",
       [](Renderer& r, const Value& of, Given&) {
         const Value all = r.sequence(of);
         return all.items()->empty() ? Value::undefined("the first element of an empty list") : all.items()->front();
       }},
      {"last",
       [](Renderer& r, const Value& of, Given&) {
         const Value all = r.sequence(of);
         return all.items()->empty() ? Value::undefined("the last element of an empty list") : all.items()->back();
       }},
      {"items",
       [](Renderer& r, const Value& of, Given&) {
         Arguments none;
         return of.is_undefined() ? Value::list({}) : r.call(r.attribute(of, "items"), none);
       }},
      {"replace", [](Renderer&, const Value& of, Given& g) -> Value {
         const std::string old = text_of(g.need("old")), with = text_of(g.need("new"));
         const Value times = g.next("count", None{});
         return replaced(text_of(of), old, with, times.is_none() ? -1 : times.integer());
       }}};
  return all;
}

}  // namespace

Value Renderer::filtered(const std::string& name, const Value& value, Arguments& arguments) {
  const auto found = filters().find(name);
  if (found == filters().end()) {
    std::string names;
    for (const auto& one : filters()) names += (names.empty() ? "" : ", ") + one.first;
    not_there("the filter '" + name + "' is not supported; there are " + names);
  }
  const Deeper deeper(*this);  // map('map', ...)
  charge(value.extent().size / 16), charge(arguments);
  Given given(arguments, "the filter " + name);
  Value result = found->second(*this, value, given);
  const bool takes_names = name == "map" || name.starts_with("select") || name.starts_with("reject");
  if (!takes_names) given.end();
  return result;
}

}  // namespace tenfold::chat
