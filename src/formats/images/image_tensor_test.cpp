// Elements of a model's input, against numbers of NumPy's.
#include "formats/images/image_tensor.h"

#include <cstring>

#include "formats/formats_for_tests.h"

namespace tenfold::formats {
namespace {

// Two pixels: 0, 1, 128 and 255, 128, 1.
const Pixels kPair{2, 1, 3, {0, 1, 128, 255, 128, 1}};

Tensor elements(const char* spec, Shape shape, DType type, const Pixels& pixels = kPair) {
  BindingInfo info;
  info.name = "x", info.dtype = type, info.shape = std::move(shape);
  const ImageForm form = resolve_image_spec(parse_image_spec(spec), {info});
  const Pixels* const one[] = {&pixels};
  return ImageElements(form).tensor(one);
}
constexpr const char* kImagenet = "mean:0.485/0.456/0.406,std:0.229/0.224/0.225";

TEST(ImageElements, NormalizedAsNumPyDoesInFloat32) {
  const Tensor t = elements(kImagenet, {1, 3, 1, 2}, DType::f32);
  EXPECT_EQ(t.shape(), (Shape{1, 3, 1, 2}));
  const float expected[] = {-0x1.0f177ap+1f, 0x1.1fdc3ap+1f, -0x1.02549ep+1f, 0x1.a43690p-3f, 0x1.b4ba78p-2f, -0x1.c979d4p+0f};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(t.data<float>()[i], expected[i]) << i;
  const Tensor half = elements(kImagenet, {1, 3, 1, 2}, DType::f16);
  const std::uint16_t bits[] = {0xC03C, 0x407F, 0xC009, 0x3291, 0x36D3, 0xBF26};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(half.data<std::uint16_t>()[i], bits[i]) << i;
}

TEST(ImageElements, LayoutsAndOrders) {
  const auto levels = [](const Tensor& t) {
    std::vector<int> all;
    for (std::int64_t i = 0; i < t.size(); ++i) all.push_back(static_cast<int>(t.as_double(i)));
    return all;
  };
  EXPECT_EQ(levels(elements("scale:1", {1, 3, 1, 2}, DType::u8)), (std::vector<int>{0, 255, 1, 128, 128, 1}));
  EXPECT_EQ(levels(elements("scale:1", {1, 1, 2, 3}, DType::u8)), (std::vector<int>{0, 1, 128, 255, 128, 1}));
  EXPECT_EQ(levels(elements("scale:1,order:bgr", {1, 3, 1, 2}, DType::i32)), (std::vector<int>{128, 1, 1, 128, 0, 255}));
  EXPECT_EQ(levels(elements("scale:1,order:bgr", {1, 1, 2, 3}, DType::i64)), (std::vector<int>{128, 1, 0, 1, 128, 255}));
  EXPECT_EQ(levels(elements("mean:128", {1, 3, 1, 2}, DType::i8, {2, 1, 3, {0, 1, 128, 255, 128, 1}})),
            (std::vector<int>{-128, 127, -127, 0, 0, -127}));
  EXPECT_EQ(elements("scale:1", {3, 1, 2}, DType::f64).shape(), (Shape{3, 1, 2}));   // without an axis for images
}

// White is one value for both depths, and 16 bits tell apart what lies between.
TEST(ImageElements, SixteenBitsAreOfTheScaleOfEight) {
  const Pixels deep{2, 1, 3, {}, {0, 257, 128 * 257, 65535, 128 * 257, 257}}, between{2, 1, 3, {}, {0, 1, 12345, 65534, 40000, 258}};
  for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::u16})
    for (const char* spec : {"order:rgb", type == DType::u16 ? "scale:1" : kImagenet}) {
      const Tensor a = elements(spec, {1, 3, 1, 2}, type), b = elements(spec, {1, 3, 1, 2}, type, deep);
      EXPECT_EQ(std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.bytes())), 0) << name(type) << " " << spec;
    }
  const Tensor f = elements("order:rgb", {1, 1, 2, 3}, DType::f32, between),
               u = elements("order:rgb", {1, 1, 2, 3}, DType::u16, between);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(f.data<float>()[i], between.deep[i] / 65535.0, 1e-7);
    EXPECT_EQ(u.data<std::uint16_t>()[i], between.deep[i]);
  }
}

TEST(ImageElements, TypesThatCannotHoldTheLevelsAreRefused) {
  const auto refused = [](const char* spec, DType type) {
    return refusal([&] { elements(spec, {1, 3, 1, 2}, type); }, ErrorKind::invalid_argument);
  };
  EXPECT_TRUE(says(refused("scale:1", DType::i8), "level 128 becomes 128.000000, which i8, the type of the input 'x', cannot hold"));
  EXPECT_TRUE(says(refused("scale:1,mean:1", DType::u8), "level 0 becomes -1.000000"));
  EXPECT_TRUE(says(refused("scale:1", DType::f8e4m3fn), "which photographs are not given as"));
}

}  // namespace
}  // namespace tenfold::formats
