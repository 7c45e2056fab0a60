// Values of a chat template, as Python has them: what messages hold, and what expressions make of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tenfold::chat {

class Value;
using List = std::vector<Value>;
using Items = std::vector<std::pair<Value, Value>>;

struct None {};
struct Undefined { std::shared_ptr<const std::string> name; };   // of what there is none

// Immutable, so that no list can hold itself. What is deeper than kDeepest or larger than kLargest is refused: a list that holds another
// one twice, and so on, would become a text without end.
struct Extent {
  int depth = 0;
  std::int64_t size = 1;   // characters of texts, and values
  void hold(const Extent& part);
};
struct ListData { List items; Extent extent; bool tuple; };
struct DictData { Items items; Extent extent; };

// What a template may change: namespace(), and the variable `loop`, which it may not.
struct Space {
  std::vector<std::pair<std::string, Value>> names;
  bool fixed = false;
  Value* find(const std::string& name);
  void set(const std::string& name, Value value);
};

struct Arguments {
  List positional;
  std::vector<std::pair<std::string, Value>> named;
};
struct Function {
  std::string name;
  std::function<Value(Arguments&)> call;
  Extent extent;           // of what it holds
};

class Value {
 public:
  static constexpr int kDeepest = 100;
  static constexpr std::int64_t kLargest = 1 << 26;
  Value() : data_(Undefined{}) {}
  Value(None none) : data_(none) {}                                             // NOLINT: conversions are wanted
  Value(bool value) : data_(value) {}                                           // NOLINT
  Value(int value) : data_(std::int64_t{value}) {}                              // NOLINT
  Value(std::int64_t value) : data_(value) {}                                   // NOLINT
  Value(std::size_t value) : data_(static_cast<std::int64_t>(value)) {}         // NOLINT
  Value(double value) : data_(value) {}                                         // NOLINT
  Value(std::string text) : data_(std::make_shared<const std::string>(std::move(text))) {}   // NOLINT
  Value(const char* text) : Value(std::string(text)) {}                         // NOLINT
  Value(std::shared_ptr<Space> space) : data_(std::move(space)) {}              // NOLINT
  static Value undefined(std::string name);
  static Value bounded(std::string text);                                       // throws invalid_argument where it is too large
  static Value list(List items, bool tuple = false);                            // throws invalid_argument: too deep, too large
  static Value dict(Items items);                                               // keys are unique
  static Value function(std::string name, std::function<Value(Arguments&)> call, const Value* holds = nullptr);   // no function

  template <class T>
  const T* get() const { return std::get_if<T>(&data_); }
  bool is_undefined() const { return get<Undefined>() != nullptr; }
  bool is_none() const { return get<None>() != nullptr; }
  bool is_integer() const { return get<std::int64_t>() != nullptr || get<bool>() != nullptr; }   // Python's True is 1
  bool is_number() const { return is_integer() || get<double>() != nullptr; }
  const std::string* text() const;                    // null: it is none; likewise
  const List* items() const;
  const Items* pairs() const;
  Space* space() const;
  const Function* function() const;
  std::int64_t integer() const;                       // of numbers
  double real() const;
  bool truth() const;
  const char* type() const;                           // Python's name of it: "str", "dict"
  Extent extent() const;

 private:
  std::variant<Undefined, None, bool, std::int64_t, double, std::shared_ptr<const std::string>, std::shared_ptr<const ListData>,
               std::shared_ptr<const DictData>, std::shared_ptr<Space>, std::shared_ptr<const Function>>
      data_;
};

bool equal(const Value& a, const Value& b);
int compare(const Value& a, const Value& b);          // below, at or above 0; throws invalid_argument where Python has no order
const Value* find(const Items& items, const Value& key);
void set(Items& items, Value key, Value value);       // in the place of what there was

std::string text_of(const Value& value);              // str()
std::string quoted(const Value& value);               // repr()
struct JsonStyle { int indent = -1; bool sorted = false, ascii = false; std::string comma, colon; };
std::string json_of(const Value& value, const JsonStyle& style);   // json.dumps()
Value value_of(const nlohmann::ordered_json& json);   // throws invalid_argument where it is too deep

}  // namespace tenfold::chat
