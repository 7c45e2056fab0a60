// What is known of an operand when a layer is made.
#pragma once

#include <optional>

#include "layers/layer.h"

namespace tenfold::layers {

// The value of a constant, or of a constant layer's result; nothing: it is neither.
std::optional<Tensor> known_value(const LayerCall& call, int operand);

}  // namespace tenfold::layers
