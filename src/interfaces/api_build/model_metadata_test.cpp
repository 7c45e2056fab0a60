// What a file says of itself, in C++ and C: all of it, nothing of it, and what is no model. The bytes are written by hand.
#include "tenfold/model_metadata.h"

#include <gtest/gtest.h>

#include "tenfold/c/model_metadata.h"
#include "tenfold/error.h"

namespace tenfold {
namespace {

std::string field(int number, const std::string& text) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(text.size())} + text;
}
std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

const std::string kModel = std::string("\x08\x0a", 2) + field(2, "maker") + field(3, "1.5") + field(4, "com.example") + "\x28\x07" +
                           field(6, "counts sheep") + field(7, field(2, "sheep") + field(10, "a flock")) +
                           field(14, field(1, "names") + field(2, "{0: 'ewe'}")) + field(14, field(1, "date"));

TEST(ModelMetadata, IsWhatTheFileSays) {
  const ModelMetadata m = model_metadata(bytes(kModel));
  EXPECT_EQ(m.producer_name + "|" + m.producer_version + "|" + m.domain + "|" + m.description, "maker|1.5|com.example|counts sheep");
  EXPECT_EQ(m.graph_name + "|" + m.graph_description, "sheep|a flock");
  EXPECT_EQ(m.version, 7);
  EXPECT_EQ(m.properties, (std::map<std::string, std::string>{{"names", "{0: 'ewe'}"}, {"date", ""}}));
  EXPECT_FALSE(model_metadata(bytes(field(7, ""))).version.has_value());
}

TEST(ModelMetadata, RefusesWhatIsNoModel) {
  for (const std::string& text : {std::string(), std::string("no model"), kModel.substr(0, 20), field(2, "maker")}) {
    try {
      model_metadata(bytes(text));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_model) << error.what();
    }
  }
  try {
    model_metadata("/no/such.onnx");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(std::string(error.what()).find("/no/such.onnx"), std::string::npos);
  }
}

TEST(ModelMetadata, InC) {
  tenfold_metadata* m = nullptr;
  ASSERT_EQ(tenfold_metadata_read_bytes(kModel.data(), kModel.size(), &m), TENFOLD_OK);
  tenfold_metadata_info info{.struct_size = sizeof(tenfold_metadata_info)};
  ASSERT_EQ(tenfold_metadata_get(m, &info), TENFOLD_OK);
  EXPECT_STREQ(info.graph_name, "sheep");
  EXPECT_EQ(info.version, 7);
  ASSERT_EQ(info.properties, 2);
  const char *key = nullptr, *value = nullptr;
  ASSERT_EQ(tenfold_metadata_property(m, 1, &key, &value), TENFOLD_OK);
  EXPECT_STREQ(key, "names");
  EXPECT_STREQ(value, "{0: 'ewe'}");
  EXPECT_EQ(tenfold_metadata_property(m, 2, &key, &value), TENFOLD_INVALID_ARGUMENT);
  tenfold_metadata_free(m);
  EXPECT_EQ(tenfold_metadata_read("/no/such.onnx", &m), TENFOLD_IO);
}

}  // namespace
}  // namespace tenfold
