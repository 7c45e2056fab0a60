// Memory of callers on devices.
#include "tenfold/device_array.h"

#include "base/check.h"
#include "runtime/shared/device_port.h"
#include "runtime/shared/runtime.h"

namespace tenfold {

struct DeviceArray::State {
  std::shared_ptr<runtime::DevicePort> port;
  DType dtype;
  Shape shape;
  std::int64_t bytes;
  std::shared_ptr<void> memory;
};

namespace {

std::int64_t bytes_of(DType dtype, const Shape& shape) {
  for (const std::int64_t extent : shape)
    require(extent >= 0, ErrorKind::invalid_argument, "an array of the shape [", text(shape), "]: extents from 0 were expected");
  try {
    return byte_size(dtype, element_count(shape));
  } catch (const Error&) {
    fail(ErrorKind::out_of_memory, cat("an array of the shape [", text(shape), "] has more bytes than there are addresses"));
  }
}

}  // namespace

DeviceArray::DeviceArray(const std::string& device, DType dtype, Shape shape, const std::shared_ptr<Runtime>& runtime) {
  require(dtype != DType::string && dtype < DType::count_, ErrorKind::invalid_argument,
          "a device's memory holds numbers, an array of ", dtype < DType::count_ ? name(dtype) : "no known type", " was asked for");
  const std::int64_t bytes = bytes_of(dtype, shape);
  const Runtime::Impl& impl = runtime::runtime_of(runtime)->impl();
  std::shared_ptr<runtime::DevicePort> port = impl.ports->port(device, impl.shared);
  std::shared_ptr<void> memory = port->backend().memory().allocate(bytes);
  port->clear(memory.get(), bytes);
  state_ = std::make_shared<const State>(State{std::move(port), dtype, std::move(shape), bytes, std::move(memory)});
}

const DeviceArray::State& DeviceArray::state() const {
  require(defined(), ErrorKind::invalid_argument, "a DeviceArray that is none was asked: make it with a device, a type and a shape");
  return *state_;
}

const std::string& DeviceArray::device() const { return state().port->device(); }
bool DeviceArray::on_gpu() const { return state().port->on_gpu(); }
int DeviceArray::ordinal() const { return on_gpu() ? state().port->backend().info().ordinal : 0; }
DType DeviceArray::dtype() const { return state().dtype; }
const Shape& DeviceArray::shape() const { return state().shape; }
std::int64_t DeviceArray::bytes() const { return state().bytes; }
void* DeviceArray::memory() const noexcept { return state_ ? state_->memory.get() : nullptr; }

namespace {

void check_bytes(const void* memory, std::int64_t given, std::int64_t requested) {
  require(memory != nullptr || given == 0, ErrorKind::invalid_argument, "a copy of ", given, " bytes from or to no memory (null)");
  require(given == requested, ErrorKind::invalid_argument, "a copy of ", given, " bytes, the array has ", requested);
}

}  // namespace

void DeviceArray::copy_from(const void* from, std::int64_t bytes, void* stream) {
  check_bytes(from, bytes, state().bytes);
  state().port->copy(memory(), from, bytes, stream);
}
void DeviceArray::copy_to(void* to, std::int64_t bytes, void* stream) const {
  check_bytes(to, bytes, state().bytes);
  state().port->copy(to, memory(), bytes, stream);
}

}  // namespace tenfold
