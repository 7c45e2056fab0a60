// IDeconvolutionLayer: kernel [channels, maps / groups, window]. Kernel and bias are options, or operands 1 and 2; the bias may be left
// out.
#include "layers/layer.h"

namespace tenfold::layers {

LayerKind layer_deconvolution() { return convolution_kind("deconvolution", true); }

}  // namespace tenfold::layers
