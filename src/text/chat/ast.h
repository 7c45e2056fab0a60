// A chat template's tree.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/chat/value.h"

namespace tenfold::chat {

struct Expression;
using Expr = std::unique_ptr<Expression>;

struct Expression {
  enum class Kind : std::uint8_t {
    constant,    // value
    name,        // name
    list, tuple,                   // parts
    dict,        // parts: key, value, key, value
    attribute,   // parts[0] . name
    item,        // parts[0] [ parts[1] ]
    slice,       // parts[0] [ parts[1] : parts[2] : parts[3] ], null where nothing stands
    call,        // parts[0] ( the others, named )
    filter, test,                  // parts[0] | name ( the others, named ), parts[0] is name ( ... )
    negate, plus, logical_not,     // parts[0]
    binary,      // parts[0] name parts[1]; `and`, `or` among them
    compare,     // parts[0] signs[0] parts[1] signs[1] parts[2] ...
    condition,   // parts[0] if parts[1] else parts[2], which may be null
  };
  Kind kind = Kind::constant;
  int line = 0, depth = 1;
  std::string name;
  Value value;
  std::vector<Expr> parts;
  std::vector<std::pair<std::string, Expr>> named;
  std::vector<std::string> signs;
};

struct Statement;
using Body = std::vector<std::unique_ptr<Statement>>;

struct Statement {
  enum class Kind : std::uint8_t {
    data,        // text
    print,       // values[0]
    branch,      // if values[i]: bodies[i]; one body more: else
    loop,        // for target in values[0] if values[1] (which may be null): bodies[0]; bodies[1] is its else
    set,         // target = values[0]; without a value: bodies[0] becomes text, through `filters`
    macro,       // text ( parameters ): bodies[0]; values are defaults of the last parameters
    call,        // values[0], a call, is given caller(parameters): bodies[0]
    filter,      // bodies[0] through `filters`
    scope,       // bodies[0] with names of its own: target = values
    go_on, leave,                  // continue, break
  };
  Kind kind = Kind::data;
  int line = 0;
  std::string text;
  std::vector<std::string> names;      // of a target, or parameters
  std::string of;                      // "ns" where the target is ns.name
  bool recursive = false;
  std::vector<Expr> values;
  std::vector<Expr> filters;           // filters of an empty expression
  std::vector<Body> bodies;
};

}  // namespace tenfold::chat
