// FloatState: while it lives, the calling thread rounds to nearest, masks floating-point traps and flushes denormals to zero.
#pragma once

#include <xmmintrin.h>

namespace tenfold {

// Kernels give the same bits whatever the caller's settings are, and never stall on denormals. The caller's state comes back
// when the object dies.
class FloatState {
 public:
  FloatState() noexcept : saved_(_mm_getcsr()) { set(); }
  ~FloatState() { _mm_setcsr(saved_); }
  FloatState(const FloatState&) = delete;
  FloatState& operator=(const FloatState&) = delete;
  // Sets the state for good: what a worker thread does when it starts.
  static void set() noexcept { _mm_setcsr(kMaskTraps | kFlushResults | kFlushOperands); }

 private:
  static constexpr unsigned kMaskTraps = 0x1f80, kFlushResults = 0x8000, kFlushOperands = 0x0040;
  unsigned saved_;
};

}  // namespace tenfold
