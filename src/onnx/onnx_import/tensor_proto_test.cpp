// Tensors: every element type through every encoding, and counts that disagree.
#include "onnx_import/tensor_proto.h"

#include <cmath>

#include "base/types/element.h"
#include "ir/finite.h"
#include "onnx_import/model_for_tests.h"

namespace tenfold::onnx_import {
namespace {

onnx::TensorProto empty(DType type, const Shape& shape) {
  onnx::TensorProto proto;
  proto.name = "t";
  proto.data_type = static_cast<int>(ops::onnx_number(type));
  for (auto extent : shape) proto.dims.push_back(extent);
  return proto;
}

void expect_values(onnx::TensorProto proto, const std::vector<double>& expected) {
  const Tensor tensor = to_tensor(proto, nullptr);
  ASSERT_EQ(tensor.size(), static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(tensor.as_double(static_cast<std::int64_t>(i)), expected[i]) << name(tensor.dtype()) << " element " << i;
}

void expect_refused(onnx::TensorProto proto, const std::string& part, ErrorKind kind = ErrorKind::invalid_model) {
  try {
    to_tensor(proto, nullptr);
    ADD_FAILURE() << "accepted, '" << part << "' expected";
  } catch (const Error& error) {
    EXPECT_EQ(name(error.kind()), name(kind));
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

struct Encoded {
  DType type;
  std::vector<std::int32_t> codes;   // bit patterns as int32_data holds them
  std::vector<double> values;
};

// Bit patterns worked out by hand from the formats' definitions.
const std::vector<Encoded>& narrow() {
  static const std::vector<Encoded> all{
      {DType::i8, {-3, 5}, {-3, 5}},
      {DType::u8, {255, 5}, {255, 5}},
      {DType::i16, {-300, 5}, {-300, 5}},
      {DType::u16, {65535, 5}, {65535, 5}},
      {DType::i32, {-70000, 5}, {-70000, 5}},
      {DType::boolean, {1, 0}, {1, 0}},
      {DType::f16, {0x3c00, 0xc000}, {1, -2}},
      {DType::bf16, {0x3f80, 0xc000}, {1, -2}},
      {DType::f8e4m3fn, {0x38, 0xc0}, {1, -2}},
      {DType::f8e4m3fnuz, {0x40, 0xc8}, {1, -2}},
      {DType::f8e5m2, {0x3c, 0xc0}, {1, -2}},
      {DType::f8e5m2fnuz, {0x40, 0xc4}, {1, -2}},
      {DType::f8e8m0, {127, 128}, {1, 2}},
      {DType::u4, {0x51, 0x0f}, {1, 5, 15}},
      {DType::i4, {0x71, 0x0f}, {1, 7, -1}},
      {DType::f4e2m1, {0xa2, 0x07}, {1, -1, 6}},
      {DType::u2, {0xe4, 0x01}, {0, 1, 2, 3, 1}},
      {DType::i2, {0xe4, 0x01}, {0, 1, -2, -1, 1}},
  };
  return all;
}

TEST(TensorProto, NarrowTypesInInt32Data) {
  for (const Encoded& e : narrow()) {
    auto proto = empty(e.type, {static_cast<std::int64_t>(e.values.size())});
    for (auto code : e.codes) proto.int32_data.push_back(code);
    expect_values(proto, e.values);
    proto.int32_data.push_back(0);
    expect_refused(proto, "values of data");
  }
}

TEST(TensorProto, NarrowTypesInRawData) {
  for (const Encoded& e : narrow()) {
    auto proto = empty(e.type, {static_cast<std::int64_t>(e.values.size())});
    std::string raw;
    for (auto code : e.codes) raw.append(reinterpret_cast<const char*>(&code), static_cast<std::size_t>(std::max(bits(e.type) / 8, 1)));
    proto.raw_data = kept(raw);
    expect_values(proto, e.values);
    proto.raw_data = kept(raw + "x");
    expect_refused(proto, "bytes of data");
    proto.raw_data = kept(raw.substr(1));
    expect_refused(proto, "bytes of data");
  }
}

TEST(TensorProto, WideTypes) {
  auto f32 = empty(DType::f32, {2});
  f32.float_data.push_back(0.5f), f32.float_data.push_back(-1.5f);
  expect_values(f32, {0.5, -1.5});
  auto f64 = empty(DType::f64, {1});
  f64.double_data.push_back(0.1);
  expect_values(f64, {0.1});
  auto i64 = empty(DType::i64, {1, 1});
  i64.int64_data.push_back(-5'000'000'000);
  expect_values(i64, {-5e9});
  auto u32 = empty(DType::u32, {1});
  u32.uint64_data.push_back(4'000'000'000u);
  expect_values(u32, {4e9});
  auto u64 = empty(DType::u64, {1});
  u64.uint64_data.push_back(1ull << 63);
  EXPECT_EQ(to_tensor(u64, nullptr).data<std::uint64_t>()[0], 1ull << 63);
  auto scalar = empty(DType::f32, {});
  scalar.float_data.push_back(3);
  expect_values(scalar, {3});
  expect_values(empty(DType::f32, {0, 4}), {});
}

TEST(TensorProto, Strings) {
  auto proto = empty(DType::string, {2});
  proto.string_data.push_back("a"), proto.string_data.push_back(std::string("b\0c", 3));
  EXPECT_EQ(to_tensor(proto, nullptr).string_values()[1], std::string("b\0c", 3));
  proto.string_data.push_back("more");
  expect_refused(proto, "holds 3 strings");
}

TEST(TensorProto, BooleansBecomeZeroOrOne) {
  auto proto = empty(DType::boolean, {300});   // large enough to be borrowed otherwise
  proto.raw_data = kept(std::string(300, '\x7f'));
  const Tensor tensor = to_tensor(proto, nullptr);
  for (int i = 0; i < 300; ++i) ASSERT_EQ(tensor.data<std::uint8_t>()[i], 1);
}

TEST(TensorProto, RefusesContradictions) {
  auto proto = empty(DType::f32, {3});
  expect_refused(proto, "holds 0 values of data, its shape [3] of f32 needs 3");
  proto.float_data.push_back(1);
  proto.raw_data = kept(std::string(12, '\0'));
  expect_refused(proto, "raw data and a list");
  auto misplaced = empty(DType::f32, {1});
  misplaced.double_data.push_back(1);
  expect_refused(misplaced, "holds 0 values");
  expect_refused(empty(DType::f32, {-1}), "extent -1");
  expect_refused(empty(DType::f32, {std::int64_t{1} << 62, 8}), "overflow");
  expect_refused(empty(DType::f32, {std::int64_t{1} << 50}), "holds 0 values");
  expect_refused(empty(DType::f32, Shape(65, 1)), "65 dimensions");
  auto unknown = empty(DType::f32, {0});
  unknown.data_type = 77;
  expect_refused(unknown, "77");
  unknown.data_type = 14;
  expect_refused(unknown, "complex", ErrorKind::unsupported);
  auto segment = empty(DType::f32, {0});
  segment.segment = true;
  expect_refused(segment, "segments", ErrorKind::unsupported);
}

TEST(TensorProto, SparseTensorsBecomeDense) {
  onnx::SparseTensorProto sparse;
  sparse.values.edit() = floats("s", {2}, {5, 6});
  sparse.indices.edit() = empty(DType::i64, {2});
  sparse.indices->int64_data.push_back(1), sparse.indices->int64_data.push_back(4);
  sparse.dims.push_back(2), sparse.dims.push_back(3);
  const Tensor linear = to_tensor(sparse, nullptr);
  EXPECT_EQ(linear.as_double(1), 5);
  EXPECT_EQ(linear.as_double(4), 6);
  sparse.indices->int64_data[1] = 6;
  EXPECT_THROW(to_tensor(sparse, nullptr), Error);
  sparse.indices.edit() = empty(DType::i64, {2, 2});
  for (int i : {0, 1, 1, 2}) sparse.indices->int64_data.push_back(i);
  EXPECT_EQ(to_tensor(sparse, nullptr).as_double(5), 6);
}

TEST(Finite, FindsTheOneBadElementOfEachType) {
  for (DType type : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e5m2}) {
    for (std::int64_t bad : {0, 4095, 4096, 9998}) {
      Tensor tensor(type, {9999});
      for (std::int64_t i = 0; i < tensor.size(); ++i) store_double(type, tensor.mutable_raw(), i, i % 2 ? 1.5 : -0.25);
      EXPECT_TRUE(ir::all_finite(tensor));
      store_double(type, tensor.mutable_raw(), bad, NAN);
      EXPECT_FALSE(ir::all_finite(tensor)) << name(type) << " at " << bad;
      if (type == DType::f8e4m3fn) continue;   // has no infinity
      store_double(type, tensor.mutable_raw(), bad, -INFINITY);
      if (type == DType::f8e5m2) tensor.mutable_data<std::uint8_t>()[bad] = 0xfc;   // storing saturates
      EXPECT_FALSE(ir::all_finite(tensor)) << name(type) << " at " << bad;
    }
  }
}

}  // namespace
}  // namespace tenfold::onnx_import
