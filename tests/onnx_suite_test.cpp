// The ONNX backend suite through import and the reference kernels. What may fail stands in onnx_suite_expected.txt, which only shrinks.
#include "onnx_suite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "base/files/file.h"
#include "onnx_import/import.h"
#include "onnx_import/read_messages.h"

namespace tenfold::tests {
namespace {

void run_folder(const std::string& folder) {
  const auto root = suite_root();
  if (!root) GTEST_SKIP() << "the conformance archive is not under " << shared_folder();
  const std::set<std::string> allowed = listed_in("onnx_suite_expected.txt");
  const auto cases = suite_cases(*root, folder);
  ASSERT_FALSE(cases.empty());
  for (const SuiteCase& test : cases) {
    const SuiteFinding found = onnx_suite::run_case(test, run_reference);
    const bool listed = allowed.count(test.name) > 0, passed = found.verdict == SuiteVerdict::passed;
    if (!passed && !listed) ADD_FAILURE() << test.name << ": " << found.why;
    if (passed && listed) ADD_FAILURE() << test.name << " passes now: take it off the list";
  }
}

TEST(OnnxSuite, Node) { run_folder("node"); }
TEST(OnnxSuite, Simple) { run_folder("simple"); }
TEST(OnnxSuite, PytorchConverted) { run_folder("pytorch-converted"); }
TEST(OnnxSuite, PytorchOperator) { run_folder("pytorch-operator"); }
TEST(OnnxSuite, Light) {
#ifdef TENFOLD_SANITIZED
  GTEST_SKIP() << "whole image networks take too long with sanitizers";
#endif
  run_folder("light");
}

using Operators = std::set<std::pair<std::string, std::string>>;   // domain, name

void add_operators(const std::vector<onnx_import::onnx::NodeProto>& nodes, Operators& found) {
  for (const auto& node : nodes) {
    found.emplace(node.domain.empty() ? "ai.onnx" : node.domain, node.op_type);
    for (const auto& attribute : node.attribute)
      if (attribute.g) add_operators(attribute.g->node, found);
  }
}

// Those of a model, in bodies and functions, too, but the functions themselves.
Operators operators_of(const std::string& bytes) {
  const onnx_import::onnx::ModelProto model = onnx_import::read_model(std::as_bytes(std::span(bytes)));
  Operators found;
  add_operators(model.graph->node, found);
  for (const auto& function : model.functions) add_operators(function.node, found);
  for (const auto& function : model.functions) found.erase({function.domain, function.name});
  return found;
}

// docs/reference/operators.md shows this table, which places without the archive have to have. What passes is judged above.
TEST(OnnxSuite, TheTableOfOperatorsIsWhatTheSuiteHas) {
  const auto root = suite_root();
  if (!root) GTEST_SKIP() << "the conformance archive is not under " << shared_folder();
  const std::set<std::string> allowed = listed_in("onnx_suite_expected.txt");
  std::map<std::pair<std::string, std::string>, std::pair<int, int>> counts;   // cases, those that pass
  for (const char* folder : {"node", "simple", "pytorch-converted", "pytorch-operator", "light"})
    for (const SuiteCase& test : suite_cases(*root, folder))
      for (const auto& op : operators_of(read_file(test.model))) ++counts[op].first, counts[op].second += !allowed.count(test.name);
  std::ostringstream now;
  now << "# Operators of the ONNX suite 1.22.0: domain, name, cases whose model has it, and how many of these pass by reference kernels.\n"
         "# Written by onnx_suite_test with TENFOLD_WRITE_DOCS=1; then tools/write_docs.py writes docs/reference/operators.md.\n";
  for (const auto& [op, count] : counts) now << op.first << " " << op.second << " " << count.first << " " << count.second << "\n";
  const std::string path = file_of_tests("onnx_suite_operators.txt");
  if (std::getenv("TENFOLD_WRITE_DOCS")) std::ofstream(path) << now.str();
  EXPECT_TRUE(read_file(path) == now.str()) << path << " is stale: TENFOLD_WRITE_DOCS=1 onnx_suite_test --gtest_filter='*Table*' writes it";
}

// Real models as their exporters wrote them.
TEST(OnnxSuite, SharedModelsAreImported) {
  const auto folder = shared_folder() / "models";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "there are no models under " << shared_folder();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".onnx") continue;
    onnx_import::ImportOptions options;
    // The rank of what its branches return depends on the length of the sound.
    if (entry.path().filename() == "silero_vad_16k_op15.onnx") options.input_shapes["input"] = {-1, 576};
    try {
      EXPECT_FALSE(onnx_import::import_file(entry.path(), options).nodes().empty()) << entry.path();
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

// Nested If, LSTM and state. The expected values are ONNX Runtime 1.30's for the same input.
TEST(OnnxSuite, SpeechDetectorGivesOnnxRuntimesAnswer) {
  const auto model = shared_folder() / "models" / "silero_vad_16k_op15.onnx";
  if (!std::filesystem::exists(model)) GTEST_SKIP() << "there is no " << model;
  const auto graph = onnx_import::import_file(model, {.input_shapes = {{"input", {-1, 576}}}});
  Tensor sound(DType::f32, {1, 576}), state(DType::f32, {2, 1, 128}), rate(DType::i64, {});
  for (int i = 0; i < 576; ++i) sound.mutable_data<float>()[i] = static_cast<float>((i * 37 % 101) / 101.0 - 0.5);
  for (int i = 0; i < 256; ++i) state.mutable_data<float>()[i] = static_cast<float>((i * 13 % 17) / 17.0 - 0.5);
  rate.mutable_data<std::int64_t>()[0] = 16000;
  const auto results = ops::run_graph(graph, {sound, state, rate});
  EXPECT_NEAR(std::get<Tensor>(results[0]).as_double(0), 0.01624271, 1e-6);
  const double expected[] = {-0.02812858, 0.06539056, 0.15181884, -0.01346696};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(std::get<Tensor>(results[1]).as_double(i), expected[i], 1e-6);
}

// Bytes of good models changed at random: a changed model may be valid, but nothing may escape that is no Error of the model's.
TEST(OnnxSuite, DamagedModelsEndInErrors) {
  const auto root = suite_root();
  if (!root) GTEST_SKIP() << "the conformance archive is not under " << shared_folder();
  std::mt19937 random(1);
  int refused = 0;
  for (const SuiteCase& test : suite_cases(*root, "node")) {
    const std::string good = read_file(test.model);
    for (int round = 0; round < 8; ++round) {
      std::string bytes = good;
      for (int i = 0; i <= round % 4; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
      try {
        onnx_import::import_bytes(std::as_bytes(std::span(bytes)));
      } catch (const Error& error) {
        ++refused;
        EXPECT_NE(error.kind(), ErrorKind::internal) << test.name << ", round " << round << ": " << error.what();
      } catch (const std::exception& error) {
        ADD_FAILURE() << test.name << ", round " << round << ": " << error.what();
      }
    }
  }
  EXPECT_GT(refused, 1000);
}

// The comparison itself must be able to fail.
TEST(OnnxSuite, DifferenceSeesTypeShapeAndValue) {
  const auto tensor = [](DType type, Shape shape, double value) {
    Tensor t(type, std::move(shape));
    if (type == DType::f32) t.mutable_data<float>()[0] = static_cast<float>(value);
    return t;
  };
  EXPECT_EQ(difference(tensor(DType::f32, {1}, 1.0), tensor(DType::f32, {1}, 1.0005)), "");
  EXPECT_NE(difference(tensor(DType::f32, {1}, 1.0), tensor(DType::f32, {1}, 1.002)), "");
  EXPECT_NE(difference(tensor(DType::f32, {1}, 0.0), tensor(DType::f32, {1, 1}, 0.0)), "");
  EXPECT_NE(difference(tensor(DType::f32, {1}, 0.0), tensor(DType::f64, {1}, 0.0)), "");
  EXPECT_NE(difference(tensor(DType::f32, {1}, NAN), tensor(DType::f32, {1}, 0.0)), "");
  EXPECT_EQ(difference(tensor(DType::f32, {1}, NAN), tensor(DType::f32, {1}, NAN)), "");
}

}  // namespace
}  // namespace tenfold::tests
