#include "native/plugins/plugin_values.h"

#include <cstring>

#include "native/bind/network.h"
#include "native/errors.h"
#include "native/python_state.h"
#include "tenfold/dlpack.h"

namespace tenfold::python {
namespace {

using Live = std::shared_ptr<int>;

nb::object text_of_type(std::int32_t number) { return nb::str(std::string(name(plugin_adapter::plugin_dtype(number))).c_str()); }

nb::object extents_of(const char* const* texts, std::int64_t count) {
  nb::list made;
  for (std::int64_t i = 0; i < count; ++i) {
    char* end = nullptr;
    const long long extent = std::strtoll(texts[i], &end, 10);
    made.append(*texts[i] != '\0' && *end == '\0' ? nb::object(nb::int_(extent)) : nb::object(nb::str(texts[i])));
  }
  return nb::tuple(made);
}

// What an array made of a PluginArray holds in place of its memory.
void* begin_life(const Live& live) { return ++*live, new Live(live); }
void end_life(void* held) noexcept {
  const auto* live = static_cast<Live*>(held);
  --**live;
  delete live;
}

struct Shared {
  DLManagedTensor managed{};
  std::vector<std::int64_t> shape;
  void* held = nullptr;
};
void delete_shared(DLManagedTensor* managed) {
  auto* shared = static_cast<Shared*>(managed->manager_ctx);
  if (leaving()) return;
  const Locked locked;  // `live` is counted under it
  end_life(shared->held);
  delete shared;
}
void delete_capsule(PyObject* capsule) {
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
  if (managed == nullptr) return PyErr_Clear();  // whoever took it renamed the capsule, and deletes
  managed->deleter(managed);
}

nb::object dlpack_of(const PluginArray& a) {
  auto* shared = new Shared{{}, a.shape, begin_life(a.live)};
  shared->managed.manager_ctx = shared, shared->managed.deleter = delete_shared;
  shared->managed.dl_tensor = {a.data,  a.device, static_cast<std::int32_t>(a.shape.size()), dlpack_type(a.dtype), shared->shape.data(),
                               nullptr, 0};
  nb::object capsule = nb::steal(PyCapsule_New(&shared->managed, "dltensor", delete_capsule));
  if (!capsule.is_valid()) throw nb::python_error();
  return capsule;
}

nb::object numpy_of(const PluginArray& a) {
  if (a.device.device_type != kDLCPU) raise_error(ErrorKind::invalid_argument, "the array lies on a GPU: use torch, CuPy or its address");
  return array_over(a.data, !a.read_only, a.dtype, a.shape, nb::capsule(begin_life(a.live), end_life));
}

nb::dict cuda_interface(const PluginArray& a) {
  if (a.device.device_type != kDLCUDA) throw nb::attribute_error("the array lies in the host's memory");
  nb::dict made;
  made["version"] = 3, made["shape"] = tuple_of(a.shape), made["typestr"] = numpy_dtype(a.dtype).attr("str");
  // torch takes no read-only memory.
  made["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(a.data), false), made["strides"] = nb::none();
  return made;
}

Tensor copy_of(const tenfold_plugin_tensor& t) {
  Tensor made(plugin_adapter::plugin_dtype(t.dtype), Shape(t.shape, t.shape + t.rank));
  if (made.bytes() > 0) std::memcpy(made.mutable_raw(), t.data, static_cast<std::size_t>(made.bytes()));
  return made;
}

}  // namespace

nb::list types_of(const tenfold_plugin_type* types, std::int32_t count) {
  nb::list made;
  for (std::int32_t i = 0; i < count; ++i) {
    const tenfold_plugin_type& t = types[i];
    const auto rank = static_cast<std::size_t>(t.rank);
    const auto bounds = [&](const std::int64_t* from) { return from == nullptr ? nb::tuple() : tuple_of({from, rank}); };
    if (t.dtype == TENFOLD_TYPE_MISSING)
      made.append(nb::none());
    else
      made.append(nb::make_tuple(text_of_type(t.dtype), extents_of(t.dims, t.rank), bounds(t.min), bounds(t.max),
                                 t.contents == nullptr ? nb::none() : extents_of(t.contents, t.content_count), t.is_constant != 0));
  }
  return made;
}

nb::dict attributes_of(const tenfold_plugin_attribute* attributes, std::int32_t count) {
  nb::dict made;
  for (const auto& [name, value] : plugin_adapter::plugin_attributes(attributes, count, copy_of))
    made[name.c_str()] = attribute_value(value);
  return made;
}

nb::list arrays_of(const tenfold_plugin_tensor* tensors, std::int32_t count, DLDevice device, bool read_only, const Live& live) {
  nb::list made;
  for (std::int32_t i = 0; i < count; ++i) {
    const tenfold_plugin_tensor& t = tensors[i];
    if (t.dtype == TENFOLD_TYPE_MISSING)
      made.append(nb::none());
    else
      made.append(
          nb::cast(PluginArray{t.data, plugin_adapter::plugin_dtype(t.dtype), {t.shape, t.shape + t.rank}, device, read_only, live}));
  }
  return made;
}

void expect_dropped(const Live& live, const char* where) {
  if (*live == 0) return;
  module_of("gc").attr("collect")();  // what only a cycle holds
  if (*live != 0)
    raise_error(ErrorKind::invalid_argument,
                std::string(where) + " kept an array that it was given, whose memory is used again: keep a copy");
}

void bind_plugin_values(nb::module_& m) {
  nb::class_<PluginArray>(m, "PluginArray", "An operand or result of a plug-in, for as long as the call lasts: dense, row major.")
      .def_prop_ro("shape", [](const PluginArray& a) { return tuple_of(a.shape); })
      .def_prop_ro("dtype", [](const PluginArray& a) { return std::string(name(a.dtype)); })
      .def_prop_ro("address", [](const PluginArray& a) { return reinterpret_cast<std::uintptr_t>(a.data); })
      .def_prop_ro("read_only", [](const PluginArray& a) { return a.read_only; })
      .def_prop_ro("on_gpu", [](const PluginArray& a) { return a.device.device_type == kDLCUDA; })
      .def_prop_ro("__cuda_array_interface__", &cuda_interface)
      .def("numpy", &numpy_of, "NumPy's array of the host's memory.")
      .def("__dlpack__", [](const PluginArray& a, const nb::kwargs&) { return dlpack_of(a); })
      .def("__dlpack_device__",
           [](const PluginArray& a) { return nb::make_tuple(static_cast<int>(a.device.device_type), a.device.device_id); });
}

}  // namespace tenfold::python
