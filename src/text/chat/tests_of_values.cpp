// Tests: {{ value is name }}.
#include <map>

#include "text/chat/renderer.h"
#include "text/chat/strings.h"

namespace tenfold::chat {
namespace {

using Test = bool (*)(Renderer&, const Value&, Given&);

std::int64_t number(Renderer& r, const Value& value) {
  if (!value.is_integer()) r.refuse(std::string("a whole number was expected, not a value of the type '") + value.type() + "'");
  return value.integer();
}

// Whether it orders so beside the argument.
template <int kLow, int kHigh>
bool ordered(Renderer&, const Value& of, Given& given) {
  const int order = compare(of, given.need("other"));
  return order >= kLow && order <= kHigh;
}

bool is_real_integer(const Value& of) { return of.get<std::int64_t>() != nullptr; }
bool is_sequence(const Value& of) { return of.text() || of.items() || of.pairs() || of.is_undefined(); }

bool same(Renderer&, const Value& of, Given& given) {
  const Value other = given.need("other");
  return std::string_view(of.type()) == other.type() && equal(of, other);
}

bool is_in(Renderer& r, const Value& of, Given& given) {
  const Value all = given.need("seq");
  if (all.text() && of.text()) return place_of(*all.text(), *of.text()) != std::string::npos;
  const Value items = r.sequence(all);
  for (const Value& one : *items.items())
    if (equal(one, of)) return true;
  return false;
}

const std::map<std::string, Test>& tests() {
  static const std::map<std::string, Test> all{
      {"defined", [](Renderer&, const Value& of, Given&) { return !of.is_undefined(); }},
      {"undefined", [](Renderer&, const Value& of, Given&) { return of.is_undefined(); }},
      {"none", [](Renderer&, const Value& of, Given&) { return of.is_none(); }},
      {"string", [](Renderer&, const Value& of, Given&) { return of.text() != nullptr; }},
      {"number", [](Renderer&, const Value& of, Given&) { return of.is_number(); }},
      {"integer", [](Renderer&, const Value& of, Given&) { return is_real_integer(of); }},
      {"float", [](Renderer&, const Value& of, Given&) { return of.get<double>() != nullptr; }},
      {"boolean", [](Renderer&, const Value& of, Given&) { return of.get<bool>() != nullptr; }},
      {"true", [](Renderer&, const Value& of, Given&) { return of.get<bool>() && of.truth(); }},
      {"false", [](Renderer&, const Value& of, Given&) { return of.get<bool>() && !of.truth(); }},
      {"mapping", [](Renderer&, const Value& of, Given&) { return of.pairs() != nullptr; }},
      {"sequence", [](Renderer&, const Value& of, Given&) { return is_sequence(of); }},
      {"iterable", [](Renderer&, const Value& of, Given&) { return is_sequence(of); }},
      {"callable", [](Renderer&, const Value& of, Given&) { return of.function() != nullptr; }},
      {"odd", [](Renderer& r, const Value& of, Given&) { return number(r, of) % 2 != 0; }},
      {"even", [](Renderer& r, const Value& of, Given&) { return number(r, of) % 2 == 0; }},
      {"divisibleby",
       [](Renderer& r, const Value& of, Given& g) {
         const std::int64_t by = number(r, g.need("num"));
         if (by == 0) r.refuse("division by zero");
         return by == -1 || number(r, of) % by == 0;
       }},
      {"upper", [](Renderer&, const Value& of, Given&) { return upper(text_of(of)) == text_of(of) && lower(text_of(of)) != text_of(of); }},
      {"lower", [](Renderer&, const Value& of, Given&) { return lower(text_of(of)) == text_of(of) && upper(text_of(of)) != text_of(of); }},
      {"sameas", same},
      {"in", is_in},
      {"eq", [](Renderer&, const Value& of, Given& g) { return equal(of, g.need("other")); }},
      {"equalto", [](Renderer&, const Value& of, Given& g) { return equal(of, g.need("other")); }},
      {"==", [](Renderer&, const Value& of, Given& g) { return equal(of, g.need("other")); }},
      {"ne", [](Renderer&, const Value& of, Given& g) { return !equal(of, g.need("other")); }},
      {"!=", [](Renderer&, const Value& of, Given& g) { return !equal(of, g.need("other")); }},
      {"lt", ordered<-9, -1>},
      {"lessthan", ordered<-9, -1>},
      {"<", ordered<-9, -1>},
      {"le", ordered<-9, 0>},
      {"<=", ordered<-9, 0>},
      {"gt", ordered<1, 9>},
      {"greaterthan", ordered<1, 9>},
      {">", ordered<1, 9>},
      {"ge", ordered<0, 9>},
      {">=", ordered<0, 9>}};
  return all;
}

}  // namespace

bool Renderer::passes(const std::string& name, const Value& value, Arguments& arguments) {
  const auto found = tests().find(name);
  if (found == tests().end()) not_there("the test 'is " + name + "' is not supported");
  charge(value.extent().size / 16), charge(arguments);
  Given given(arguments, "the test " + name);
  const bool holds = found->second(*this, value, given);
  given.end();
  return holds;
}

}  // namespace tenfold::chat
