// Whether tensors of torch are still what they were: the same object, written to by nobody, where they lay. It is asked before each run of
// an engine that was made of them, so it takes a microsecond for a dozen tensors.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "exchange.h"
#include "native.h"
#include "torch_arrays.h"

namespace tenfold::python {
namespace {

// What a tensor was. Writes through tensor.data count in no version, so two words of the host's memory are looked at, too.
struct Seen {
  nb::object tensor, storage;   // the storage is kept, so that its memory is never another's
  std::int64_t version = -1;    // of tensors that count none: -1
  const Exchange* exchange = nullptr;   // which tells an address quicker than the tensor's method; null: for this tensor it does not
  const std::byte* data = nullptr;
  std::size_t bytes = 0;        // 0: memory that the host cannot read
  std::uint64_t words[2] = {};

  std::size_t place(int word) const { return bytes < 8 ? 0 : (bytes - 8) / 3 * static_cast<std::size_t>(word + 1); }
  std::uint64_t read(int word) const {
    std::uint64_t value = 0;
    if (bytes > 0) std::memcpy(&value, data + place(word), std::min<std::size_t>(bytes, 8));
    return value;
  }
};

PyObject* interned(const char* name) { return PyUnicode_InternFromString(name); }

nb::object call(nb::handle object, PyObject* method) {
  PyObject* arguments[] = {object.ptr()};
  nb::object found = nb::steal(PyObject_VectorcallMethod(method, arguments, 1, nullptr));
  if (!found.is_valid()) throw nb::python_error();
  return found;
}

// tensor._version, without the search for its name, which takes longer than the rest.
std::int64_t version_of(nb::handle tensor) {
  static PyObject* const descriptor = nb::object(module_of("torch").attr("Tensor").attr("_version")).release().ptr();   // for ever
  static const auto get = reinterpret_cast<descrgetfunc>(PyType_GetSlot(Py_TYPE(descriptor), Py_tp_descr_get));
  const nb::object found = nb::steal(get(descriptor, tensor.ptr(), reinterpret_cast<PyObject*>(Py_TYPE(tensor.ptr()))));
  if (!found.is_valid()) throw nb::python_error();
  return PyLong_AsLongLong(found.ptr());
}

const std::byte* address_of(nb::handle tensor, const Exchange* exchange) {
  if (exchange != nullptr) return static_cast<const std::byte*>(exchange_address(*exchange, tensor));
  static PyObject* name = interned("data_ptr");
  return static_cast<const std::byte*>(PyLong_AsVoidPtr(call(tensor, name).ptr()));
}

Seen seen(nb::handle tensor) {
  Seen made{.tensor = nb::borrow(tensor), .storage = tensor.attr("untyped_storage")()};
  if (!nb::cast<bool>(nb::object(tensor.attr("is_inference")()))) made.version = version_of(tensor);
  made.data = address_of(tensor, nullptr);
  static const Exchange* const quick = exchange_of_type(module_of("torch").attr("Tensor"));
  if (quick != nullptr && is_plain_tensor(tensor) && address_of(tensor, quick) == made.data) made.exchange = quick;
  if (nb::cast<bool>(nb::object(tensor.attr("is_cpu"))) && nb::cast<bool>(nb::object(tensor.attr("is_contiguous")())))
    made.bytes = nb::cast<std::size_t>(nb::object(tensor.attr("nbytes")));
  for (int word = 0; word < 2; ++word) made.words[word] = made.read(word);
  return made;
}

bool is_same(const Seen& before, nb::handle now) {
  return now.ptr() == before.tensor.ptr() && (before.version < 0 || version_of(now) == before.version) &&
         address_of(now, before.exchange) == before.data && before.read(0) == before.words[0] && before.read(1) == before.words[1];
}

class TorchWatch {
 public:
  TorchWatch(std::vector<std::int64_t> places, nb::handle tensors) : places_(std::move(places)) { keep(tensors); }

  void keep(nb::handle tensors) {
    std::vector<Seen> made;
    for (nb::handle tensor : nb::borrow(tensors)) made.push_back(seen(tensor));
    if (made.size() != places_.size()) throw nb::value_error("a TorchWatch has a place for each tensor");
    seen_.swap(made);
  }

  nb::list changed(nb::handle arguments) const {
    for (const Seen& s : seen_)
      for (int word = 0; word < 2 && s.bytes > 0; ++word) __builtin_prefetch(s.data + s.place(word));
    nb::list found;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      PyObject* given = PyTuple_Check(arguments.ptr()) && places_[i] < PyTuple_Size(arguments.ptr())
                            ? PyTuple_GetItem(arguments.ptr(), static_cast<Py_ssize_t>(places_[i]))
                            : nullptr;
      if (given == nullptr) throw nb::index_error("a TorchWatch is asked with fewer arguments than it has places");
      if (!is_same(seen_[i], given)) found.append(nb::int_(places_[i]));
    }
    return found;
  }

 private:
  std::vector<std::int64_t> places_;
  std::vector<Seen> seen_;
};

}  // namespace

void bind_torch_watch(nb::module_& m) {
  nb::class_<TorchWatch>(m, "TorchWatch", "Tensors of torch among a call's arguments, as they were. One thread changes it at a time.")
      .def(nb::init<std::vector<std::int64_t>, nb::handle>(), nb::arg("places"), nb::arg("tensors"))
      .def("keep", &TorchWatch::keep, nb::arg("tensors"), "They are what is compared with from now on.")
      .def("changed", &TorchWatch::changed, nb::arg("arguments"), nb::sig("def changed(self, arguments: tuple[object, ...]) -> list[int]"),
           "Places of tensors that are others now, or hold other values.");
}

}  // namespace tenfold::python
