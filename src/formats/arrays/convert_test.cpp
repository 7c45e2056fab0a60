// Element types that a model takes, made of those that files have.
#include "formats/arrays/convert.h"

#include "formats/formats_for_tests.h"

namespace tenfold::formats {
namespace {

// The array of a tensor, by way of its file, which `bytes` keeps.
NpyArray array_of(const Tensor& tensor, std::string& bytes) { return parse_npy(bytes = to_npy(tensor), "a.npy"); }

template <class T>
Tensor tensor_of(DType type, std::initializer_list<T> values) {
  Tensor t(type, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), t.mutable_data<T>());
  return t;
}

TEST(Convert, EqualTypesAreLeftAsTheyAre) {
  std::string bytes;
  const Converted made = converted_to(array_of(tensor_of<float>(DType::f32, {1.5f}), bytes), DType::f32, "a.npy");
  EXPECT_EQ(made.reported, "");
  EXPECT_EQ(made.tensor.as_double(0), 1.5);
}

TEST(Convert, NumbersBecomeTheNearestFloats) {
  std::string bytes;
  const NpyArray doubles = array_of(tensor_of<double>(DType::f64, {0.1, -3, 65504}), bytes);
  const Converted f32 = converted_to(doubles, DType::f32, "a.npy"), f16 = converted_to(doubles, DType::f16, "a.npy");
  EXPECT_EQ(f32.reported, "a.npy: float64 is converted to the model's f32");
  EXPECT_EQ(f32.tensor.data<float>()[0], 0.1f);
  EXPECT_EQ(f16.tensor.data<std::uint16_t>()[0], 0x2E66);
  EXPECT_EQ(f16.tensor.data<std::uint16_t>()[2], 0x7BFF);
  const NpyArray bytes_array = array_of(tensor_of<std::uint8_t>(DType::u8, {0, 255}), bytes);
  EXPECT_EQ(converted_to(bytes_array, DType::bf16, "a.npy").tensor.data<std::uint16_t>()[1], 0x437F);
}

TEST(Convert, IntegersKeepTheirValuesOrAreRefused) {
  std::string bytes;
  const NpyArray longs = array_of(tensor_of<std::int64_t>(DType::i64, {-128, 127}), bytes);
  const Tensor narrow = converted_to(longs, DType::i8, "a.npy").tensor;
  EXPECT_EQ(narrow.as_int(0), -128);
  EXPECT_EQ(narrow.as_int(1), 127);
  EXPECT_TRUE(says(refusal([&] { converted_to(longs, DType::u64, "a.npy"); }), "element 0 is -128, which u64 does not hold"));
  EXPECT_TRUE(says(refusal([&] { converted_to(longs, DType::boolean, "a.npy"); }), "element 0 is -128, which bool"));
  std::string other;
  const NpyArray huge = array_of(tensor_of<std::uint64_t>(DType::u64, {~std::uint64_t{0}}), other);
  EXPECT_TRUE(says(refusal([&] { converted_to(huge, DType::i64, "a.npy"); }), "element 0 is 18446744073709551615, which i64"));
}

TEST(Convert, FloatsForIntegersAndNumbersOutOfRangeAreRefused) {
  std::string bytes;
  const NpyArray doubles = array_of(tensor_of<double>(DType::f64, {1, 1e39}), bytes);
  EXPECT_TRUE(says(refusal([&] { converted_to(doubles, DType::i32, "a.npy"); }), "has type <f8, but i32 is needed"));
  EXPECT_TRUE(says(refusal([&] { converted_to(doubles, DType::f32, "a.npy"); }), "element 1 is 1e+39, which f32 does not reach"));
  std::string text;
  const NpyArray strings = array_of(Tensor::strings({1}, {"7"}), text);
  EXPECT_TRUE(says(refusal([&] { converted_to(strings, DType::f32, "a.npy"); }), "has type <U1, but f32 is needed"));
}

TEST(Convert, LeadingAxesOfOne) {
  EXPECT_EQ(with_leading_axes({3, 4}, {-1, 1, 3, -1}), (Shape{1, 1, 3, 4}));
  EXPECT_FALSE(with_leading_axes({3, 4}, {2, 3, 4}));    // two are declared
  EXPECT_FALSE(with_leading_axes({3, 4}, {1, 5, 4}));
  EXPECT_FALSE(with_leading_axes({1, 3}, {1, 3}));       // nothing lacks
}

}  // namespace
}  // namespace tenfold::formats
