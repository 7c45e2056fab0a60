// What statements do.
#include <algorithm>

#include "text/chat/renderer.h"
#include "text/fail.h"

namespace tenfold::chat {

void Frame::set(const std::string& name, Value value) {
  for (auto& [own, old] : names)
    if (own == name) return void(old = std::move(value));
  names.emplace_back(name, std::move(value));
}

const Value* Frame::find(const std::string& name) const {
  for (const Frame* frame = this; frame; frame = frame->parent.get())
    for (const auto& [own, value] : frame->names)
      if (own == name) return &value;
  return nullptr;
}

// Macros know their scopes and scopes their macros: nothing of this holds itself any longer once all are empty.
Renderer::~Renderer() {
  for (const auto& space : spaces_) space->names.clear();
  for (const Scope& scope : scopes_) scope->names.clear();
}

void Renderer::charge(std::int64_t steps) {
  if (steps > kMaxSteps - steps_)
    tokenizing::fail(ErrorKind::invalid_model,
                     "it takes more than " + std::to_string(kMaxSteps) + " steps: it does not end, or goes over values that are too large");
  steps_ += steps;
}

void Renderer::charge(const Arguments& given) {
  const auto one = [&](const Value& value) {
    const std::size_t parts = value.items() ? value.items()->size() : value.pairs() ? value.pairs()->size() : 0;
    charge(static_cast<std::int64_t>(parts / 16 + (value.text() ? value.text()->size() / 64 : 0)));
  };
  for (const Value& value : given.positional) one(value);
  for (const auto& [name, value] : given.named) one(value);
}

// Names are searched for one after the other.
const Value* Renderer::named(const Scope& scope, const std::string& name) {
  for (const Frame* frame = scope.get(); frame; frame = frame->parent.get()) charge(static_cast<std::int64_t>(frame->names.size() / 64));
  return scope->find(name);
}

void Renderer::set(Frame& to, const std::string& name, Value value) {
  charge(static_cast<std::int64_t>(to.names.size() / 64));
  to.set(name, std::move(value));
}

void Renderer::refuse(const std::string& what) const { tokenizing::fail(ErrorKind::invalid_argument, what); }
void Renderer::not_there(const std::string& what) const { tokenizing::fail(ErrorKind::unsupported, what); }
void Renderer::keep(std::shared_ptr<Space> space) { charge(50), spaces_.push_back(std::move(space)); }

std::string Renderer::run(const Body& body, const Items& variables) {
  auto globals = std::make_shared<Frame>();
  try {
    add_globals(*this, *globals);
    for (const auto& [name, value] : variables) globals->set(*name.text(), value);
    if (run(body, inner(globals)) != Flow::on) refuse("break and continue stand in no loop");
  } catch (const Error& e) {
    throw Error(e.kind(), "the chat template, line " + std::to_string(line_) + ": " + e.what());
  }
  return std::move(out_);
}

Scope Renderer::inner(const Scope& scope) {
  auto made = std::make_shared<Frame>();
  made->parent = scope;
  return made;
}

Renderer::Flow Renderer::run(const Body& body, const Scope& scope) {
  for (const auto& one : body)
    if (const Flow flow = run(*one, scope); flow != Flow::on) return flow;
  return Flow::on;
}

void Renderer::write(const Value& value) {
  const std::string text = text_of(value);
  charge(static_cast<std::int64_t>(text.size() / 32));
  if (out_.size() + text.size() > static_cast<std::size_t>(Value::kLargest))
    refuse("the text has more than " + std::to_string(Value::kLargest) + " bytes");
  out_ += text;
}

std::string Renderer::text(const Body& body, const Scope& scope) {
  std::string outer = std::move(out_);
  out_.clear();
  if (run(body, scope) != Flow::on) refuse("break and continue stand in no loop");
  std::string inside = std::move(out_);
  out_ = std::move(outer);
  return inside;
}

Value Renderer::through(const std::vector<Expr>& filters, Value value, const Scope& scope) {
  for (const Expr& one : filters) {
    Arguments given = arguments(*one, scope);
    value = filtered(one->name, value, given);
  }
  return value;
}

Renderer::Flow Renderer::run(const Statement& s, const Scope& scope) {
  const Deeper deeper(*this);
  line_ = s.line, charge(1);
  using Kind = Statement::Kind;
  switch (s.kind) {
    case Kind::data: write(s.text); break;
    case Kind::print: write(value(*s.values[0], scope)); break;
    case Kind::branch: return branch(s, scope);
    case Kind::loop: loop(s, scope, value(*s.values[0], scope), 0); break;
    case Kind::set:
      assign(s, scope, s.values.empty() ? through(s.filters, text(s.bodies[0], inner(scope)), scope) : value(*s.values[0], scope));
      break;
    case Kind::macro: scope->set(s.text, macro(s, scope, s.text)); break;
    case Kind::call: {
      Value function = value(*s.values[0]->parts[0], scope);
      Arguments given = arguments(*s.values[0], scope);
      given.named.emplace_back("caller", macro(s, scope, "caller"));
      write(call(function, given));
      break;
    }
    case Kind::filter: write(through(s.filters, text(s.bodies[0], inner(scope)), scope)); break;
    case Kind::scope: {
      const Scope own = inner(scope);
      for (std::size_t i = 0; i < s.names.size(); ++i) set(*own, s.names[i], value(*s.values[i], scope));
      return run(s.bodies[0], own);
    }
    case Kind::go_on: return Flow::go_on;
    case Kind::leave: return Flow::leave;
  }
  return Flow::on;
}

Renderer::Flow Renderer::branch(const Statement& s, const Scope& scope) {
  for (std::size_t i = 0; i < s.values.size(); ++i)
    if (value(*s.values[i], scope).truth()) return run(s.bodies[i], scope);
  return s.bodies.size() > s.values.size() ? run(s.bodies.back(), scope) : Flow::on;
}

void Renderer::unpack(const std::vector<std::string>& names, Frame& to, const Value& value, int line) {
  if (names.size() == 1) return set(to, names[0], value);
  const Value all = sequence(value);
  line_ = line;
  if (all.items()->size() != names.size())
    refuse(std::to_string(all.items()->size()) + " values for " + std::to_string(names.size()) + " names");
  for (std::size_t i = 0; i < names.size(); ++i) set(to, names[i], (*all.items())[i]);
}

void Renderer::assign(const Statement& s, const Scope& scope, const Value& value) {
  if (s.of.empty()) return unpack(s.names, *scope, value, s.line);
  const Value* of = named(scope, s.of);
  if (!of || !of->space() || of->space()->fixed) refuse("'" + s.of + "' is no namespace(), so that it has no attributes to set");
  charge(static_cast<std::int64_t>(of->space()->names.size() / 64));
  of->space()->set(s.names[0], value);
}

// Of what a loop goes over: what its `if` lets through.
Value Renderer::let_through(const Statement& s, const Scope& scope, const Value& all) {
  if (!s.values[1]) return all;
  List kept;
  for (const Value& one : *all.items()) {
    const Scope own = inner(scope);
    unpack(s.names, *own, one, s.line);
    if (value(*s.values[1], own).truth()) kept.push_back(one);
  }
  return Value::list(std::move(kept));
}

// The variable `loop`, without what changes with each element.
std::shared_ptr<Space> Renderer::loop_variable(const Statement& s, const Scope& scope, int depth) {
  auto state = std::make_shared<Space>();
  state->fixed = true;
  keep(state);
  Space* const own = state.get();  // functions in it do not hold it
  state->set("cycle", Value::function("cycle", [own](Arguments& given) {
               if (given.positional.empty()) tokenizing::fail(ErrorKind::invalid_argument, "loop.cycle() has nothing to take");
               return given.positional[static_cast<std::size_t>(own->find("index0")->integer()) % given.positional.size()];
             }));
  // What it was given lies in the loop's variable, where attribute() hides it: a function that held it could hold another loop's, and so
  // on, and all would end within each other.
  state->set("changed", Value::function("changed", [own](Arguments& given) {
               Value now = Value::list(given.positional);
               const Value* last = own->find("last given");
               const bool same = last && equal(*last, now);
               own->set("last given", std::move(now));
               return Value(!same);
             }));
  if (s.recursive) {
    scopes_.push_back(scope);
    state->set("()", Value::function("loop", [this, &s, scope, depth](Arguments& given) {
                 Given arguments(given, "loop()");
                 const Value inside = arguments.need("iterable");
                 std::string outer = std::move(out_);
                 out_.clear();
                 loop(s, scope, inside, depth + 1);
                 std::swap(out_, outer);
                 return Value(std::move(outer));
               }));
  }
  return state;
}

void Renderer::loop(const Statement& s, const Scope& scope, const Value& over, int depth) {
  const Value all = let_through(s, scope, sequence(over));
  const List& items = *all.items();
  if (items.empty() && s.bodies.size() > 1) return void(run(s.bodies[1], inner(scope)));
  const std::shared_ptr<Space> state = loop_variable(s, scope, depth);
  const std::size_t size = items.size();
  state->set("length", size), state->set("depth", depth + 1), state->set("depth0", depth);
  for (std::size_t i = 0; i < size; ++i) {
    charge(4);
    state->set("index", i + 1), state->set("index0", i), state->set("revindex", size - i), state->set("revindex0", size - i - 1);
    state->set("first", i == 0), state->set("last", i + 1 == size);
    state->set("previtem", i > 0 ? items[i - 1] : Value::undefined("loop.previtem"));
    state->set("nextitem", i + 1 < size ? items[i + 1] : Value::undefined("loop.nextitem"));
    const Scope body = inner(scope);
    body->set("loop", state);
    unpack(s.names, *body, items[i], s.line);
    if (run(s.bodies[0], body) == Flow::leave) break;
  }
}

// A function whose result is what its body writes. Defaults are computed when it is called.
Value Renderer::macro(const Statement& s, const Scope& scope, std::string name) {
  charge(50), scopes_.push_back(scope);
  const std::string what = name + "()";
  const std::size_t first_default = s.kind == Statement::Kind::call ? 1 : 0;
  return Value::function(std::move(name), [this, &s, scope, what, first_default](Arguments& given) {
    const Deeper deeper(*this);
    const Scope own = inner(scope);
    const auto caller = std::find_if(given.named.begin(), given.named.end(), [](const auto& one) { return one.first == "caller"; });
    if (caller != given.named.end()) {
      own->set("caller", caller->second);
      given.named.erase(caller);
    }
    charge(static_cast<std::int64_t>(s.names.size() * given.named.size() / 64));
    Given arguments(given, what);
    const std::size_t without = s.names.size() - (s.values.size() - first_default);
    for (std::size_t i = 0; i < s.names.size(); ++i) {
      Value given_value = arguments.next(s.names[i].c_str(), Value::function("", nullptr));
      const bool missing = given_value.function() && !given_value.function()->call;
      if (missing) given_value = i < without ? Value::undefined(s.names[i]) : value(*s.values[first_default + i - without], own);
      set(*own, s.names[i], std::move(given_value));
    }
    arguments.end();
    return Value(text(s.bodies[0], own));
  });
}

}  // namespace tenfold::chat
