// tenfold/device_stream.h: streams of GPUs, and which of them a thread has entered.
#include "stream.h"

#include <nanobind/stl/string.h>

#include <vector>

#include "errors.h"
#include "tenfold/device_stream.h"

namespace tenfold::python {
namespace {

std::vector<StreamChoice>& entered() {
  thread_local std::vector<StreamChoice> streams;
  return streams;
}

}  // namespace

StreamChoice entered_stream() { return entered().empty() ? StreamChoice{} : entered().back(); }

void bind_stream(nb::module_& m) {
  nb::class_<DeviceStream>(m, "DeviceStream", "A CUstream of one's own; it is waited for and ends with this object.")
      .def(
          "__init__",
          [](DeviceStream* self, const std::string& device) {
            const Unlocked unlocked;
            new (self) DeviceStream(device);
          },
          nb::arg("device"))
      .def_prop_ro("handle", [](const DeviceStream& s) { return reinterpret_cast<std::uintptr_t>(s.handle()); });
  m.def(
      "synchronize_stream",
      [](const std::string& device, std::uintptr_t handle) {
        const Unlocked unlocked;
        synchronize_stream(device, reinterpret_cast<void*>(handle));
      },
      nb::arg("device"), nb::arg("handle"), "Waits until all that the stream was given is done.");
  m.def("enter_stream", [](nb::handle stream) { entered().push_back(stream_of(stream)); }, nb::arg("stream"));
  m.def("leave_stream", [] {
    if (entered().empty()) raise_error(ErrorKind::invalid_argument, "no stream was entered in this thread");
    entered().pop_back();
  });
}

}  // namespace tenfold::python
