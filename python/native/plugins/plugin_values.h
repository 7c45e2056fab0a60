// What plugin_abi.h's structs are in Python: types, attributes, and arrays that last as long as a call.
#pragma once

#include <memory>
#include <vector>

#include "native/arrays/arrays.h"
#include "tenfold/plugin.h"

namespace tenfold::python {

// [(dtype, dims, least, most, contents or None, is constant)]; None for an operand that is left out. Extents are numbers or texts.
nb::list types_of(const tenfold_plugin_type* types, std::int32_t count);
nb::dict attributes_of(const tenfold_plugin_attribute* attributes, std::int32_t count);

// A tensor of a run, for as long as the call lasts. Arrays made of it count in `live` until nobody holds them any more.
struct PluginArray {
  void* data = nullptr;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  DLDevice device{kDLCPU, 0};
  bool read_only = true;
  std::shared_ptr<int> live;
};
nb::list arrays_of(const tenfold_plugin_tensor* tensors, std::int32_t count, DLDevice device, bool read_only,
                   const std::shared_ptr<int>& live);
// Raises where arrays of a call are still held after it: their memory is the engine's, which uses it again.
void expect_dropped(const std::shared_ptr<int>& live, const char* where);

void bind_plugin_values(nb::module_& m);

}  // namespace tenfold::python
