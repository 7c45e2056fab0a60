// Runs a chat template's tree. What it may cost is bounded, so that a template that loops ends with a message.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/chat/ast.h"

namespace tenfold::chat {

// Names of a scope, in one that surrounds it.
struct Frame {
  std::shared_ptr<Frame> parent;
  std::vector<std::pair<std::string, Value>> names;
  void set(const std::string& name, Value value);
  const Value* find(const std::string& name) const;  // here or around it; null: there is none
};
using Scope = std::shared_ptr<Frame>;

// Arguments of a filter, test or function, taken one after the other by place or by name.
class Given {
 public:
  Given(Arguments& all, std::string what) : all_(all), what_(std::move(what)) {}
  Value next(const char* name, Value otherwise);
  Value need(const char* name);  // throws invalid_argument where it is missing
  void end() const;              // throws invalid_argument where there are more
  Arguments rest() const;        // those that were not taken
  const std::string& what() const { return what_; }

 private:
  Arguments& all_;
  std::string what_;
  std::size_t taken_ = 0;
};

class Renderer {
 public:
  static constexpr std::int64_t kMaxSteps = 5'000'000;
  static constexpr int kMaxDepth = 600;
  ~Renderer();
  // The text. Throws invalid_argument: what is wrong with the values, or what raise_exception() says; invalid_model: the template does
  // not end; unsupported: names of filters and so on that are not there. Messages begin with the line.
  std::string run(const Body& body, const Items& variables);

  // For filters, tests and functions.
  void charge(std::int64_t steps);
  void charge(const Arguments& given);  // for looking at them
  Value attribute(const Value& of, const std::string& name);
  Value item(const Value& of, const Value& at);
  Value call(const Value& function, Arguments& arguments);
  Value filtered(const std::string& name, const Value& value, Arguments& arguments);
  bool passes(const std::string& name, const Value& value, Arguments& arguments);
  Value sequence(const Value& value);                          // a list of what a loop over it sees
  void keep(std::shared_ptr<Space> space);                     // takes it apart at the end: it may hold itself
  [[noreturn]] void refuse(const std::string& what) const;     // invalid_argument
  [[noreturn]] void not_there(const std::string& what) const;  // unsupported

 private:
  enum class Flow : std::uint8_t { on, go_on, leave };
  struct Deeper;
  // Statements: run_statements.cpp.
  Flow run(const Body& body, const Scope& scope);
  Flow run(const Statement& s, const Scope& scope);
  Flow branch(const Statement& s, const Scope& scope);
  void loop(const Statement& s, const Scope& scope, const Value& over, int depth);
  Value let_through(const Statement& s, const Scope& scope, const Value& all);
  std::shared_ptr<Space> loop_variable(const Statement& s, const Scope& scope, int depth);
  void assign(const Statement& s, const Scope& scope, const Value& value);
  const Value* named(const Scope& scope, const std::string& name);
  void set(Frame& to, const std::string& name, Value value);
  void unpack(const std::vector<std::string>& names, Frame& to, const Value& value, int line);
  Value macro(const Statement& s, const Scope& scope, std::string name);
  Value through(const std::vector<Expr>& filters, Value value, const Scope& scope);
  std::string text(const Body& body, const Scope& scope);  // what it writes
  void write(const Value& value);
  Scope inner(const Scope& scope);
  // Expressions: run_expressions.cpp.
  Value value(const Expression& e, const Scope& scope);
  Value dict(const Expression& e, const Scope& scope);
  Value with_sign(const Expression& e, const Value& of);
  Value binary(const Expression& e, const Scope& scope);
  Value arithmetic(const std::string& sign, const Value& a, const Value& b);
  Value whole(const std::string& sign, std::int64_t a, std::int64_t b);
  Value compared(const Expression& e, const Scope& scope);
  bool holds(const std::string& sign, const Value& a, const Value& b);
  bool contains(const Value& of, const Value& part);
  Value slice(const Expression& e, const Scope& scope);
  Arguments arguments(const Expression& e, const Scope& scope);
  void defined(const Value& value) const;  // throws invalid_argument where it is undefined

  std::string out_;
  std::int64_t steps_ = 0;
  int line_ = 1, depth_ = 0;
  std::vector<Scope> scopes_;  // of macros, which may be held by what they hold
  std::vector<std::shared_ptr<Space>> spaces_;
};

struct Renderer::Deeper {
  explicit Deeper(Renderer& renderer) : renderer_(renderer) {
    if (++renderer_.depth_ > kMaxDepth) {
      --renderer_.depth_;
      renderer_.refuse("calls and expressions are nested more than " + std::to_string(kMaxDepth) + " deep");
    }
  }
  ~Deeper() { --renderer_.depth_; }
  Renderer& renderer_;
};

// Names that every template has: range, dict, namespace, raise_exception, strftime_now.
void add_globals(Renderer& renderer, Frame& to);
// A method of a value, bound to it; undefined: there is none of that name.
Value method(Renderer& renderer, const Value& of, const std::string& name);

}  // namespace tenfold::chat
