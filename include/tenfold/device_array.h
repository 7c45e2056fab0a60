// DeviceArray: memory of one's own on a device, with a type and a shape, to bind and to copy from and to.
#pragma once

#include <memory>
#include <string>

#include "tenfold/export.h"
#include "tenfold/tensor.h"

namespace tenfold {

class Engine;                          // tenfold/engine.h
class Runtime;                         // tenfold/runtime.h

// Dense, row major, aligned to 64 bytes, on a GPU to 256. Copies share the memory, which goes back with the last of them. On a GPU it
// counts as its runtime's (RuntimeUse::gpu_bytes) and keeps to the runtime's limit. Thread safe, but what is copied at the same time to
// the same place. ExecutionContext::bind(b, array.memory(), array.bytes()) binds it without a copy to an engine of the same device.
class TENFOLD_API DeviceArray {
 public:
  DeviceArray() = default;             // none
  // Zeros, there when this returns. `device` as in BuildConfig: "cpu", "cuda" (the first GPU), "cuda:1". `runtime` null: the process's own.
  // Throws invalid_argument (strings, an extent below zero), unsupported (no such kind of device), device, out_of_memory.
  DeviceArray(const std::string& device, DType dtype, Shape shape, const std::shared_ptr<Runtime>& runtime = nullptr);

  bool defined() const { return state_ != nullptr; }
  const std::string& device() const;   // with its number: "cuda:0". These five throw invalid_argument where there is none.
  bool on_gpu() const;
  int ordinal() const;                 // of the GPU; 0 on a CPU
  DType dtype() const;
  const Shape& shape() const;
  std::int64_t bytes() const;
  void* memory() const noexcept;       // null: none

  // All bytes, from or to the host's memory or the device's own; done when they return. `stream`: a CUstream of that GPU behind whose work
  // they come; null: not behind anybody's. Throw invalid_argument where `bytes` is not bytes(), or a stream is given on a CPU; device.
  void copy_from(const void* memory, std::int64_t bytes, void* stream = nullptr);
  void copy_to(void* memory, std::int64_t bytes, void* stream = nullptr) const;

 private:
  struct State;
  const State& state() const;
  std::shared_ptr<const State> state_;
};

// Where arrays lie that this engine reads and writes without a copy: "cpu", "cuda:0".
TENFOLD_API std::string device_of(const Engine& engine);

}  // namespace tenfold
