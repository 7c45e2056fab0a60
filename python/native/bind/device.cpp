// tenfold/device.h and device_error.h: what machine this is.
#include "tenfold/device.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "native/python_state.h"
#include "tenfold/device_error.h"

namespace tenfold::python {

void bind_device(nb::module_& m) {
  nb::class_<DeviceDescription>(m, "Device", "What kernels may use of a device.")
      .def_ro("device", &DeviceDescription::device, "As build() takes it: 'cpu', 'cuda:0'.")
      .def_ro("name", &DeviceDescription::name)
      .def_ro("features", &DeviceDescription::features)
      .def_ro("l1_bytes", &DeviceDescription::l1_bytes)
      .def_ro("l2_bytes", &DeviceDescription::l2_bytes)
      .def_ro("l3_bytes", &DeviceDescription::l3_bytes)
      .def_ro("threads", &DeviceDescription::threads)
      .def_ro("libraries", &DeviceDescription::libraries)
      .def_ro("memory_bytes", &DeviceDescription::memory_bytes)
      .def_ro("cores", &DeviceDescription::cores)
      .def("__repr__", [](const DeviceDescription& d) { return "<" + d.device + ": " + d.name + ", " + d.features + ">"; });
  m.def(
      "devices",
      [] {
        const Unlocked unlocked;
        return devices();
      },
      "All devices that engines can run on.");
  m.def(
      "why_no_gpu",
      [] {
        const Unlocked unlocked;
        return why_no_gpu();
      },
      "One line; empty if devices() lists a GPU.");
  m.def("free_memory", &free_memory, nb::arg("device"), "Bytes that a GPU has free now; -1 of a CPU.");
  m.def("look_for_libraries_in", &look_for_libraries_in, nb::arg("folder"));
  m.def(
      "device_health", [](std::string_view device) { return device_health(device).reason; }, nb::arg("device"),
      "Why a device is lost to this process; empty: it is not.");
}

}  // namespace tenfold::python
