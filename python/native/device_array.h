// tenfold.DeviceArray as the other files see it.
#pragma once

#include "arrays.h"

namespace tenfold::python {

bool read_device_array(ArrayView& view, nb::handle array);  // false: it is none
// A new one on the device of another, and its memory.
nb::object device_array_like(nb::handle other, DType dtype, std::span<const std::int64_t> shape, void*& data);
// One with the elements of NumPy's array.
nb::object device_array_of(nb::handle numpy, nb::handle like);

}  // namespace tenfold::python
