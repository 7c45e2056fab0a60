// Attributes of a node: named, typed values with checked access.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold::ir {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;
using Attribute = std::variant<std::int64_t, float, std::string, Ints, Floats, Strings, Tensor>;

// Ordered by name, so that printing and hashing are deterministic. Getters throw invalid_model on a wrong type.
// What copies, moves and stores a variant is defined in attributes.cpp alone: every source that includes this would pay for it.
class Attributes {
 public:
  Attributes();
  Attributes(std::initializer_list<std::pair<const std::string, Attribute>> values);
  Attributes(const Attributes&);
  Attributes(Attributes&&) noexcept;
  Attributes& operator=(const Attributes&);
  Attributes& operator=(Attributes&&) noexcept;
  ~Attributes();

  bool has(std::string_view name) const;
  void set(std::string name, Attribute value);
  void erase(std::string_view name);

  std::int64_t integer(std::string_view name) const;               // must be there
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  float number(std::string_view name) const;
  float number(std::string_view name, float otherwise) const;
  const std::string& string(std::string_view name) const;
  std::string string(std::string_view name, std::string_view otherwise) const;
  const Ints& ints(std::string_view name) const;
  Ints ints(std::string_view name, Ints otherwise) const;
  const Floats& floats(std::string_view name) const;
  const Strings& strings(std::string_view name) const;
  const Tensor& tensor(std::string_view name) const;

  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  bool empty() const { return values_.empty(); }

 private:
  template <class T> const T& get(std::string_view name) const;
  std::map<std::string, Attribute, std::less<>> values_;
};

bool equal(const Attribute& a, const Attribute& b);
bool equal(const Attributes& a, const Attributes& b);
std::string text(const Attribute& value);      // 1, 0.5, "text", [1,2], [0.5,1.0], ["a","b"], f32[2]{1,2}
std::string text(const Attributes& values);    // "axis=1 mode=\"linear\"", in name order
Attribute parse_attribute(std::string_view text);

}  // namespace tenfold::ir
