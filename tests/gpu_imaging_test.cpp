// Sweeps that stay on a GPU: kernels compiled for every architecture, work beside engines on a driver that is none, and on a GPU the
// results of the host. What the kernels compute is src/imaging/sweep/device_*_test.cpp's.
#include <cstring>

#include "backends/cuda/device/compiler.h"
#include "backends/cuda/device_work.h"
#include "device/window_kernels.h"
#include "fake_driver.h"
#include "on_a_gpu.h"
#include "tenfold/internal/device_work.h"
#include "tenfold/runtime.h"
#include "tenfold/sliding_window.h"

namespace tenfold {
namespace {

using namespace on_a_gpu;

TEST(WindowKernels, CompileForEveryArchitecture) {
  if (!backends::cuda::compiler_why_not().empty()) GTEST_SKIP() << backends::cuda::compiler_why_not();
  for (const int arch : {75, 80, 86, 89, 90, 100, 120})
    EXPECT_GT(backends::cuda::compile(backends::cuda::with_prelude(imaging::window_kernels_source()), arch).size(), 1000u) << arch;
}

TEST(DeviceWork, GoesToTheDriverAndNamesWhatFails) {
  tests::FakeDriver& fake = tests::FakeDriver::get();
  {
    const auto runtime = std::make_shared<Runtime>();
    const auto work = open_device_work("cuda:7", runtime);
    const auto memory = work->allocate(64), pinned = work->allocate_pinned(64), stream = work->make_stream(), other = work->make_stream();
    const auto event = work->make_event();
    std::memset(pinned.get(), 5, 64);
    work->copy(memory.get(), pinned.get(), 64, stream.get());
    work->fill(pinned.get(), 0, 64, stream.get());
    work->record(event.get(), stream.get()), work->follow(other.get(), event.get()), work->wait(event.get());
    EXPECT_EQ(static_cast<const char*>(memory.get())[63], 5);
    EXPECT_EQ(static_cast<const char*>(pinned.get())[63], 0);
    EXPECT_EQ(fake.recorded_on.back(), stream.get());
    EXPECT_EQ(fake.followed_on.back(), other.get());
    fake.failure = 1;
    try {
      work->copy(memory.get(), pinned.get(), 64, stream.get());
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::device);
      EXPECT_NE(std::string(error.what()).find("cuMemcpyAsync"), std::string::npos) << error.what();
    }
    fake.failure = 0;
  }
  tests::FakeDriver::put();
  EXPECT_THROW(open_device_work("cpu"), Error);
}

// What depends on the place in the window: a convolution that pads, and a factor for each voxel.
Engine network(bool half, std::int64_t batch, const char* device = "cuda:0") {
  const ir::Graph graph = parsed(R"((x f32[batch,2,16,12,8], w f32[5,2,3,3,3]!, f f32[5,16,12,8]!)
    c = Conv(x, w) pads=[1,1,1,1,1,1]
    y = Mul(c, f))");
  BuildConfig config;
  config.device = device;
  config.tf32 = false;
  config.optimization_level = 0;
  config.fp16 = half;
  config.profiles = {{{"x", {{1, 2, 16, 12, 8}, {batch, 2, 16, 12, 8}, {batch, 2, 16, 12, 8}}}}};
  return builder::build_graph(graph, config);
}

void compare(std::span<const Engine> engines, const Tensor& images, const SweepOptions& sweep, double near) {
  const StitchOptions& stitch = sweep.stitch;
  SlidingWindowOptions options;
  options.roi = {16, 12, 8}, options.overlap = {0.5}, options.mode = WindowMode::gaussian;
  const SlidingWindow windows(Shape(images.shape().begin() + 2, images.shape().end()), options);
  SweepOptions here = sweep, there = sweep;
  here.stay_on_gpu = false;
  std::string logged;
  there.log = [&](Severity severity, std::string_view line) {
    if (severity >= Severity::warning) logged += line;
  };
  const std::vector<Tensor> expected = infer(windows, images, engines, here), found = infer(windows, images, engines, there);
  EXPECT_EQ(logged, "");
  ASSERT_EQ(found.at(0).shape(), expected.at(0).shape());
  std::int64_t differ = 0;
  for (std::int64_t i = 0; i < found[0].size(); ++i) {
    const double difference = std::abs(found[0].as_double(i) - expected[0].as_double(i));
    if (stitch.reduction == OutputReduction::none) { ASSERT_LE(difference, near) << i; }
    differ += difference != 0;
  }
  EXPECT_LE(differ, stitch.activation == OutputActivation::none ? 0 : found[0].size());
}

TEST_F(Gpu, SweepsGiveWhatTheHostGives) {
  for (const bool half : {false, true}) {
    const Engine engine = network(half, 4);
    for (const DType dtype : {DType::u8, DType::u16, DType::f32}) {
      const Tensor images = ops::random_tensor(dtype, {2, 2, 45, 31, 22}, 5);
      compare({&engine, 1}, images, {}, 0);
      compare({&engine, 1}, images, {.stitch = {.reduction = OutputReduction::argmax}}, 0);
      for (const int axis : {1, 2}) compare({&engine, 1}, images, {.axis = axis}, 0);
      compare({&engine, 1}, images, {.memory = 480000}, 0);
      for (const OutputReduction reduction : {OutputReduction::none, OutputReduction::argmax})
        for (const GridInterpolation how : {GridInterpolation::linear, GridInterpolation::nearest}) {
          const StitchOptions on_a_grid = {.reduction = reduction, .grid = {71, 20, 33}, .interpolation = {how}};
          compare({&engine, 1}, images, {.stitch = on_a_grid}, 0);
          compare({&engine, 1}, images, {.stitch = on_a_grid, .axis = 1}, 0);
        }
      const std::vector<Engine> several(3, engine);
      compare(several, images, {}, 0);
    }
    const Tensor images = ops::random_tensor(DType::f32, {1, 2, 45, 31, 22}, 6);
    compare({&engine, 1}, images, {.stitch = {.activation = OutputActivation::softmax}}, 1e-6);
    compare({&engine, 1}, images, {.stitch = {.activation = OutputActivation::softmax, .grid = {50, 62, 11}}}, 1e-6);
  }
}

// One network twice on the GPU, and beside the same on the CPU, whose sums come in another order.
TEST_F(Gpu, SeveralDevicesShareASweep) {
  const Tensor images = ops::random_tensor(DType::f32, {1, 2, 45, 61, 22}, 6);
  SlidingWindowOptions options;
  options.roi = {16, 12, 8}, options.overlap = {0.5}, options.mode = WindowMode::gaussian;
  const SlidingWindow windows({45, 61, 22}, options);
  const Engine engine = network(false, 4), on_cpu = network(false, 4, "cpu");
  const Tensor expected = infer(windows, images, engine)[0];
  for (const Engine& other : {engine, on_cpu})
    for (const std::int64_t memory : {std::int64_t{0}, std::int64_t{1'000'000}}) {   // each has half of it
      SweepOptions sweep{.several = SeveralEngines::devices, .memory = memory};
      const Tensor found = infer(windows, images, std::vector<Engine>{engine, other}, sweep)[0];
      for (std::int64_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found.as_double(i), expected.as_double(i), 1e-5) << i;
    }
}

TEST_F(Gpu, APartIsThatOfTheWhole) {
  const Engine engine = network(true, 4);
  const Tensor images = ops::random_tensor(DType::u16, {1, 2, 45, 31, 22}, 6);
  SlidingWindowOptions options;
  options.roi = {16, 12, 8}, options.overlap = {0.5}, options.mode = WindowMode::gaussian;
  const SlidingWindow windows({45, 31, 22}, options);
  const Tensor whole = infer(windows, images, engine)[0];
  const Tensor part = infer(windows, images, engine, {.first_plane = 13, .first_row = 4, .end_row = 25})[0];
  for (std::int64_t c = 0; c < 5; ++c)
    for (std::int64_t z = 13; z < 45; ++z)
      for (std::int64_t y = 4; y < 25; ++y)
        for (std::int64_t x = 0; x < 22; ++x) {
          const std::int64_t at = ((c * 45 + z) * 31 + y) * 22 + x;
          ASSERT_EQ(part.as_double(at), whole.as_double(at)) << at;
        }
}

}  // namespace
}  // namespace tenfold
