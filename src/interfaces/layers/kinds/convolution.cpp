// IConvolutionLayer: kernel [maps, channels / groups, window]. Kernel and bias are options, or operands 1 and 2; the bias may be left out.
#include "layers/layer.h"

namespace tenfold::layers {

LayerKind layer_convolution() { return convolution_kind("convolution", false); }

}  // namespace tenfold::layers
