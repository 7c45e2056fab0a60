// First convolutions: of images with few channels, which GPUs have a kernel of their own for.
#pragma once

#include "ir/graph.h"

namespace tenfold::passes {

// Whether that kernel takes the convolution whatever follows, with room to spare.
bool has_few_channels(const ir::Node& conv);

}  // namespace tenfold::passes
