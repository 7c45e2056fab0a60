// Resize and GridSample against ONNX Runtime and torch: modes, coordinates, policies.
#include "ops/expect_case_for_tests.h"

namespace tenfold::ops {
namespace {

// Expected values are ONNX Runtime's.
const ExpectedCase kCases[] = {
    {"Resize", R"(f32[1,1,3,4]{0.875,-1.25,-1.75,0.25,2,-0.75,-1.25,0.875,-1,1.125,-1.25,-1.25} _ _ i64[4]{1,1,5,3} mode="nearest"
        coordinate_transformation_mode="half_pixel" nearest_mode="round_prefer_floor")",
     R"(f32[1,1,5,3]{0.875,-1.25,0.25,0.875,-1.25,0.25,2,-0.75,0.875,-1,1.125,-1.25,-1,1.125,-1.25})", 1e-6},
    {"Resize", R"(f32[1,1,2,4]{2,0.375,-0.875,-0.25,0.375,-1.875,2,-0.125} _ _ i64[4]{1,1,3,3} mode="linear"
        coordinate_transformation_mode="half_pixel")",
     R"(f32[1,1,3,3]{1.729167,-0.25,-0.3541667,0.8645833,-0.09375,-0.06249994,-2.980232e-08,0.0625,0.2291669})", 1e-6},
    {"Resize", R"(f32[1,1,3,4]{1.875,1.25,-1.875,1.25,0.125,1.625,0.375,-0.875,0.875,-0.875,-0.625,0.375} _ _ i64[4]{1,1,5,3}
        mode="nearest" coordinate_transformation_mode="asymmetric" nearest_mode="floor")",
     R"(f32[1,1,5,3]{1.875,1.25,-1.875,1.875,1.25,-1.875,0.125,1.625,0.375,0.125,1.625,0.375,0.875,-0.875,-0.625})", 1e-6},
    {"Resize", R"(f32[1,1,3,4]{-0.75,1.75,-2,-0.5,-1.875,0.875,0.25,-1.5,-1.75,1,-1.25,1.375} _ _ i64[4]{1,1,5,3} mode="nearest"
        coordinate_transformation_mode="asymmetric" nearest_mode="ceil")",
     R"(f32[1,1,5,3]{-0.75,-2,-0.5,-1.875,0.25,-1.5,-1.75,-1.25,1.375,-1.75,-1.25,1.375,-1.75,-1.25,1.375})", 1e-6},
    {"Resize", R"(f32[1,1,3,4]{-0.75,0.25,-1.75,0,-1.875,-1.125,1.75,2,-0.25,1.625,-1.25,0.375} _ _ i64[4]{1,1,5,3} mode="nearest"
        coordinate_transformation_mode="asymmetric" nearest_mode="round_prefer_ceil")",
     R"(f32[1,1,5,3]{-0.75,0.25,0,-1.875,-1.125,2,-1.875,-1.125,2,-0.25,1.625,0.375,-0.25,1.625,0.375})", 1e-6},
    {"Resize", R"(f32[1,1,2,4]{0.875,1.625,-2,0.375,-1,-0.5,1.875,0.625} _ _ i64[4]{1,1,3,3} mode="linear"
        coordinate_transformation_mode="asymmetric")",
     R"(f32[1,1,3,3]{0.875,0.4166665,-0.4166665,-0.375,0.3333333,0.5555556,-1,0.2916667,1.041667})", 1e-6},
    {"Resize", R"(f32[1,1,3,4]{1.625,-1.25,0.5,1.75,-1.625,1.5,-0.75,-0.375,-2,1.375,-1.125,2} _ _ i64[4]{1,1,5,3} mode="nearest"
        coordinate_transformation_mode="align_corners" nearest_mode="round_prefer_floor")",
     R"(f32[1,1,5,3]{1.625,-1.25,1.75,1.625,-1.25,1.75,-1.625,1.5,-0.375,-1.625,1.5,-0.375,-2,1.375,2})", 1e-6},
    {"Resize", R"(f32[1,1,2,4]{-2,-1.625,-1.5,0.75,0.5,-1.25,-1.625,-1} _ _ i64[4]{1,1,3,3} mode="linear"
        coordinate_transformation_mode="align_corners")",
     R"(f32[1,1,3,3]{-2,-1.5625,0.75,-0.75,-1.5,-0.125,0.5,-1.4375,-1})", 1e-6},
    {"Resize", R"(f32[1,1,3,4]{-1.375,0.875,1.625,-0.25,-0.625,0.125,-0.75,-1.375,-1.75,0.625,1.25,0.125} _ _ i64[4]{1,1,5,3}
        mode="nearest" coordinate_transformation_mode="pytorch_half_pixel" nearest_mode="round_prefer_floor")",
     R"(f32[1,1,5,3]{-1.375,0.875,-0.25,-1.375,0.875,-0.25,-0.625,0.125,-1.375,-1.75,0.625,0.125,-1.75,0.625,0.125})", 1e-6},
    {"Resize", R"(f32[1,1,2,4]{0.75,-1.625,0.25,0.75,0.5,-2,-1.625,2} _ _ i64[4]{1,1,3,3} mode="linear"
        coordinate_transformation_mode="pytorch_half_pixel")",
     R"(f32[1,1,3,3]{0.3541666,-0.6875,0.6666666,0.2187499,-1.25,1.03125,0.08333328,-1.8125,1.395833})", 1e-6},
    {"Resize", R"(f32[1,1,4,4]{-1,-1.125,0.375,1,1.875,1,1.25,1.75,0.625,0.375,0.125,-1.25,-2,-1.5,1.625,-0.75} _ f32[4]{1,1,1.5,0.75}
        mode="cubic")",
     R"(f32[1,1,6,3]{-1.286088,-0.5704348,0.8715656,0.4585142,0.3354492,1.566298,1.866629,1.029681,1.341988,1.030768,
        0.4744693,-0.7118134,-0.8024814,0.2836914,-0.9627823,-2.206102,0.3299968,-0.2939431})", 1e-5},
    {"Resize", R"(f32[1,1,4,4]{-1.75,-1.5,-1.5,-0.5,0.75,1.25,1.25,1.875,1.125,-1,-0.25,0.625,-1.375,0.75,-1.875,-1.125} _ f32[4]{1,1,2,
        1} mode="cubic" exclude_outside=1 cubic_coeff_a=-0.5 coordinate_transformation_mode="asymmetric")",
     R"(f32[1,1,8,4]{-1.75,-1.5,-1.5,-0.5,-0.5955883,-0.07352942,-0.1176471,0.6911765,0.75,1.25,1.25,1.875,1.25,0.1875,
        0.7734375,1.507812,1.125,-1,-0.25,0.625,-0.1764706,-0.2058824,-1.198529,-0.375,-1.375,0.75,-1.875,-1.125,-1.6875,
        0.96875,-2.078125,-1.34375})", 1e-5},
    {"Resize", R"(f32[1,1,4,4]{1.5,-0.75,2,1.375,-1,1.75,1.5,2,-0.375,1.625,-0.75,-0.625,0,-0.625,-2,0.875} f32[8]{0,0,0.25,0.5,1,1,
        0.75,1.25} _ i64[4]{1,1,3,3} mode="linear" coordinate_transformation_mode="tf_crop_and_resize"
        extrapolation_value=10.0)",
     R"(f32[1,1,3,3]{1.375,1.761719,10,1.03125,0.5703125,10,0,-0.5546875,10})", 1e-5},
    {"Resize", R"(f32[1,1,4,6]{-0.25,1.25,-1.25,-1.125,0.875,0.875,0,0.375,1.5,1.625,1.625,2,-0.75,1.25,-0.875,1.5,1.75,-0.25,0,-1.625,
        -1.625,-1.25,-1.875,-0.375} _ _ i64[2]{3,9} mode="nearest" axes=[2,3] keep_aspect_ratio_policy="not_larger")",
     R"(f32[1,1,3,5]{-0.25,1.25,-1.125,0.875,0.875,0,0.375,1.625,1.625,2,0,-1.625,-1.25,-1.875,-0.375})", 1e-6},
    // Channels keep their number, but not their values: ONNX's reference implementation (ONNX Runtime refuses it).
    {"Resize", R"(f32[1,3,2,2]{-1.125,1.5,-1.125,1.625,0,0.5,1.125,0.125,-0.875,-1.25,-1.625,1} _ f32[4]{1,1.2,1,2} mode="linear")",
     R"(f32[1,3,2,4]{-1.125,-0.46875,0.84375,1.5,-1.125,-0.4375,0.9375,1.625,-0.2812501,-0.02343753,0.4921875,0.7500001,0.5624999,
        0.5468749,0.515625,0.5000001,-0.5104166,-0.5130208,-0.5182291,-0.5208332,-0.4791664,-0.2005207,0.3567708,0.6354166})", 1e-6},
    {"Resize", R"(f32[1,2,3]{2,0.875,0.375,1,-1.875,0.625} _ f32[3]{1,1,2.5} mode="linear")",
     R"(f32[1,2,7]{2,1.8875,1.4375,0.9875,0.725,0.525,0.375,1,0.7125,-0.4375,-1.5875,-1.125,-0.1249999,0.625})", 1e-6},
    // GridSample: torch's results.
    {"GridSample", R"(f32[1,1,3,4]{0.75,1.25,-2,1.25,-0.125,0.125,0.5,-0.875,2,-1.875,-0.875,-0.5}
        f32[1,2,3,2]{0.25,-0.25,-1.125,-1.375,-1.5,-1.375,-1.125,1.5,-1,0.5,0.75,-0.875} mode="cubic" padding_mode="border")",
     R"(f32[1,1,2,3]{-0.2498169,0.7324219,0.75,2.13623,1.764282,1.485405})", 1e-5},
    {"GridSample", R"(f32[1,1,3,4]{0.75,1.25,-2,1.25,-0.125,0.125,0.5,-0.875,2,-1.875,-0.875,-0.5}
        f32[1,2,3,2]{0.25,-0.25,-1.125,-1.375,-1.5,-1.375,-1.125,1.5,-1,0.5,0.75,-0.875} mode="cubic"
        padding_mode="reflection" align_corners=1)",
     R"(f32[1,1,2,3]{0.09031534,0.4920642,1.165753,0.8739216,1.054688,0.1981055})", 1e-5},
    {"GridSample", R"(f32[1,1,3,4]{0.75,1.25,-2,1.25,-0.125,0.125,0.5,-0.875,2,-1.875,-0.875,-0.5}
        f32[1,2,3,2]{0.25,-0.25,-1.125,-1.375,-1.5,-1.375,-1.125,1.5,-1,0.5,0.75,-0.875} mode="linear" padding_mode="zeros")",
     R"(f32[1,1,2,3]{-0.4375,0,0,0,0.734375,0.859375})", 1e-5},
    {"GridSample", R"(f32[1,1,3,4]{0.75,1.25,-2,1.25,-0.125,0.125,0.5,-0.875,2,-1.875,-0.875,-0.5}
        f32[1,2,3,2]{0.25,-0.25,-1.125,-1.375,-1.5,-1.375,-1.125,1.5,-1,0.5,0.75,-0.875} mode="nearest" padding_mode="border")",
     R"(f32[1,1,2,3]{0.5,0.75,0.75,2,2,1.25})", 1e-5},
};

TEST(Resize, SameResults) {
  for (const ExpectedCase& e : kCases) expect_case(e);
}

// The nearest of `in` elements for number i of `out`, in whole numbers: coordinates are n / d.
std::int64_t nearest_of(std::string_view transform, std::string_view nearest, std::int64_t i, std::int64_t in, std::int64_t out) {
  const auto floor_of = [](std::int64_t n, std::int64_t d) { return n >= 0 ? n / d : -((-n + d - 1) / d); };
  std::int64_t n = i * in, d = out;   // asymmetric
  if (transform == "half_pixel" || transform == "pytorch_half_pixel" || transform == "half_pixel_symmetric")
    n = (2 * i + 1) * in - out, d = 2 * out;
  if (transform == "tf_half_pixel_for_nn") n = (2 * i + 1) * in, d = 2 * out;
  if (transform == "align_corners") n = i * (in - 1), d = out - 1;
  const std::int64_t at = nearest == "floor"               ? floor_of(n, d)
                          : nearest == "ceil"              ? -floor_of(-n, d)
                          : nearest == "round_prefer_ceil" ? floor_of(2 * n + d, 2 * d)
                                                           : -floor_of(-(2 * n - d), 2 * d);
  return std::clamp<std::int64_t>(at, 0, in - 1);
}

// Ratios that no float holds, behind whose rounding coordinates that lie on an element, or halfway between two, would miss it. ONNX's
// reference (in f64) and ONNX Runtime (in f32) miss a few of them, but never the same ones.
TEST(Resize, TheNearestElementFollowsFromTheExtents) {
  const std::pair<std::int64_t, std::int64_t> ratios[] = {{30, 32}, {22, 52}, {22, 47}, {14, 31}, {26, 7},  {39, 11},
                                                          {10, 24}, {28, 31}, {29, 30}, {3, 11},  {9, 2},   {6, 9},
                                                          {7, 21},  {49, 35}, {5, 3},   {1, 7},   {384, 464}, {511, 532}};
  for (const auto& [in, out] : ratios)
    for (const char* transform :
         {"half_pixel", "pytorch_half_pixel", "half_pixel_symmetric", "align_corners", "asymmetric", "tf_half_pixel_for_nn"})
      for (const char* nearest : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
        for (const bool by_sizes : {true, false}) {
          SCOPED_TRACE(cat(in, " to ", out, " ", transform, " ", nearest, by_sizes ? " by sizes" : " by scales"));
          const ir::OpDef& op = ir::Registry::builtin().get("Resize");
          Case c = parse_case(op, by_sizes ? "i64[1] _ _ i64[1]{1}" : "i64[1] _ f32[1]{1}");
          Tensor x(DType::i64, {in}), scale(DType::f32, {1});
          for (std::int64_t i = 0; i < in; ++i) x.mutable_data<std::int64_t>()[i] = i;
          *scale.mutable_data<float>() = static_cast<float>(static_cast<double>(out) / static_cast<double>(in));
          c.operands[0].data = x;
          if (by_sizes) *c.operands[3].data.mutable_data<std::int64_t>() = out;
          else c.operands[2].data = scale;
          c.attributes.set("coordinate_transformation_mode", std::string(transform));
          c.attributes.set("nearest_mode", std::string(nearest));
          const Tensor y = std::get<Tensor>(run_graph(case_graph(ir::Registry::builtin(), op, c), {x})[0]);
          if (!by_sizes && y.size() != out) continue;   // the product of extent and scale is rounded down
          ASSERT_EQ(y.size(), out);
          for (std::int64_t i = 0; i < out; ++i) ASSERT_EQ(y.as_int(i), nearest_of(transform, nearest, i, in, out)) << "element " << i;
        }
}

TEST(Resize, GridsThatSampleNothingAreRefused) {
  expect_refused("(x f32[1,1,0,4], g f32[1,2,2,2])\n y = GridSample(x, g)");
  expect_refused("(x f32[1,1,4,4], g i32[1,2,2,2])\n y = GridSample(x, g)");
  expect_refused("(x f32[1,1,4,4], g f32[1,2,2,3])\n y = GridSample(x, g)");
}

TEST(Resize, CasesRun) {
  for (const char* op : {"Resize", "GridSample"}) expect_cases_run(op);
}

}  // namespace
}  // namespace tenfold::ops
