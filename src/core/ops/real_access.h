// How reference kernels read and write tensors of any numeric type as plain arrays of float, double or 64-bit integers.
//
// A tensor that already holds T is used in place; any other is converted once, so that inner loops are bare pointers.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/types/element.h"
#include "ir/op_def.h"
#include "ops/elements.h"

namespace tenfold::ops {

template <class T>
inline constexpr DType kDTypeOf = std::is_same_v<T, double>          ? DType::f64
                                  : std::is_same_v<T, std::int64_t>  ? DType::i64
                                  : std::is_same_v<T, std::uint64_t> ? DType::u64
                                                                     : DType::f32;

// f(double{}) for f64, whose digits a float would lose; f(float{}) for all other floats. Integers have digits that both lose.
template <class F>
decltype(auto) with_real(DType type, F&& f) {
  check(is_float(type), "elements of ", name(type), " are no floats");
  if (type == DType::f64) return f(double{});
  return f(float{});
}

// The same for all numbers: f(std::uint64_t{}) for u64 and f(std::int64_t{}) for other integers and booleans.
template <class F>
decltype(auto) with_number(DType type, F&& f) {
  if (is_float(type)) return with_real(type, std::forward<F>(f));
  if (type == DType::u64) return f(std::uint64_t{});
  return f(std::int64_t{});
}

// Converts every element; T is float, double or an integer type.
template <class T>
std::vector<T> converted(const ir::TensorRef& tensor) {
  std::vector<T> values(static_cast<std::size_t>(tensor.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if constexpr (std::is_integral_v<T>)
      values[i] = static_cast<T>(load_int(tensor.dtype, tensor.data, at));
    else
      values[i] = static_cast<T>(load_double(tensor.dtype, tensor.data, at));
  }
  return values;
}

// The same as doubles, for what weighs elements; refuses integers that a double does not hold.
inline std::vector<double> exactly_converted(const ir::Call& call, int operand) {
  const ir::TensorRef& tensor = call.in[static_cast<std::size_t>(operand)];
  std::vector<double> values = converted<double>(tensor);
  if (tensor.dtype != DType::i64 && tensor.dtype != DType::u64) return values;
  for (double v : values)   // of 2^53 and its neighbor above one double is left
    call.supported(v > -0x1p53 && v < 0x1p53, "operand ", operand, " holds the integer ", v,
                   ", which is autotuned exactly below 2^53 alone");
  return values;
}

template <class T>
class RealIn {
 public:
  explicit RealIn(const ir::TensorRef& tensor) {
    if (tensor.data == nullptr) return;
    if (tensor.dtype != kDTypeOf<T>) own_ = converted<T>(tensor);
    data_ = tensor.dtype == kDTypeOf<T> ? tensor.as<T>() : own_.data();
  }
  RealIn(const RealIn&) = delete;
  RealIn& operator=(const RealIn&) = delete;
  const T* data() const { return data_; }  // null if the operand is left out
  T operator[](std::int64_t i) const { return data_[i]; }

 private:
  std::vector<T> own_;
  const T* data_ = nullptr;
};

// Written values reach the tensor at the end of the object's life.
template <class T>
class RealOut {
 public:
  explicit RealOut(const ir::TensorRef& tensor) : tensor_(tensor) {
    if (tensor.dtype != kDTypeOf<T>) own_.resize(static_cast<std::size_t>(tensor.size()));
    data_ = tensor.dtype == kDTypeOf<T> ? tensor.as<T>() : own_.data();
  }
  RealOut(const RealOut&) = delete;
  RealOut& operator=(const RealOut&) = delete;
  ~RealOut() {
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      if constexpr (std::is_integral_v<T>)
        store_int(tensor_.dtype, tensor_.data, at, static_cast<std::int64_t>(own_[i]));
      else
        store_double(tensor_.dtype, tensor_.data, at, static_cast<double>(own_[i]));
    }
  }
  T* data() const { return data_; }
  T& operator[](std::int64_t i) const { return data_[i]; }

 private:
  ir::TensorRef tensor_;
  std::vector<T> own_;
  T* data_ = nullptr;
};

// A tensor seen as [outer, extent, inner] around one axis, or around the axes [begin, end).
struct AxisView {
  std::int64_t outer = 1, extent = 1, inner = 1;
  AxisView(const Shape& shape, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(shape.size()); ++i) {
      (i < begin ? outer : i < end ? extent : inner) *= shape[static_cast<std::size_t>(i)];
    }
  }
  AxisView(const Shape& shape, std::int64_t axis) : AxisView(shape, axis, axis + 1) {}
};

}  // namespace tenfold::ops
