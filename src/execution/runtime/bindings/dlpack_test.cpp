// DLPack structs in and out: bytes are shared, deleters are called once, what cannot be taken is refused and stays the caller's.
#include "tenfold/dlpack.h"

#include <gtest/gtest.h>

#include <numeric>

#include "builder/builder.h"
#include "ir/text.h"
#include "tenfold/bindings.h"

namespace tenfold {
namespace {

// As another library makes one: it counts calls of its deleter.
template <class Managed>
struct Foreign {
  Managed managed{};
  std::vector<float> data = std::vector<float>(24);
  std::vector<std::int64_t> shape, strides;
  int deleted = 0;
  Foreign(std::vector<std::int64_t> s, std::vector<std::int64_t> t = {}) : shape(std::move(s)), strides(std::move(t)) {
    std::iota(data.begin(), data.end(), 0.f);
    managed.dl_tensor = {.data = data.data(), .device = {kDLCPU, 0}, .ndim = static_cast<std::int32_t>(shape.size()),
                         .dtype = {kDLFloat, 32, 1}, .shape = shape.data(), .strides = strides.empty() ? nullptr : strides.data(),
                         .byte_offset = 0};
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
    if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) managed.version = {1, 0};
  }
};
using Versioned = Foreign<DLManagedTensorVersioned>;

TEST(DLPack, TensorsAreSharedUntilTheDeleter) {
  auto t = std::make_unique<Tensor>(DType::f32, Shape{2, 3});
  const void* const bytes = t->raw();
  DLManagedTensorVersioned* const out = to_dlpack(*t);
  DLManagedTensor* const old = to_dlpack_unversioned(*t);
  t.reset();
  EXPECT_EQ(out->version.major, 1u);
  EXPECT_EQ(out->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  EXPECT_EQ(out->dl_tensor.data, bytes);
  EXPECT_EQ(out->dl_tensor.ndim, 2);
  EXPECT_EQ(out->dl_tensor.strides[0], 3);
  EXPECT_EQ(static_cast<const float*>(out->dl_tensor.data)[5], 0);   // alive, as a sanitizer would tell
  const Tensor back = from_dlpack(out);
  EXPECT_EQ(back.raw(), bytes);
  EXPECT_EQ(back.shape(), (Shape{2, 3}));
  old->deleter(old);
}

template <class Managed>
void expect_taken() {
  Foreign<Managed> dense({4, 6}), columns({2, 3}, {1, 8}), empty({0, 3});
  dense.managed.dl_tensor.byte_offset = 0;
  {
    const Tensor t = from_dlpack(&dense.managed), copy = t;
    EXPECT_EQ(t.raw(), dense.data.data());
    EXPECT_EQ(dense.deleted, 0);
  }
  EXPECT_EQ(dense.deleted, 1);
  const Tensor t = from_dlpack(&columns.managed);
  EXPECT_EQ(columns.deleted, 1) << "copied at once";
  EXPECT_EQ(t.as_double(1), 8);
  EXPECT_EQ(t.as_double(3), 1);
  EXPECT_EQ(from_dlpack(&empty.managed).shape(), (Shape{0, 3}));
  EXPECT_EQ(empty.deleted, 1);
}
TEST(DLPack, ForeignTensorsAreTaken) {
  expect_taken<DLManagedTensorVersioned>();
  expect_taken<DLManagedTensor>();
}

TEST(DLPack, WhatCannotBeTakenStaysTheCallers) {
  Versioned version({4}), gpu({4}), lanes({4}), complex({4}), shape({-4}), null({4});
  version.managed.version.major = 2;
  gpu.managed.dl_tensor.device.device_type = kDLCUDA;
  lanes.managed.dl_tensor.dtype.lanes = 4;
  complex.managed.dl_tensor.dtype = {5, 64, 1};
  null.managed.dl_tensor.data = nullptr;
  for (Versioned* one : {&version, &gpu, &lanes, &complex, &shape, &null}) {
    EXPECT_THROW(from_dlpack(&one->managed), Error);
    EXPECT_EQ(one->deleted, 0);
  }
  EXPECT_THROW(from_dlpack(static_cast<DLManagedTensorVersioned*>(nullptr)), Error);
}

TEST(DLPack, EveryTypeButStringsComesBack) {
  for (int i = 0; i < static_cast<int>(DType::count_); ++i) {
    const auto type = static_cast<DType>(i);
    if (type == DType::string) EXPECT_THROW(dlpack_type(type), Error);
    else EXPECT_EQ(type_of_dlpack(dlpack_type(type)), type) << name(type);
  }
}

class DLPackBindings : public testing::Test {
 protected:
  static Engine build() {
    BuildConfig config;
    config.optimization_level = 0, config.threads = 1;
    config.profiles = {{{"x", {{1, 3}, {2, 3}, {4, 3}}}}};
    return builder::build_graph(ir::parse_graph("(x f32[n,3])\n y = Neg(x)", ir::Registry::builtin()), config);
  }
  Engine engine = build();
  std::unique_ptr<ExecutionContext> context = engine.create_context();
};

TEST_F(DLPackBindings, AreBoundWhereTheyLie) {
  Versioned x({2, 3}, {8, 2}), y({2, 3});
  x.managed.dl_tensor.byte_offset = 4;
  ASSERT_TRUE(bind_dlpack(*context, 0, x.managed) && bind_dlpack(*context, 1, y.managed));
  const Status status = context->run();
  ASSERT_TRUE(status) << context->describe(status);
  EXPECT_TRUE(copied_at_border(*context, 0));
  EXPECT_FALSE(copied_at_border(*context, 1));
  for (std::size_t r = 0; r < 2; ++r)
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(y.data[r * 3 + i], -static_cast<float>(1 + r * 8 + i * 2));
}

TEST_F(DLPackBindings, WhatDoesNotSuitIsRefusedInWords) {
  Versioned x({2, 3}), flat({6}), wide({5, 3}), elsewhere({2, 3}), ints({2, 3}), fixed({2, 3});
  elsewhere.managed.dl_tensor.device = {kDLCUDA, 0};
  ints.managed.dl_tensor.dtype = {kDLInt, 32, 1};
  fixed.managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  const auto expect = [&](Status status, const char* words) {
    EXPECT_EQ(status.code, Status::invalid_binding);
    EXPECT_NE(context->describe(status).find(words), std::string::npos) << context->describe(status);
  };
  expect(bind_dlpack(*context, 0, flat.managed), "axes");
  expect(bind_dlpack(*context, 0, elsewhere.managed), "another device");
  expect(bind_dlpack(*context, 0, ints.managed), "i32");
  Versioned narrow({3, 2}), turned({3, 2}, {8, 1}), more({4, 3});
  expect(bind_dlpack(*context, 1, narrow.managed), "along axis 1");
  expect(bind_dlpack(*context, 1, turned.managed), "along axis 1");
  ASSERT_TRUE(bind_dlpack(*context, 0, x.managed) && bind_dlpack(*context, 1, more.managed));
  expect(context->run(), "another shape");   // two rows, where there is place for four
  expect(bind_dlpack(*context, 1, fixed.managed), "read-only");
  EXPECT_TRUE(bind_dlpack(*context, 0, fixed.managed)) << "an input is only read";
  EXPECT_EQ(bind_dlpack(*context, 3, x.managed).code, Status::invalid_binding);
}

TEST_F(DLPackBindings, OwnMemoryGoesOutAndOutlivesTheContext) {
  Versioned x({2, 3});
  EXPECT_THROW(binding_to_dlpack(*context, 1), Error) << "no shape is set";
  ASSERT_TRUE(bind_dlpack(*context, 0, x.managed));
  DLManagedTensorVersioned* y = binding_to_dlpack(*context, 1);
  ASSERT_TRUE(context->run());
  context.reset();
  EXPECT_EQ(y->flags, 0u);
  EXPECT_EQ(y->dl_tensor.shape[0], 2);
  EXPECT_EQ(static_cast<const float*>(y->dl_tensor.data)[5], -5);
  y->deleter(y);
}

}  // namespace
}  // namespace tenfold
