// tenfold/runtime.h: what several engines have in common.
#include "tenfold/runtime.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "native/errors.h"
#include "native/options/values.h"
#include "native/python_state.h"

namespace tenfold::python {
namespace {

// An object of Python's with allocate(bytes, alignment, device) and release(address). What it raises goes to sys.unraisablehook, and
// whoever asked gets out_of_memory. When the interpreter goes, memory stays where it is.
class PyAllocator final : public DeviceAllocator {
 public:
  explicit PyAllocator(nb::handle object) : object_(hold(object)) {}
  void* allocate(std::int64_t bytes, std::int64_t alignment, std::string_view device) noexcept override {
    if (leaving()) return nullptr;
    const Locked locked;
    std::uintptr_t address = 0;
    guarded([&] {
      const nb::object given =
          nb::borrow(object_.get()).attr("allocate")(bytes, alignment, nb::str(device.data(), device.size()));
      address = given.is_none() ? 0 : nb::cast<std::uintptr_t>(given);
    });
    return reinterpret_cast<void*>(address);
  }
  void release(void* memory) noexcept override {
    if (leaving()) return;
    const Locked locked;
    guarded([&] { nb::borrow(object_.get()).attr("release")(reinterpret_cast<std::uintptr_t>(memory)); });
  }

 private:
  template <class Act>
  void guarded(Act act) noexcept {
    try {
      act();
    } catch (nb::python_error& e) {
      e.restore();
      PyErr_WriteUnraisable(object_.get());
    } catch (const std::exception& e) {
      PyErr_SetString(PyExc_TypeError, "an allocator's allocate() gives an address, or None");
      PyErr_WriteUnraisable(object_.get());
    }
  }
  Held object_;
};

std::shared_ptr<DeviceAllocator> allocator_of(nb::handle object) {
  if (object.is_none()) return nullptr;
  for (const char* name : {"allocate", "release"})
    if (!nb::hasattr(object, name))
      raise_type_error("an allocator has allocate(bytes, alignment, device) and release(address), got " + class_name(object));
  return std::make_shared<PyAllocator>(object);
}

}  // namespace

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
          [](Runtime* self, int threads, std::int64_t limit, std::int64_t kept, nb::object allocator) {
            new (self) Runtime(RuntimeOptions{
                .threads = threads, .log = {}, .gpu_memory_limit = limit, .gpu_memory_kept = kept, .allocator = allocator_of(allocator)});
          },
          nb::arg("threads") = 0, nb::arg("gpu_memory_limit") = 0, nb::arg("gpu_memory_kept") = 0, nb::arg("allocator") = nb::none(),
          "allocator: gives the device memory of all engines and builds of it: allocate(bytes, alignment, device) an address, or None, and "
          "release(address), from any thread.")
      .def_prop_ro("use", &Runtime::use)
      .def("trim_gpu_memory", &Runtime::trim_gpu_memory, nb::arg("kept") = 0, nb::call_guard<Unlocked>(),
           "Gives freed memory of all GPUs back; how many bytes went.");
}

}  // namespace tenfold::python
