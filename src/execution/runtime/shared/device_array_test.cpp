// Arrays of callers on the CPU: memory, copies, DLPack, and what is refused. On a GPU's driver: tests/gpu_runtime_test.cpp.
#include "tenfold/device_array.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "builder/builder.h"
#include "ir/text.h"
#include "tenfold/device_stream.h"
#include "tenfold/dlpack.h"

namespace tenfold {
namespace {

ErrorKind kind_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& e) {
    return e.kind();
  }
  ADD_FAILURE() << "nothing was refused";
  return ErrorKind::internal;
}

TEST(DeviceArrays, AreZerosAndTakeWhatTheyAreGiven) {
  DeviceArray a("cpu", DType::f32, {2, 3});
  EXPECT_TRUE(a.defined() && a.device() == "cpu" && !a.on_gpu() && a.ordinal() == 0);
  EXPECT_EQ(a.bytes(), 24);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.memory()) % 64, 0u);
  std::array<float, 6> in{1, 2, 3, 4, 5, 6}, out{9, 9, 9, 9, 9, 9};
  a.copy_to(out.data(), 24);
  EXPECT_EQ(out, (std::array<float, 6>{}));
  const DeviceArray shared = a;
  a.copy_from(in.data(), 24);
  a = {};
  EXPECT_FALSE(a.defined());
  shared.copy_to(out.data(), 24);
  EXPECT_EQ(out, in);
}

TEST(DeviceArrays, RefuseCopiesOfNoMemory) {
  DeviceArray a("cpu", DType::f32, {2}), none("cpu", DType::f32, {0});
  EXPECT_EQ(kind_of([&] { a.copy_from(nullptr, 8); }), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of([&] { a.copy_to(nullptr, 8); }), ErrorKind::invalid_argument);
  none.copy_from(nullptr, 0);
}

TEST(DeviceArrays, AreBoundWhereTheyLie) {
  BuildConfig config;
  config.optimization_level = 0, config.threads = 1;
  const Engine engine = builder::build_graph(ir::parse_graph("(x f32[4])\n y = Neg(x)", ir::Registry::builtin()), config);
  EXPECT_EQ(device_of(engine), "cpu");
  const auto context = engine.create_context();
  DeviceArray x(device_of(engine), DType::f32, {4}), y(device_of(engine), DType::f32, {4});
  std::array<float, 4> numbers{1, -2, 3, 0}, found{};
  ASSERT_TRUE(context->bind(0, x.memory(), x.bytes()) && context->bind(1, y.memory(), y.bytes()));
  for (int run = 0; run < 3; ++run) {
    numbers[3] = static_cast<float>(run);
    x.copy_from(numbers.data(), 16);
    ASSERT_TRUE(context->bind(0, x.memory(), x.bytes()));   // the same again changes nothing
    ASSERT_TRUE(context->run());
    y.copy_to(found.data(), 16);
    EXPECT_EQ(found, (std::array<float, 4>{-1, 2, -3, static_cast<float>(-run)}));
  }
  ASSERT_TRUE(context->bind(0, x.memory(), 12));
  EXPECT_EQ(context->run().code, Status::invalid_binding) << "the same memory with fewer bytes is another binding";
}

TEST(DeviceArrays, ComeByDlpackAndOutliveTheirHandle) {
  DLManagedTensorVersioned* tensor = nullptr;
  {
    DeviceArray a("cpu", DType::i16, {3, 2});
    const std::array<std::int16_t, 6> in{1, 2, 3, 4, 5, 6};
    a.copy_from(in.data(), 12);
    tensor = to_dlpack(a);
  }
  EXPECT_EQ(tensor->flags, 0u) << "they may be written to";
  EXPECT_EQ(tensor->dl_tensor.device.device_type, kDLCPU);
  const Tensor back = from_dlpack(tensor);
  EXPECT_EQ(back.shape(), (Shape{3, 2}));
  EXPECT_EQ(back.as_int(5), 6);
  DLManagedTensor* plain = to_dlpack_unversioned(DeviceArray("cpu", DType::f32, {0}));
  EXPECT_EQ(plain->dl_tensor.shape[0], 0);
  plain->deleter(plain);
}

TEST(DeviceArrays, WhatCannotBeIsRefused) {
  EXPECT_EQ(kind_of([] { DeviceArray("cpu", DType::string, {1}); }), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of([] { DeviceArray("cpu", DType::f32, {-1}); }), ErrorKind::invalid_argument);
  for (const int power : {50, 60})
    EXPECT_EQ(kind_of([=] { DeviceArray("cpu", DType::f32, {std::int64_t{1} << power}); }), ErrorKind::out_of_memory);
  EXPECT_EQ(kind_of([] { DeviceArray("tpu", DType::f32, {1}); }), ErrorKind::unsupported);
  EXPECT_EQ(kind_of([] { DeviceArray().shape(); }), ErrorKind::invalid_argument);
  DeviceArray a("cpu", DType::f32, {4});
  float one = 0;
  EXPECT_EQ(kind_of([&] { a.copy_from(&one, 4); }), ErrorKind::invalid_argument);
  std::array<float, 4> four{};
  EXPECT_EQ(kind_of([&] { a.copy_to(four.data(), 16, &one); }), ErrorKind::invalid_argument) << "a CPU has no streams";
  EXPECT_EQ(kind_of([] { DeviceStream("cpu"); }), ErrorKind::unsupported);
  EXPECT_EQ(kind_of([] { synchronize_stream("cpu", nullptr); }), ErrorKind::unsupported);
}

}  // namespace
}  // namespace tenfold
