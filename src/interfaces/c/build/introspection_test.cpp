// From C: what is wrong with a model as data, plans that are built again, optional inputs, keys, devices that failed, data as DLPack.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "onnx_import/write_messages_for_tests.h"
#include "tenfold/c_api.h"

namespace {

namespace onnx = tenfold::onnx_import::onnx;
const char* const kRelu = TENFOLD_SOURCE_DIR "/tests/install/relu.onnx";

template <class T>
T sized() {
  T info{};
  info.struct_size = sizeof info;
  return info;
}
void ok(tenfold_status status) { ASSERT_EQ(status, TENFOLD_OK) << tenfold_status_name(status) << ": " << tenfold_last_error(); }

tenfold_build_config untimed() {
  auto config = sized<tenfold_build_config>();
  config.optimization_level = TENFOLD_LEVEL_UNTIMED;
  config.threads = 1;
  return config;
}

class File {
 public:
  explicit File(const std::string& bytes)
      : path(testing::TempDir() + "c_told_" + std::to_string(::getpid()) + "_" +
             testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  ~File() { std::filesystem::remove(path); }
  std::string path;
};

// Two nodes that nobody has, and one that is wrong.
std::string faulty_model() {
  onnx::ModelProto m;
  m.ir_version = 8;
  m.opset_import.push_back({"", 17});
  onnx::GraphProto& g = m.graph.edit();
  onnx::ValueInfoProto& x = g.input.emplace_back();
  x.name = "x";
  auto& tensor = x.type.tensor_type.emplace();
  tensor.elem_type = 1;
  tensor.shape.emplace().dim.emplace_back().dim_value = 3;
  for (const auto& [op, name, in, out] :
       {std::tuple{"Frobnicate", "f", "x", "a"}, {"Frobnicate", "", "x", "b"}, {"Softmax", "s", "x", "y"}}) {
    onnx::NodeProto& n = g.node.emplace_back();
    n.op_type = op, n.name = name, n.input = {in}, n.output = {out};
  }
  onnx::AttributeProto& axis = g.node.back().attribute.emplace_back();
  axis.name = "axis", axis.type = 2, axis.i = 5;
  g.output.emplace_back().name = "y";
  return onnx::serialized(m);
}

TEST(CModelErrors, AreAList) {
  const File model(faulty_model());
  tenfold_problems *checked = nullptr, *failed = nullptr;
  ok(tenfold_model_check(model.path.c_str(), nullptr, &checked));
  ASSERT_EQ(tenfold_problems_count(checked), 3);
  auto p = sized<tenfold_problem>();
  ok(tenfold_problems_get(checked, 0, &p));
  EXPECT_EQ(p.kind, TENFOLD_UNSUPPORTED);
  EXPECT_STREQ(p.node, "f");
  EXPECT_EQ(p.more, 0);
  EXPECT_EQ(p.node_index, 0);
  EXPECT_STREQ(p.op, "Frobnicate");
  EXPECT_STREQ(p.domain, "");
  EXPECT_EQ(p.opset, 17);
  EXPECT_NE(std::strstr(p.text, p.message), nullptr) << p.text;
  ASSERT_EQ(p.outputs, 1);
  EXPECT_STREQ(tenfold_problems_output(checked, 0, 0), "a");
  EXPECT_EQ(tenfold_problems_output(checked, 0, 1), nullptr);
  ok(tenfold_problems_get(checked, 1, &p));
  EXPECT_STREQ(p.node, "-> b");
  ok(tenfold_problems_get(checked, 2, &p));
  EXPECT_EQ(p.kind, TENFOLD_INVALID_MODEL);
  EXPECT_STREQ(p.node, "s");
  EXPECT_EQ(tenfold_problems_get(checked, 3, &p), TENFOLD_INVALID_ARGUMENT);

  std::uint8_t supported[8] = {};
  std::int32_t nodes = 8;
  ok(tenfold_problems_supported(checked, model.path.c_str(), supported, &nodes));
  EXPECT_EQ(supported[0], 0) << "Frobnicate";
  EXPECT_EQ(supported[nodes - 1], 0) << "the Softmax";
  tenfold_engine* engine = nullptr;
  EXPECT_EQ(tenfold_build_file(model.path.c_str(), nullptr, &engine), TENFOLD_INVALID_MODEL);
  ok(tenfold_last_problems(&failed));
  ASSERT_EQ(tenfold_problems_count(failed), 3) << "those of the build";
  ok(tenfold_problems_get(failed, 2, &p));
  EXPECT_STREQ(p.node, "s");
  tenfold_problems_free(checked), tenfold_problems_free(failed);
  EXPECT_EQ(tenfold_engine_load("/no/such.plan", &engine), TENFOLD_IO);
  ok(tenfold_last_problems(&failed));
  EXPECT_EQ(tenfold_problems_count(failed), 0) << "another call failed since, and not for a model";
  tenfold_problems_free(failed);
  ok(tenfold_model_check(kRelu, nullptr, &checked));
  EXPECT_EQ(tenfold_problems_count(checked), 0);
  tenfold_problems_free(checked);
  EXPECT_EQ(tenfold_model_check("/no/such.onnx", nullptr, &checked), TENFOLD_IO);
}

// What the plan of a compatible build becomes where it is refused: here by a device of another kind.
void expect_rebuilt(tenfold_engine* engine) {
  auto info = sized<tenfold_engine_information>();
  ok(tenfold_engine_info(engine, &info));
  ASSERT_GT(info.notes, 0);
  auto note = sized<tenfold_note>();
  ok(tenfold_engine_note(engine, 0, &note));
  EXPECT_EQ(note.kind, TENFOLD_NOTE_REBUILT);
  EXPECT_EQ(note.severity, TENFOLD_LOG_WARNING);
  tenfold_engine_free(engine);
}

TEST(CCompatible, PlansAreBuiltAgain) {
  tenfold_build_config config = untimed();
  config.version_compatible = 1;
  tenfold_engine *engine = nullptr, *loaded = nullptr;
  ok(tenfold_build_file(kRelu, &config, &engine));
  const File plan("");
  ok(tenfold_engine_save(engine, plan.path.c_str()));
  auto elsewhere = sized<tenfold_load_options>();
  elsewhere.device = "null";
  EXPECT_EQ(tenfold_engine_load_with(plan.path.c_str(), &elsewhere, &loaded), TENFOLD_PLAN_REFUSED);
  ok(tenfold_load_compatible(plan.path.c_str(), &elsewhere, &loaded));
  expect_rebuilt(loaded);
  std::string bytes;
  const auto append = [](void* user, const void* piece, size_t size) -> tenfold_status {
    static_cast<std::string*>(user)->append(static_cast<const char*>(piece), size);
    return TENFOLD_OK;
  };
  ok(tenfold_engine_save_to(engine, append, &bytes));
  ok(tenfold_load_compatible_bytes(bytes.data(), bytes.size(), &elsewhere, &loaded));
  expect_rebuilt(loaded);

  tenfold_fallback_chain* fallback_chain = nullptr;
  std::int32_t candidate = -1;
  ok(tenfold_fallback_chain_create(&fallback_chain));
  ok(tenfold_fallback_chain_add_plan(fallback_chain, plan.path.c_str(), &elsewhere));
  ok(tenfold_fallback_chain_add_compatible_plan(fallback_chain, plan.path.c_str(), &elsewhere));
  ok(tenfold_fallback_chain_open(fallback_chain, &loaded, &candidate));
  EXPECT_EQ(candidate, 1);
  expect_rebuilt(loaded);
  tenfold_fallback_chain_free(fallback_chain);

  const std::string folder = testing::TempDir() + "c_told_cache_" + std::to_string(::getpid());
  for (const bool compatible : {false, true}) {
    tenfold_plan_cache* cache = nullptr;
    ok((compatible ? tenfold_plan_cache_create_compatible : tenfold_plan_cache_create)(folder.c_str(), 0, &cache));
    ok(tenfold_plan_cache_store(cache, "the caller's key", nullptr, engine));
    const char* path = nullptr;
    ok(tenfold_plan_cache_path(cache, "the caller's key", nullptr, &path));
    EXPECT_TRUE(std::filesystem::exists(path)) << path;
    ok(tenfold_plan_cache_find(cache, "the caller's key", nullptr, &elsewhere, &loaded));
    if (compatible) {
      expect_rebuilt(loaded);
    } else {
      EXPECT_EQ(loaded, nullptr);
      EXPECT_NE(std::strstr(tenfold_last_error(), "this device is 'null'"), nullptr) << tenfold_last_error();
    }
    tenfold_plan_cache_free(cache);
  }
  std::filesystem::remove_all(folder);
  tenfold_engine_free(engine);
}

TEST(CFormats, AreThoseOfTheCaller) {
  tenfold_build_config config = untimed();
  const tenfold_binding_format in{"x", "i8", TENFOLD_ORDER_OF_MODEL}, out{"y", "f64", TENFOLD_ORDER_OF_MODEL},
      wrong{"x", nullptr, TENFOLD_ORDER_HWC};
  const std::int64_t shape[1] = {3};
  const float values[3] = {-1, 5, 2};
  tenfold_data* data = nullptr;
  ok(tenfold_data_tensor("f32", shape, 1, values, sizeof values, &data));
  const tenfold_input_default otherwise{"x", data};
  tenfold_engine* engine = nullptr;
  config.input_formats = &wrong, config.input_format_count = 1;
  EXPECT_EQ(tenfold_build_file(kRelu, &config, &engine), TENFOLD_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(tenfold_last_error(), "hwc"), nullptr) << tenfold_last_error();
  config.input_formats = &in, config.output_formats = &out, config.output_format_count = 1;
  tenfold_model* model = nullptr;
  ok(tenfold_model_open(kRelu, &config, &model));
  auto info = sized<tenfold_binding_info>();
  ok(tenfold_model_binding(model, 1, &info));
  EXPECT_STREQ(info.dtype, "f64");
  EXPECT_STREQ(tenfold_model_binding_symbol(model, 0, 0), "");
  EXPECT_EQ(tenfold_model_binding_symbol(model, 0, 1), nullptr);
  tenfold_model_free(model);

  config.input_formats = nullptr, config.input_format_count = 0;
  config.input_defaults = &otherwise, config.input_default_count = 1;
  ok(tenfold_build_file(kRelu, &config, &engine));
  ok(tenfold_engine_binding(engine, 0, &info));
  EXPECT_EQ(info.has_default, 1);
  tenfold_context* context = nullptr;
  ok(tenfold_context_create(engine, &context));
  double y[3] = {};
  ok(tenfold_context_bind(context, 1, y, sizeof y));
  ok(tenfold_context_run(context));   // nothing is bound to x
  EXPECT_TRUE(y[0] == 0 && y[1] == 5 && y[2] == 2);
  EXPECT_EQ(tenfold_context_cancel(context), 0) << "no run is under way";
  double seen[2] = {-1, -1};
  ok(tenfold_context_set_step_timer(
      context,
      [](void* user, const char*, double start, double ms) { static_cast<double*>(user)[0] = start, static_cast<double*>(user)[1] = ms; },
      seen));
  ok(tenfold_context_run(context));
  EXPECT_TRUE(seen[0] >= 0 && seen[1] >= 0);
  tenfold_context_free(context), tenfold_engine_free(engine), tenfold_data_free(data);
}

TEST(CBuild, BelongsToItsRuntime) {
  tenfold_runtime* runtime = nullptr;
  ok(tenfold_runtime_create(nullptr, &runtime));
  tenfold_build_config config = untimed();
  config.runtime = runtime;
  tenfold_engine* engine = nullptr;
  ok(tenfold_build_file(kRelu, &config, &engine));
  auto use = sized<tenfold_runtime_use>();
  ok(tenfold_runtime_get_use(runtime, &use));
  EXPECT_EQ(use.engines, 1);
  tenfold_engine_free(engine), tenfold_runtime_free(runtime);
}

TEST(CPlanKeys, TellConfigurationsApart) {
  tenfold_build_config config = untimed();
  const char* text = nullptr;
  ok(tenfold_plan_key(kRelu, &config, &text));
  const std::string first = text;
  ok(tenfold_plan_key(kRelu, &config, &text));
  EXPECT_EQ(first, text);
  config.timing_repetitions = 2;
  ok(tenfold_plan_key(kRelu, &config, &text));
  EXPECT_NE(first, text);
}

TEST(CDevices, ThatDidNotFail) {
  auto error = sized<tenfold_device_error>();
  ok(tenfold_device_last_error("cpu", &error));
  EXPECT_STREQ(error.device, "cpu");
  EXPECT_EQ(error.number, 0);
  EXPECT_STREQ(error.text, "");
  std::int32_t lost = -1;
  const char* reason = nullptr;
  ok(tenfold_device_health("cpu", &lost, &reason));
  EXPECT_EQ(lost, 0);
  EXPECT_STREQ(reason, "");
  EXPECT_EQ(tenfold_device_health("toaster", &lost, nullptr), TENFOLD_INVALID_ARGUMENT);
}

TEST(CInspect, OfAFileNothingIsOpened) {
  tenfold_engine* engine = nullptr;
  const auto config = untimed();
  ok(tenfold_build_file(TENFOLD_SOURCE_DIR "/tests/install/relu.onnx", &config, &engine));
  const File file("");
  ok(tenfold_engine_save(engine, file.path.c_str()));
  tenfold_inspection *of_file = nullptr, *of_engine = nullptr;
  ok(tenfold_inspect_plan(file.path.c_str(), &of_file));
  ok(tenfold_inspect(engine, &of_engine));
  for (const int detail : {-1, 0, 1}) {
    const char *text = nullptr, *reference = nullptr;
    ok(tenfold_inspection_text(of_file, detail, &text));
    ok(tenfold_inspection_text(of_engine, detail, &reference));
    EXPECT_STREQ(text, reference);
  }
  const char *json = nullptr, *expected = nullptr;
  ok(tenfold_inspection_json(of_file, &json));
  ok(tenfold_inspection_json(of_engine, &expected));
  EXPECT_STREQ(json, expected);
  auto info = sized<tenfold_plan_info>();
  ok(tenfold_inspection_plan(of_file, &info));
  EXPECT_EQ(info.plugin_operators, 0);
  EXPECT_EQ(tenfold_inspection_plugin_operator(of_file, 0), nullptr);
  tenfold_inspection_free(of_file);
  tenfold_inspection_free(of_engine);
  std::uint32_t format = 0, reads = 1;
  char builder[64], few[4];
  ok(tenfold_plan_version(file.path.c_str(), &format, &reads, builder, sizeof builder));
  EXPECT_EQ(format, reads);
  EXPECT_EQ(std::string(builder), std::string("tenfold ") + tenfold_version());
  ok(tenfold_plan_version(file.path.c_str(), nullptr, nullptr, few, sizeof few));
  EXPECT_STREQ(few, "ten");
  EXPECT_EQ(tenfold_plan_version(file.path.c_str(), nullptr, nullptr, few, 0), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_plan_version("/no/such.plan", nullptr, nullptr, nullptr, 0), TENFOLD_IO);
  EXPECT_EQ(tenfold_inspect_plan(nullptr, &of_file), TENFOLD_INVALID_ARGUMENT);
  tenfold_engine_free(engine);
}

TEST(CData, GoesThroughDlpackAndBack) {
  const std::int64_t shape[2] = {2, 2};
  const float values[4] = {1, 2, 3, 4};
  tenfold_data *data = nullptr, *back = nullptr;
  ok(tenfold_data_tensor("f32", shape, 2, values, sizeof values, &data));
  DLManagedTensorVersioned* tensor = nullptr;
  ok(tenfold_data_to_dlpack(data, &tensor));
  tenfold_data_free(data);
  ok(tenfold_data_from_dlpack(tensor, &back));
  auto info = sized<tenfold_tensor_info>();
  ok(tenfold_data_tensor_info(back, &info));
  EXPECT_EQ(info.rank, 2);
  EXPECT_EQ(std::memcmp(info.data, values, sizeof values), 0);
  DLManagedTensor* plain = nullptr;
  tenfold_data* again = nullptr;
  ok(tenfold_data_to_dlpack_unversioned(back, &plain));
  EXPECT_EQ(plain->dl_tensor.data, info.data) << "shared, not copied";
  EXPECT_EQ(plain->dl_tensor.shape[1], 2);
  const void* const bytes = info.data;
  tenfold_data_free(back);
  ok(tenfold_data_from_dlpack_unversioned(plain, &again));
  ok(tenfold_data_tensor_info(again, &info));
  EXPECT_EQ(info.data, bytes);
  EXPECT_EQ(std::memcmp(info.data, values, sizeof values), 0);
  tenfold_data_free(again);
  EXPECT_EQ(tenfold_data_from_dlpack(nullptr, &back), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_data_from_dlpack_unversioned(nullptr, &back), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_data_to_dlpack_unversioned(nullptr, &plain), TENFOLD_INVALID_ARGUMENT);
  EXPECT_EQ(tenfold_dtype_bits("i4"), 4);
  EXPECT_EQ(tenfold_dtype_bits("f32"), 32);
  EXPECT_EQ(tenfold_dtype_bits("string"), 0);
  EXPECT_EQ(tenfold_dtype_bits("f7"), 0);
}

}  // namespace
