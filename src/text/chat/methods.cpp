// Methods of texts, lists and objects, and the functions that every template has.
#include <algorithm>
#include <array>
#include <ctime>
#include <map>

#include "text/chars.h"
#include "text/chat/renderer.h"
#include "text/chat/strings.h"
#include "text/fail.h"
#include "text/tokenizers/unicode/unicode.h"

namespace tenfold::chat {
namespace {

using Method = Value (*)(Renderer&, const Value&, Given&);
using tokenizing::Unicode;

const std::string& text_given(Renderer& r, const Given& given, const Value& value) {
  if (!value.text()) r.refuse(given.what() + " takes a text, not a value of the type '" + value.type() + "'");
  return *value.text();
}
std::string optional_text(Renderer& r, Given& given, const char* name) {
  const Value value = given.next(name, None{});
  return value.is_none() ? "" : text_given(r, given, value);
}
std::int64_t times(Given& given, const char* name) {
  const Value value = given.next(name, -1);
  return value.is_integer() ? value.integer() : -1;
}

template <bool kLeft, bool kRight>
Value strip(Renderer& r, const Value& of, Given& given) {
  return stripped(*of.text(), optional_text(r, given, "chars"), kLeft, kRight);
}
template <bool kFromRight>
Value split_text(Renderer& r, const Value& of, Given& given) {
  const Value separator = given.next("sep", None{});
  if (separator.text() && separator.text()->empty()) r.refuse("a text is split by an empty separator");
  const std::string by = separator.is_none() ? "" : text_given(r, given, separator);
  List parts = split(*of.text(), by, times(given, "maxsplit"), kFromRight);
  r.charge(static_cast<std::int64_t>(parts.size() / 2));
  return Value::list(std::move(parts));
}
// One beginning, or several.
template <bool kStart>
Value begins(Renderer& r, const Value& of, Given& given) {
  const Value what = given.need("prefix");
  const auto fits = [&](const Value& one) {
    const std::string& part = text_given(r, given, one);
    return kStart ? of.text()->starts_with(part) : of.text()->ends_with(part);
  };
  return what.items() ? std::any_of(what.items()->begin(), what.items()->end(), fits) : fits(what);
}
template <bool kStart>
Value without(Renderer& r, const Value& of, Given& given) {
  const Value value = given.need("part");
  const std::string &part = text_given(r, given, value), &own = *of.text();
  if (kStart ? !own.starts_with(part) : !own.ends_with(part)) return of;
  return kStart ? own.substr(part.size()) : own.substr(0, own.size() - part.size());
}
// Where a part stands, counted in characters.
template <bool kLast>
Value place(Renderer& r, const Value& of, Given& given) {
  const Value part = given.need("sub");
  const std::size_t at = kLast ? last_place_of(*of.text(), text_given(r, given, part)) : place_of(*of.text(), text_given(r, given, part));
  return at == std::string::npos ? Value(-1) : Value(tokenizing::scalars(of.text()->substr(0, at)).size());
}
bool is_letter(char32_t c) {
  return Unicode::tables().is(c, tokenizing::kWord) && !Unicode::tables().is(c, tokenizing::kDigit | tokenizing::kMark) && c != '_';
}

Value join(Renderer& r, const Value& of, Given& given) {
  const Value all = r.sequence(given.need("iterable"));
  std::string out;
  for (const Value& one : *all.items()) {
    if (&one != all.items()->data()) out += *of.text();
    out += text_given(r, given, one);
    if (out.size() > static_cast<std::size_t>(Value::kLargest)) break;
  }
  r.charge(static_cast<std::int64_t>(out.size() / 32));
  return Value::bounded(out);
}

const std::map<std::string, Method>& text_methods() {
  static const std::map<std::string, Method> all{
      {"strip", strip<true, true>},
      {"lstrip", strip<true, false>},
      {"rstrip", strip<false, true>},
      {"split", split_text<false>},
      {"rsplit", split_text<true>},
      {"startswith", begins<true>},
      {"endswith", begins<false>},
      {"removeprefix", without<true>},
      {"removesuffix", without<false>},
      {"find", place<false>},
      {"rfind", place<true>},
      {"join", join},
      {"upper", [](Renderer&, const Value& of, Given&) -> Value { return upper(*of.text()); }},
      {"lower", [](Renderer&, const Value& of, Given&) -> Value { return lower(*of.text()); }},
      {"capitalize", [](Renderer&, const Value& of, Given&) -> Value { return capitalized(*of.text()); }},
      {"title", [](Renderer&, const Value& of, Given&) -> Value { return titled(*of.text(), [](char32_t c) { return !is_letter(c); }); }},
      {"splitlines",
       [](Renderer&, const Value& of, Given& g) { return Value::list(lines(*of.text(), g.next("keepends", false).truth())); }},
      {"isdigit",
       [](Renderer&, const Value& of, Given&) -> Value { return all_of(*of.text(), [](char32_t c) { return c >= '0' && c <= '9'; }); }},
      {"isspace", [](Renderer&, const Value& of, Given&) -> Value { return all_of(*of.text(), is_white); }},
      {"isalpha", [](Renderer&, const Value& of, Given&) -> Value { return all_of(*of.text(), is_letter); }},
      {"isupper",
       [](Renderer&, const Value& of, Given&) -> Value { return upper(*of.text()) == *of.text() && lower(*of.text()) != *of.text(); }},
      {"islower",
       [](Renderer&, const Value& of, Given&) -> Value { return lower(*of.text()) == *of.text() && upper(*of.text()) != *of.text(); }},
      {"count",
       [](Renderer& r, const Value& of, Given& g) -> Value {
         const Value part = g.need("sub");
         return count(*of.text(), text_given(r, g, part));
       }},
      {"replace", [](Renderer& r, const Value& of, Given& g) -> Value {
         const Value old = g.need("old"), with = g.need("new");
         return replaced(*of.text(), text_given(r, g, old), text_given(r, g, with), times(g, "count"));
       }}};
  return all;
}

Value pair_list(Renderer& r, const Items& pairs) {
  r.charge(static_cast<std::int64_t>(pairs.size()));
  List all;
  for (const auto& [key, value] : pairs) all.push_back(Value::list({key, value}, true));
  return Value::list(std::move(all));
}

const std::map<std::string, Method>& dict_methods() {
  static const std::map<std::string, Method> all{{"items", [](Renderer& r, const Value& of, Given&) { return pair_list(r, *of.pairs()); }},
                                                 {"keys", [](Renderer& r, const Value& of, Given&) { return r.sequence(of); }},
                                                 {"values",
                                                  [](Renderer&, const Value& of, Given&) {
                                                    List values;
                                                    for (const auto& one : *of.pairs()) values.push_back(one.second);
                                                    return Value::list(std::move(values));
                                                  }},
                                                 {"get", [](Renderer&, const Value& of, Given& g) {
                                                    const Value key = g.need("key"), otherwise = g.next("default", None{});
                                                    const Value* found = find(*of.pairs(), key);
                                                    return found ? *found : otherwise;
                                                  }}};
  return all;
}

const std::map<std::string, Method>& list_methods() {
  static const std::map<std::string, Method> all{
      {"count",
       [](Renderer&, const Value& of, Given& g) -> Value {
         const Value one = g.need("value");
         return static_cast<std::int64_t>(
             std::count_if(of.items()->begin(), of.items()->end(), [&](const Value& v) { return equal(v, one); }));
       }},
      {"index", [](Renderer& r, const Value& of, Given& g) -> Value {
         const Value one = g.need("value");
         const auto at = std::find_if(of.items()->begin(), of.items()->end(), [&](const Value& v) { return equal(v, one); });
         if (at == of.items()->end()) r.refuse("the list does not hold " + quoted(one));
         return static_cast<std::int64_t>(at - of.items()->begin());
       }}};
  return all;
}

Value range(Renderer& r, Given& given) {
  constexpr std::int64_t kLongest = 100'000;  // as transformers' sandbox has it
  const Value first = given.need("start"), second = given.next("stop", {}), third = given.next("step", 1);
  for (const Value* one : {&first, &second, &third})
    if (!one->is_integer() && !one->is_undefined()) r.refuse("range() takes whole numbers");
  const std::int64_t from = second.is_undefined() ? 0 : first.integer(), to = second.is_undefined() ? first.integer() : second.integer(),
                     step = third.integer();
  if (step == 0) r.refuse("the step of range() is 0");
  List all;
  for (__int128 i = from; step > 0 ? i < to : i > to; i += step) {
    if (static_cast<std::int64_t>(all.size()) == kLongest) r.refuse("range() has more than " + std::to_string(kLongest) + " numbers");
    all.emplace_back(static_cast<std::int64_t>(i));
  }
  r.charge(static_cast<std::int64_t>(all.size()));
  return Value::list(std::move(all));
}

Value now_as(Renderer& r, Given& given) {
  const Value format = given.need("format");
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  std::array<char, 512> text{};
  if (!format.text()) r.refuse("strftime_now() takes a text");
  return std::string(text.data(), std::strftime(text.data(), text.size(), format.text()->c_str(), localtime_r(&now, &local)));
}

}  // namespace

Value method(Renderer& renderer, const Value& of, const std::string& name) {
  const std::map<std::string, Method>* all = of.text()    ? &text_methods()
                                             : of.pairs() ? &dict_methods()
                                             : of.items() ? &list_methods()
                                                          : nullptr;
  if (!all) return {};
  const auto found = all->find(name);
  if (found == all->end()) return {};
  auto bound = [&renderer, of, name, act = found->second](Arguments& arguments) {
    renderer.charge(of.extent().size / 16);
    Given given(arguments, name + "()");
    Value result = act(renderer, of, given);
    given.end();
    return result;
  };
  return Value::function(name, std::move(bound), &of);
}

void add_globals(Renderer& renderer, Frame& to) {
  const auto add = [&](const char* name, auto act) {
    to.set(name, Value::function(name, [&renderer, name, act](Arguments& arguments) {
             Given given(arguments, std::string(name) + "()");
             Value result = act(renderer, given);
             given.end();
             return result;
           }));
  };
  add("range", range);
  add("strftime_now", now_as);
  add("raise_exception", [](Renderer& r, Given& given) -> Value { r.refuse(text_of(given.need("message"))); });
  to.set("dict", Value::function("dict", [&renderer](Arguments& arguments) {
           Items pairs = !arguments.positional.empty() && arguments.positional[0].pairs() ? *arguments.positional[0].pairs() : Items();
           for (const auto& [name, value] : arguments.named) {
             renderer.charge(static_cast<std::int64_t>(pairs.size() / 16));
             set(pairs, name, value);
           }
           return Value::dict(std::move(pairs));
         }));
  to.set("namespace", Value::function("namespace", [&renderer](Arguments& arguments) {
           auto space = std::make_shared<Space>();
           const auto give = [&](const std::string& name, const Value& value) {
             renderer.charge(static_cast<std::int64_t>(space->names.size() / 64));
             space->set(name, value);
           };
           for (const Value& one : arguments.positional)
             for (const auto& [key, value] : one.pairs() ? *one.pairs() : Items()) give(text_of(key), value);
           for (const auto& [name, value] : arguments.named) give(name, value);
           renderer.keep(space);
           return Value(space);
         }));
}

}  // namespace tenfold::chat
