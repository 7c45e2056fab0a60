// tenfold/runtime.h: what several engines have in common.
#include "tenfold/runtime.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python_state.h"

namespace tenfold::python {

void bind_runtime(nb::module_& m) {
  nb::class_<RuntimeUse>(m, "RuntimeUse", "What a runtime holds now.")
      .def_ro("engines", &RuntimeUse::engines)
      .def_ro("weights", &RuntimeUse::weights)
      .def_ro("weight_bytes", &RuntimeUse::weight_bytes)
      .def_ro("gpu_bytes", &RuntimeUse::gpu_bytes)
      .def_ro("gpu_held_bytes", &RuntimeUse::gpu_held_bytes);
  nb::class_<Runtime>(m, "Runtime",
                      "Engines of one runtime share workers, weights, GPU memory and kernels: build(runtime=), load(runtime=).")
      .def(
          "__init__",
          [](Runtime* self, int threads, std::int64_t limit, std::int64_t kept) {
            new (self) Runtime(RuntimeOptions{.threads = threads, .log = {}, .gpu_memory_limit = limit, .gpu_memory_kept = kept});
          },
          nb::arg("threads") = 0, nb::arg("gpu_memory_limit") = 0, nb::arg("gpu_memory_kept") = 0)
      .def_prop_ro("use", &Runtime::use)
      .def("trim_gpu_memory", &Runtime::trim_gpu_memory, nb::arg("kept") = 0, nb::call_guard<Unlocked>(),
           "Gives freed memory of all GPUs back; how many bytes went.");
}

}  // namespace tenfold::python
