// What expressions are.
#include <algorithm>
#include <cmath>

#include "text/chars.h"
#include "text/chat/renderer.h"
#include "text/chat/strings.h"
#include "text/fail.h"

namespace tenfold::chat {

Value Given::next(const char* name, Value otherwise) {
  if (taken_ < all_.positional.size()) return all_.positional[taken_++];
  for (auto one = all_.named.begin(); one != all_.named.end(); ++one)
    if (one->first == name) {
      otherwise = std::move(one->second);
      all_.named.erase(one);
      break;
    }
  return otherwise;
}

Value Given::need(const char* name) {
  const std::size_t before = taken_, named = all_.named.size();
  Value value = next(name, {});
  if (taken_ == before && all_.named.size() == named)
    tokenizing::fail(ErrorKind::invalid_argument, what_ + " needs the argument '" + name + "'");
  return value;
}

void Given::end() const {
  if (taken_ < all_.positional.size())
    tokenizing::fail(ErrorKind::invalid_argument,
                     what_ + " takes " + std::to_string(taken_) + " arguments, " + std::to_string(all_.positional.size()) + " were given");
  if (!all_.named.empty()) tokenizing::fail(ErrorKind::invalid_argument, what_ + " has no argument '" + all_.named[0].first + "'");
}

Arguments Given::rest() const {
  return {List(all_.positional.begin() + static_cast<std::ptrdiff_t>(taken_), all_.positional.end()), all_.named};
}

void Renderer::defined(const Value& value) const {
  if (const Undefined* none = value.get<Undefined>())
    refuse((none->name ? "'" + *none->name + "'" : std::string("a value")) + " is undefined");
}

Value Renderer::value(const Expression& e, const Scope& scope) {
  const Deeper deeper(*this);
  line_ = e.line, charge(1);
  using Kind = Expression::Kind;
  const auto part = [&](std::size_t i) { return value(*e.parts[i], scope); };
  switch (e.kind) {
    case Kind::constant: return e.value;
    case Kind::name: {
      const Value* found = named(scope, e.name);
      return found ? *found : Value::undefined(e.name);
    }
    case Kind::list:
    case Kind::tuple: {
      List items;
      for (std::size_t i = 0; i < e.parts.size(); ++i) items.push_back(part(i));
      return Value::list(std::move(items), e.kind == Kind::tuple);
    }
    case Kind::dict: return dict(e, scope);
    case Kind::attribute: return attribute(part(0), e.name);
    case Kind::item: {
      const Value of = part(0);
      return item(of, part(1));
    }
    case Kind::slice: return slice(e, scope);
    case Kind::call: {
      const Value function = part(0);
      Arguments given = arguments(e, scope);
      return call(function, given);
    }
    case Kind::filter: {
      const Value of = part(0);
      Arguments given = arguments(e, scope);
      line_ = e.line;
      return filtered(e.name, of, given);
    }
    case Kind::test: {
      const Value of = part(0);
      Arguments given = arguments(e, scope);
      line_ = e.line;
      return passes(e.name, of, given);
    }
    case Kind::negate:
    case Kind::plus: return with_sign(e, part(0));
    case Kind::logical_not: return !part(0).truth();
    case Kind::binary: return binary(e, scope);
    case Kind::compare: return compared(e, scope);
    case Kind::condition:
      if (part(1).truth()) return part(0);
      return e.parts[2] ? part(2) : Value::undefined("the inline if-expression without an else");
  }
  return {};
}

Value Renderer::dict(const Expression& e, const Scope& scope) {
  Items pairs;
  for (std::size_t i = 0; i < e.parts.size(); i += 2) {
    Value key = value(*e.parts[i], scope), held = value(*e.parts[i + 1], scope);
    charge(static_cast<std::int64_t>(pairs.size() / 16));
    chat::set(pairs, std::move(key), std::move(held));
  }
  return Value::dict(std::move(pairs));
}

Value Renderer::with_sign(const Expression& e, const Value& of) {
  defined(of);
  if (!of.is_number()) refuse(std::string("a value of the type '") + of.type() + "' has no sign");
  if (e.kind == Expression::Kind::plus) return of.is_integer() ? Value(of.integer()) : of;
  return of.is_integer() ? arithmetic("-", 0, of) : Value(-of.real());
}

Arguments Renderer::arguments(const Expression& e, const Scope& scope) {
  Arguments given;
  for (std::size_t i = 1; i < e.parts.size(); ++i) given.positional.push_back(value(*e.parts[i], scope));
  for (const auto& [name, one] : e.named) given.named.emplace_back(name, value(*one, scope));
  return given;
}

Value Renderer::call(const Value& function, Arguments& arguments) {
  defined(function);
  const Function* known = function.function();
  if (function.space())
    if (const Value* own = function.space()->find("()")) known = own->function();
  if (!known) refuse(std::string("a value of the type '") + function.type() + "' cannot be called");
  charge(arguments);
  const Value held = function;  // while it runs
  return known->call(arguments);
}

Value Renderer::attribute(const Value& of, const std::string& name) {
  defined(of);
  if (Space* space = of.space()) {
    charge(static_cast<std::int64_t>(space->names.size() / 64));
    const bool hidden = space->fixed && name.find_first_of("( ") != std::string::npos;  // what a loop keeps for itself
    const Value* found = hidden ? nullptr : space->find(name);
    return found ? *found : Value::undefined(name);
  }
  if (Value bound = method(*this, of, name); !bound.is_undefined()) return bound;
  if (const Items* pairs = of.pairs()) {
    charge(static_cast<std::int64_t>(pairs->size() / 8));
    if (const Value* found = find(*pairs, name)) return *found;
  }
  return Value::undefined(name);
}

Value Renderer::item(const Value& of, const Value& at) {
  defined(of);
  if (const Items* pairs = of.pairs()) {
    charge(static_cast<std::int64_t>(pairs->size() / 8));
    if (const Value* found = find(*pairs, at)) return *found;
    return at.text() ? attribute(of, *at.text()) : Value::undefined(text_of(at));
  }
  if (at.text()) return attribute(of, *at.text());
  if (!at.is_integer() || (!of.items() && !of.text())) return Value::undefined(text_of(at));
  if (of.text()) charge(static_cast<std::int64_t>(of.text()->size() / 8));
  const std::u32string letters = of.text() ? tokenizing::scalars(*of.text()) : std::u32string();
  const auto size = static_cast<std::int64_t>(of.items() ? of.items()->size() : letters.size());
  const std::int64_t place = at.integer() < 0 ? at.integer() + size : at.integer();
  if (place < 0 || place >= size) return Value::undefined("element " + text_of(at));
  if (of.items()) return (*of.items())[static_cast<std::size_t>(place)];
  std::string letter;
  tokenizing::append_utf8(letters[static_cast<std::size_t>(place)], letter);
  return letter;
}

Value Renderer::slice(const Expression& e, const Scope& scope) {
  const Value of = value(*e.parts[0], scope);
  defined(of);
  if (!of.items() && !of.text()) refuse(std::string("a value of the type '") + of.type() + "' has no parts to take");
  const Value all = sequence(of);
  const List& items = *all.items();
  const auto size = static_cast<std::int64_t>(items.size());
  const auto bound = [&](std::size_t part, std::int64_t otherwise, std::int64_t low, std::int64_t high) {
    if (!e.parts[part]) return otherwise;
    const Value given = value(*e.parts[part], scope);
    if (given.is_none()) return otherwise;
    if (!given.is_integer()) refuse("a place in a list is no whole number");
    const std::int64_t at = given.integer() < 0 ? std::max(given.integer(), -size - 1) + size : given.integer();
    return std::clamp(at, low, high);
  };
  const Value given_step = e.parts[3] ? value(*e.parts[3], scope) : Value(1);
  const std::int64_t step = given_step.is_none() ? 1 : given_step.integer();
  if (step == 0) refuse("the step of a slice is 0");
  const std::int64_t from = step > 0 ? bound(1, 0, 0, size) : bound(1, size - 1, -1, size - 1);
  const std::int64_t to = step > 0 ? bound(2, size, 0, size) : bound(2, -1, -1, size - 1);
  List kept;
  for (std::int64_t i = from; step > 0 ? i < to : i > to; i += std::clamp(step, -size - 1, size + 1))
    kept.push_back(items[static_cast<std::size_t>(i)]);
  if (of.items()) return Value::list(std::move(kept), of.type() == std::string_view("tuple"));
  std::string text;
  for (const Value& one : kept) text += *one.text();
  return text;
}

Value Renderer::sequence(const Value& value) {
  if (value.items()) return charge(static_cast<std::int64_t>(value.items()->size() / 4)), value;
  List all;
  if (const std::string* text = value.text()) {
    charge(std::count_if(text->begin(), text->end(), [](char c) { return (c & 0xC0) != 0x80; }));  // before there are any
    for (const char32_t c : tokenizing::scalars(*text)) {
      std::string letter;
      tokenizing::append_utf8(c, letter);
      all.emplace_back(std::move(letter));
    }
  } else if (const Items* pairs = value.pairs()) {
    charge(static_cast<std::int64_t>(pairs->size()));
    for (const auto& one : *pairs) all.push_back(one.first);
  } else if (!value.is_undefined()) {
    refuse(std::string("a value of the type '") + value.type() + "' is no list, so that nothing can go over it");
  }
  return Value::list(std::move(all));
}

Value Renderer::binary(const Expression& e, const Scope& scope) {
  const Value a = value(*e.parts[0], scope);
  if (e.name == "and") return a.truth() ? value(*e.parts[1], scope) : a;
  if (e.name == "or") return a.truth() ? a : value(*e.parts[1], scope);
  const Value b = value(*e.parts[1], scope);
  line_ = e.line;
  if (e.name == "~") {
    std::string joined = text_of(a);
    joined += text_of(b);
    charge(static_cast<std::int64_t>(joined.size() / 32));
    return Value::bounded(std::move(joined));
  }
  return arithmetic(e.name, a, b);
}

Value Renderer::arithmetic(const std::string& sign, const Value& a, const Value& b) {
  defined(a), defined(b);
  if (sign == "+" && a.text() && b.text()) {
    charge(static_cast<std::int64_t>((a.text()->size() + b.text()->size()) / 32));
    return Value::bounded(*a.text() + *b.text());
  }
  if (sign == "+" && a.items() && b.items() && std::string_view(a.type()) == b.type()) {
    List all = *a.items();
    all.insert(all.end(), b.items()->begin(), b.items()->end());
    charge(static_cast<std::int64_t>(all.size()));
    return Value::list(std::move(all), a.type() == std::string_view("tuple"));
  }
  if (sign == "*" && (a.text() || b.text()) && (a.is_integer() || b.is_integer())) {
    const std::string& text = a.text() ? *a.text() : *b.text();
    const std::int64_t times = text.empty() ? 0 : std::max<std::int64_t>(0, a.text() ? b.integer() : a.integer());
    if (times > 0 && times > Value::kLargest / static_cast<std::int64_t>(text.size()))
      refuse("a text of more than " + std::to_string(Value::kLargest) + " bytes");
    charge(times + times * static_cast<std::int64_t>(text.size()) / 32);
    std::string all;
    for (std::int64_t i = 0; i < times; ++i) all += text;
    return all;
  }
  if (sign == "%" && a.text()) not_there("texts with % are not supported; use ~ or format what they take by filters");
  if (!a.is_number() || !b.is_number())
    refuse("values of the types '" + std::string(a.type()) + "' and '" + b.type() + "' have no " + sign);
  const bool divides = sign == "/" || sign == "//" || sign == "%";
  if (divides && b.real() == 0) refuse("division by zero");
  if (a.is_integer() && b.is_integer() && sign != "/" && !(sign == "**" && b.integer() < 0)) return whole(sign, a.integer(), b.integer());
  const double x = a.real(), y = b.real();
  if (sign == "+") return x + y;
  if (sign == "-") return x - y;
  if (sign == "*") return x * y;
  if (sign == "/") return x / y;
  if (sign == "**") return std::pow(x, y);
  const double down = std::floor(x / y);
  return sign == "//" ? down : x - down * y;
}

Value Renderer::whole(const std::string& sign, std::int64_t a, std::int64_t b) {
  std::int64_t result = 1;
  bool large = false;
  if (sign == "+") {
    large = __builtin_add_overflow(a, b, &result);
  } else if (sign == "-") {
    large = __builtin_sub_overflow(a, b, &result);
  } else if (sign == "*") {
    large = __builtin_mul_overflow(a, b, &result);
  } else if (sign == "**") {
    if (a == 0 || a == 1 || a == -1) return b == 0 ? std::int64_t{1} : a == -1 && b % 2 == 0 ? std::int64_t{1} : a;
    for (std::int64_t i = 0; i < b && !large; ++i) large = __builtin_mul_overflow(result, a, &result);
  } else if (a == INT64_MIN && b == -1) {
    large = sign == "//", result = 0;
  } else {
    const bool down = a % b != 0 && (a < 0) != (b < 0);  // C++ rounds towards 0
    result = sign == "//" ? a / b - (down ? 1 : 0) : a % b + (down ? b : 0);
  }
  if (large) refuse("a whole number is larger than 2^63");
  return result;
}

Value Renderer::compared(const Expression& e, const Scope& scope) {
  Value left = value(*e.parts[0], scope);
  for (std::size_t i = 0; i < e.signs.size(); ++i) {
    Value right = value(*e.parts[i + 1], scope);
    line_ = e.line;
    if (!holds(e.signs[i], left, right)) return false;
    left = std::move(right);
  }
  return true;
}

bool Renderer::holds(const std::string& sign, const Value& a, const Value& b) {
  charge(std::min(a.extent().size, b.extent().size) / 16);
  if (sign == "==" || sign == "!=") return equal(a, b) == (sign == "==");
  if (sign == "in") return contains(b, a);
  if (sign == "not in") return !contains(b, a);
  defined(a), defined(b);
  const int order = compare(a, b);
  if (sign == "<") return order < 0;
  if (sign == "<=") return order <= 0;
  return sign == ">" ? order > 0 : order >= 0;
}

bool Renderer::contains(const Value& of, const Value& part) {
  charge(of.extent().size / 16);
  if (const std::string* text = of.text()) {
    defined(part);
    if (!part.text()) refuse(std::string("a text cannot hold a value of the type '") + part.type() + "'");
    return place_of(*text, *part.text()) != std::string::npos;
  }
  if (of.pairs()) return find(*of.pairs(), part) != nullptr;
  const Value all = sequence(of);
  return std::any_of(all.items()->begin(), all.items()->end(), [&](const Value& one) { return equal(one, part); });
}

}  // namespace tenfold::chat
