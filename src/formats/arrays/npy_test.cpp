// .npy: files that NumPy wrote, in every order and byte order, and files that are damaged.
#include "formats/arrays/npy.h"

#include <cstring>

#include "formats/arrays/cases_for_tests.h"
#include "formats/formats_for_tests.h"

namespace tenfold::formats {
namespace {

// A file with such a header, of format 1.0; `length` in place of the header's own.
std::string npy(const std::string& header, const std::string& data, int length = -1) {
  const auto n = static_cast<std::size_t>(length < 0 ? static_cast<int>(header.size()) : length);
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(n & 255) + static_cast<char>(n >> 8) + header + data;
}
std::string npy_of(const std::string& descr, const std::string& shape, const std::string& data) {
  return npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }\n", data);
}

std::vector<double> values_of(const Tensor& t) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < t.size(); ++i) all.push_back(t.as_double(i));
  return all;
}

TEST(Npy, NumbersOfNumPyInEveryOrderAndVersion) {
  for (const FileCase& one : kNumbers) {
    SCOPED_TRACE(one.name);
    const std::string file = bytes_of(one.base64);
    const Tensor t = to_tensor(parse_npy(file, "a.npy"), "a.npy");
    EXPECT_EQ(t.shape(), (Shape{2, 3}));
    EXPECT_EQ(values_of(t), (std::vector<double>{1, -2, 3, 4, 5, -6}));
  }
}

TEST(Npy, FortranOrderOfThreeAxes) {
  const std::string file = bytes_of(kCube);
  const Tensor t = to_tensor(parse_npy(file, "a.npy"), DType::u8, "a.npy");
  EXPECT_EQ(t.shape(), (Shape{2, 3, 4}));
  for (std::int64_t i = 0; i < 24; ++i) EXPECT_EQ(t.as_int(i), i);
}

TEST(Npy, StringsBooleansScalarsAndNothing) {
  for (const char* base64 : {kStrings, kStringsBigEndian}) {
    const std::string file = bytes_of(base64);
    const Tensor t = to_tensor(parse_npy(file, "a.npy"), "a.npy");
    EXPECT_EQ(t.string_values(), (std::vector<std::string>{"a", "Grüße", "", "漢字😀"}));
  }
  const std::string booleans = bytes_of(kBooleans), scalar = bytes_of(kScalar), empty = bytes_of(kEmpty);
  EXPECT_EQ(values_of(to_tensor(parse_npy(booleans, "a"), DType::boolean, "a")), (std::vector<double>{1, 0, 1}));
  const Tensor seven = to_tensor(parse_npy(scalar, "a"), "a");
  EXPECT_EQ(seven.shape(), Shape{});
  EXPECT_EQ(seven.as_int(0), 7);
  EXPECT_EQ(to_tensor(parse_npy(empty, "a"), "a").shape(), (Shape{0, 3}));
}

TEST(Npy, WhatIsWrittenIsWhatNumPyWrites) {
  const std::string file = bytes_of(kNumbers[0].base64);
  EXPECT_EQ(to_npy(to_tensor(parse_npy(file, "a"), "a")), file);
  const std::string scalar = bytes_of(kScalar), strings = bytes_of(kStrings);
  EXPECT_EQ(to_tensor(parse_npy(to_npy(to_tensor(parse_npy(scalar, "a"), "a")), "b"), "b").as_int(0), 7);
  EXPECT_EQ(to_npy(to_tensor(parse_npy(strings, "a"), "a")).substr(128), strings.substr(128));
}

TEST(Npy, TypesBelowAByteTravelAsBytes) {
  Tensor t(DType::i4, {3});
  t.mutable_data<unsigned char>()[0] = 0x7F, t.mutable_data<unsigned char>()[1] = 0x08;   // -1, 7, -8
  const std::string file = to_npy(t);
  EXPECT_TRUE(says(file, "'|i1'"));
  EXPECT_EQ(file.substr(file.size() - 3), "\xFF\x07\xF8");
  const Tensor again = to_tensor(parse_npy(file, "a"), DType::i4, "a");
  EXPECT_EQ(values_of(again), (std::vector<double>{-1, 7, -8}));
}

TEST(Npy, EveryShorterFileIsRefused) {
  for (const FileCase& one : kNumbers) {
    const std::string file = bytes_of(one.base64);
    for (std::size_t length = 0; length < file.size(); ++length)
      EXPECT_TRUE(says(refusal([&] { parse_npy(std::string_view(file).substr(0, length), "a.npy"); }), "a.npy: ")) << one.name << length;
  }
}

TEST(Npy, DamagedHeadersAreNamed) {
  const std::string four(4, '\0');
  const std::pair<std::string, const char*> cases[] = {
      {"GIF89a" + std::string(20, ' '), "this is no .npy file"},
      {std::string("\x93NUMPY\x04\x00", 8) + std::string(20, '\0'), "its .npy format is version 4; 1 to 3 can be read"},
      {std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF", 12) + four, "the .npy header is to have 4294967295 bytes, and 4 follow"},
      {npy("{}", four, 60000), "is to have 60000 bytes, and 6 follow"},
      {npy("{'descr': '<f4', 'fortran_order': False}", four), "no shape"},
      {npy("{'fortran_order': False, 'shape': (1,)}", four), "no descr"},
      {npy("{'descr': '<f4', 'shape': (1", four), "no shape"},
      {npy("{'descr': '<f4', 'shape': (1,)}", four), "no fortran_order of True or False"},
      {npy("{'descr': '<f4', 'fortran_order': 1, 'shape': (1,)}", four), "no fortran_order of True or False"},
      {npy_of("xf4", "1,", four), "'xf4' is not supported"},
      {npy_of("<f4", "1, x", four), "no valid shape"},
      {npy_of("<f4", "-1,", four), "no valid shape"},
      {npy_of("<f4", "99999999999999999999,", four), "no valid shape"},
      {npy_of("|O", "1,", four), "'|O' is not supported"},
      {npy_of("<f", "1,", four), "'<f' is not supported"},
      {npy_of("<f4x", "1,", four), "'<f4x' is not supported"},
      {npy_of("<f0", "1,", four), "'<f0' is not supported"},
      {npy_of("<U99999999", "1,", four), "is not supported"},
      {bytes_of(kComplex), "'<c16' is not supported"},
  };
  for (const auto& [file, words] : cases) EXPECT_TRUE(says(refusal([&, &file = file] { parse_npy(file, "a.npy"); }), words));
  std::string axes;
  for (int i = 0; i < 65; ++i) axes += "1, ";
  EXPECT_TRUE(says(refusal([&] { parse_npy(npy_of("<f4", axes, four), "a.npy"); }), "no valid shape"));
}

TEST(Npy, HugeExtentsTakeNoMemory) {
  const std::string four(4, '\0');
  for (const char* shape : {"2,", "1000000000000,", "4294967296, 4294967296", "9223372036854775807, 9223372036854775807"})
    EXPECT_TRUE(says(refusal([&] { parse_npy(npy_of("<f4", shape, four), "a.npy"); }), "needs more bytes than the file has"));
}

TEST(Npy, OtherTypesThanAskedForAreRefused) {
  const std::string file = npy_of("<f8", "1,", std::string(8, '\0'));
  const NpyArray array = parse_npy(file, "a.npy");
  EXPECT_TRUE(is_form_of(array, DType::f64));
  EXPECT_FALSE(is_form_of(array, DType::f32));
  EXPECT_TRUE(says(refusal([&] { to_tensor(array, DType::f32, "a.npy"); }), "has type <f8, but f32 is needed (NumPy's <f4)"));
  const std::string odd = npy_of("<f3", "1,", std::string(3, '\0'));
  EXPECT_TRUE(says(refusal([&] { to_tensor(parse_npy(odd, "a.npy"), "a.npy"); }), "<f3 is not supported"));
}

}  // namespace
}  // namespace tenfold::formats
