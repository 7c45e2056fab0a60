// TensorProto, written here field by field as onnx.proto has it.
#include "formats/arrays/tensor_proto.h"

#include "formats/formats_for_tests.h"

namespace tenfold::formats {
namespace {

// dims = 1: 2; data_type = 2: FLOAT; raw_data = 9: 1.5 and -2.
const std::string kFile("\x08\x02\x10\x01\x4A\x08\x00\x00\xC0\x3F\x00\x00\x00\xC0", 14);

std::string refused(const std::string& bytes) {
  return refusal([&] { parse_tensor_proto(bytes, "a.pb"); });
}

TEST(TensorProto, RawAndTypedData) {
  const Tensor raw = parse_tensor_proto(kFile, "a.pb");
  EXPECT_EQ(raw.shape(), Shape{2});
  EXPECT_EQ(raw.as_double(0), 1.5);
  EXPECT_EQ(raw.as_double(1), -2);
  // dims 1: 3; data_type INT64 (7); int64_data = 7, packed: 1, 300, -1.
  const std::string typed("\x08\x03\x10\x07\x3A\x0D\x01\xAC\x02\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 19);
  const Tensor t = parse_tensor_proto(typed, "a.pb");
  EXPECT_EQ(t.dtype(), DType::i64);
  EXPECT_EQ(t.as_int(1), 300);
  EXPECT_EQ(t.as_int(2), -1);
}

TEST(TensorProto, EveryShorterFileIsRefusedByItsName) {
  for (std::size_t length = 1; length < kFile.size(); ++length) EXPECT_TRUE(says(refused(kFile.substr(0, length)), "a.pb: ")) << length;
}

TEST(TensorProto, WrongFieldsAreRefused) {
  std::string file = kFile;
  file[1] = 3;   // elements, of whose bytes there are two
  EXPECT_TRUE(says(refused(file), "a.pb: "));
  const std::string huge = "\x08" + std::string(8, '\xFF') + std::string("\x7F\x10\x01\x4A\x00", 5);   // 2^63 - 1 elements
  EXPECT_TRUE(says(refused(huge), "a.pb: "));
  EXPECT_TRUE(says(refused(std::string("\x08\x01\x10\x63\x4A\x04\0\0\0\0", 10)), "a.pb: "));           // data_type 99
  // data_location = 14: EXTERNAL.
  EXPECT_TRUE(says(refused(std::string("\x08\x01\x10\x01\x70\x01", 6)), "a.pb: "));
}

}  // namespace
}  // namespace tenfold::formats
