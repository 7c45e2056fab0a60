// DeviceArray: the caller's memory on a device, with a type and a shape, to bind and to copy from and to.
#pragma once

#include <memory>
#include <string>

#include "tenfold/export.h"
#include "tenfold/tensor.h"

namespace tenfold {

class Engine;                          // tenfold/engine.h
class Runtime;                         // tenfold/runtime.h

// A dense, row-major array, aligned to 64 bytes, on a GPU to 256. Copies of a DeviceArray share its memory, which is
// freed with the last of them. On a GPU the memory counts as its runtime's (RuntimeUse::gpu_bytes) and keeps to the
// runtime's limit. Thread safe, except for copies to the same place at the same time. ExecutionContext::bind(b,
// array.memory(), array.bytes()) binds the array, without a copy, for an engine on the same device.
class TENFOLD_API DeviceArray {
 public:
  DeviceArray() = default;             // no array
  // An array of zeros, which are there when this returns. `device` is as in BuildConfig: "cpu", "cuda" (the first GPU),
  // "cuda:1". A null `runtime` is the process's own. Throws invalid_argument (strings, an extent below zero),
  // unsupported (no such kind of device), device, out_of_memory.
  DeviceArray(const std::string& device, DType dtype, Shape shape, const std::shared_ptr<Runtime>& runtime = nullptr);

  bool defined() const { return state_ != nullptr; }
  // These six throw invalid_argument where there is no array.
  const std::string& device() const;   // with its number: "cuda:0"
  bool on_gpu() const;
  int ordinal() const;                 // number of the GPU; 0 on a CPU
  DType dtype() const;
  const Shape& shape() const;
  std::int64_t bytes() const;
  void* memory() const noexcept;       // null: no array

  // Copy all bytes from or to `memory`, which is the host's or the device's own. The copy is done when they return. It
  // runs after the work of `stream`, a CUstream of that GPU; if that is null, it waits for no stream. Throw
  // invalid_argument if `bytes` is not bytes() or a stream is given on a CPU, and device.
  void copy_from(const void* memory, std::int64_t bytes, void* stream = nullptr);
  void copy_to(void* memory, std::int64_t bytes, void* stream = nullptr) const;

 private:
  struct State;
  const State& state() const;
  std::shared_ptr<const State> state_;
};

// The device whose arrays this engine reads and writes without a copy: "cpu", "cuda:0".
TENFOLD_API std::string device_of(const Engine& engine);

}  // namespace tenfold
