// conv_integer_depthwise: integers of 8 bits with a filter of such for each channel: as conv_depthwise.
#include "backends/tactic.h"

namespace tenfold::backends {

Tactic cuda_conv_depthwise();

Tactic cuda_conv_integer_depthwise() {
  Tactic tactic = cuda_conv_depthwise();
  tactic.name = "conv_integer_depthwise", tactic.op = "ConvInteger";
  return tactic;
}

}  // namespace tenfold::backends
