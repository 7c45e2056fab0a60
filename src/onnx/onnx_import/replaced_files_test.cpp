// Files that are written over or cut off after they were imported, as `cp` does: the graph has what was read.
#include <unistd.h>

#include <fstream>

#include "onnx_import/model_for_tests.h"

namespace tenfold::onnx_import {
namespace {

namespace fs = std::filesystem;

TEST(ReplacedFiles, ModelAndItsWeightsAreRead) {
  const fs::path folder = fs::path(testing::TempDir()) / cat("tenfold_replaced_", ::getpid());
  fs::create_directories(folder);
  constexpr std::int64_t kCount = 100'000;   // more than one page, and worth a copy of its own
  const std::vector<float> values(kCount, 3.0f);
  const std::string raw(reinterpret_cast<const char*>(values.data()), kCount * sizeof(float));
  onnx::ModelProto model = small_model();
  std::vector<onnx::TensorProto>& tensors = model.graph->initializer;
  tensors.resize(tensors.size() + 2);
  onnx::TensorProto &external = tensors.end()[-2], &inside = tensors.back();
  external.name = "w", external.data_type = 1, external.dims = {kCount}, external.data_location = 1;
  external.external_data = {{"location", "w.bin"}};
  inside.name = "v", inside.data_type = 1, inside.dims = {kCount}, inside.raw_data = kept(raw);
  for (const char* name : {"w", "v"}) add_output(*model.graph, name);
  std::ofstream(folder / "w.bin", std::ios::binary) << raw;
  std::ofstream(folder / "m.onnx", std::ios::binary) << serialized(model);
  const ir::Graph graph = import_file(folder / "m.onnx");
  for (const char* name : {"w.bin", "m.onnx"}) {
    std::ofstream(folder / name, std::ios::in | std::ios::binary) << std::string(raw.size() / 2, 'x');
    fs::resize_file(folder / name, 100);
  }
  for (const std::size_t output : {1, 2}) EXPECT_EQ(run(graph, {tensor_of({1, 2, 3}, {1, 3})}, output), values);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tenfold::onnx_import
