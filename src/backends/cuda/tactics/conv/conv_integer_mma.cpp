// conv_integer_mma: convolutions of integers of 8 bits over channels-last images, on tensor cores: as conv_mma.
#include "backends/tactic.h"

namespace tenfold::backends {

Tactic cuda_conv_mma();

Tactic cuda_conv_integer_mma() {
  Tactic tactic = cuda_conv_mma();
  tactic.name = "conv_integer_mma", tactic.op = "ConvInteger";
  return tactic;
}

}  // namespace tenfold::backends
