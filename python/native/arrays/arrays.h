// Arrays of callers: what they are and where they lie, read from the buffer protocol, DLPack or __cuda_array_interface__ without a copy.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "native/native.h"
#include "tenfold/c/dlpack.h"
#include "tenfold/tensor.h"

namespace tenfold::python {

inline constexpr int kMaxDims = 64;

// Streams as DLPack counts them: -1 none, 1 the default one, which is 0 for CUDA.
inline constexpr std::int64_t kNoStream = -1;
constexpr std::int64_t as_dlpack(std::int64_t stream) { return stream == 0 ? 1 : stream; }

// Where results are made: as the inputs are, on the device of the first of them. `own`: tenfold.DeviceArray.
enum class Maker : std::uint8_t { numpy, torch, cupy, own };

// An array as it lies. `owner` keeps the memory.
struct ArrayView {
  nb::object owner;
  void* data = nullptr;
  DType dtype = DType::f32;
  int rank = 0;
  std::int64_t elements = 0;
  std::array<std::int64_t, kMaxDims> shape, strides;  // strides in elements
  bool dense = true;                                   // row major, nothing between elements
  bool odd = false;                                    // strides that are negative or no whole elements, or an address that is odd
  bool read_only = false;
  DLDevice device{kDLCPU, 0};
  Maker maker = Maker::numpy;

  void clear() {   // shape and strides are left as they are: most of the bytes, which nobody reads
    owner.reset();
    data = nullptr, dtype = DType::f32, rank = 0, dense = true, odd = read_only = false, device = {kDLCPU, 0}, maker = Maker::numpy;
  }
  std::span<const std::int64_t> extents() const { return {shape.data(), static_cast<std::size_t>(rank)}; }
  std::span<const std::int64_t> steps() const { return {strides.data(), static_cast<std::size_t>(rank)}; }
  std::int64_t reach() const;  // bytes from `data` to the array's end
  bool on_gpu() const { return device.device_type == kDLCUDA || device.device_type == kDLCUDAManaged; }
};

// Reads `array`. `what` names it in refusals ("input 'x'"). `stream`: on which a GPU's array is to be ready, as DLPack counts them.
// `brief`: for one call, in which the view may keep the array instead of its memory, which torch can exchange below it.
// Raises TypeError for what is no array, and for element types that Tenfold does not have; ValueError for other byte orders.
void read_array(ArrayView& view, nb::handle array, const std::string& what, std::int64_t stream = -1, bool brief = false);
// A dense array with the same elements, of NumPy or of whoever made it; for what no strides of ours describe.
nb::object packed_copy(nb::handle array, Maker maker);

// A Tensor of the array's elements: borrowed where they are dense in the host's memory, else copied once.
Tensor tensor_of(nb::handle array, const std::string& what);
// NumPy's array with a tensor's elements, which are shared and read-only; of types of less than a byte a copy, in ml_dtypes' types.
nb::object array_of(const Tensor& tensor);
// Whether NumPy's array has elements of less than a byte, and its elements packed; packed_arrays.cpp.
bool is_packed_type(nb::handle array);
Tensor packed_tensor(nb::handle array, const std::string& what);
nb::object unpacked_array(const Tensor& tensor);

// NumPy's array over memory that `owner` keeps.
nb::object array_over(void* data, bool writable, DType dtype, std::span<const std::int64_t> shape, nb::handle owner);

// "f32", "float32", numpy.float32, numpy.dtype("float32"), ml_dtypes.bfloat16 ...
DType dtype_of(nb::handle name, const std::string& what);
// NumPy's dtype of an element; raises Unsupported for types that NumPy (with ml_dtypes) does not have, and types of less than a byte.
nb::object numpy_dtype(DType dtype);
std::string numpy_name(DType dtype);  // "float32"

// A new array for a result, and its memory. `like`: an array of that maker, which says the device.
nb::object new_array(Maker maker, nb::handle like, DType dtype, std::span<const std::int64_t> shape, void*& data);

// tenfold.DeviceArray (bind/device_array.cpp), as arrays are read and made. False: it is none.
bool read_device_array(ArrayView& view, nb::handle array);
// A new one on the device of another, and its memory.
nb::object device_array_like(nb::handle other, DType dtype, std::span<const std::int64_t> shape, void*& data);
// One with the elements of NumPy's array.
nb::object device_array_of(nb::handle numpy, nb::handle like);

nb::object module_of(const char* name);  // imported
nb::object tuple_of(std::span<const std::int64_t> numbers);
std::string class_name(nb::handle object);  // "str"

}  // namespace tenfold::python
