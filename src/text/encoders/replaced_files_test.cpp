// Weights that are written over while an encoder is in use: what was read stays, and what is read later is refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "text/transformers/safetensors.h"
#include "text/encoders/tiny_bert_for_tests.h"

namespace tenfold::encoders {

using transformers::WeightFile;

namespace {

namespace fs = std::filesystem;

void write_over(const std::string& path) {   // as `cp` does
  const auto size = fs::file_size(path);
  std::ofstream(path, std::ios::in | std::ios::binary) << std::string(size / 2, 'x');
  fs::resize_file(path, size / 4);
}

TEST(ReplacedFiles, WeightsOfAnEncoderInUse) {
  const TinyBert bert("replaced");
  const std::vector<std::string_view> texts{"a b c d", "a"};
  const Encoder encoder = bert.load();
  const std::vector<float> before = encoder.encode(texts);
  write_over(bert.path + "/model.safetensors");
  EXPECT_EQ(encoder.encode(texts), before);
  try {
    encoder.encode_tokens(texts);   // by an engine that is not built yet
    ADD_FAILURE() << "an engine was built from weights that were written over";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::io) << e.what();
    EXPECT_NE(std::string(e.what()).find("has changed since it was opened"), std::string::npos) << e.what();
  }
  EXPECT_EQ(encoder.encode(texts), before);
}

TEST(ReplacedFiles, BytesThatAreHeldStay) {
  const TinyBert bert("replaced_bytes");
  const auto file = WeightFile::open(bert.path + "/model.safetensors");
  const auto bytes = file->bytes();
  const std::string before(reinterpret_cast<const char*>(bytes.get()), file->size());
  write_over(file->path());
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(file->bytes().get()), file->size()), before);
  file->forget();
  EXPECT_THROW(file->bytes(), Error);
}

}  // namespace
}  // namespace tenfold::encoders
