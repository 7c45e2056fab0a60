// DLPack structs of tensors and bindings.
#include "tenfold/dlpack.h"

#include <cstring>
#include <new>

#include "backends/backend.h"
#include "base/check.h"
#include "base/checked.h"
#include "runtime/bindings/extras.h"
#include "runtime/device/link.h"
#include "tenfold/bindings.h"

namespace tenfold {
namespace {

// The layout that the standard fixes, on 64-bit machines.
static_assert(sizeof(DLDataType) == 4 && sizeof(DLDevice) == 8 && sizeof(DLTensor) == 48 && offsetof(DLTensor, ndim) == 16 &&
              offsetof(DLTensor, dtype) == 20 && offsetof(DLTensor, shape) == 24 && offsetof(DLTensor, byte_offset) == 40);
static_assert(sizeof(DLManagedTensor) == 64 && offsetof(DLManagedTensor, manager_ctx) == 48);
static_assert(sizeof(DLManagedTensorVersioned) == 80 && offsetof(DLManagedTensorVersioned, manager_ctx) == 8 &&
              offsetof(DLManagedTensorVersioned, flags) == 24 && offsetof(DLManagedTensorVersioned, dl_tensor) == 32);

struct Known {
  DType type;
  std::uint8_t code, bits;
};
// Codes 10 to 14 and 17 came with DLPack 1.1: small floats.
constexpr Known kTypes[] = {{DType::f32, kDLFloat, 32},     {DType::f64, kDLFloat, 64},    {DType::f16, kDLFloat, 16},
                            {DType::bf16, kDLBfloat, 16},   {DType::i64, kDLInt, 64},      {DType::i32, kDLInt, 32},
                            {DType::i16, kDLInt, 16},       {DType::i8, kDLInt, 8},        {DType::u64, kDLUInt, 64},
                            {DType::u32, kDLUInt, 32},      {DType::u16, kDLUInt, 16},     {DType::u8, kDLUInt, 8},
                            {DType::i4, kDLInt, 4},         {DType::u4, kDLUInt, 4},       {DType::i2, kDLInt, 2},
                            {DType::u2, kDLUInt, 2},        {DType::boolean, kDLBool, 8},  {DType::f8e4m3fn, 10, 8},
                            {DType::f8e4m3fnuz, 11, 8},     {DType::f8e5m2, 12, 8},        {DType::f8e5m2fnuz, 13, 8},
                            {DType::f8e8m0, 14, 8},         {DType::f4e2m1, 17, 4}};

// What a struct of ours keeps: the bytes' owner, and the numbers that it points to.
template <class Managed>
struct Kept {
  Managed managed{};
  std::shared_ptr<const void> owner;
  Shape shape, strides;
};

template <class Managed>
Managed* wrap(std::shared_ptr<const void> owner, const void* data, DLDevice device, DType type, Shape shape) {
  auto kept = std::make_unique<Kept<Managed>>();
  kept->owner = std::move(owner), kept->shape = std::move(shape);
  kept->strides.resize(kept->shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = kept->shape.size(); d-- > 0;) {
    kept->strides[d] = stride;
    stride = checked_mul(stride, std::max<std::int64_t>(kept->shape[d], 1));
  }
  DLTensor& t = kept->managed.dl_tensor;
  t = {.data = const_cast<void*>(data), .device = device, .ndim = static_cast<std::int32_t>(kept->shape.size()),
       .dtype = dlpack_type(type), .shape = kept->shape.data(), .strides = kept->strides.data(), .byte_offset = 0};
  kept->managed.manager_ctx = kept.get();
  kept->managed.deleter = [](Managed* self) { delete static_cast<Kept<Managed>*>(self->manager_ctx); };
  return &kept.release()->managed;
}

DLManagedTensorVersioned* versioned(DLManagedTensorVersioned* made, std::uint64_t flags) {
  made->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  made->flags = flags;
  return made;
}

bool dense(const DLTensor& t) {
  if (!t.strides) return true;
  std::int64_t stride = 1;
  for (int d = t.ndim - 1; d >= 0; --d) {
    if (t.shape[d] == 0) return true;
    if (t.shape[d] != 1 && t.strides[d] != stride) return false;
    stride *= t.shape[d];
  }
  return true;
}

// Elements one by one, in row-major order.
Tensor packed(const DLTensor& t, const std::byte* data, DType type, const Shape& shape) {
  require(bits(type) >= 8, ErrorKind::unsupported, "elements of less than a byte have no strides");
  Tensor copy(type, shape);
  const std::int64_t width = bits(type) / 8;
  Shape index(shape.size(), 0);
  auto* to = static_cast<std::byte*>(copy.mutable_raw());
  for (std::int64_t i = 0; i < copy.size(); ++i) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * t.strides[d];
    std::memcpy(to + i * width, data + at * width, static_cast<std::size_t>(width));
    for (std::size_t d = index.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
  return copy;
}

template <class Managed>
Tensor taken(Managed* managed) {
  const DLTensor& t = managed->dl_tensor;
  require(t.device.device_type == kDLCPU || t.device.device_type == kDLCUDAHost, ErrorKind::invalid_argument,
          "the DLPack tensor lies on device type ", static_cast<int>(t.device.device_type), ", not in the host's memory");
  require(t.ndim >= 0 && t.ndim <= 64 && (t.ndim == 0 || t.shape), ErrorKind::invalid_argument, "the DLPack tensor has ", t.ndim, " axes");
  const DType type = type_of_dlpack(t.dtype);
  const Shape shape(t.shape, t.shape + t.ndim);
  const std::int64_t elements = element_count(shape);
  require(t.data || elements == 0, ErrorKind::invalid_argument, "the DLPack tensor has no data");
  const std::byte* data = static_cast<const std::byte*>(t.data) + (t.data ? t.byte_offset : 0);
  const auto release = [](Managed* m) {
    if (m->deleter) m->deleter(m);
  };
  if (elements > 0 && !dense(t)) {
    Tensor copy = packed(t, data, type, shape);
    release(managed);
    return copy;
  }
  if (elements == 0) {
    release(managed);
    return Tensor(type, shape);
  }
  // The count is made first: should that fail, the struct stays the caller's.
  std::shared_ptr<const void> owner;
  auto holder = std::make_shared<std::unique_ptr<Managed, void (*)(Managed*)>>(nullptr, +release);
  holder->reset(managed);
  owner = std::shared_ptr<const void>(holder, data);
  return Tensor(type, shape, std::move(owner), data);
}

}  // namespace

DLDataType dlpack_type(DType type) {
  for (const Known& k : kTypes)
    if (k.type == type) return {k.code, k.bits, 1};
  fail(ErrorKind::unsupported, cat("DLPack has no type for ", name(type)));
}
DType type_of_dlpack(DLDataType type) {
  for (const Known& k : kTypes)
    if (k.code == type.code && k.bits == type.bits && type.lanes == 1) return k.type;
  fail(ErrorKind::unsupported, cat("there is no element type for DLPack's code ", static_cast<int>(type.code), " of ",
                                   static_cast<int>(type.bits), " bits and ", type.lanes, " lanes"));
}

DLManagedTensorVersioned* to_dlpack(const Tensor& t) {
  const auto keeper = std::make_shared<const Tensor>(t);
  return versioned(wrap<DLManagedTensorVersioned>(keeper, t.raw(), {kDLCPU, 0}, t.dtype(), t.shape()), DLPACK_FLAG_BITMASK_READ_ONLY);
}
DLManagedTensor* to_dlpack_unversioned(const Tensor& t) {
  return wrap<DLManagedTensor>(std::make_shared<const Tensor>(t), t.raw(), {kDLCPU, 0}, t.dtype(), t.shape());
}

namespace {

template <class Managed>
Managed* wrap(const DeviceArray& a) {
  const DLDevice where{a.on_gpu() ? kDLCUDA : kDLCPU, a.ordinal()};
  return wrap<Managed>(std::make_shared<const DeviceArray>(a), a.memory(), where, a.dtype(), a.shape());
}

}  // namespace

DLManagedTensorVersioned* to_dlpack(const DeviceArray& a) { return versioned(wrap<DLManagedTensorVersioned>(a), 0); }
DLManagedTensor* to_dlpack_unversioned(const DeviceArray& a) { return wrap<DLManagedTensor>(a); }

Tensor from_dlpack(DLManagedTensorVersioned* managed) {
  require(managed != nullptr, ErrorKind::invalid_argument, "the DLPack tensor is null");
  require(managed->version.major == DLPACK_MAJOR_VERSION, ErrorKind::invalid_argument, "the DLPack tensor has version ",
          managed->version.major, ".", managed->version.minor, ", ", DLPACK_MAJOR_VERSION, " was expected");
  return taken(managed);
}
Tensor from_dlpack(DLManagedTensor* managed) {
  require(managed != nullptr, ErrorKind::invalid_argument, "the DLPack tensor is null");
  return taken(managed);
}

namespace {

Status refuse(runtime::ContextState& c, int binding, std::string why) {
  c.run.last_error = std::move(why);
  return {Status::invalid_binding, binding};
}

// The device of a context's engine may read it.
bool reachable(const runtime::ContextState& c, DLDevice device) {
  if (device.device_type == kDLCPU || device.device_type == kDLCUDAHost) return true;
  const bool gpu = device.device_type == kDLCUDA || device.device_type == kDLCUDAManaged;
  return gpu && c.device && device.device_id == c.engine->backend->info().ordinal;
}

std::int64_t reach(const DLTensor& t, const std::int64_t* strides, int width) {
  std::int64_t last = 0;
  for (int d = 0; d < t.ndim; ++d) {
    if (t.shape[d] == 0) return 0;
    last = checked_add(last, checked_mul(t.shape[d] - 1, strides[d]));
  }
  return checked_mul(last + 1, width);
}

Status bind_tensor(ExecutionContext& context, int binding, const DLTensor& t) {
  runtime::ContextState& c = runtime::ContextAccess::of(context);
  if (binding < 0 || binding >= static_cast<int>(c.bindings.memory.size())) return {Status::invalid_binding, binding};
  const BindingInfo& info = c.engine->bindings[static_cast<std::size_t>(binding)];
  if (type_of_dlpack(t.dtype) != info.dtype)
    return refuse(c, binding, cat("it is ", name(info.dtype), ", the DLPack tensor ", name(type_of_dlpack(t.dtype))));
  if (t.ndim < 0 || static_cast<std::size_t>(t.ndim) != info.shape.size() || (t.ndim > 0 && !t.shape))
    return refuse(c, binding, cat("it has ", info.shape.size(), " axes, the DLPack tensor ", t.ndim));
  if (!reachable(c, t.device)) return refuse(c, binding, "the DLPack tensor lies on another device");
  const std::span<const std::int64_t> shape(t.shape, static_cast<std::size_t>(t.ndim));
  void* const data = t.data ? static_cast<std::byte*>(t.data) + t.byte_offset : nullptr;
  const std::int64_t elements = element_count(shape);
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (info.shape[d] >= 0 && shape[d] != info.shape[d])
      return refuse(c, binding, cat("it has ", info.shape[d], " along axis ", d, ", the DLPack tensor ", shape[d]));
  if (info.is_input)
    if (Status s = context.set_input_shape(binding, shape); !s) return s;
  Status status;
  static char nothing[64];   // an address that nobody uses
  if (elements == 0) status = context.bind(binding, data ? data : nothing, 0);
  else if (!data) return refuse(c, binding, "the DLPack tensor has no data");
  else if (dense(t)) status = context.bind(binding, data, byte_size(info.dtype, elements));
  else status = bind_strided(context, binding, data, reach(t, t.strides, bits(info.dtype) / 8), {t.strides, shape.size()});
  const bool varies = std::find(info.shape.begin(), info.shape.end(), -1) != info.shape.end();
  if (status && !info.is_input && varies)
    runtime::extras_of(c).expected[static_cast<std::size_t>(binding)].assign(shape.begin(), shape.end());
  return status;
}

}  // namespace

Status bind_dlpack(ExecutionContext& context, int binding, const DLTensor& tensor) noexcept {
  try {
    return bind_tensor(context, binding, tensor);
  } catch (const std::bad_alloc&) {
    return {Status::out_of_memory, -1};
  } catch (const std::exception& e) {
    runtime::ContextAccess::of(context).run.last_error = e.what();
    return {Status::invalid_binding, binding};
  }
}

Status bind_dlpack(ExecutionContext& context, int binding, const DLManagedTensorVersioned& managed) noexcept {
  runtime::ContextState& c = runtime::ContextAccess::of(context);
  try {
    if (managed.version.major != DLPACK_MAJOR_VERSION)
      return refuse(c, binding, cat("the DLPack tensor has version ", managed.version.major, ", ", DLPACK_MAJOR_VERSION, " was expected"));
    if (binding >= c.engine->inputs && (managed.flags & DLPACK_FLAG_BITMASK_READ_ONLY))
      return refuse(c, binding, "the DLPack tensor is read-only");
  } catch (...) {
    return {Status::out_of_memory, -1};
  }
  return bind_dlpack(context, binding, managed.dl_tensor);
}

DLManagedTensorVersioned* binding_to_dlpack(ExecutionContext& context, int binding, bool on_device) {
  runtime::ContextState& c = runtime::ContextAccess::of(context);
  const Shape shape = context.shape(binding);
  require(std::find(shape.begin(), shape.end(), -1) == shape.end(), ErrorKind::invalid_argument, "the shape of binding ", binding,
          " is known when a run has finished");
  const auto b = static_cast<std::size_t>(binding);
  const DType type = c.engine->bindings[b].dtype;
  if (on_device) {
    require(c.device != nullptr, ErrorKind::invalid_argument, "the engine runs on a CPU, which has no memory of its own");
    const std::shared_ptr<void>& memory = c.device->mirrors[b].memory;
    return versioned(wrap<DLManagedTensorVersioned>(memory, memory.get(), {kDLCUDA, c.engine->backend->info().ordinal}, type, shape), 0);
  }
  context.own_memory(binding);
  const std::shared_ptr<void>& memory = c.bindings.own[b].memory;
  const DLDeviceType where = !c.device ? kDLCPU : kDLCUDAHost;
  return versioned(wrap<DLManagedTensorVersioned>(memory, memory.get(), {where, 0}, type, shape), 0);
}

}  // namespace tenfold
