// Large weights, which protobuf does not read: the same values wherever they lie in a file, and refusals of files that are damaged.
#include "onnx_import/large_data.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "onnx_import/model_for_tests.h"

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
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(initializer_name(i));
    tensor.set_data_type(static_cast<int>(ops::onnx_number(kTypes[i])));
    tensor.add_dims(2), tensor.add_dims(kCount);
    tensor.set_raw_data(values_of(kTypes[i], static_cast<int>(i)));
    add_output(*model.mutable_graph(), initializer_name(i));
  }
  return model.SerializeAsString();
}

ir::Graph import(const std::string& bytes) { return import_bytes(std::as_bytes(std::span(bytes))); }

void expect_weights(const ir::Graph& graph) {
  const std::vector<ops::RuntimeValue> results = ops::run_graph(graph, {});
  ASSERT_EQ(results.size(), std::size(kTypes));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Tensor& t = std::get<Tensor>(results[i]);
    std::string want = values_of(kTypes[i], static_cast<int>(i));
    if (kTypes[i] == DType::boolean)
      for (char& c : want) c = c != 0;
    ASSERT_EQ(t.shape(), (Shape{2, kCount}));
    EXPECT_EQ(0, std::memcmp(t.raw(), want.data(), want.size())) << i;
  }
}

TEST(LargeData, IsReadFromBytesAndFiles) {
  const std::string bytes = model(), before = bytes;
  LargeData large(false);
  const std::string rest = large.take_from(std::as_bytes(std::span(bytes)));
  EXPECT_LT(rest.size(), 4096u);
  EXPECT_FALSE(rest.empty());
  expect_weights(import(bytes));
  EXPECT_TRUE(bytes == before) << "the caller's bytes changed";
  const std::string path = testing::TempDir() + "large_data_" + std::to_string(getpid()) + ".onnx";
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

TEST(LargeData, DamagedModels) {
  const std::string good = model();
  for (std::size_t cut = 0; cut < good.size(); cut += 9973) EXPECT_NE(refusal(good.substr(0, cut)), "") << cut;
  for (std::size_t at = 0; at < 200; ++at)
    for (const char byte : {'\x00', '\x7f', '\xff'}) {
      std::string bad = good;
      bad[at] = byte;
      refusal(bad);   // whatever comes of it, it does not crash
    }
}

TEST(LargeData, SizesAndFieldsThatLie) {
  onnx::ModelProto m;
  ASSERT_TRUE(m.ParseFromString(model()));
  m.mutable_graph()->mutable_initializer(0)->set_dims(0, 3);
  EXPECT_NE(refusal(m.SerializeAsString()).find("needs 480000"), std::string::npos) << refusal(m.SerializeAsString());
  m.mutable_graph()->mutable_initializer(0)->set_dims(0, 2);
  m.mutable_graph()->mutable_initializer(2)->add_int64_data(1);
  EXPECT_NE(refusal(m.SerializeAsString()).find("raw data and a list"), std::string::npos) << refusal(m.SerializeAsString());
  m.mutable_graph()->mutable_initializer(2)->clear_int64_data();
  // A number as we leave it, but from the file.
  m.mutable_graph()->mutable_initializer(3)->clear_raw_data();
  m.mutable_graph()->mutable_initializer(3)->set_large_data(0);
  EXPECT_NE(refusal(m.SerializeAsString()).find("asks for data"), std::string::npos) << refusal(m.SerializeAsString());
}

// Of a field that stands twice the last one counts.
TEST(LargeData, StandsTwice) {
  onnx::ModelProto m = new_model();
  auto& tensor = *m.mutable_graph()->add_initializer();
  tensor.set_name("w"), tensor.set_data_type(1), tensor.add_dims(2 * kCount);
  tensor.set_raw_data(values_of(DType::f32, 1));
  onnx::TensorProto again;
  again.set_raw_data(values_of(DType::f32, 2));
  const std::string twice = tensor.SerializeAsString() + again.SerializeAsString();
  onnx::ModelProto rest = new_model();
  add_output(*rest.mutable_graph(), "w");
  std::string graph = rest.graph().SerializeAsString(), bytes;
  const auto put = [](std::string& to, int field, const std::string& value) {
    to.push_back(static_cast<char>(field << 3 | 2));
    for (std::size_t n = value.size();; n >>= 7) {
      to.push_back(static_cast<char>((n & 127) | (n > 127 ? 128 : 0)));
      if (n <= 127) break;
    }
    to += value;
  };
  put(graph, 5, twice);
  rest.clear_graph();
  bytes = rest.SerializeAsString();
  put(bytes, 7, graph);
  const std::vector<ops::RuntimeValue> results = ops::run_graph(import(bytes), {});
  EXPECT_EQ(0, std::memcmp(std::get<Tensor>(results[0]).raw(), values_of(DType::f32, 2).data(), 8 * kCount));
}

}  // namespace
}  // namespace tenfold::onnx_import
