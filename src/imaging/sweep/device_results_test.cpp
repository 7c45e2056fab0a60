// What kernels of sweeps on a GPU compute, done by the host: the bits of sweeps on CPUs.
#include "sweep/device_case_for_tests.h"

namespace tenfold::imaging::tests {
namespace {

TEST(DeviceSweep, EqualsThatOfTheHost) {
  compare({.image = {19, 14, 11}, .roi = {6, 5, 4}, .options = gaussian(0.5), .images = 2, .channels = 2, .batch = 4});
  compare({.image = {19, 14, 11}, .roi = {6, 5, 4}, .options = gaussian(0.7), .batch = 3, .chunk = 1});
  compare({.image = {40, 9, 9}, .roi = {8, 9, 4}, .options = gaussian(0.25), .batch = 1, .chunk = 5});
  compare({.image = {31, 17}, .roi = {8, 8}, .options = gaussian(0.6), .channels = 3, .batch = 5});
  compare({.image = {57}, .roi = {16}, .options = gaussian(0.5), .images = 3, .chunk = 1});
  compare({.image = {7, 6, 8, 5}, .roi = {3, 4, 4, 3}, .options = gaussian(0.5), .images = 2, .batch = 40, .chunk = 2});
}

TEST(DeviceSweep, PadsAsTheHostDoes) {
  for (const WindowPadding padding : {WindowPadding::constant, WindowPadding::reflect, WindowPadding::replicate,
                                      WindowPadding::circular}) {
    SlidingWindowOptions options = gaussian(0.5);
    options.padding = padding, options.cval = 0.5;
    compare({.image = {9, 5, 11}, .roi = {4, 8, 16}, .options = options, .chunk = 1});
    compare({.image = {5, 12}, .roi = {7, 6}, .options = options, .images = 2});
  }
}

TEST(DeviceSweep, WeighsAsTheHostDoes) {
  compare({.image = {20, 13}, .roi = {8, 6}, .options = {.mode = WindowMode::halo, .halo = {2, 1}}, .batch = 3});
  compare({.image = {20, 13}, .roi = {8, 6}, .options = {.overlap = {0.9}, .placement = WindowPlacement::even}});
  Tensor rising(DType::f32, {8, 6});
  for (int i = 0; i < 48; ++i) rising.mutable_data<float>()[i] = static_cast<float>(i + 1);
  compare({.image = {20, 13}, .roi = {8, 6}, .options = {.weights = rising}});
}

TEST(DeviceSweep, TakesTypesAndSeveralOutputs) {
  for (const DType source : {DType::u8, DType::u16, DType::f16, DType::f32})
    for (const DType results : {DType::f16, DType::f32})
      compare({.image = {18, 12, 10}, .roi = {6, 6, 5}, .options = gaussian(0.5), .source = source, .results = results,
               .two_outputs = true});
}

TEST(DeviceSweep, Reduces) {
  for (const OutputActivation activation : {OutputActivation::none, OutputActivation::sigmoid, OutputActivation::softmax})
    for (const OutputReduction reduction : {OutputReduction::none, OutputReduction::argmax, OutputReduction::threshold})
      compare({.image = {18, 12, 10}, .roi = {6, 6, 5}, .options = gaussian(0.5), .classes = 5, .chunk = 1,
               .stitch = {.activation = activation, .reduction = reduction, .threshold = 0.4}});
  compare({.image = {12, 10}, .roi = {6, 5}, .options = gaussian(0.5), .classes = 300,
           .stitch = {.reduction = OutputReduction::argmax}});
}

TEST(DeviceSweep, Resamples) {
  for (const OutputReduction reduction : {OutputReduction::none, OutputReduction::argmax, OutputReduction::threshold})
    for (const Shape& grid : std::vector<Shape>{{25, 9, 17}, {7, 20, 11}, {18, 31, 4}, {1, 1, 1}})
      for (const GridInterpolation how : {GridInterpolation::linear, GridInterpolation::nearest})
        compare({.image = {18, 12, 10}, .roi = {6, 6, 5}, .options = gaussian(0.5), .images = 2, .channels = 2, .chunk = 1,
                 .stitch = {.reduction = reduction, .grid = grid, .interpolation = {how}}, .two_outputs = true});
  for (const std::int64_t chunk : {-1, 0, 3})   // in place on the GPU, in the host's memory, plane by plane
    compare({.image = {18, 12, 10}, .roi = {6, 6, 5}, .options = gaussian(0.25), .images = 3, .chunk = chunk, .source = DType::u16,
             .results = DType::f16,
             .stitch = {.grid = {29, 30, 10}, .interpolation = {GridInterpolation::nearest, GridInterpolation::linear,
                                                              GridInterpolation::linear}}});
  compare({.image = {57}, .roi = {16}, .options = gaussian(0.5), .images = 2, .stitch = {.grid = {90}}});
  compare({.image = {31, 17}, .roi = {8, 8}, .options = gaussian(0.6), .batch = 5, .chunk = 1, .stitch = {.grid = {11, 40}}});
  compare({.image = {7, 6, 8, 5}, .roi = {3, 4, 4, 3}, .options = gaussian(0.5), .batch = 7, .chunk = 2,
           .stitch = {.reduction = OutputReduction::argmax, .grid = {12, 5, 11, 9}}});
  compare({.image = {12, 10}, .roi = {6, 5}, .options = gaussian(0.5), .classes = 300,
           .stitch = {.reduction = OutputReduction::argmax, .grid = {21, 9}}});
  for (const OutputActivation activation : {OutputActivation::sigmoid, OutputActivation::softmax})
    compare({.image = {18, 12, 10}, .roi = {6, 6, 5}, .options = gaussian(0.5), .classes = 5, .chunk = 1,
             .stitch = {.activation = activation, .reduction = OutputReduction::threshold, .threshold = 0.4, .grid = {20, 20, 20}}});
}

TEST(DeviceSweep, RefusesWeightsThatSumToZero) {
  Tensor weights(DType::f32, {4, 4});
  std::memset(weights.mutable_raw(), 0, static_cast<std::size_t>(weights.bytes()));
  weights.mutable_data<float>()[5] = 1;
  const SlidingWindow windows({8, 8}, {.roi = {4, 4}, .weights = weights});
  HostWork work;
  Source source(random_tensor(DType::f32, {1, 1, 8, 8}, 1), 0);
  MaskedOnDevice predictor(windows, 1, 2, {random_tensor(DType::f32, {3, 4, 4}, 2), DType::f32, false});
  DeviceRun sweep(work, windows, source, predictor, {});
  EXPECT_THROW(sweep.run([](std::size_t) { return std::make_shared<Sink>(Where::memory); }), Error);
}

}  // namespace
}  // namespace tenfold::imaging::tests
