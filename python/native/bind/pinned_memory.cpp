// tenfold/pinned_memory.h: memory as bytes, to be seen through the buffer protocol. tenfold/_pinned.py makes arrays of it.
#include "tenfold/pinned_memory.h"

#include <nanobind/stl/string.h>

#include "native/errors.h"
#include "native/python_state.h"

namespace tenfold::python {
namespace {

void init(PinnedMemory* self, const std::string& device, std::int64_t bytes) {
  const Unlocked unlocked;
  new (self) PinnedMemory(device, bytes);
}

PinnedMemory of_callers(const std::string& device, std::uintptr_t address, std::int64_t bytes) {
  const Unlocked unlocked;
  return PinnedMemory::of_callers(device, reinterpret_cast<void*>(address), bytes);
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const PinnedMemory& m = *nb::inst_ptr<PinnedMemory>(self);
  return PyBuffer_FillInfo(view, self, m.memory(), static_cast<Py_ssize_t>(m.bytes()), 0, flags);
}
PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

}  // namespace

void bind_pinned_memory(nb::module_& m) {
  nb::class_<PinnedMemory>(m, "PinnedMemory", "Host memory that GPUs copy from and to by themselves, as a buffer of bytes.",
                           nb::type_slots(slots))
      .def("__init__", &init, nb::arg("device"), nb::arg("bytes"))
      .def_static("of_callers", &of_callers, nb::arg("device"), nb::arg("address"), nb::arg("bytes"))
      .def_prop_ro("address", [](const PinnedMemory& p) { return reinterpret_cast<std::uintptr_t>(p.memory()); })
      .def_prop_ro("nbytes", &PinnedMemory::bytes)
      .def_prop_ro("pinned", &PinnedMemory::pinned, "False on a CPU, where this is ordinary memory.");
}

}  // namespace tenfold::python
