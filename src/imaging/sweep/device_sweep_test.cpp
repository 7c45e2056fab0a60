// Sweeps on a GPU, done by the host: window_kernels.cu compiled here, beside the same sweeps on CPUs.
#include "device/device_sweep.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "base/types/half.h"
#include "sweep/host_work_for_tests.h"
#include "tenfold/error.h"

// What CUDA C has and C++ has not.
#define __device__
#define __forceinline__ inline
#define __global__
#define INFINITY_F std::numeric_limits<float>::infinity()

namespace tenfold::imaging::kernels {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned;
using i64 = long long;
struct Index { unsigned x = 0, y = 0, z = 0; };
Index blockIdx, threadIdx, blockDim;
float from_f16(u16 x) { return half_to_float(x); }
float from_bf16(u16 x) { return bf16_to_float(x); }
u16 to_f16(float x) { return float_to_half(x); }
u16 to_bf16(float x) { return float_to_bf16(x); }
float __fmul_rn(float a, float b) { return a * b; }
float __fadd_rn(float a, float b) { return a + b; }
float __fdiv_rn(float a, float b) { return a / b; }
using ::expf;
using ::fmaxf;

#include "device/kernels/window_kernels.cu"

}  // namespace tenfold::imaging::kernels

namespace tenfold::imaging::tests {
namespace {

struct Stream {
  std::vector<std::function<void()>> work;
  std::size_t done = 0;
  void run(std::size_t end) {
    while (done < end) work[done++]();
  }
};
struct Event { Stream* stream = nullptr; std::size_t end = 0; };

template <class Args>
std::function<void()> kernel_call(void (*kernel)(Args), const void* argument) {
  return [kernel, args = *static_cast<const Args*>(argument)] { kernel(args); };
}

}  // namespace

std::shared_ptr<void> HostWork::allocate(std::int64_t bytes) {
  if (bytes > left) throw Error(ErrorKind::out_of_memory, "no memory is left");
  left -= bytes;
  void* const memory = std::malloc(static_cast<std::size_t>(bytes));
  std::memset(memory, 0xff, static_cast<std::size_t>(bytes));   // NaN
  return {memory, [](void* p) { std::free(p); }};
}
std::shared_ptr<void> HostWork::make_stream() {
  return {new Stream, [](Stream* stream) {
            stream->run(stream->work.size());
            delete stream;
          }};
}
std::shared_ptr<void> HostWork::make_event() { return std::make_shared<Event>(); }
std::shared_ptr<const void> HostWork::load_kernel(const std::string& source, const char* name) {
  EXPECT_NE(source.find(std::string("__global__ void ") + name + "("), std::string::npos);
  return std::make_shared<std::string>(name);
}
void HostWork::enqueue(void* stream, std::function<void()> work) {
  static_cast<Stream*>(stream)->work.push_back(std::move(work));
}
void HostWork::copy(void* to, const void* from, std::int64_t bytes, void* stream) {
  copied += bytes;
  enqueue(stream, [=] { std::memcpy(to, from, static_cast<std::size_t>(bytes)); });
}
void HostWork::fill(void* to, int byte, std::int64_t bytes, void* stream) {
  enqueue(stream, [=] { std::memset(to, byte, static_cast<std::size_t>(bytes)); });
}
void HostWork::launch(const void* kernel, std::array<std::int64_t, 3> blocks, unsigned threads, const void* argument,
                      void* stream) {
  const std::string& name = *static_cast<const std::string*>(kernel);
  const std::function<void()> call = name == "cut"   ? kernel_call(kernels::cut, argument)
                                     : name == "add" ? kernel_call(kernels::add, argument)
                                                     : kernel_call(kernels::finish, argument);
  enqueue(stream, [=] {
    const auto [x, y, z] = blocks;
    kernels::blockDim = {threads, 1, 1};
    for (std::int64_t b = 0; b < x * y * z; ++b)
      for (unsigned t = 0; t < threads; ++t) {
        kernels::blockIdx = {static_cast<unsigned>(b % x), static_cast<unsigned>(b / x % y),
                             static_cast<unsigned>(b / x / y)};
        kernels::threadIdx = {t, 0, 0};
        call();
      }
  });
}
void HostWork::record(void* event, void* stream) {
  *static_cast<Event*>(event) = {static_cast<Stream*>(stream), static_cast<Stream*>(stream)->work.size()};
}
void HostWork::follow(void* stream, void* event) {
  if (const Event at = *static_cast<Event*>(event); at.stream != nullptr)
    enqueue(stream, [at] { at.stream->run(at.end); });
}
void HostWork::wait(void* event) {
  if (const Event at = *static_cast<Event*>(event); at.stream != nullptr) at.stream->run(at.end);
}

namespace {

Tensor random_tensor(DType dtype, Shape shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor tensor(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const unsigned value = random() % 200;
    const float real = static_cast<float>(value) / 100 - 1;
    switch (dtype) {
      case DType::u8: tensor.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(value); break;
      case DType::u16: tensor.mutable_data<std::uint16_t>()[i] = static_cast<std::uint16_t>(value * 300); break;
      case DType::f16: tensor.mutable_data<std::uint16_t>()[i] = float_to_half(real); break;
      default: tensor.mutable_data<float>()[i] = real;
    }
  }
  return tensor;
}

// y[c] = x[0] * mask[c], of each window, as f16 or f32; a second output is twice as fine along the last axis.
struct Masked {
  Tensor mask;
  DType dtype;
  bool two_outputs;

  std::vector<Tensor> operator()(const Tensor& windows) const {
    const std::int64_t batch = windows.shape()[0], of_window = windows.size() / batch,
                       roi = of_window / windows.shape()[1];
    Shape shape = windows.shape(), fine = windows.shape();
    shape[1] = mask.shape()[0], fine[1] = 1, fine.back() *= 2;
    Tensor y(dtype, shape), z(DType::f32, fine);
    for (std::int64_t i = 0; i < y.size(); ++i) {
      const float value =
          windows.data<float>()[i / mask.size() * of_window + i % roi] * mask.data<float>()[i % mask.size()];
      if (dtype == DType::f16) y.mutable_data<std::uint16_t>()[i] = float_to_half(value);
      else y.mutable_data<float>()[i] = value;
    }
    if (!two_outputs) return {y};
    for (std::int64_t i = 0; i < z.size(); ++i) {
      const std::int64_t at = i / 2;
      z.mutable_data<float>()[i] = windows.data<float>()[at / roi * of_window + at % roi] + static_cast<float>(i % (2 * roi) % 7);
    }
    return {y, z};
  }
};

// The same on the memory of HostWork, in its streams' time.
class MaskedOnDevice final : public DevicePredictor {
 public:
  MaskedOnDevice(const SlidingWindow& windows, std::int64_t channels, std::int64_t batch, Masked masked)
      : masked_(std::move(masked)) {
    Shape shape = {batch, channels};
    shape.insert(shape.end(), windows.roi().begin(), windows.roi().end());
    windows_ = Tensor(DType::f32, shape);
    for (const Tensor& one : masked_(windows_)) {
      results_.push_back(one);
      outputs_.push_back({one.raw(), one.dtype(), Shape(one.shape().begin() + 1, one.shape().end())});
    }
  }
  std::int64_t batch() const override { return windows_.shape()[0]; }
  DType dtype() const override { return DType::f32; }
  void* windows() override { return windows_.mutable_raw(); }
  const std::vector<Output>& outputs() const override { return outputs_; }
  void enqueue(void* stream) override {
    HostWork::enqueue(stream, [this] {
      const std::vector<Tensor> found = masked_(windows_);
      for (std::size_t i = 0; i < found.size(); ++i)
        std::memcpy(results_[i].mutable_raw(), found[i].raw(), static_cast<std::size_t>(found[i].bytes()));
    });
  }
  void finish() override {}

 private:
  Masked masked_;
  Tensor windows_;
  std::vector<Tensor> results_;
  std::vector<Output> outputs_;
};

enum class Where { planes, memory, gpu };   // a sink's

class Sink final : public ImageSink {
 public:
  explicit Sink(Where where) : where_(where) {}
  void open(DType dtype, const Shape& shape) override { image = Tensor(dtype, shape); }
  void write(std::int64_t number, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
             const void* from) override {
    const Shape& all = image.shape();
    std::int64_t section = 1, planes = 1;
    for (std::size_t a = 1; a < extent.size(); ++a) section *= all[2 + a];
    for (std::size_t a = 0; a < extent.size(); ++a) EXPECT_EQ(extent[a], a == 0 ? extent[0] : all[2 + a]);
    planes = all[2];
    const std::int64_t bytes = byte_size(image.dtype(), section);
    for (std::int64_t c = 0; c < all[1]; ++c)
      std::memcpy(static_cast<std::byte*>(image.mutable_raw()) + ((number * all[1] + c) * planes + begin[0]) * bytes,
                  static_cast<const std::byte*>(from) + c * extent[0] * bytes,
                  static_cast<std::size_t>(extent[0] * bytes));
  }
  void* memory() override { return where_ == Where::memory ? image.mutable_raw() : nullptr; }
  void* gpu_memory() override { return where_ == Where::gpu ? image.mutable_raw() : nullptr; }
  Tensor image;

 private:
  Where where_;
};

class Source final : public ImageSource {
 public:
  Source(Tensor images, std::int64_t chunk) : images_(std::move(images)), chunk_(chunk) {}
  Shape shape() const override { return images_.shape(); }
  DType dtype() const override { return images_.dtype(); }
  std::int64_t chunk() const override { return chunk_; }
  const void* memory() const override { return chunk_ == 0 ? images_.raw() : nullptr; }
  const void* gpu_memory() const override { return chunk_ < 0 ? images_.raw() : nullptr; }   // HostWork's
  void read(std::int64_t image, std::span<const std::int64_t> begin, std::span<const std::int64_t> extent,
            void* to) override {
    const Shape& all = images_.shape();
    std::int64_t section = 1;
    for (std::size_t a = 3; a < all.size(); ++a) section *= all[a];
    const std::int64_t bytes = byte_size(images_.dtype(), section);
    for (std::int64_t c = 0; c < all[1]; ++c)
      std::memcpy(static_cast<std::byte*>(to) + c * extent[0] * bytes,
                  static_cast<const std::byte*>(images_.raw()) + ((image * all[1] + c) * all[2] + begin[0]) * bytes,
                  static_cast<std::size_t>(extent[0] * bytes));
  }

 private:
  Tensor images_;
  std::int64_t chunk_;
};

struct Case {
  Shape image, roi;
  SlidingWindowOptions options;
  std::int64_t images = 1, channels = 1, classes = 3, batch = 2, chunk = 0;   // 0: in memory, -1: on the GPU
  DType source = DType::f32, results = DType::f32;
  StitchOptions stitch = {};
  bool two_outputs = false;
};

std::vector<Tensor> on_device(const Case& c, const SlidingWindow& windows, const Tensor& images, const Masked& masked) {
  HostWork work;
  Source source(images, c.chunk);
  MaskedOnDevice predictor(windows, c.channels, c.batch, masked);
  SweepOptions options;
  options.stitch = c.stitch;
  std::int64_t reported = 0;
  options.progress = [&](std::int64_t done, std::int64_t) { return reported = done, true; };
  std::vector<std::shared_ptr<Sink>> sinks;
  const Where where = c.chunk < 0 ? Where::gpu : c.chunk != 1 ? Where::memory : Where::planes;
  DeviceSweep sweep(work, windows, source, predictor, options);
  sweep.run([&](std::size_t) { return sinks.emplace_back(std::make_shared<Sink>(where)); });
  EXPECT_EQ(reported, windows.count() * c.images);
  std::vector<Tensor> outputs;
  for (const std::shared_ptr<Sink>& sink : sinks) outputs.push_back(sink->image);
  return outputs;
}

void compare(Case c) {
  c.options.roi = c.roi;
  const SlidingWindow windows(c.image, c.options);
  Shape shape = {c.images, c.channels}, mask = {c.classes};
  shape.insert(shape.end(), c.image.begin(), c.image.end());
  mask.insert(mask.end(), windows.roi().begin(), windows.roi().end());
  const Tensor images = random_tensor(c.source, shape, 3);
  const Masked masked{random_tensor(DType::f32, mask, 4), c.results, c.two_outputs};
  SweepOptions options;
  options.stitch = c.stitch;
  const std::vector<Tensor> expected =
      infer(windows, images, [&](const Tensor& batch, std::int64_t) { return masked(batch); }, options);
  const std::vector<Tensor> found = on_device(c, windows, images, masked);
  ASSERT_EQ(found.size(), expected.size());
  const bool exact = c.stitch.activation == OutputActivation::none;
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].shape(), expected[i].shape());
    ASSERT_EQ(found[i].dtype(), expected[i].dtype());
    if (found[i].dtype() == DType::f32)
      for (std::int64_t v = 0; v < found[i].size(); ++v)
        ASSERT_NEAR(found[i].data<float>()[v], expected[i].data<float>()[v], exact ? 0 : 1e-6) << i << " at " << v;
    else EXPECT_EQ(std::memcmp(found[i].raw(), expected[i].raw(), static_cast<std::size_t>(found[i].bytes())), 0);
  }
}

SlidingWindowOptions gaussian(double overlap) { return {.overlap = {overlap}, .mode = WindowMode::gaussian}; }

TEST(DeviceSweep, EqualsThatOfTheHost) {
  compare({.image = {19, 14, 11}, .roi = {6, 5, 4}, .options = gaussian(0.5), .images = 2, .channels = 2, .batch = 4});
  compare({.image = {19, 14, 11}, .roi = {6, 5, 4}, .options = gaussian(0.7), .batch = 3, .chunk = 1});
  compare({.image = {40, 9, 9}, .roi = {8, 9, 4}, .options = gaussian(0.25), .batch = 1, .chunk = 5});
  compare({.image = {31, 17}, .roi = {8, 8}, .options = gaussian(0.6), .channels = 3, .batch = 5});
  compare({.image = {57}, .roi = {16}, .options = gaussian(0.5), .images = 3, .chunk = 1});
  compare({.image = {7, 6, 8, 5}, .roi = {3, 4, 4, 3}, .options = gaussian(0.5), .images = 2, .batch = 40, .chunk = 2});
}

TEST(DeviceSweep, ReadsAndWritesInPlaceOnTheGpu) {
  for (const OutputReduction reduction : {OutputReduction::none, OutputReduction::argmax})
    compare({.image = {40, 9, 9}, .roi = {8, 9, 4}, .options = gaussian(0.25), .images = 2, .channels = 2, .chunk = -1,
             .source = DType::u16, .stitch = {.reduction = reduction}, .two_outputs = true});
  compare({.image = {9, 5, 11}, .roi = {4, 8, 16}, .options = gaussian(0.5), .chunk = -1});
  compare({.image = {57}, .roi = {16}, .options = gaussian(0.5), .images = 3, .chunk = -1});
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

TEST(DeviceSweep, SendsEachPlaneOnce) {
  const SlidingWindow windows({64, 8, 8}, {.roi = {8, 8, 8}, .overlap = {0.5}});
  const Tensor images = random_tensor(DType::u16, {1, 1, 64, 8, 8}, 1);
  HostWork work;
  Source source(images, 4);
  MaskedOnDevice predictor(windows, 1, 2, {random_tensor(DType::f32, {3, 8, 8, 8}, 2), DType::f16, false});
  SweepOptions options;
  options.stitch.reduction = OutputReduction::argmax;
  DeviceSweep sweep(work, windows, source, predictor, options);
  const std::int64_t before = work.copied;
  sweep.run([](std::size_t) { return std::make_shared<Sink>(Where::planes); });
  const std::int64_t in = 64 * 8 * 8 * 2, out = 64 * 8 * 8;
  EXPECT_EQ(work.copied - before, in + out + 4);   // and whether a divisor was none
}

TEST(DeviceSweep, TakesItsMemoryBeforeItReads) {
  const SlidingWindow windows({64, 8, 8}, {.roi = {8, 8, 8}});
  HostWork work;
  work.left = 17 << 20;   // too little for pieces
  Source source(random_tensor(DType::f32, {1, 1, 64, 8, 8}, 1), 0);
  MaskedOnDevice predictor(windows, 1, 2, {random_tensor(DType::f32, {3, 8, 8, 8}, 2), DType::f32, false});
  try {
    DeviceSweep sweep(work, windows, source, predictor, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
  }
}

TEST(DeviceSweep, RefusesWeightsThatSumToZero) {
  Tensor weights(DType::f32, {4, 4});
  std::memset(weights.mutable_raw(), 0, static_cast<std::size_t>(weights.bytes()));
  weights.mutable_data<float>()[5] = 1;
  const SlidingWindow windows({8, 8}, {.roi = {4, 4}, .weights = weights});
  HostWork work;
  Source source(random_tensor(DType::f32, {1, 1, 8, 8}, 1), 0);
  MaskedOnDevice predictor(windows, 1, 2, {random_tensor(DType::f32, {3, 4, 4}, 2), DType::f32, false});
  DeviceSweep sweep(work, windows, source, predictor, {});
  EXPECT_THROW(sweep.run([](std::size_t) { return std::make_shared<Sink>(Where::memory); }), Error);
}

}  // namespace
}  // namespace tenfold::imaging::tests
