// Opening GPUs, and loading kernels on them.
#include "backends/cuda/device/device.h"

#include <unordered_map>

#include "backends/cuda/device/compiler.h"
#include "backends/cuda/device/cublas_lt.h"
#include "backends/cuda/device/cudnn.h"
#include "backends/cuda/device/failures.h"
#include "backends/cuda/device/kernel_store.h"
#include "base/check.h"

namespace tenfold::backends::cuda {

int device_count() {
  int count = 0;
  if (driver()) driver()->device_count(&count);
  return count;
}

LoadedModule::LoadedModule(std::string_view image) {
  if (!image.empty()) expect(driver()->module_load(&module_, image.data()), "cuModuleLoadData", "loading a kernel");
}
LoadedModule::~LoadedModule() {
  if (module_) driver()->module_unload(module_);
}
Function LoadedModule::function(const char* name, int shared_bytes) const {
  Function function = nullptr;
  if (!module_) return nullptr;
  expect(driver()->module_function(&function, module_, name), "cuModuleGetFunction", "looking a kernel up");
  if (shared_bytes > 48 << 10)
    expect(driver()->function_set(function, kFunctionMaxDynamicShared, shared_bytes), "cuFuncSetAttribute", "asking for shared memory");
  return function;
}

Device& Device::get(int ordinal) {
  if (ordinal >= 0) {
    require(driver() != nullptr, ErrorKind::device, "there is no GPU to use: ", driver_why_not());
    const int count = device_count();
    require(ordinal < count, ErrorKind::device, "there is no GPU number ", ordinal, ": the driver shows ", count);
  }
  static std::mutex mutex;
  static std::unordered_map<int, std::unique_ptr<Device>> opened;  // never closed: the driver may be gone before us
  std::lock_guard lock(mutex);
  std::unique_ptr<Device>& slot = opened[ordinal];
  if (!slot) slot.reset(new Device(ordinal));
  return *slot;
}

Device::Device(int ordinal) {
  if (ordinal < 0) {
    info_.kind = "cuda", info_.name = "for compiling only", info_.arch = -ordinal, info_.ordinal = ordinal;
    return;
  }
  const Driver& d = *driver();
  int device = 0, major = 0, minor = 0, l2 = 0, version = 0;
  working_for(ordinal);
  d.driver_version(&version);
  expect_driver(version);
  expect(d.device_get(&device, ordinal), "cuDeviceGet", "opening the device");
  const auto ask = [&](int& value, int attribute) {
    expect(d.device_attribute(&value, attribute, device), "cuDeviceGetAttribute", "asking what the device is");
  };
  ask(major, kCapabilityMajor), ask(minor, kCapabilityMinor), ask(multiprocessors_, kMultiprocessors),
      ask(shared_bytes_, kSharedMemoryPerBlockOptIn), ask(l2, kL2Bytes);
  std::size_t memory = 0;
  expect(d.device_memory(&memory, device), "cuDeviceTotalMem", "asking how much memory it has");
  memory_bytes_ = static_cast<std::int64_t>(memory);
  char text[256] = "";
  d.device_name(text, sizeof text - 1, device);
  expect_capability(text, major, minor);
  info_.kind = "cuda";
  info_.name = text;
  info_.arch = major * 10 + minor;
  info_.ordinal = ordinal;
  info_.l1_bytes = shared_bytes_, info_.l2_bytes = l2, info_.l3_bytes = 0;
  info_.libraries = cat("driver API ", version / 1000, ".", version % 1000 / 10);
  if (compiler_why_not().empty()) info_.libraries += cat(", ", compiler_name());
  if (cublas_lt()) info_.libraries += cat(", cuBLASLt ", cublas_lt()->version_text());
  if (cudnn()) info_.libraries += cat(", cuDNN ", cudnn()->version_text());
  name_libraries(ordinal, info_.libraries);
  expect(d.retain_primary(&context_, device), "cuDevicePrimaryCtxRetain", "starting the device");
}

void Device::make_current() const noexcept {
  if (!context_) return;
  working_for(info_.ordinal);
  driver()->set_current(context_);
}

std::shared_ptr<const LoadedModule> Device::load(const std::string& source) {
  CodeTrace* trace = CodeTrace::current();
  if (trace && trace->ahead) {
    KernelStore::get().start(source, info_.arch);
    return std::make_shared<const LoadedModule>("");
  }
  const std::shared_ptr<const Code> code = KernelStore::get().find(source, info_.arch);
  if (trace) trace->used.push_back(code);
  std::lock_guard lock(mutex_);
  std::weak_ptr<const LoadedModule>& slot = modules_[code->key];
  if (auto loaded = slot.lock()) return loaded;
  make_current();
  auto loaded = std::make_shared<const LoadedModule>(context_ ? std::string_view(code->image) : std::string_view());
  slot = loaded;
  return loaded;
}

}  // namespace tenfold::backends::cuda
