// Activations of a recurrent node: names and parameters from its attributes, for all directions.
#pragma once

#include "ops/recurrent/recurrent_common.h"

namespace tenfold::ops {

std::vector<Activation> activations_of(const ir::Attributes& attributes, const RecurrentForm& form, std::int64_t directions);

}  // namespace tenfold::ops
