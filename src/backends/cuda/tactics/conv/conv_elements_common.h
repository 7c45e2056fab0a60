// Convolutions with a thread for each element of the result: where no library is and no matrix unit helps.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends::cuda {

Tactic conv_elements_tactic(const char* name, const char* op);  // of Conv, ConvInteger or ConvTranspose

}  // namespace tenfold::backends::cuda
