// Callers' captures, for bindings.
#include "tenfold/internal/capture.h"

#include <utility>

#include "backends/cuda/captures.h"

namespace tenfold {
namespace {

constexpr int kRelaxed = 2;   // CU_STREAM_CAPTURE_MODE_RELAXED

}  // namespace

bool is_captured(void* stream) noexcept { return backends::cuda::is_captured(stream); }

CaptureLeave::CaptureLeave() noexcept : mode_(backends::cuda::exchange_capture_mode(kRelaxed)) {}
CaptureLeave::~CaptureLeave() { backends::cuda::exchange_capture_mode(mode_); }

void keep_with_capture(void* stream, std::shared_ptr<void> what) { backends::cuda::keep_with_capture(stream, std::move(what)); }

}  // namespace tenfold
