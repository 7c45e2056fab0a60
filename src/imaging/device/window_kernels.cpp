// NVRTC gets the text of args.h in front of the kernels.
#include "device/window_kernels.h"

#include "base/check.h"
#include "device/kernel_texts.h"

namespace tenfold::imaging {

std::string window_kernels_source() {
  std::string source;
  for (const KernelText& one : kernel_texts()) source += one.text;   // args.h comes first
  constexpr std::string_view kOnce = "#pragma once";
  if (const auto at = source.find(kOnce); at != std::string::npos) source.erase(at, kOnce.size());
  return source;
}

WindowKernels::WindowKernels(DeviceWork& work) {
  const std::string source = window_kernels_source();
  cut = work.load_kernel(source, "cut"), add = work.load_kernel(source, "add");
  finish = work.load_kernel(source, "finish"), resample = work.load_kernel(source, "resample");
  mean = work.load_kernel(source, "mean");
}

bool has_window_type(DType dtype) {
  switch (dtype) {
    case DType::u8:
    case DType::u16:
    case DType::i16:
    case DType::f16:
    case DType::bf16:
    case DType::f32: return true;
    default: return false;
  }
}

WindowType window_type(DType dtype) {
  switch (dtype) {
    case DType::u8: return kU8;
    case DType::u16: return kU16;
    case DType::i16: return kI16;
    case DType::f16: return kF16;
    case DType::bf16: return kBf16;
    case DType::f32: return kF32;
    default: fail(ErrorKind::internal, cat("no kernel for windows of ", name(dtype)));
  }
}

}  // namespace tenfold::imaging
