// What conv_small_c (backends/cuda/tactics) takes.
#include "passes/first_convolutions.h"

#include <algorithm>

#include "ir/op_def.h"

namespace tenfold::passes {

using ir::Dims;
using ir::Ints;

bool has_few_channels(const ir::Node& n) {
  constexpr std::int64_t kChannels = 7, kWindow = 7, kDepth = 256, kStride = 2;
  const ir::Value *x = n.in(0), *w = n.in(1);
  if (!w->is_constant() || (n.in(2) && !n.in(2)->is_constant()) || n.attributes.integer("group") != 1) return false;
  if (n.attributes.string("auto_pad", "NOTSET") != "NOTSET" || x->rank() < 4 || x->rank() > 5) return false;
  const Dims &image = x->dims(), &window = w->dims();
  if (!ir::is_constant(window)) return false;
  std::int64_t elements = 1;   // of an image, which the kernel counts in 31 bits
  for (std::size_t d = 1; d < image.size(); ++d) {
    if (!image[d].is_constant() || image[d].constant() > 1 << 12) return false;
    elements *= image[d].constant();
    if (elements >= std::int64_t{1} << 31) return false;
  }
  if (window[1].constant() > kChannels || window[0].constant() % 8 != 0 || window.back().constant() < 2) return false;
  std::int64_t runs = 1;
  for (std::size_t d = 2; d < window.size(); ++d) {
    if (window[d].constant() > kWindow) return false;
    if (d + 1 < window.size()) runs *= window[d].constant();
  }
  if ((window.back().constant() * window[1].constant() + 1) / 2 * 2 * runs > kDepth) return false;
  const Ints ones(window.size() - 2, 1), strides = n.attributes.ints("strides", ones), dilations = n.attributes.ints("dilations", ones);
  const auto at_most = [](const Ints& values, std::int64_t max) {
    return std::all_of(values.begin(), values.end(), [=](std::int64_t v) { return v <= max; });
  };
  return at_most(strides, kStride) && at_most(dilations, 1) && strides.back() < window.back().constant();
}

}  // namespace tenfold::passes
