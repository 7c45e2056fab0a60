// Large weights: the same values wherever they lie in a file, and refusals of files that are damaged.
#include "onnx_import/deferred_copies.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "onnx_import/model_for_tests.h"
#include "onnx_import/read_messages.h"

namespace tenfold::onnx_import {
namespace {

constexpr std::int64_t kCount = 40'000;   // of the smallest type too more than what counts as large, but for boolean

std::string values_of(DType type, int seed) {
  std::string bytes(static_cast<std::size_t>(byte_size(type, kCount * 2)), '\0');
  std::uint32_t state = static_cast<std::uint32_t>(seed);
  for (char& c : bytes) state = state * 1664525u + 1013904223u, c = static_cast<char>(type == DType::boolean ? state >> 30 : state >> 25);
  return bytes;
}

constexpr DType kTypes[] = {DType::f32, DType::boolean, DType::i64, DType::f32, DType::u8, DType::f32, DType::f64, DType::f16, DType::f32};

// Names of different lengths move what follows.
std::string initializer_name(std::size_t i) { return std::string(i + 1, 'w'); }

std::string model() {
  onnx::ModelProto model = new_model();
  for (std::size_t i = 0; i < std::size(kTypes); ++i) {
    auto& tensor = model.graph->initializer.emplace_back();
    tensor.name = initializer_name(i);
    tensor.data_type = static_cast<int>(ops::onnx_number(kTypes[i]));
    tensor.dims.push_back(2), tensor.dims.push_back(kCount);
    tensor.raw_data = kept(values_of(kTypes[i], static_cast<int>(i)));
    add_output(*model.graph, initializer_name(i));
  }
  return serialized(model);
}

ir::Graph import(const std::string& bytes) { return import_bytes(std::as_bytes(std::span(bytes))); }

void expect_weights(const ir::Graph& graph) {
  const std::vector<ops::RuntimeValue> results = ops::run_graph(graph, {});
  ASSERT_EQ(results.size(), std::size(kTypes));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Tensor& t = std::get<Tensor>(results[i]);
    std::string expected = values_of(kTypes[i], static_cast<int>(i));
    if (kTypes[i] == DType::boolean)
      for (char& c : expected) c = c != 0;
    ASSERT_EQ(t.shape(), (Shape{2, kCount}));
    EXPECT_EQ(0, std::memcmp(t.raw(), expected.data(), expected.size())) << i;
  }
}

TEST(DeferredCopies, AreReadFromBytesAndFiles) {
  const std::string bytes = model(), before = bytes;
  expect_weights(import(bytes));
  EXPECT_TRUE(bytes == before) << "the caller's bytes changed";
  const std::string path = testing::TempDir() + "deferred_copies_" + std::to_string(getpid()) + ".onnx";
  std::ofstream(path, std::ios::binary) << bytes;
  const ir::Graph graph = import_file(path);
  std::ofstream(path, std::ios::binary) << "gone";   // weights do not lie in the file
  expect_weights(graph);
  std::remove(path.c_str());
}

std::string refusal(const std::string& bytes) {
  try {
    import(bytes);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(DeferredCopies, DamagedModels) {
  const std::string good = model();
  for (std::size_t cut = 0; cut < good.size(); cut += 9973) EXPECT_NE(refusal(good.substr(0, cut)), "") << cut;
  for (std::size_t at = 0; at < 200; ++at)
    for (const char byte : {'\x00', '\x7f', '\xff'}) {
      std::string bad = good;
      bad[at] = byte;
      refusal(bad);   // whatever comes of it, it does not crash
    }
}

TEST(DeferredCopies, SizesAndFieldsThatLie) {
  const std::string bytes = model();
  onnx::ModelProto m = read_model(std::as_bytes(std::span(bytes)));
  m.graph->initializer[0].dims[0] = 3;
  EXPECT_NE(refusal(serialized(m)).find("needs 480000"), std::string::npos) << refusal(serialized(m));
  m.graph->initializer[0].dims[0] = 2;
  m.graph->initializer[2].int64_data.push_back(1);
  EXPECT_NE(refusal(serialized(m)).find("raw data and a list"), std::string::npos) << refusal(serialized(m));
}

onnx::TensorProto bytes_named(const std::string& name, std::size_t bytes) {
  onnx::TensorProto tensor;
  tensor.name = name, tensor.data_type = 2, tensor.dims = {static_cast<std::int64_t>(bytes)};
  tensor.raw_data = kept(std::string(bytes, 'w'));
  return tensor;
}

// The tensors that a copy was put off for may be gone by then, and with them the last who used their block.
TEST(DeferredCopies, OutliveTheTensors) {
  DeferredCopies later;
  const std::string small(DeferredCopies::kWorth, 's'), large(33 << 20, 'l');
  later.tensor(DType::u8, {static_cast<std::int64_t>(small.size())}, std::as_bytes(std::span(small)));
  const Tensor kept = later.tensor(DType::u8, {static_cast<std::int64_t>(large.size())}, std::as_bytes(std::span(large)));
  later.copy();
  EXPECT_EQ(0, std::memcmp(kept.raw(), large.data(), large.size()));
}

TEST(DeferredCopies, OfBodiesThatAreRefused) {
  onnx::ModelProto model = new_model();
  add_input(*model.graph, "c", {}, DType::boolean);
  for (const char* name : {"first", "second"}) {
    auto& node = add_node(*model.graph, "If", {"c"}, {name}, name);
    for (const char* branch : {"then_branch", "else_branch"}) {
      auto& body = add_attribute(node, branch, 5).g.edit();
      body.initializer.push_back(bytes_named("a", name == std::string("first") ? 80'000 : 33 << 20));
      if (name == std::string("first")) body.initializer.push_back(bytes_named("a", 80'000));
      add_output(body, "a");
    }
    add_output(*model.graph, name);
  }
  expect_failure(model, ErrorKind::invalid_model, "'a' is defined twice");
}

// Of a field that stands twice the last one counts.
TEST(DeferredCopies, StandTwice) {
  onnx::TensorProto tensor, again;
  tensor.name = "w", tensor.data_type = 1, tensor.dims = {2 * kCount};
  tensor.raw_data = kept(values_of(DType::f32, 1)), again.raw_data = kept(values_of(DType::f32, 2));
  onnx::ModelProto rest = new_model();
  add_output(*rest.graph, "w");
  const std::string graph = serialized(*rest.graph) + Writer().bytes(5, serialized(tensor) + serialized(again)).text();
  rest.graph.reset();
  const std::vector<ops::RuntimeValue> results = ops::run_graph(import(serialized(rest) + Writer().bytes(7, graph).text()), {});
  EXPECT_EQ(0, std::memcmp(std::get<Tensor>(results[0]).raw(), values_of(DType::f32, 2).data(), 8 * kCount));
}

}  // namespace
}  // namespace tenfold::onnx_import
