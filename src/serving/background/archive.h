// Values on their way to another process of the same version, each type once for both directions: pass(archive, value)
// writes or reads it.
#pragma once

#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "tenfold/build.h"

namespace tenfold::background {

class Writer {
 public:
  static constexpr bool kReads = false;
  void raw(void* value, std::size_t bytes) { text_.append(static_cast<const char*>(value), bytes); }
  std::size_t count(std::size_t n) {
    auto wide = static_cast<std::uint64_t>(n);
    raw(&wide, sizeof wide);
    return n;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Refuses (internal) what ends too early or counts more than there is.
class Reader {
 public:
  static constexpr bool kReads = true;
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}
  void raw(void* value, std::size_t bytes) {
    check(bytes <= rest_.size(), "a build request ends too early");
    if (bytes > 0) std::memcpy(value, rest_.data(), bytes);
    rest_ = rest_.subspan(bytes);
  }
  std::size_t count(std::size_t) {
    std::uint64_t n = 0;
    raw(&n, sizeof n);
    check(n <= rest_.size(), "a build request counts more than it holds");
    return static_cast<std::size_t>(n);
  }
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
};

template <class A, class T>
requires std::is_arithmetic_v<T> || std::is_enum_v<T>
void pass(A& a, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    std::uint8_t byte = value;
    a.raw(&byte, 1);
    value = byte != 0;
  } else {
    a.raw(&value, sizeof value);
  }
}
template <class A>
void pass(A& a, std::string& value) {
  value.resize(a.count(value.size()));
  a.raw(value.data(), value.size());
}
template <class A>
void pass(A& a, ShapeRange& value);
template <class A>
void pass(A& a, BindingFormat& value);
template <class A>
void pass(A& a, Tensor& value);
template <class A>
void pass(A& a, LayerPrecision& value);
template <class A>
void pass(A& a, LayerOutputTypes& value);
template <class A, class T>
void pass(A& a, std::vector<T>& value) {
  value.resize(a.count(value.size()));
  for (T& one : value) pass(a, one);
}
template <class A, class T>
void pass(A& a, std::map<std::string, T>& value) {
  const std::size_t n = a.count(value.size());
  if constexpr (A::kReads) {
    for (std::size_t i = 0; i < n; ++i) {
      std::string key;
      pass(a, key);
      pass(a, value[key]);
    }
  } else {
    for (auto& [key, one] : value) {
      std::string name = key;
      pass(a, name), pass(a, one);
    }
  }
}
template <class A, class T>
void pass(A& a, std::optional<T>& value) {
  bool there = value.has_value();
  pass(a, there);
  if (there && !value) value.emplace();
  if (there) pass(a, *value);
}
template <class A>
void pass(A& a, ShapeRange& value) {
  pass(a, value.min), pass(a, value.opt), pass(a, value.max);
}
template <class A>
void pass(A& a, LayerPrecision& value) {
  pass(a, value.layers), pass(a, value.type);
}
template <class A>
void pass(A& a, LayerOutputTypes& value) {
  pass(a, value.layers), pass(a, value.types);
}
template <class A>
void pass(A& a, LayerTypes& value) {
  pass(a, value.constraints), pass(a, value.precisions), pass(a, value.output_types);
}
template <class A>
void pass(A& a, BindingFormat& value) {
  pass(a, value.dtype), pass(a, value.order);
}
template <class A>
void pass(A& a, Tensor& value) {
  bool defined = value.defined();
  pass(a, defined);
  if (!defined) return;
  DType dtype = value.dtype();
  Shape shape = value.shape();
  pass(a, dtype), pass(a, shape);
  check(dtype < DType::count_, "a build request holds an unknown element type");
  if (dtype == DType::string) {
    std::vector<std::string> strings;
    if constexpr (!A::kReads) strings = value.string_values();
    pass(a, strings);
    if constexpr (A::kReads) value = Tensor::strings(shape, std::move(strings));
    return;
  }
  if constexpr (A::kReads) {
    check(static_cast<std::uint64_t>(byte_size(dtype, element_count(shape))) <= a.rest().size(),
          "a build request ends in a tensor");
    value = Tensor(dtype, shape);
    a.raw(value.mutable_raw(), static_cast<std::size_t>(value.bytes()));
  } else {
    a.raw(const_cast<void*>(value.raw()), static_cast<std::size_t>(value.bytes()));
  }
}

}  // namespace tenfold::background
