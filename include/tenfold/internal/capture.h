// Streams that a caller captures into a CUDA graph, for bindings that make a context in the middle of that.
#pragma once

#include <memory>

#include "tenfold/export.h"

namespace tenfold {

// Whether what `stream` (a CUstream) is given becomes part of a graph. Thread safe.
TENFOLD_API bool is_captured(void* stream) noexcept;

// While one lives, its thread may make contexts and prepare() them although a stream is being captured: the driver
// otherwise forbids to take memory meanwhile. Ends in the thread that made it.
class TENFOLD_API CaptureLeave {
 public:
  CaptureLeave() noexcept;
  ~CaptureLeave();
  CaptureLeave(const CaptureLeave&) = delete;
  CaptureLeave& operator=(const CaptureLeave&) = delete;

 private:
  int mode_;   // before
};

// `what` lives as long as the graph that the stream is captured into, and graphs made ready from that one. It may end in
// a thread of the driver's, which must ask nothing of CUDA. Where the driver cannot tell (before CUDA 11.3), it lives for
// good. Throws device. Thread safe.
TENFOLD_API void keep_with_capture(void* stream, std::shared_ptr<void> what);

}  // namespace tenfold
