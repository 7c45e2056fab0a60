// RuntimeValue: a tensor, a sequence, a map, or nothing. bindings.h binds them to engines.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold {

class RuntimeValue;
// A dictionary: keys are integers or strings in a tensor of rank 1, each once, and as many values.
struct ValueMap;

// A tensor, a sequence of values, a map, or nothing: an optional that holds nothing, an operand that is left out. An optional that holds
// something is what it holds. Copies share what they hold, which nobody changes.
class TENFOLD_API RuntimeValue
    : public std::variant<std::monostate, Tensor, std::shared_ptr<const std::vector<RuntimeValue>>, std::shared_ptr<const ValueMap>> {
 public:
  using variant::variant;
  RuntimeValue() = default;
  static RuntimeValue sequence(std::vector<RuntimeValue> elements);
  static RuntimeValue map(Tensor keys, std::vector<RuntimeValue> values);   // throws invalid_argument unless each key has a value

  bool empty() const { return std::holds_alternative<std::monostate>(*this); }
  bool is_tensor() const { return std::holds_alternative<Tensor>(*this); }
  bool is_sequence() const { return index() == 2; }
  bool is_map() const { return index() == 3; }
  const Tensor& tensor() const;                             // these throw invalid_argument, saying what it is instead
  const std::vector<RuntimeValue>& elements() const;        // of a sequence
  const ValueMap& as_map() const;
  std::string text() const;                                 // in words: "a tensor of f32[2]", "a sequence of 3", "nothing"
};

struct ValueMap {
  Tensor keys;
  std::vector<RuntimeValue> values;
};

}  // namespace tenfold
