// Element types, shapes and tensors, which all public headers share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenfold/export.h"

namespace tenfold {

// Element types. Floats of 8 bits follow ONNX: f8e4m3fn is OCP E4M3 without infinities, and *uz have an unsigned zero.
// f8e8m0 is the OCP MX block scale, f4e2m1 the OCP MX 4-bit float. Types of 4 and 2 bits are packed low bits first.
enum class DType : std::uint8_t {
  f32, f64, f16, bf16,
  i64, i32, i16, i8, u64, u32, u16, u8, i4, u4, i2, u2,
  boolean,
  f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0, f4e2m1,
  string,            // has no byte size; lives in host objects only
  count_,
};

TENFOLD_API std::string_view name(DType type);
TENFOLD_API std::optional<DType> dtype_from_name(std::string_view text);
TENFOLD_API int bits(DType type);                            // of one element; 0 for string
TENFOLD_API bool is_float(DType type);
TENFOLD_API bool is_integer(DType type);                     // signed or unsigned, not boolean
TENFOLD_API std::int64_t byte_size(DType type, std::int64_t elements);   // ceil(bits * n / 8); throws on overflow

using Shape = std::vector<std::int64_t>;
// The product of the extents. Throws on overflow and on negative extents.
TENFOLD_API std::int64_t element_count(std::span<const std::int64_t> shape);
TENFOLD_API std::string text(std::span<const std::int64_t> shape);             // "1x3x224x224", "" for a scalar

// A dense row-major tensor in the host's memory, which owns or shares its bytes. Copies share them; clone() copies
// them. It is as thread safe as a shared_ptr: many threads may read one tensor.
class TENFOLD_API Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, Shape shape);                                              // zero-filled, 64-byte aligned
  // Borrows `data`, and keeps `owner` alive.
  Tensor(DType dtype, Shape shape, std::shared_ptr<const void> owner, const void* data);
  static Tensor strings(Shape shape, std::vector<std::string> values);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  std::int64_t size() const { return size_; }                                    // how many elements
  std::int64_t bytes() const { return byte_size(dtype_, size_); }
  bool defined() const { return owner_ != nullptr; }

  const void* raw() const { return data_; }
  void* mutable_raw();                                                           // only if this object allocated them
  template <class T> const T* data() const { return static_cast<const T*>(data_); }
  template <class T> T* mutable_data() { return static_cast<T*>(mutable_raw()); }
  const std::vector<std::string>& string_values() const;

  // One element as a double or an int64, for any numeric type, types below a byte included. Slow: for small tensors.
  double as_double(std::int64_t index) const;
  std::int64_t as_int(std::int64_t index) const;
  Tensor clone() const;
  Tensor reshaped(Shape shape) const;   // shares the bytes; equal element count

 private:
  DType dtype_ = DType::f32;
  Shape shape_;
  std::int64_t size_ = 0;
  std::shared_ptr<const void> owner_;
  const void* data_ = nullptr;
  bool writable_ = false;
};

}  // namespace tenfold
