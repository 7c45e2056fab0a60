// The kernels of sweeps on a GPU, compiled for the host, and the GPU that is none whose streams run them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/types/half.h"
#include "device/device_resampler.h"
#include "sweep/host_work_for_tests.h"
#include "sweep/random_tensor_for_tests.h"
#include "tenfold/error.h"
#include "windows/resampler.h"
#include "windows/window_state.h"

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
#include "device/kernels/window_resampling.cu"

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
  const std::function<void()> call = name == "cut"        ? kernel_call(kernels::cut, argument)
                                     : name == "add"      ? kernel_call(kernels::add, argument)
                                     : name == "mean"     ? kernel_call(kernels::mean, argument)
                                     : name == "resample" ? kernel_call(kernels::resample, argument)
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

// Equal bits, or both NaN.
bool same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b)); }

TEST(DeviceResampler, GivesTheHostsBitsAlsoOfInfinitiesAndNan) {
  constexpr std::int64_t kChannels = 3;
  const Shape from = {5, 4, 6, 7}, to = {9, 4, 11, 13};
  Tensor means = random_tensor({from[0], kChannels, from[1] * from[2] * from[3]}, 7);
  float* const values = means.mutable_data<float>();
  for (std::int64_t i = 0; i < means.size(); i += 23)
    values[i] = i % 2 ? -0.0f : i % 3 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  for (const GridInterpolation along : {GridInterpolation::linear, GridInterpolation::nearest}) {
    std::vector<windows::ResampleAxis> axes;
    for (std::size_t a = 0; a < 4; ++a)
      axes.push_back(windows::resample_axis(from[a], to[a], a == 3 ? along : GridInterpolation::linear));
    const std::unique_ptr<Parallel> pool = windows::make_parallel(1, 1);
    windows::Resampler host(axes, kChannels);
    HostWork work;
    const WindowKernels kernels(work);
    const std::shared_ptr<void> stream = work.make_stream(), event = work.make_event();
    DeviceResampler device(work, kernels, axes, kChannels, {}, stream.get());
    const std::int64_t plane = to[1] * to[2] * to[3];
    ASSERT_EQ(device.section(), plane);
    Tensor expected(DType::f32, {kChannels, to[0], plane}), found(DType::f32, {kChannels, to[0], plane});
    for (std::int64_t z = 0; z < from[0]; ++z) {
      for (std::int64_t c = 0; c < kChannels; ++c) {
        const float* const here = values + (z * kChannels + c) * host.section();
        std::copy_n(here, host.section(), host.plane() + c * host.section());
        std::copy_n(here, host.section(), device.plane(z) + c * device.channel_stride());
      }
      const std::int64_t done = host.done(), ready = host.add_plane(z, *pool);
      ASSERT_EQ(device.ready(z), ready);
      host.finish(ready, {}, {reinterpret_cast<std::byte*>(expected.mutable_raw()), to[0] * plane, 0}, *pool);
      if (ready > done)
        device.finish(found.mutable_data<float>() + done * plane, to[0] * plane, plane, done, ready - done);
      work.record(event.get(), stream.get()), work.wait(event.get());
      device.set_done(ready);
    }
    EXPECT_EQ(device.done(), to[0]);
    for (std::int64_t i = 0; i < found.size(); ++i)
      ASSERT_TRUE(same(found.data<float>()[i], expected.data<float>()[i]))
          << i << ": " << found.data<float>()[i] << ' ' << expected.data<float>()[i];
  }
}

}  // namespace
}  // namespace tenfold::imaging::tests
