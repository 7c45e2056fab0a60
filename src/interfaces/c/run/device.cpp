// Devices from C.
#include "c/run/common.h"
#include "tenfold/c/device.h"
#include "tenfold/device.h"
#include "tenfold/device_error.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_devices {
  std::vector<DeviceDescription> list;
  std::string why_no_gpu;
};

extern "C" tenfold_status tenfold_devices_list(tenfold_devices** devices) {
  return guarded([&] { place(devices, "the place for the list", [&] { return new tenfold_devices{tenfold::devices(), why_no_gpu()}; }); });
}
extern "C" void tenfold_devices_free(tenfold_devices* devices) { delete devices; }
extern "C" int32_t tenfold_devices_count(const tenfold_devices* devices) {
  return devices ? static_cast<int32_t>(devices->list.size()) : 0;
}
extern "C" tenfold_status tenfold_devices_info(const tenfold_devices* devices, int32_t device, tenfold_device_info* info) {
  return guarded([&] {
    const DeviceDescription& d = element(need(devices, "the list").list, device, "device");
    give(info,
         {0, d.device.c_str(), d.name.c_str(), d.features.c_str(), d.l1_bytes, d.l2_bytes, d.l3_bytes, d.memory_bytes, d.threads, d.cores,
          static_cast<std::int32_t>(d.libraries.size())},
         "the place for the information");
  });
}
extern "C" const char* tenfold_devices_library(const tenfold_devices* devices, int32_t device, int32_t library) {
  if (device < 0 || device >= tenfold_devices_count(devices)) return nullptr;
  const auto& list = devices->list[static_cast<std::size_t>(device)].libraries;
  return library >= 0 && static_cast<std::size_t>(library) < list.size() ? list[static_cast<std::size_t>(library)].c_str() : nullptr;
}
extern "C" const char* tenfold_devices_why_no_gpu(const tenfold_devices* devices) { return devices ? devices->why_no_gpu.c_str() : ""; }
extern "C" tenfold_status tenfold_device_free_memory(const char* device, int64_t* bytes) {
  return guarded([&] { need(bytes, "the place for the number") = free_memory(&need(device, "the device")); });
}
extern "C" tenfold_status tenfold_device_look_for_libraries_in(const char* folder) {
  return guarded([&] { look_for_libraries_in(&need(folder, "the folder")); });
}
extern "C" tenfold_status tenfold_device_parse_cpu_features(const char* text, uint32_t* features) {
  return guarded([&] { need(features, "the place for the bits") = parse_cpu_features(&need(text, "the text")); });
}

extern "C" tenfold_status tenfold_device_last_error(const char* device, tenfold_device_error* error) {
  thread_local DeviceError last;
  thread_local std::string all;
  return guarded([&] {
    const auto found = last_device_error(&need(device, "the device"));
    last = found.value_or(DeviceError{.device = device}), all = found ? text(*found) : "";
    give(error,
         {0, last.device.c_str(), last.number, last.driver_version, last.symbol.c_str(), last.words.c_str(), last.call.c_str(),
          last.libraries.c_str(), all.c_str()},
         "the place for the error");
  });
}
extern "C" tenfold_status tenfold_device_health(const char* device, int32_t* lost, const char** reason) {
  thread_local DeviceHealth health;
  return guarded([&] {
    health = device_health(&need(device, "the device"));
    need(lost, "the place for the state") = health.state == Health::lost;
    if (reason) *reason = health.reason.c_str();
  });
}
