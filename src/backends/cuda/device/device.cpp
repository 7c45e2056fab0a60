// Opening GPUs, and loading kernels on them.
#include "backends/cuda/device/device.h"

#include "backends/cuda/codegen/kernel_files.h"
#include "backends/cuda/device/compiler.h"
#include "backends/cuda/device/cudnn.h"
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

namespace {

std::string libraries_beside(int driver_version) {
  std::string names = cat("driver API ", driver_version / 1000, ".", driver_version % 1000 / 10);
  if (compiler_why_not().empty()) names += cat(", ", compiler_name());
  if (cublas_lt()) names += cat(", cuBLASLt ", cublas_lt()->version_text());
  if (cudnn()) names += cat(", cuDNN ", cudnn()->version_text());
  if (const std::string note = kernel_override_note(); !note.empty()) names += cat(", ", note);
  return names;
}

}  // namespace

GpuFacts facts_of(int ordinal) {
  if (!driver()) fail(ErrorKind::device, cat("there is no GPU to use: ", driver_why_not()));   // which starts the machine's own
  const int count = device_count();
  require(ordinal >= 0 && ordinal < count, ErrorKind::device, "there is no GPU number ", ordinal, ": the driver shows ", count);
  const Driver& d = *driver();
  GpuFacts facts;
  int major = 0, minor = 0, l2 = 0, pools = 0, version = 0;
  working_for(ordinal);
  d.driver_version(&version);
  expect_driver(version);
  expect(d.device_get(&facts.number, ordinal), "cuDeviceGet", "opening the device");
  const auto read = [&](int& value, int attribute) {
    expect(d.device_attribute(&value, attribute, facts.number), "cuDeviceGetAttribute", "asking what the device is");
  };
  read(major, kCapabilityMajor), read(minor, kCapabilityMinor), read(facts.figures.multiprocessors, kMultiprocessors),
      read(facts.shared_bytes, kSharedMemoryPerBlockOptIn), read(facts.figures.shared_bytes, kSharedMemoryPerMultiprocessor),
      read(l2, kL2Bytes);
  facts.has_pools = d.pool_create && d.device_attribute(&pools, kMemoryPools, facts.number) == kSuccess && pools != 0;
  for (const auto& [attribute, name] : {std::pair{kClockKhz, "GPU"}, {kMemoryClockKhz, "GPU memory"}})
    if (int khz = 0; d.device_attribute(&khz, attribute, facts.number) == kSuccess && khz > 0) facts.clocks.push_back({name, khz});
  if (int khz = 0; d.device_attribute(&khz, kClockKhz, facts.number) == kSuccess && khz > 0) facts.figures.clock_khz = khz;
  facts.figures.mma_macs = mma_macs_of(major * 10 + minor);
  std::size_t memory = 0;
  expect(d.device_memory(&memory, facts.number), "cuDeviceTotalMem", "asking how much memory it has");
  facts.memory_bytes = static_cast<std::int64_t>(memory);
  char text[256] = "";
  d.device_name(text, sizeof text - 1, facts.number);
  expect_capability(text, major, minor);
  DeviceInfo& info = facts.info;
  info.kind = "cuda", info.name = text, info.arch = major * 10 + minor, info.ordinal = ordinal;
  info.l1_bytes = facts.shared_bytes, info.l2_bytes = l2, info.l3_bytes = 0;
  info.libraries = libraries_beside(version);
  name_libraries(ordinal, info.libraries);
  return facts;
}

PrimaryContext::PrimaryContext(const GpuFacts& gpu) : number_(gpu.number), ordinal_(gpu.info.ordinal) {
  working_for(ordinal_);
  expect(driver()->retain_primary(&context_, number_), "cuDevicePrimaryCtxRetain", "starting the device");
  make_current();
}
PrimaryContext::~PrimaryContext() {
  if (context_ && driver()) driver()->release_primary(number_);
}
void PrimaryContext::make_current() const noexcept {
  working_for(ordinal_);
  driver()->set_current(context_);
}

Device::Device(int ordinal, std::shared_ptr<KernelStore> kernels, const GpuMemoryRules& rules)
    : facts_(facts_of(ordinal)), kernels_(std::move(kernels)) {
  facts_.info.opened = this;
  context_ = std::make_unique<PrimaryContext>(facts_);
  memory_ = std::make_unique<MemoryPool>(ordinal, facts_.memory_bytes, facts_.has_pools, rules);
}

Device::Device(int arch, const GpuFigures& figures) : kernels_(std::make_shared<KernelStore>()) {
  DeviceInfo& info = facts_.info;
  facts_.figures = figures;
  info.kind = "cuda", info.name = "for compiling only", info.arch = arch, info.ordinal = -arch, info.opened = this;
}

Device& Device::for_compiling(int arch) {
  static std::mutex mutex;
  static std::map<int, std::unique_ptr<Device>> made;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Device>& slot = made[arch];
  if (!slot) slot.reset(new Device(arch, {}));
  return *slot;
}

std::unique_ptr<Device> Device::for_ranking(int arch, const GpuFigures& figures) {
  return std::unique_ptr<Device>(new Device(arch, figures));
}

Device::~Device() {
  make_current();
  staged_copies_.reset();
  kept_.reset();
  if (lt_) cublas_lt()->destroy(lt_);
}

Device& device_of(const DeviceInfo& info) {
  if (info.opened) return *static_cast<Device*>(info.opened);
  check(info.ordinal < 0, "a kernel is opened for a GPU that is not open");
  return Device::for_compiling(-info.ordinal);
}

const GpuFigures& figures_of(const DeviceInfo& info) {
  static const GpuFigures h200;
  return info.opened ? static_cast<const Device*>(info.opened)->figures() : h200;
}

void Device::make_current() const noexcept {
  if (context_) context_->make_current();
}

LtHandle Device::lt_handle() {
  const std::lock_guard lock(mutex_);
  if (!lt_) require(cublas_lt()->create(&lt_) == 0, ErrorKind::device, "cuBLASLt does not start");
  return lt_;
}

StagedCopies* Device::staged_copies() noexcept {
  std::call_once(stages_once_, [&]() noexcept {
    try {
      make_current();
      staged_copies_ = std::make_unique<StagedCopies>(StagingOptions{}, [this] { make_current(); });
    } catch (...) {   // without: as it was before there were such
      staged_copies_.reset();
    }
  });
  return staged_copies_.get();
}

std::shared_ptr<const LoadedModule> Device::load(const std::string& source, Opening& opening) {
  if (opening.ahead) {
    kernels_->start(source, facts_.info.arch);
    return std::make_shared<const LoadedModule>("");
  }
  const std::shared_ptr<const Code> code = kernels_->find(source, facts_.info.arch);
  opening.used.push_back(code);
  std::lock_guard lock(mutex_);
  std::weak_ptr<const LoadedModule>& slot = modules_[code->key];
  if (auto loaded = slot.lock()) return loaded;
  make_current();
  auto loaded = std::make_shared<const LoadedModule>(context_ ? std::string_view(code->image) : std::string_view());
  slot = loaded;
  return loaded;
}

}  // namespace tenfold::backends::cuda
