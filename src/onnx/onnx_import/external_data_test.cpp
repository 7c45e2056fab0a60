// External weights: read where they may be, refused wherever they could reach outside the model's folder.
#include "onnx_import/external_data.h"

#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <fstream>

#include "onnx_import/model_for_tests.h"

namespace tenfold::onnx_import {
namespace {

namespace fs = std::filesystem;

// <root>/model is the model's folder; <root>/outside.bin must stay out of reach. Each file holds floats 0, 1, 2 ... 1023.
class ExternalDataTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(testing::TempDir()) / cat("tenfold_external_", test->name(), "_", ::getpid());
    fs::create_directories(root_ / "model" / "sub");
    fs::create_directories(root_ / "blobs");
    for (const char* file : {"model/w.bin", "model/sub/w.bin", "outside.bin", "blobs/0123.bin"}) {
      std::ofstream out(root_ / file, std::ios::binary);
      for (int i = 0; i < 1024; ++i) {
        const auto value = static_cast<float>(i);
        out.write(reinterpret_cast<const char*>(&value), sizeof value);
      }
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  onnx::ModelProto model(const std::vector<std::pair<std::string, std::string>>& keys, const Shape& shape = {128}) const {
    auto result = small_model();
    onnx::TensorProto& weight = result.graph->initializer.emplace_back();
    weight.name = "w";
    weight.data_type = 1;
    for (auto extent : shape) weight.dims.push_back(extent);
    weight.data_location = 1;
    for (const auto& [key, value] : keys) weight.external_data.push_back({key, value});
    add_output(*result.graph, "w");
    return result;
  }
  std::vector<float> read(const onnx::ModelProto& model, const ImportOptions& options = {}) const {
    return run(import_model(model, options, root_ / "model"), {tensor_of({1, 2, 3}, {1, 3})}, 1);
  }
  void refuse(const std::string& location, const std::string& part, ErrorKind kind = ErrorKind::invalid_model) const {
    expect_failure(model({{"location", location}}), kind, part, {}, root_ / "model");
  }
  fs::path root_;
};

TEST_F(ExternalDataTest, ReadsBelowTheModelsFolder) {
  EXPECT_EQ(read(model({{"location", "w.bin"}}))[127], 127);
  EXPECT_EQ(read(model({{"location", "./sub//w.bin"}, {"offset", "256"}, {"length", "512"}}))[0], 64);
  EXPECT_EQ(read(model({{"location", "w.bin"}, {"offset", "6"}}))[0], std::bit_cast<float>(0x3f80));   // not aligned: end of 1, begin of 2
  EXPECT_EQ(read(model({{"location", "w.bin"}, {"offset", "4092"}}, {1}))[0], 1023);
}

TEST_F(ExternalDataTest, BorrowsAlignedDataFromTheMapping) {
  ExternalData files(root_ / "model" / "model.onnx", {});
  const auto one = files.file("w.bin");
  EXPECT_EQ(one, files.file("w.bin"));
  const auto graph = import_model(model({{"location", "w.bin"}}), {}, root_ / "model");
  fs::remove(root_ / "model" / "w.bin");   // the mapping lives on in the weight
  EXPECT_EQ(run(graph, {tensor_of({1, 2, 3}, {1, 3})}, 1)[100], 100);
}

TEST_F(ExternalDataTest, RefusesWaysOut) {
  refuse("../outside.bin", "'..'");
  refuse("sub/../../outside.bin", "'..'");
  refuse("sub/../w.bin", "'..'");
  refuse((root_ / "outside.bin").string(), "absolute");
  refuse("", "empty");
  refuse(".", "names no file");
  refuse(std::string("w.bin\0x", 7), "zero byte");
  refuse(std::string(5000, 'a'), "too long");
  refuse("absent.bin", "--externalDataDir=DIR", ErrorKind::io);
  refuse("w.bin/x", "external data 'w.bin/x'");
}

TEST_F(ExternalDataTest, RefusesLinks) {
  fs::create_symlink(root_ / "outside.bin", root_ / "model" / "link.bin");
  fs::create_symlink("w.bin", root_ / "model" / "inner.bin");
  fs::create_directory_symlink(root_, root_ / "model" / "up");
  fs::create_hard_link(root_ / "outside.bin", root_ / "model" / "hard.bin");
  refuse("link.bin", "symbolic link that leads out");
  refuse("up/outside.bin", "symbolic link that leads out");
  refuse("up/model/w.bin/../../outside.bin", "'..'");
  refuse("hard.bin", "hard links");
  refuse("link.bin", "--externalDataDir=DIR");
  fs::create_symlink("hard.bin", root_ / "model" / "to_hard.bin");
  fs::create_symlink("nowhere", root_ / "model" / "to_nothing.bin");
  fs::create_symlink("round.bin", root_ / "model" / "round.bin");
  refuse("to_hard.bin", "hard links");
  refuse("to_nothing.bin", "leads to no file");
  refuse("round.bin", "leads to no file");
}

// What cannot be read is an error for each of the tensors that lie there, whatever it is that keeps it from being read.
TEST_F(ExternalDataTest, RefusesEachTensorOfAFileThatCannotBeRead) {
  fs::create_symlink(root_ / "outside.bin", root_ / "model" / "link.bin");
  fs::create_hard_link(root_ / "outside.bin", root_ / "model" / "hard.bin");
  for (const char* location : {"link.bin", "hard.bin", "../outside.bin", "", "/etc/passwd", "absent.bin"}) {
    auto twice = model({{"location", location}});
    twice.graph->initializer.push_back(twice.graph->initializer.front());
    twice.graph->initializer.back().name = "w2";
    const Failure found = failure(twice, {}, root_ / "model");
    EXPECT_NE(found.kind, ErrorKind::internal) << location << ": " << found.text;
    EXPECT_NE(found.text.find("external data"), std::string::npos) << found.text;
    EXPECT_NE(failure(twice).kind, ErrorKind::internal) << "as bytes: " << location;
  }
}

TEST_F(ExternalDataTest, FollowsLinksThatStayBelowTheModelsFolder) {
  fs::create_symlink("w.bin", root_ / "model" / "inner.bin");
  fs::create_directory_symlink("sub", root_ / "model" / "way");
  EXPECT_EQ(read(model({{"location", "inner.bin"}}))[4], 4);
  EXPECT_EQ(read(model({{"location", "way/w.bin"}}))[5], 5);
  fs::create_directory_symlink(root_ / "model", root_ / "again");   // the folder itself may be a link
  EXPECT_EQ(run(import_model(model({{"location", "inner.bin"}}), {}, root_ / "again"), {tensor_of({1, 2, 3}, {1, 3})}, 1)[6], 6);
}

// Hugging Face's cache: a snapshot's files are links into one folder, the model's as well as its data's.
TEST_F(ExternalDataTest, FollowsLinksToWhereTheModelsOwnFileLies) {
  const fs::path snapshot = root_ / "snapshots" / "1" / "onnx";
  fs::create_directories(snapshot);
  auto twice = model({{"location", "model.onnx_data"}});
  twice.graph->initializer.push_back(twice.graph->initializer.front());
  twice.graph->initializer.back().name = "w2";
  std::ofstream(root_ / "blobs" / "4567", std::ios::binary) << serialized(twice);
  fs::create_symlink("../../../blobs/0123.bin", snapshot / "model.onnx_data");
  std::ofstream(snapshot / "copy.onnx", std::ios::binary) << serialized(twice);
  try {  // the link alone gives no permission: this model does not lie where it leads
    import_file(snapshot / "copy.onnx");
    ADD_FAILURE() << "read through a link that leaves the model's folder";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("leads out of the model's folder"), std::string::npos) << e.what();
  }
  fs::create_symlink("../../../blobs/4567", snapshot / "model.onnx");
  EXPECT_EQ(run(import_file(snapshot / "model.onnx"), {tensor_of({1, 2, 3}, {1, 3})}, 1)[7], 7);
  fs::remove(snapshot / "model.onnx_data");
  fs::create_symlink(root_ / "outside.bin", snapshot / "model.onnx_data");
  EXPECT_THROW(import_file(snapshot / "model.onnx"), Error);
}

TEST_F(ExternalDataTest, RefusesWhatIsNoFile) {
  ASSERT_EQ(::mkfifo((root_ / "model" / "pipe").c_str(), 0600), 0);
  refuse("pipe", "not a regular file", ErrorKind::io);   // and does not wait for a writer
  refuse("sub", "directory", ErrorKind::io);
}

TEST_F(ExternalDataTest, RefusesRangesOutsideTheFile) {
  const auto range = [&](const std::string& offset, const std::string& length, const std::string& part) {
    std::vector<std::pair<std::string, std::string>> keys{{"location", "w.bin"}, {"offset", offset}};
    if (!length.empty()) keys.emplace_back("length", length);
    expect_failure(model(keys), ErrorKind::invalid_model, part, {}, root_ / "model");
  };
  range("3588", "", "lie outside");
  range("9223372036854775807", "", "outside");
  range("-4", "", "not a count");
  range("4x", "", "not a count");
  range("99999999999999999999", "", "not a count");
  range("0", "100", "length 100");
  range("0", "-1", "not a count");
  expect_failure(model({{"location", "w.bin"}}, {std::int64_t{1} << 50}), ErrorKind::invalid_model, "lie outside", {}, root_ / "model");
  expect_failure(model({{"location", "w.bin"}, {"__class__", "x"}}), ErrorKind::invalid_model, "unknown key", {}, root_ / "model");
}

TEST_F(ExternalDataTest, AnAllowedFolderMakesAHubsCacheWork) {
  fs::create_symlink("../blobs/0123.bin", root_ / "model" / "w2.bin");
  const ImportOptions options{.external_data_dirs = {root_ / "blobs"}};
  EXPECT_EQ(read(model({{"location", "w2.bin"}}), options)[5], 5);
  EXPECT_EQ(read(model({{"location", "0123.bin"}}), options)[6], 6);
  fs::create_symlink("../outside.bin", root_ / "model" / "w3.bin");
  expect_failure(model({{"location", "w3.bin"}}), ErrorKind::invalid_model, "symbolic link", options, root_ / "model");
  expect_failure(model({{"location", "../outside.bin"}}), ErrorKind::invalid_model, "'..'", options, root_ / "model");
}

TEST_F(ExternalDataTest, BytesHaveNoFolder) {
  expect_failure(model({{"location", "w.bin"}}), ErrorKind::invalid_model, "given as bytes");
  const auto graph = import_model(model({{"location", "w.bin"}}), {.external_data_dirs = {root_ / "model"}});
  EXPECT_EQ(graph.inputs.size(), 1u);
  fs::create_symlink("../blobs/0123.bin", root_ / "model" / "w2.bin");   // both folders are the caller's
  const auto linked = import_model(model({{"location", "w2.bin"}}), {.external_data_dirs = {root_ / "model", root_ / "blobs"}});
  EXPECT_EQ(linked.inputs.size(), 1u);
  expect_failure(model({{"location", "w2.bin"}}), ErrorKind::invalid_model, "given as bytes", {.external_data_dirs = {root_ / "model"}});
}

}  // namespace
}  // namespace tenfold::onnx_import
