/* A libnvidia-ml.so.1 with two GPUs, one of which is hot: for what `tenfold doctor` tells of clocks where there is no GPU. */
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

static int gpus[2] = {0, 1};

EXPORT int nvmlInit_v2(void) { return 0; }
EXPORT int nvmlShutdown(void) { return 0; }
EXPORT int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 2, 0; }
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) { return *device = &gpus[index], 0; }
EXPORT int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  return snprintf(name, length, "Pretended %d", *(int*)device) < 0;
}
EXPORT int nvmlDeviceGetClockInfo(void* device, int type, unsigned* mhz) { return *mhz = type == 1 ? 1200u : 2600u, (void)device, 0; }
EXPORT int nvmlDeviceGetMaxClockInfo(void* device, int type, unsigned* mhz) { return *mhz = 1980u, (void)device, (void)type, 0; }
EXPORT int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* celsius) {
  return *celsius = *(int*)device ? 91u : 40u, (void)sensor, 0;
}
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* bits) {
  return *bits = *(int*)device ? 0x44u : 1u, 0;
}
EXPORT int nvmlDeviceGetPersistenceMode(void* device, unsigned* on) { return *on = *(int*)device == 0, 0; }
EXPORT int nvmlDeviceGetUtilizationRates(void* device, unsigned* rates) { return rates[0] = 37, rates[1] = 5, (void)device, 0; }
EXPORT int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) { return *milliwatts = 250400, (void)device, 0; }
/* The second one is too old to count energy, as GPUs before Volta are. */
EXPORT int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  return *millijoules = 123456789ull, *(int*)device ? 3 : 0;
}
EXPORT int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* memory) {
  return memory[0] = 80ull << 30, memory[1] = 60ull << 30, memory[2] = 20ull << 30, (void)device, 0;
}
