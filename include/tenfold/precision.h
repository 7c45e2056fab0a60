// Types that single layers of a model compute in and give, where the user decides and not the builder: what trtexec's
// --precisionConstraints, --layerPrecisions and --layerOutputTypes say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenfold/tensor.h"

namespace tenfold {

// none: the two lists of LayerTypes are ignored, and the log warns of that. prefer: they are followed where that is
// possible, and a note (notes.h) tells of each layer where it is not. obey: the build throws unsupported instead, with
// layer, type, device and reason.
enum class LayerConstraints : std::uint8_t { none, prefer, obey };

// `layers` names nodes of the model: one name, or a pattern in which one '*' stands for any characters. A name goes
// before a pattern, and a later entry before an earlier one. A pattern passes over nodes whose results are integers,
// bools or shapes. A name or pattern that fits no node makes the build throw invalid_argument.
struct LayerPrecision { std::string layers; DType type; };
// A type for each output of the node, in their order; one type stands for all outputs.
struct LayerOutputTypes { std::string layers; std::vector<DType> types; };

// A layer's type is permission for it: f16 and bf16 need not be permitted for the whole model. i8 needs QuantizeLinear
// and DequantizeLinear in the model, or a calibration, and so does f8e4m3fn. f32 may be rounded as
// BuildConfig::tf32 says, and no further. Where several layers become one step (attention), it computes in the widest
// of their types. A layer computes in no narrower type than its own because of what it was fused with.
struct LayerTypes {
  LayerConstraints constraints = LayerConstraints::none;
  std::vector<LayerPrecision> precisions;
  std::vector<LayerOutputTypes> output_types;
};

}  // namespace tenfold
