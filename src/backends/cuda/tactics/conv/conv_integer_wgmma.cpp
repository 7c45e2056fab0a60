// conv_integer_wgmma: convolutions of integers of 8 bits over channels-last images, on Hopper's tensor cores: as conv_wgmma.
#include "backends/tactic.h"

namespace tenfold::backends {

Tactic cuda_conv_wgmma();

Tactic cuda_conv_integer_wgmma() {
  Tactic tactic = cuda_conv_wgmma();
  tactic.name = "conv_integer_wgmma", tactic.op = "ConvInteger";
  return tactic;
}

}  // namespace tenfold::backends
