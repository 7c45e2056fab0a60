// The files of kernels/, embedded as text.
#pragma once

#include <span>
#include <string_view>

namespace tenfold::imaging {

struct KernelText { std::string_view name, text; };
std::span<const KernelText> kernel_texts();   // sorted by name

}  // namespace tenfold::imaging
