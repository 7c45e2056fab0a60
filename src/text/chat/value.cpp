#include "text/chat/value.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "text/fail.h"

namespace tenfold::chat {

using tokenizing::fail;

namespace {

int deeper(int depth) {
  if (depth >= Value::kDeepest)
    fail(ErrorKind::invalid_argument, "lists and objects lie in each other more than " + std::to_string(Value::kDeepest) + " deep");
  return depth + 1;
}

}  // namespace

void Extent::hold(const Extent& part) {
  depth = std::max(depth, part.depth), size += part.size;
  if (size > Value::kLargest)
    fail(ErrorKind::invalid_argument, "a value has more than " + std::to_string(Value::kLargest) + " elements and characters");
}

Value* Space::find(const std::string& name) {
  for (auto& [key, value] : names)
    if (key == name) return &value;
  return nullptr;
}

void Space::set(const std::string& name, Value value) {
  if (Value* old = find(name))
    *old = std::move(value);
  else
    names.emplace_back(name, std::move(value));
}

Value Value::undefined(std::string name) {
  constexpr std::size_t kLongest = 1000;  // of a name in a message
  if (name.size() > kLongest) name = "a value whose name has more than " + std::to_string(kLongest) + " bytes";
  Value value;
  value.data_ = Undefined{std::make_shared<const std::string>(std::move(name))};
  return value;
}

Value Value::bounded(std::string text) {
  Value value(std::move(text));
  Extent().hold(value.extent());
  return value;
}

Value Value::list(List items, bool tuple) {
  Extent extent;
  for (const Value& one : items) extent.hold(one.extent());
  extent.depth = deeper(extent.depth);
  Value value;
  value.data_ = std::make_shared<const ListData>(ListData{std::move(items), extent, tuple});
  return value;
}

Value Value::dict(Items items) {
  Extent extent;
  for (const auto& [key, one] : items) extent.hold(key.extent()), extent.hold(one.extent());
  extent.depth = deeper(extent.depth);
  Value value;
  value.data_ = std::make_shared<const DictData>(DictData{std::move(items), extent});
  return value;
}

Value Value::function(std::string name, std::function<Value(Arguments&)> call, const Value* holds) {
  Extent extent = holds ? holds->extent() : Extent();
  if (holds) ++extent.depth;  // the list that holds it is refused, so that methods of the deepest values are there
  Value value;
  value.data_ = std::make_shared<const Function>(Function{std::move(name), std::move(call), extent});
  return value;
}

const std::string* Value::text() const {
  const auto* held = get<std::shared_ptr<const std::string>>();
  return held ? held->get() : nullptr;
}
const List* Value::items() const {
  const auto* held = get<std::shared_ptr<const ListData>>();
  return held ? &(*held)->items : nullptr;
}
const Items* Value::pairs() const {
  const auto* held = get<std::shared_ptr<const DictData>>();
  return held ? &(*held)->items : nullptr;
}
Space* Value::space() const {
  const auto* held = get<std::shared_ptr<Space>>();
  return held ? held->get() : nullptr;
}
const Function* Value::function() const {
  const auto* held = get<std::shared_ptr<const Function>>();
  return held ? held->get() : nullptr;
}

std::int64_t Value::integer() const {
  if (const bool* flag = get<bool>()) return *flag;
  if (const std::int64_t* whole = get<std::int64_t>()) return *whole;
  const double* real = get<double>();
  return real && std::abs(*real) < 9e18 ? static_cast<std::int64_t>(*real) : 0;
}

double Value::real() const {
  const double* real = get<double>();
  return real ? *real : static_cast<double>(integer());
}

bool Value::truth() const {
  if (is_number()) return real() != 0;
  if (const std::string* own = text()) return !own->empty();
  if (const List* own = items()) return !own->empty();
  if (const Items* own = pairs()) return !own->empty();
  return space() || function();
}

const char* Value::type() const {
  if (get<bool>()) return "bool";
  if (get<std::int64_t>()) return "int";
  if (get<double>()) return "float";
  if (text()) return "str";
  if (items()) return (*get<std::shared_ptr<const ListData>>())->tuple ? "tuple" : "list";
  if (pairs()) return "dict";
  if (space()) return "Namespace";
  if (function()) return "function";
  return is_none() ? "NoneType" : "Undefined";
}

Extent Value::extent() const {
  if (const auto* list = get<std::shared_ptr<const ListData>>()) return (*list)->extent;
  if (const auto* dict = get<std::shared_ptr<const DictData>>()) return (*dict)->extent;
  if (const Function* function = this->function()) return function->extent;
  return {.depth = 0, .size = 1 + static_cast<std::int64_t>(text() ? text()->size() : 0)};
}

bool equal(const Value& a, const Value& b) {
  if (a.is_integer() && b.is_integer()) return a.integer() == b.integer();
  if (a.is_number() && b.is_number()) return a.real() == b.real();
  if (a.text() && b.text()) return *a.text() == *b.text();
  if (a.is_none() || a.is_undefined()) return std::string_view(a.type()) == b.type();
  if (a.items() && b.items())
    return std::string_view(a.type()) == b.type() &&
           std::equal(a.items()->begin(), a.items()->end(), b.items()->begin(), b.items()->end(), equal);
  if (a.pairs() && b.pairs())
    return a.pairs()->size() == b.pairs()->size() && std::all_of(a.pairs()->begin(), a.pairs()->end(), [&](const auto& one) {
             const Value* other = find(*b.pairs(), one.first);
             return other && equal(one.second, *other);
           });
  if (a.space() && b.space()) return a.space() == b.space();
  return a.function() && a.function() == b.function();
}

int compare(const Value& a, const Value& b) {
  if (a.is_integer() && b.is_integer()) return a.integer() < b.integer() ? -1 : a.integer() > b.integer();
  if (a.is_number() && b.is_number()) return a.real() < b.real() ? -1 : a.real() > b.real();
  if (a.text() && b.text()) {  // UTF-8 has the order of its characters
    const int order = a.text()->compare(*b.text());
    return order < 0 ? -1 : order > 0;
  }
  if (a.items() && b.items()) {
    const std::size_t both = std::min(a.items()->size(), b.items()->size());
    for (std::size_t i = 0; i < both; ++i)
      if (!equal((*a.items())[i], (*b.items())[i])) return compare((*a.items())[i], (*b.items())[i]);
    return a.items()->size() < b.items()->size() ? -1 : a.items()->size() > b.items()->size();
  }
  fail(ErrorKind::invalid_argument, std::string("'") + a.type() + "' and '" + b.type() + "' have no order");
}

const Value* find(const Items& items, const Value& key) {
  for (const auto& [own, value] : items)
    if (equal(own, key)) return &value;
  return nullptr;
}

void set(Items& items, Value key, Value value) {
  for (auto& [own, old] : items)
    if (equal(own, key)) return void(old = std::move(value));
  items.emplace_back(std::move(key), std::move(value));
}

Value value_of(const nlohmann::ordered_json& json) {
  // Objects are taken apart before their depth is counted, so it is counted on the way down.
  const std::function<Value(const nlohmann::ordered_json&, int)> made = [&](const nlohmann::ordered_json& one, int depth) -> Value {
    if (one.is_null()) return None{};
    if (one.is_boolean()) return one.get<bool>();
    if (one.is_number_unsigned() && one.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) return one.get<double>();
    if (one.is_number_integer()) return one.get<std::int64_t>();
    if (one.is_number()) return one.get<double>();
    if (one.is_string()) return one.get<std::string>();
    depth = deeper(depth);
    if (one.is_array()) {
      List items;
      for (const auto& item : one) items.push_back(made(item, depth));
      return Value::list(std::move(items));
    }
    Items pairs;
    for (const auto& [key, item] : one.items()) pairs.emplace_back(key, made(item, depth));
    return Value::dict(std::move(pairs));
  };
  return made(json, 0);
}

}  // namespace tenfold::chat
