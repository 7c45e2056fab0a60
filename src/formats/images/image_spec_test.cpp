// Specifications: what they say, what follows from the input, and what is wrong with them.
#include "formats/images/image_spec.h"

#include "formats/formats_for_tests.h"

namespace tenfold::formats {
namespace {

BindingInfo input(Shape shape, DType type = DType::f32) {
  BindingInfo info;
  info.name = "x", info.dtype = type, info.shape = std::move(shape);
  return info;
}
std::string form_of(const std::string& spec, Shape shape, DType type = DType::f32) {
  return resolve_image_spec(spec.empty() ? ImageSpec{} : parse_image_spec(spec), {input(std::move(shape), type)}).text();
}
template <class Run>
std::string refused(Run run) {
  return refusal(run, ErrorKind::invalid_argument);
}

TEST(ImageSpec, EveryKeyIsRead) {
  const ImageSpec s = parse_image_spec("resize:256,crop:224x160,scale:2.5,mean:0.485/0.456/0.406,std:0.5,layout:NHWC,order:bgr");
  EXPECT_EQ(s.shorter, 256);
  EXPECT_EQ(s.crop, (ImageSize{224, 160}));
  EXPECT_EQ(s.scale, 2.5f);
  EXPECT_EQ(s.mean, (std::vector<float>{0.485f, 0.456f, 0.406f}));
  EXPECT_EQ(s.deviation, std::vector<float>{0.5f});
  EXPECT_EQ(s.layout, ImageLayout::nhwc);
  EXPECT_TRUE(s.bgr);
  EXPECT_EQ(parse_image_spec("resize:20x30").size, (ImageSize{20, 30}));
}

TEST(ImageSpec, WhatIsLeftOutFollowsFromTheInput) {
  EXPECT_EQ(form_of("", {1, 3, 24, 32}), "resize:32,crop:24x32,scale:255,mean:0/0/0,std:1/1/1,layout:nchw,order:rgb");
  EXPECT_EQ(form_of("", {-1, 20, 28, 1}), "resize:28,crop:20x28,scale:255,mean:0,std:1,layout:nhwc");
  EXPECT_EQ(form_of("", {3, 24, 24}, DType::u8), "resize:24,crop:24x24,scale:1,mean:0/0/0,std:1/1/1,layout:nchw,order:rgb");
  EXPECT_EQ(form_of("crop:5x6,resize:9", {-1, 3, -1, -1}), "resize:9,crop:5x6,scale:255,mean:0/0/0,std:1/1/1,layout:nchw,order:rgb");
  EXPECT_EQ(form_of("mean:0.5,resize:30x40,order:bgr", {1, 24, 24, 3}),
            "resize:30x40,crop:24x24,scale:255,mean:0.5/0.5/0.5,std:1/1/1,layout:nhwc,order:bgr");
  EXPECT_EQ(form_of("", {1, 1, 24, 3}), "resize:24,crop:1x24,scale:255,mean:0/0/0,std:1/1/1,layout:nhwc,order:rgb");   // a line of colors
}

TEST(ImageSpec, WrongSpecificationsAreNamedAsTheCallerSays) {
  const std::pair<const char*, const char*> cases[] = {
      {"resise:24", "--image has no 'resise'; did you mean resize?"},
      {"resize", "--image: 'resize' is not key:value"},
      {"resize:0", "--image: resize takes sides of 1 to 16384, not '0'"},
      {"resize:a", "resize takes N or HxW, not 'a'"},
      {"resize:2x3x4", "N or HxW"},
      {"resize:9999999", "N or HxW"},
      {"resize:1x", "N or HxW"},
      {"crop:-3", "crop takes N or HxW, not '-3'"},
      {"scale:0", "scale takes one number above 0, not '0'"},
      {"scale:nan", "scale takes one number, or three"},
      {"scale:1e99", "scale takes one number, or three"},
      {"mean:1/2", "mean takes one number, or three such as 0.485/0.456/0.406, not '1/2'"},
      {"mean:1/", "one number, or three"},
      {"std:1/0/1", "std takes numbers above 0, not '1/0/1'"},
      {"layout:nchv", "layout takes nchw or nhwc, not 'nchv'"},
      {"order:rbg", "order takes rgb or bgr, not 'rbg'"},
      {"scale:1,scale:2", "--image gives scale twice"},
      {"", "is not key:value"},
  };
  for (const auto& [spec, words] : cases)
    EXPECT_TRUE(says(refused([spec = spec] { parse_image_spec(spec, "--image"); }), words)) << spec;
  EXPECT_TRUE(says(refused([] { parse_image_spec("size:3"); }), "image has no 'size'"));
}

TEST(ImageSpec, SpecificationsThatDoNotFitTheInput) {
  const std::pair<std::pair<const char*, Shape>, const char*> cases[] = {
      {{"crop:20", {1, 3, 24, 24}}, "image: crop:20x20 does not fit, for the input 'x' is [1,3,24,24]"},
      {{"resize:20", {1, 3, 24, 24}}, "resize:20 leaves less than the 24x24 that the input 'x' takes"},
      {{"resize:30x20", {1, 3, 24, 24}}, "resize:30x20 leaves less than"},
      {{"layout:nhwc", {1, 3, 24, 24}}, "with 24 channels as layout:nhwc"},
      {{"mean:1/2/3", {1, 1, 24, 24}}, "mean has 3 numbers, and the input one channel"},
      {{"", {1, 3, 24, -1}}, "[1,3,24,?], which does not fix the size of an image: say crop:HxW or resize:HxW"},
      {{"", {1, -1, 24, 24}}, "say layout:nchw or layout:nhwc"},
      {{"", {1, 4, 24, 24}}, "without 3 or 1 channels"},
      {{"", {1, 24}}, "data: the input 'x' is [1,24], which is no image"},
  };
  for (const auto& [one, words] : cases) EXPECT_TRUE(says(refused([&one = one] { form_of(one.first, one.second); }), words)) << one.first;
  EXPECT_TRUE(says(refused([] { resolve_image_spec({}, {input({1, 3, 2, 2}), input({1})}, {"--data", "--image"}); }),
                   "--data: photographs are for models of one input, and this one has 2 ('x', 'x'); --data=file.npz"));
}

TEST(ImageSpec, PreparedIsResizedAndCropped) {
  const Pixels wide{40, 20, 3, std::vector<std::uint8_t>(2400, 7)};
  const ImageForm form = resolve_image_spec(parse_image_spec("resize:10"), {input({1, 3, 8, 8})});
  const Pixels got = prepared(wide, form);
  EXPECT_EQ(got.width, 8);
  EXPECT_EQ(got.height, 8);
  EXPECT_EQ(got.values, std::vector<std::uint8_t>(192, 7));
  const ImageForm tall = resolve_image_spec(parse_image_spec("resize:10"), {input({1, 3, 10, 16})});
  EXPECT_THROW(prepared(Pixels{20, 40, 3, std::vector<std::uint8_t>(2400)}, tall), BrokenImage);   // 10 x 20 has no width of 16
  // The longer side of a strip would be beyond all measure: 2^32 + 2^14, which an int would take for 2^14.
  const ImageForm large = resolve_image_spec(parse_image_spec("resize:16384"), {input({1, 3, 8, 8})});
  constexpr int kLong = (1 << 18) + 1;
  EXPECT_THROW(prepared(Pixels{kLong, 1, 3, std::vector<std::uint8_t>(3 * kLong)}, large), BrokenImage);
  EXPECT_THROW(prepared(Pixels{1, kLong, 3, std::vector<std::uint8_t>(3 * kLong)}, large), BrokenImage);
  // Between both passes 2^14 x 2^14 pixels would be held.
  const ImageForm wide_form = resolve_image_spec(parse_image_spec("resize:8x16384"), {input({1, 3, 8, 8})});
  EXPECT_THROW(prepared(Pixels{1, 1 << 14, 3, std::vector<std::uint8_t>(3 << 14)}, wide_form), BrokenImage);
}

}  // namespace
}  // namespace tenfold::formats
