// IResizeLayer: to shape, by scales, or to operand 1, one number for each dim; without any of these, to what it is.
#include "layers/layer.h"

namespace tenfold::layers {
namespace {

Network::Tensors make(const LayerCall& call) {
  static constexpr const char *kModes[] = {"nearest", "linear", "cubic"}, *kPlaces[] = {"align_corners", "asymmetric", "half_pixel"},
                              *kRoundings[] = {"round_prefer_ceil", "round_prefer_floor", "floor", "ceil"};
  const std::string mode = kModes[call.choice("resize_mode", {"NEAREST", "LINEAR", "CUBIC"})];
  const std::string place = kPlaces[call.choice("coordinate_transformation", {"ALIGN_CORNERS", "ASYMMETRIC", "HALF_PIXEL"})];
  const std::string rounding = kRoundings[call.choice("nearest_rounding", {"HALF_UP", "HALF_DOWN", "FLOOR", "CEIL"})];
  static_cast<void>(call.choice("selector_for_single_pixel", {"FORMULA"}));
  NetworkTensor sizes, scales;
  if (call.has(1))
    sizes = call.as_i64(call.in(1));
  else if (!call.list("shape").empty())
    sizes = call.integers(call.list("shape"));
  else {
    const std::vector<float>& factors = call.reals("scales");
    if (factors.empty()) return {call.node("Identity", {call.in(0)})};
    Tensor t(DType::f32, {static_cast<std::int64_t>(factors.size())});
    std::copy(factors.begin(), factors.end(), t.mutable_data<float>());
    scales = call.net.constant(std::move(t));
  }
  return {call.node("Resize", {call.in(0), {}, scales, sizes},
                    {{"mode", mode},
                     {"coordinate_transformation_mode", place},
                     {"nearest_mode", rounding},
                     {"cubic_coeff_a", call.real("cubic_coeff")},
                     {"exclude_outside", call.number("exclude_outside")}})};
}

}  // namespace

LayerKind layer_resize() {
  return {.name = "resize",
          .min_inputs = 1,
          .max_inputs = 2,
          .options = {{"shape", Shape{}},
                      {"scales", std::vector<float>{}},
                      {"resize_mode", std::string("NEAREST")},
                      {"coordinate_transformation", std::string("ASYMMETRIC")},
                      {"nearest_rounding", std::string("FLOOR")},
                      {"selector_for_single_pixel", std::string("FORMULA")},
                      {"cubic_coeff", -0.75f},
                      {"exclude_outside", std::int64_t{0}}},
          .make = make};
}

}  // namespace tenfold::layers
