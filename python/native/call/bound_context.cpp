#include "native/call/bound_context.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>

#include "native/errors.h"
#include "native/long_call.h"
#include "tenfold/bindings.h"
#include "tenfold/device_array.h"

namespace tenfold::python {
namespace {

std::byte nothing[64];  // where arrays without elements lie

std::shared_ptr<const Slots> slots_of(const Engine& engine) {
  auto slots = std::make_shared<Slots>();
  nb::dict names;
  for (const BindingInfo& b : engine.bindings()) {
    const auto number = static_cast<int>(slots->all.size());
    names[b.name.c_str()] = number;
    const bool value = binds_values(engine, number);
    slots->all.push_back({b.name, b.dtype, b.shape, b.is_input, b.has_default, (b.is_input ? "input '" : "output '") + b.name + "'",
                          binding_memory(engine, number).kind, value});
    slots->values = slots->values || value;
    slots->inputs += b.is_input ? 1 : 0;
  }
  slots->names = hold(names);
  slots->on_gpu = engine.info().on_gpu;
  slots->device = device_of(engine);
  if (slots->on_gpu) slots->ordinal = std::stoi(slots->device.substr(slots->device.find(':') + 1));
  return slots;
}

}  // namespace

int Slots::index(nb::handle name) const {
  PyObject* found = PyDict_GetItem(names.get(), name.ptr());
  if (found != nullptr) return static_cast<int>(PyLong_AsLong(found));
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  std::string message = "there is no binding " + std::string(nb::cast<std::string>(nb::repr(name))) + "; the engine has";
  for (const Slot& slot : all) message += (&slot == &all[0] ? " " : ", ") + slot.what();
  raise_error(ErrorKind::invalid_argument, message);
}

BoundContext::BoundContext(const Engine& engine, std::shared_ptr<const Slots> slots, const ContextOptions& options)
    : slots_(std::move(slots)) {
  const Unlocked unlocked;
  context_ = engine.create_context(options);
  kept_.resize(slots_->all.size()), bound_.resize(slots_->all.size()), by_run_.resize(slots_->all.size());
}

BoundContext::~BoundContext() { drop_without_gil(context_); }

void BoundContext::refuse(Status status) { raise_status(status, context_->describe(status)); }

namespace {
// Where the engine has other extents, but as many axes.
std::string how_to_open(std::span<const std::int64_t> declared, std::span<const std::int64_t> given) {
  if (declared.size() != given.size()) return "";
  std::string axes;
  for (std::size_t d = 0; d < given.size(); ++d)
    if (declared[d] >= 0 && declared[d] != given[d]) axes += (axes.empty() ? "" : ", ") + std::to_string(d);
  if (axes.empty()) return "";
  return ": axis " + axes + " is fixed. Build with profiles={name: (smallest, usual, largest shape)} where the model leaves it open, else "
         "export the model with dynamic shapes first";
}
}  // namespace

void BoundContext::set_shape(int binding, std::span<const std::int64_t> shape) {
  const Slot& slot = slots_->at(binding);
  if (context_->set_input_shape(binding, shape)) {
    if (State* state = state_of(binding)) state->advanced = false;
    return;
  }
  const bool dynamic = std::find(slot.shape.begin(), slot.shape.end(), -1) != slot.shape.end();
  raise_error(ErrorKind::invalid_argument,
              slot.what() + " has the shape [" + text(slot.shape) + "]" + (dynamic ? " (-1: dynamic)" : "") + ", an array of [" +
                  text(shape) + "] is given" + how_to_open(slot.shape, shape));
}

bool BoundContext::output_shape(int binding, std::span<std::int64_t> to, int& rank) {
  if (const Status status = context_->shape(binding, to, rank); !status) refuse(status);
  for (int d = 0; d < rank; ++d)
    if (to[static_cast<std::size_t>(d)] < 0) return by_run_[static_cast<std::size_t>(binding)] = true, false;
  return true;
}

void BoundContext::bind_memory(int binding, const ArrayView& v) {
  void* data = v.elements == 0 ? nothing : v.data;
  const Status status = v.dense ? context_->bind(binding, data, v.reach()) : bind_strided(*context_, binding, data, v.reach(), v.steps());
  if (!status) refuse(status);
}

// Checks all that the binding says of its array, but the shape.
void BoundContext::read(int binding, nb::handle array, ArrayView& v, std::int64_t stream, bool brief) {
  const Slot& slot = slots_->at(binding);
  const std::string& what = slot.what();
  read_array(v, array, what, stream, brief);
  if (v.dtype != slot.dtype)
    raise_error(ErrorKind::invalid_argument, what + " is " + numpy_name(slot.dtype) + ", an array of " + numpy_name(v.dtype) +
                                                 " is given; nothing is converted in silence: array.astype(\"" + numpy_name(slot.dtype) +
                                                 "\")");
  if (v.on_gpu() && !slots_->on_gpu)
    raise_error(ErrorKind::invalid_argument, what + " is given on a GPU, the engine runs on the CPU: copy the array there");
  if (v.on_gpu() && v.device.device_id != slots_->ordinal)
    raise_error(ErrorKind::invalid_argument, what + " is given on cuda:" + std::to_string(v.device.device_id) + ", the engine runs on " +
                                                 slots_->device + ": copy the array there");
  if (!slot.is_input && v.read_only) raise_error(ErrorKind::invalid_argument, what + " is given a read-only array");
  if (!v.odd) return;
  if (!slot.is_input)
    raise_error(ErrorKind::invalid_argument, what + " is given an array with negative or odd strides, where it cannot be written");
  const Maker maker = v.maker;
  const nb::object copy = packed_copy(array, maker);
  read_array(v, copy, what, stream);
  v.maker = maker;
}

void BoundContext::keep(int binding, nb::object owner) {
  end_state(binding);
  kept_[static_cast<std::size_t>(binding)] = std::move(owner), bound_[static_cast<std::size_t>(binding)] = true;
}

void BoundContext::bind(int binding, nb::handle array, ArrayView& v, std::int64_t stream, bool brief) {
  read(binding, array, v, stream, brief);
  if (slots_->at(binding).is_input) set_shape(binding, v.extents());
  bind_memory(binding, v);
  keep(binding, v.owner);
}

// bind() has set its shape. What is too large for the context's own memory lies outside every profile: the question for a shape tells.
void BoundContext::bind_copy(int binding, nb::handle array) {
  const Slot& slot = slots_->at(binding);
  std::array<std::int64_t, kMaxDims> shape;
  int rank = 0;
  if (const Status status = context_->shape(binding, shape, rank); !status) refuse(status);
  ArrayView v;
  read_array(v, array, slot.what());
  const nb::object dense = v.dense && !v.odd ? nb::borrow(array) : packed_copy(array, v.maker);
  if (dense.ptr() != array.ptr()) read_array(v, dense, slot.what());
  bind_nothing(binding);
  void* const own = context_->own_memory(binding);
  const auto bytes = static_cast<std::size_t>(v.reach());
  const Unlocked unlocked;
  if (bytes > 0) std::memcpy(own, v.data, bytes);
}

void BoundContext::bind_nothing(int binding) {
  const Slot& slot = slots_->at(binding);
  if (const Status status = context_->bind(binding, nullptr, 0); !status) refuse(status);
  if (!slot.is_input) context_->own_memory(binding);
  keep(binding, {});
}

nb::object BoundContext::bind_new(int binding, Maker maker, nb::handle like) {
  std::array<std::int64_t, kMaxDims> shape;
  int rank = 0;
  const bool known = output_shape(binding, shape, rank);
  if (!known || sized_by_run(binding)) return bind_nothing(binding), nb::object();
  const Slot& slot = slots_->at(binding);
  void* data = nullptr;
  const std::span extents(shape.data(), static_cast<std::size_t>(rank));
  nb::object made = new_array(maker, like, slot.dtype, extents, data);
  const std::int64_t bytes = byte_size(slot.dtype, element_count(extents));
  if (const Status status = context_->bind(binding, bytes == 0 ? nothing : data, bytes); !status) refuse(status);
  keep(binding, made);
  return made;
}

nb::object BoundContext::copied(int binding) {
  const Slot& slot = slots_->at(binding);
  if (const State* state = state_of(binding)) return read_state(state->input);
  std::array<std::int64_t, kMaxDims> shape;
  int rank = 0;
  if (!output_shape(binding, shape, rank)) raise_error(ErrorKind::invalid_argument, slot.what() + " has no size before a run");
  void* data = nullptr;
  const std::span extents(shape.data(), static_cast<std::size_t>(rank));
  nb::object made = new_array(Maker::numpy, {}, slot.dtype, extents, data);
  const std::int64_t bytes = byte_size(slot.dtype, element_count(extents));
  if (bytes > 0) std::memcpy(data, context_->own_memory(binding), static_cast<std::size_t>(bytes));
  return made;
}

void BoundContext::bind_unbound_outputs() {
  for (std::size_t b = static_cast<std::size_t>(slots_->inputs); b < bound_.size(); ++b)
    if (!bound_[b]) bind_nothing(static_cast<int>(b));
}

void BoundContext::run(const RunOptions& options) {
  pending_ = false;
  const Status status = LongCall().run([&] { return context_->run_with(options); });
  if (!status) refuse(status);
  advance_states();
}

void BoundContext::enqueue(const StreamChoice& stream, const RunOptions& options) {
  Status status;
  {
    const Unlocked unlocked;
    status = context_->enqueue(stream.handle(), options);
  }
  pending_ = true, stream_ = stream;
  if (!status) refuse(status);
  advance_states();
}

void BoundContext::wait() {
  Status status;
  {
    const Unlocked unlocked;
    status = context_->wait();
  }
  pending_ = false;
  if (!status) refuse(status);
}

// On a CPU nothing takes long, and the thread that comes to life wants no lock of ours.
void BoundContext::begin(const StreamChoice& stream, const RunOptions& options, Completion done) {
  Status status;
  pending_ = true, stream_ = stream;   // before `done` may give this to others
  if (slots_->on_gpu) {
    const Unlocked unlocked;
    status = enqueue_then(*context_, stream.handle(), options, done);
  } else {
    status = enqueue_then(*context_, nullptr, options, done);
  }
  if (status) return;
  pending_ = false;
  refuse(status);
}

void BoundContext::synchronize(const StreamChoice& stream) {
  if (pending_ && !(stream.given && stream_.number == stream.number)) wait();
}

void BoundContext::forget() {
  for (nb::object& kept : kept_) kept.reset();
}

SharedEngine::SharedEngine(Engine made) : engine(std::move(made)), slots(slots_of(engine)) {}
SharedEngine::~SharedEngine() { drop_runners(); }

void SharedEngine::drop_runners() noexcept {
  std::vector<std::unique_ptr<BoundContext>> dropped;
  dropped.swap(idle);
}

// The one that last worked on this stream, so that nobody has to wait.
std::unique_ptr<BoundContext> SharedEngine::take(const StreamChoice& stream) {
  for (auto it = idle.rbegin(); it != idle.rend(); ++it)
    if (!(*it)->pending() || (*it)->stream().number == stream.number) {
      std::unique_ptr<BoundContext> taken = std::move(*it);
      idle.erase(std::next(it).base());
      return taken;
    }
  return std::make_unique<BoundContext>(engine, slots);
}

void SharedEngine::give(std::unique_ptr<BoundContext> runner) { idle.push_back(std::move(runner)); }

Engine engine_from(nb::handle made, const char* from) {
  if (!nb::isinstance<PyEngine>(made))
    raise_type_error(std::string(from) + " gave a " + class_name(made) + ", a tenfold.Engine was expected");
  return nb::cast<PyEngine&>(made).state->engine;
}

}  // namespace tenfold::python
