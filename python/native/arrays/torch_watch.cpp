// Whether tensors of torch are still what they were: the same object, written to by nobody, where they lay. It is asked before each run of
// an engine that was made of them, so it takes a few microseconds for hundreds of tensors, and a sixteenth of a read of the host's weights.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "native/arrays/torch_arrays.h"
#include "native/arrays/torch_tensors.h"
#include "native/arrays/whole_look.h"
#include "native/native.h"

namespace tenfold::python {
namespace {

// What a tensor was. Writes through tensor.data count in no version, so the host's memory is looked at, too: two words of each tensor
// before each run, and all of it in turn.
struct Seen {
  nb::object tensor, storage;   // the storage is kept, so that its memory is never another's
  std::int64_t version = -1;    // of tensors that count none: -1
  bool alone = false;           // it has no memory (free_weights of torch's backend): the object alone is compared
  const TensorFunctions* quick = nullptr;  // null: this tensor is asked by Python
  const void* part = nullptr;              // the tensor's C++ part, which torch can exchange; asked quickly alone
  const std::byte* data = nullptr;
  std::size_t bytes = 0;        // 0: memory that the host cannot read
  std::uint64_t words[2] = {};

  std::size_t place(int word) const { return bytes < 8 ? 0 : (bytes - 8) / 3 * static_cast<std::size_t>(word + 1); }
  std::uint64_t read(int word) const {
    std::uint64_t value = 0;
    if (bytes > 0) std::memcpy(&value, data + place(word), std::min<std::size_t>(bytes, 8));
    return value;
  }
  bool quickly_same() const {
    void* const now = quick->tensor_in(tensor);
    void* address = nullptr;
    return quick->part_of(tensor) == part && (version < 0 || quick->version(now) == version) && quick->address(now, &address) == 0 &&
           address == data;
  }
  bool has_memory() const { return bytes > 0; }
  bool same_words() const { return read(0) == words[0] && read(1) == words[1]; }
};

bool truth(nb::handle tensor, const char* question) { return nb::cast<bool>(nb::object(tensor.attr(question)())); }

// From the tensor's first element to its last one, what lies between them counted: strides are not negative.
std::size_t bytes_of(nb::handle tensor) {
  std::size_t last = 0;
  const auto size = nb::cast<std::vector<std::size_t>>(nb::object(tensor.attr("shape")));
  const auto stride = nb::cast<std::vector<std::size_t>>(nb::object(tensor.attr("stride")()));
  for (std::size_t axis = 0; axis < size.size(); ++axis) {
    if (size[axis] == 0) return 0;
    last += (size[axis] - 1) * stride[axis];
  }
  return (last + 1) * nb::cast<std::size_t>(nb::object(tensor.attr("element_size")()));
}

Seen seen(nb::handle tensor) {
  if (nb::hasattr(tensor, "tenfold_freed")) return {.tensor = nb::borrow(tensor), .alone = true};
  Seen made{.tensor = nb::borrow(tensor), .storage = tensor.attr("untyped_storage")()};
  if (!truth(tensor, "is_inference")) made.version = version_of(tensor);
  made.data = address_of(tensor);
  if (is_plain_tensor(tensor)) made.quick = tensor_functions(tensor);
  if (made.quick != nullptr) {
    made.part = made.quick->part_of(tensor);
    const auto part = nb::cast<std::uintptr_t>(nb::object(tensor.attr("_cdata")));
    if (made.part != reinterpret_cast<void*>(part) || !made.quickly_same()) made.quick = nullptr;  // its answers are not Python's
  }
  if (nb::cast<bool>(nb::object(tensor.attr("is_cpu"))) && made.data != nullptr) made.bytes = bytes_of(tensor);
  for (int word = 0; word < 2; ++word) made.words[word] = made.read(word);
  return made;
}

bool is_same(const Seen& before, PyObject* now) {
  if (now != before.tensor.ptr() || before.alone) return now == before.tensor.ptr();
  if (before.quick != nullptr) return before.quickly_same() && before.same_words();
  return (before.version < 0 || version_of(now) == before.version) && address_of(now) == before.data && before.same_words();
}

// The items of a tuple or a list.
class Items {
 public:
  explicit Items(nb::handle items) : items_(items.ptr()), list_(PyList_Check(items_)) {
    if (!list_ && !PyTuple_Check(items_)) throw nb::type_error("a TorchWatch is asked with a tuple or a list");
    count_ = list_ ? PyList_Size(items_) : PyTuple_Size(items_);
  }
  PyObject* at(std::int64_t i) const {
    if (i < 0 || i >= count_) throw nb::index_error("a TorchWatch is asked with fewer arguments than it has places");
    return list_ ? PyList_GetItem(items_, static_cast<Py_ssize_t>(i)) : PyTuple_GetItem(items_, static_cast<Py_ssize_t>(i));
  }

 private:
  PyObject* items_;
  bool list_;
  Py_ssize_t count_ = 0;
};

class TorchWatch {
 public:
  TorchWatch(std::vector<std::int64_t> places, nb::handle tensors) : places_(std::move(places)) { keep(tensors); }

  void keep(nb::handle tensors) {
    std::vector<Seen> made;
    for (nb::handle tensor : nb::borrow(tensors)) made.push_back(seen(tensor));
    if (made.size() != places_.size()) throw nb::value_error("a TorchWatch has a place for each tensor");
    WholeLook look;
    for (std::size_t i = 0; i < made.size(); ++i) look.add(i, made[i].data, made[i].bytes);
    seen_.swap(made);
    look_ = std::move(look);
  }

  nb::list changed(nb::handle arguments) {
    for (const Seen& s : seen_)
      for (int word = 0; word < 2 && s.has_memory(); ++word) __builtin_prefetch(s.data + s.place(word));
    const Items given(arguments);
    std::vector<char> same(seen_.size());
    for (std::size_t i = 0; i < seen_.size(); ++i) same[i] = is_same(seen_[i], given.at(places_[i]));
    const bool all = std::all_of(same.begin(), same.end(), [](char s) { return s != 0; });
    if (all && look_.next_is_same()) return {};
    if (all) ++late_;
    // Who wrote to one tensor may have written to others: an engine of some as they were and some as they are is of no module.
    for (const std::size_t i : look_.changed(same)) same[i] = 0;
    nb::list found;
    for (std::size_t i = 0; i < seen_.size(); ++i)
      if (same[i] == 0) found.append(nb::int_(places_[i]));
    return found;
  }

  std::int64_t late() const { return late_; }

  std::size_t quick() const {
    return static_cast<std::size_t>(std::count_if(seen_.begin(), seen_.end(), [](const Seen& s) { return s.quick != nullptr; }));
  }

 private:
  std::vector<std::int64_t> places_;
  std::vector<Seen> seen_;
  WholeLook look_;
  std::int64_t late_ = 0;
};

}  // namespace

void bind_torch_watch(nb::module_& m) {
  nb::class_<TorchWatch>(m, "TorchWatch", "Tensors of torch among a call's arguments, as they were. One thread changes it at a time.")
      .def(nb::init<std::vector<std::int64_t>, nb::handle>(), nb::arg("places"), nb::arg("tensors"))
      .def("keep", &TorchWatch::keep, nb::arg("tensors"), "They are what is compared with from now on.")
      .def("changed", &TorchWatch::changed, nb::arg("arguments"), nb::sig("def changed(self, arguments: Sequence[object]) -> list[int]"),
           "Places of tensors that are others now, or hold other values.")
      .def_prop_ro("late", &TorchWatch::late,
                   "How many times changed() found what the look at all bytes alone shows, up to `late_calls` calls after it was written.")
      .def_prop_ro_static(
          "late_calls", [](nb::handle) { return WholeLook::kCalls; }, "So many calls of changed() look at all bytes.")
      .def_prop_ro("quick", &TorchWatch::quick, "How many of the tensors are asked without Python.");
}

}  // namespace tenfold::python
