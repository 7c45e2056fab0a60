// PinnedMemory: host memory that GPUs copy from and to by themselves, allocated so, or the caller's own, registered.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tenfold/export.h"

namespace tenfold {

class Runtime;                         // tenfold/runtime.h

// From pinned memory a GPU copies at the bus's full speed while the host does something else; what is pageable goes
// through pinned pieces, copied by threads of the host. Copies of a PinnedMemory are one piece of memory, which ends
// with the last of them: before that, bind something else, and let runs end. Thread safe.
//
// `device` is as in BuildConfig: "cuda", "cuda:1", or what device_of(engine) says. All GPUs of the machine reach the
// memory. On "cpu" it is ordinary memory, so that programs need no second path; a GPU that is not there throws
// `device`. A null `runtime` is the process's own.
class TENFOLD_API PinnedMemory {
 public:
  PinnedMemory() = default;            // none
  // Zeros, aligned to 64 bytes. Throws invalid_argument, device, out_of_memory.
  PinnedMemory(const std::string& device, std::int64_t bytes, const std::shared_ptr<Runtime>& runtime = nullptr);
  // The caller's memory, registered (cuMemHostRegister) until the last copy of what this returns ends. It stays the
  // caller's, who frees it after that and not before: else the GPU reads whatever comes to lie there. Registering takes
  // as long as a pageable copy or two (77 MB: 5 ms), so it is for memory that many runs use. It must be writable, and not be
  // registered already, also not in part; bind nothing that reaches beyond it. On "cpu" nothing happens. Throws
  // invalid_argument, device, out_of_memory.
  static PinnedMemory of_callers(const std::string& device, void* memory, std::int64_t bytes,
                                 const std::shared_ptr<Runtime>& runtime = nullptr);

  void* memory() const noexcept { return memory_.get(); }   // null: none
  std::int64_t bytes() const noexcept { return bytes_; }
  bool pinned() const noexcept { return pinned_; }          // false: none, or on a CPU

 private:
  std::shared_ptr<void> memory_;
  std::int64_t bytes_ = 0;
  bool pinned_ = false;
};

}  // namespace tenfold
