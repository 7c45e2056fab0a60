// Copies between pageable memory and a GPU, and pinned memory of callers, on a driver whose copies happen as late as they may: which pieces
// are used again when, and what becomes of calls that fail. How fast they are is measured on a GPU.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>

#include "backends/cuda/device/device.h"
#include "backends/cuda/device/staged_copies.h"
#include "on_a_fake_gpu.h"
#include "runtime/context.h"
#include "runtime/device/link.h"
#include "tenfold/pinned_memory.h"

namespace tenfold {
namespace {

using backends::cuda::DevicePointer;
using backends::cuda::driver;
using backends::cuda::StagedCopies;
using backends::cuda::StreamHandle;
using tests::FakeDriver;

constexpr std::int64_t kBytes = (3 << 20) + 20;   // no whole number of pieces

std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>((i * 2654435761u + seed) >> 13);
  return made;
}

class GpuCopies : public tests::FakeGpu {
 protected:
  void SetUp() override {
    FakeGpu::SetUp();
    if (!fake_) return;
    device_ = &backends::cuda::device_of(backend_->info());
    device_->make_current();
    memory_ = backend_->memory().allocate(kBytes);
    ASSERT_EQ(driver()->stream_create(&stream_, 1), 0);
    fake_->late_copies = true;
  }
  void TearDown() override {
    if (stream_) driver()->stream_wait(stream_), driver()->stream_destroy(stream_);
    memory_.reset();
    FakeGpu::TearDown();
  }
  std::unique_ptr<StagedCopies> copies(int threads = 3, std::int64_t piece = 64 << 10) {
    return std::make_unique<StagedCopies>(backends::cuda::StagingOptions{threads, piece}, [this] { device_->make_current(); });
  }
  DevicePointer there() const { return reinterpret_cast<DevicePointer>(memory_.get()); }
  std::byte* bytes() const { return static_cast<std::byte*>(memory_.get()); }
  bool holds(const std::vector<std::byte>& expected) const {
    driver()->stream_wait(stream_);
    return std::memcmp(memory_.get(), expected.data(), expected.size()) == 0;
  }
  // Of an array in pageable memory, through a context.
  static constexpr const char* kLarge = "(x f32[300,1000])\n y = Relu(x)";

  backends::cuda::Device* device_ = nullptr;
  std::shared_ptr<void> memory_;
  StreamHandle stream_ = nullptr;
};

// A piece that is filled again before its copy has happened would send the wrong bytes: here copies happen only when they are waited for.
TEST_F(GpuCopies, APieceIsFilledAgainWhenItsCopyIsDone) {
  for (const int threads : {1, 3}) {
    const auto staged = copies(threads);
    for (unsigned seed = 1; seed <= 4; ++seed) {
      std::vector<std::byte> from = pattern(kBytes, seed);
      const std::vector<std::byte> expected = from;
      EXPECT_EQ(staged->to_device(there(), from.data(), kBytes, stream_).result, 0);
      std::fill(from.begin(), from.end(), std::byte{0xff});   // the caller's again
      EXPECT_TRUE(holds(expected)) << threads << " threads, copy " << seed;
    }
  }
}

TEST_F(GpuCopies, WhatComesBackIsThereWhenTheCallReturns) {
  for (const int threads : {1, 3}) {
    const auto staged = copies(threads);
    for (unsigned seed = 1; seed <= 4; ++seed) {
      const std::vector<std::byte> expected = pattern(kBytes, seed);
      std::memcpy(bytes(), expected.data(), expected.size());
      std::vector<std::byte> to(kBytes + 64, std::byte{0x55});
      EXPECT_EQ(staged->to_host(to.data(), there(), kBytes, stream_).result, 0);
      EXPECT_EQ(std::memcmp(to.data(), expected.data(), kBytes), 0) << threads << " threads, copy " << seed;
      EXPECT_EQ(to[kBytes], std::byte{0x55}) << "a byte behind the end";
    }
  }
}

// Copies of two streams in two threads, which share the pieces.
TEST_F(GpuCopies, ThreadsTakeTurns) {
  const auto staged = copies();
  const auto other = backend_->memory().allocate(kBytes);
  StreamHandle second = nullptr;
  ASSERT_EQ(driver()->stream_create(&second, 1), 0);
  const auto work = [&](void* to, StreamHandle stream, unsigned first) {
    device_->make_current();
    for (unsigned seed = first; seed < first + 8; ++seed) {
      const std::vector<std::byte> from = pattern(kBytes, seed);
      EXPECT_EQ(staged->to_device(reinterpret_cast<DevicePointer>(to), from.data(), kBytes, stream).result, 0);
      std::vector<std::byte> back(kBytes);
      EXPECT_EQ(staged->to_host(back.data(), reinterpret_cast<DevicePointer>(to), kBytes, stream).result, 0);
      EXPECT_EQ(back, from) << seed;
    }
  };
  std::thread beside(work, other.get(), second, 100u);
  work(memory_.get(), stream_, 200);
  beside.join();
  driver()->stream_wait(second), driver()->stream_destroy(second);
}

// Whatever fails in the middle: it is named, nothing is under way, the next copy is right, and nothing is left behind.
TEST_F(GpuCopies, AFailureInTheMiddleIsNamedAndLeavesNothing) {
  const std::size_t pinned = fake_->pinned.size();
  const int events = fake_->events;
  {
    const auto staged = copies();
    EXPECT_GT(fake_->pinned.size(), pinned);
    const std::vector<std::byte> first = pattern(kBytes, 1), second = pattern(kBytes, 2);
    std::vector<std::byte> back(kBytes);
    for (const char* call : {"cuMemcpyAsync", "cuEventRecord", "cuEventSynchronize"}) {
      for (const bool in : {true, false}) {
        fake_->one_failure = {call, 7, 1};
        const StagedCopies::Outcome outcome = in ? staged->to_device(there(), first.data(), kBytes, stream_)
                                                 : staged->to_host(back.data(), there(), kBytes, stream_);
        EXPECT_EQ(outcome.result, 1) << call << (in ? ", in" : ", back");
        EXPECT_STREQ(outcome.call, call);
        for (const auto& [stream, late] : fake_->late) EXPECT_EQ(late.done, late.asked.size()) << "a copy is under way";
        EXPECT_EQ(staged->to_device(there(), second.data(), kBytes, stream_).result, 0);
        EXPECT_TRUE(holds(second));
      }
    }
  }
  EXPECT_EQ(fake_->pinned.size(), pinned);
  EXPECT_EQ(fake_->events, events);
  for (const auto& [call, behind] : {std::pair{"cuMemHostAlloc", 3}, {"cuEventCreate", 2}}) {
    fake_->one_failure = {call, behind, 2};
    EXPECT_THROW(copies(), Error);
    EXPECT_EQ(fake_->pinned.size(), pinned) << call;
    EXPECT_EQ(fake_->events, events) << call;
  }
}

// What a context is given in ordinary memory goes by pieces, in and out, and an error has the driver's words.
TEST_F(GpuCopies, ARunFromPageableMemory) {
  const Engine large = engine(kLarge);
  const auto context = large.create_context();
  const std::int64_t size = 300 * 1000 * 4;
  const std::vector<std::byte> x = pattern(static_cast<std::size_t>(size), 3), result = pattern(static_cast<std::size_t>(size), 4);
  std::vector<std::byte> y(static_cast<std::size_t>(size));
  const std::size_t pinned = fake_->pinned.size();
  ASSERT_TRUE(context->bind(0, const_cast<std::byte*>(x.data()), size) && context->bind(1, y.data(), size));
  ASSERT_TRUE(context->prepare());
  std::memcpy(context->device_memory(1), result.data(), result.size());   // kernels here compute nothing
  ASSERT_TRUE(context->run());
  EXPECT_GT(fake_->pinned.size(), pinned) << "there are no pieces";
  EXPECT_EQ(std::memcmp(context->device_memory(0), x.data(), x.size()), 0);
  EXPECT_EQ(y, result);
  fake_->one_failure = {"cuEventRecord", 2, 1};
  const Status failed = context->run();
  EXPECT_EQ(failed.code, Status::device);
  EXPECT_NE(context->describe(failed).find("cuEventRecord"), std::string::npos) << context->describe(failed);
  EXPECT_TRUE(context->run()) << "such an error passes";
}

// A graph holds the copy itself: nothing waits while one is captured, the engine's own or a caller's.
TEST_F(GpuCopies, InACaptureTheDriverCopies) {
  const auto stream = backend_->open_stream({});
  const std::vector<std::byte> from = pattern(kBytes, 6);
  const auto copy = [&] { return stream->copy(memory_.get(), from.data(), kBytes); };
  ASSERT_EQ(copy(), Status::ok);   // there are pieces
  const std::size_t records = fake_->recorded_on.size();
  ASSERT_TRUE(stream->capturer()->start());
  EXPECT_EQ(copy(), Status::ok);
  EXPECT_NE(stream->capturer()->finish(), nullptr);
  EXPECT_EQ(fake_->own.broken, 0) << fake_->own.broken_by;
  int mine = 0;
  fake_->capturing[&mine] = backends::cuda::kCapturing;
  stream->callers()->capture_into(&mine);
  EXPECT_EQ(copy(), Status::ok);
  stream->callers()->capture_into(nullptr);
  EXPECT_TRUE(fake_->forbidden.empty()) << fake_->forbidden.front();
  EXPECT_EQ(fake_->captured, 1);
  fake_->capturing.clear();
  EXPECT_EQ(fake_->recorded_on.size(), records);
  EXPECT_EQ(copy(), Status::ok);
  EXPECT_GT(fake_->recorded_on.size(), records) << "pieces are used again";
}

TEST_F(GpuCopies, WithoutMemoryForPiecesTheDriverCopies) {
  const Engine large = engine(kLarge);
  const auto context = large.create_context();
  const std::int64_t size = 300 * 1000 * 4;
  const std::vector<std::byte> x = pattern(static_cast<std::size_t>(size), 5);
  std::vector<std::byte> y(static_cast<std::size_t>(size));
  ASSERT_TRUE(context->bind(0, const_cast<std::byte*>(x.data()), size) && context->bind(1, y.data(), size));
  ASSERT_TRUE(context->prepare());
  const std::size_t pinned = fake_->pinned.size();
  fake_->one_failure = {"cuMemHostAlloc", 1, 2};
  ASSERT_TRUE(context->run());
  EXPECT_EQ(fake_->pinned.size(), pinned);
  EXPECT_EQ(std::memcmp(context->device_memory(0), x.data(), x.size()), 0);
}

TEST_F(GpuCopies, PinnedMemoryIsReadWhereItLies) {
  const Engine large = engine(kLarge);
  const auto context = large.create_context();
  const std::string device = cat("cuda:", FakeDriver::kOrdinal);
  const std::int64_t size = 300 * 1000 * 4;
  PinnedMemory(device, 64);   // at the first, the runtime makes a stream
  const std::size_t pinned = fake_->pinned.size();
  {
    const PinnedMemory x(device, size), y(device, size);
    EXPECT_TRUE(x.pinned() && x.bytes() == size && reinterpret_cast<std::uintptr_t>(x.memory()) % 64 == 0);
    EXPECT_EQ(static_cast<const std::byte*>(x.memory())[size - 1], std::byte{0});
    EXPECT_TRUE(fake_->pinned.count(x.memory()) && fake_->pinned.count(y.memory()));
    ASSERT_TRUE(context->bind(0, x.memory(), size) && context->bind(1, y.memory(), size));
    ASSERT_TRUE(context->run());
    const auto& transfers = runtime::ContextAccess::of(*context).device->transfers;
    EXPECT_TRUE(transfers[0].pinned == x.memory() && transfers[1].pinned == y.memory());
    EXPECT_FALSE(transfers[0].by_host || transfers[0].apart || transfers[1].by_host || transfers[1].apart);
  }
  EXPECT_EQ(fake_->pinned.size(), pinned);
  EXPECT_THROW(PinnedMemory(device, -1), Error);
  EXPECT_THROW(PinnedMemory("gpu", 1), Error);
}

TEST_F(GpuCopies, CallersMemoryIsRegisteredUntilItIsNot) {
  const Engine large = engine(kLarge);
  const auto context = large.create_context();
  const std::string device = cat("cuda:", FakeDriver::kOrdinal);
  const std::int64_t size = 300 * 1000 * 4;
  std::vector<std::byte> x(static_cast<std::size_t>(size)), y(static_cast<std::size_t>(size));
  const runtime::ContextState& state = runtime::ContextAccess::of(*context);
  const auto bound = [&] {
    EXPECT_TRUE(context->bind(0, x.data(), size) && context->bind(1, y.data(), size) && context->run());
    return state.device->transfers[0];
  };
  EXPECT_TRUE(bound().apart);
  {
    const PinnedMemory registered = PinnedMemory::of_callers(device, x.data(), size);
    EXPECT_TRUE(registered.pinned() && registered.memory() == x.data() && registered.bytes() == size);
    EXPECT_EQ(bound().pinned, x.data());
    try {
      PinnedMemory::of_callers(device, x.data() + 4096, 4096);
      ADD_FAILURE() << "it is registered twice";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
      EXPECT_NE(std::string(e.what()).find("registered already"), std::string::npos) << e.what();
    }
  }
  EXPECT_TRUE(fake_->registered.empty());
  EXPECT_TRUE(bound().apart) << "it is ordinary memory again";
  fake_->one_failure = {"cuMemHostRegister", 0, 1};
  try {
    PinnedMemory::of_callers(device, x.data(), size);
    ADD_FAILURE() << "the driver had refused";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("cuMemHostRegister"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(fake_->registered.empty());
  EXPECT_THROW(PinnedMemory::of_callers(device, nullptr, 8), Error);
  EXPECT_THROW(PinnedMemory::of_callers(device, x.data(), 0), Error);
}

}  // namespace
}  // namespace tenfold
