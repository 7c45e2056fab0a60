// FloatState: while it lives, the calling thread rounds to nearest, masks floating-point traps, and flushes denormals or keeps them.
#pragma once

#include <xmmintrin.h>

#include <cstdint>

namespace tenfold {

// Results below the least normal number, and operands: as zeros, so that nothing stalls on them, or as IEEE 754 has them. The tiles of
// AMX and other products of bf16 take them for zeros either way.
enum class Denormals : std::uint8_t { flush, keep };

// Kernels give the same bits whatever the caller's settings are. The caller's state comes back when the object dies.
class FloatState {
 public:
  explicit FloatState(Denormals denormals = Denormals::flush) noexcept : saved_(_mm_getcsr()), before_(requested_) { set(denormals); }
  ~FloatState() { _mm_setcsr(saved_), requested_ = before_; }
  FloatState(const FloatState&) = delete;
  FloatState& operator=(const FloatState&) = delete;
  // Sets the state for good: what a worker thread does.
  static void set(Denormals denormals = Denormals::flush) noexcept {
    requested_ = denormals;
    _mm_setcsr(kMaskTraps | (denormals == Denormals::flush ? kFlushResults | kFlushOperands : 0));
  }
  // Of the innermost FloatState of this thread, for workers that help it. Outside of any: flush.
  static Denormals requested() noexcept { return requested_; }

 private:
  static constexpr unsigned kMaskTraps = 0x1f80, kFlushResults = 0x8000, kFlushOperands = 0x0040;
  static inline thread_local constinit Denormals requested_ = Denormals::flush;
  unsigned saved_;
  Denormals before_;
};

}  // namespace tenfold
