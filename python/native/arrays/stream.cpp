// tenfold/device_stream.h: streams of GPUs, and which of them a thread has entered.
#include "native/arrays/stream.h"

#include <nanobind/stl/string.h>

#include <vector>

#include "native/arrays/torch_arrays.h"
#include "native/errors.h"
#include "native/python_state.h"
#include "tenfold/device_stream.h"

namespace tenfold::python {
namespace {

std::vector<StreamChoice>& entered() {
  thread_local std::vector<StreamChoice> streams;
  return streams;
}

}  // namespace

StreamChoice stream_of(nb::handle stream) {
  if (!stream.is_valid() || stream.is_none()) return {};
  nb::object number = nb::borrow(stream);
  if (nb::hasattr(stream, "__cuda_stream__")) {
    const nb::object reported = PyCallable_Check(stream.attr("__cuda_stream__").ptr()) ? stream.attr("__cuda_stream__")()
                                                                                   : nb::object(stream.attr("__cuda_stream__"));
    number = reported[1];
  } else if (nb::hasattr(stream, "cuda_stream")) {
    number = stream.attr("cuda_stream");
  } else if (nb::hasattr(stream, "ptr")) {
    number = stream.attr("ptr");
  } else if (nb::hasattr(stream, "handle")) {
    number = stream.attr("handle");
  }
  const nb::object index = nb::steal(PyNumber_Index(number.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    raise_type_error("stream is a number (a CUstream), a tenfold.Stream, or a stream of torch or CuPy, got " + class_name(stream));
  }
  return {true, nb::cast<std::int64_t>(index)};
}

StreamChoice current_stream(const ArrayView& array) {
  if (!array.on_gpu()) return {};
  if (array.maker == Maker::torch) return {true, torch_stream(array.device.device_id)};
  if (array.maker == Maker::cupy)
    return {true, nb::cast<std::int64_t>(nb::object(module_of("cupy").attr("cuda").attr("get_current_stream")().attr("ptr")))};
  return {};
}

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
