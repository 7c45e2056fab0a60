// The way of a configuration to another process.
#include "background/build_request.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tenfold/error.h"
#include "tenfold/plan_cache.h"

namespace tenfold::background {
namespace {

Tensor numbers(DType dtype, Shape shape) {
  Tensor t(dtype, std::move(shape));
  std::memset(t.mutable_raw(), 3, static_cast<std::size_t>(t.bytes()));
  return t;
}

// All that changes a plan; plan_key() covers every field of BuildConfig, so equal keys say that nothing was lost.
BuildConfig unusual() {
  BuildConfig c;
  c.device = "null", c.threads = 3, c.fp16 = c.bf16 = true, c.int8 = c.fp8 = c.check_overflow = c.tf32 = false;
  c.tf32_convolutions = c.tf32_matmul = c.winograd = c.strassen = c.fast_exp = c.keep_portable_graph = false,
  c.version_compatible = c.hardware_compatible = true;
  c.profiles = {{{"x", {{1}, {2}, {4}}}, {"y", {{}, {}, {}}}}, {{"x", {{5}, {6}, {7}}}}};
  c.input_formats["x"] = {DType::u8, BindingOrder::hwc}, c.output_formats["y"] = {std::nullopt, BindingOrder::dhwc};
  c.overridable = {"a", "*"}, c.input_defaults["b"] = numbers(DType::f64, {2, 3});
  c.typical_inputs = {{{"x", numbers(DType::i64, {4})}, {"s", Tensor::strings({2}, {"one", "two\n"})}},
                      {{"x", Tensor()}}};
  c.pack_tokens = PackTokens::with_zeros, c.optimization_level = 5, c.max_tactics = 7, c.timing_repetitions = 9;
  c.tactic_sources = 1, c.workspace_bytes = 12345, c.cpu_features = 1, c.timing_cache = "/times",
  c.error_on_cache_miss = true, c.time_limit_s = 1.5;
  c.disabled_passes = {"fuse_norm", ""}, c.external_data_dirs = {"/w"}, c.initializers["w"] = numbers(DType::f32, {3});
  c.refittable = true, c.random_choices = 11, c.newest_row = "x:1";
  c.auto_precision = true;
  c.layer_types = {LayerConstraints::obey, {{"a*", DType::f16}, {"b", DType::i8}}, {{"c", {DType::f32, DType::bf16}}}};
  c.forced_tactics["Relu x"] = "reference", c.labels["who"] = "a test";
  return c;
}

TEST(BuildRequests, ArriveWhole) {
  const std::string model = "not looked at";
  const auto bytes = std::as_bytes(std::span(model));
  BuildRequest sent;
  sent.requester = 42, sent.key = "a\nkey", sent.library_places = {"/lib", "/other"};
  sent.plugin_libraries = {"/p.so"}, sent.library_files = {"/lib/libcudnn.so.9"}, sent.config = unusual();
  const std::string text = head_of(sent) + model;
  const BuildRequest got = read_request(std::as_bytes(std::span(text)));
  EXPECT_EQ(plan_key(bytes, got.config), plan_key(bytes, unusual()));
  EXPECT_NE(plan_key(bytes, got.config), plan_key(bytes, {}));
  EXPECT_EQ(got.config.typical_inputs.at(0).at("s").string_values(), (std::vector<std::string>{"one", "two\n"}));
  EXPECT_FALSE(got.config.typical_inputs.at(1).at("x").defined());
  EXPECT_EQ(got.config.timing_cache, "/times");
  EXPECT_TRUE(got.config.error_on_cache_miss);
  EXPECT_EQ(got.config.time_limit_s, 1.5);
  EXPECT_EQ(got.config.external_data_dirs, std::vector<std::string>{"/w"});
  EXPECT_EQ(got.requester, 42);
  EXPECT_EQ(got.key, "a\nkey");
  EXPECT_EQ(got.library_places, sent.library_places);
  EXPECT_EQ(got.library_files, sent.library_files);
  EXPECT_EQ(got.plugin_libraries, sent.plugin_libraries);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(got.model.data()), got.model.size()), model);
}

TEST(BuildRequests, ThatAreCutOffOrOfAnotherVersionAreRefused) {
  BuildRequest sent;
  sent.config = unusual();
  const std::string text = head_of(sent);
  for (std::size_t n = 0; n < text.size(); ++n)
    EXPECT_THROW(read_request(std::as_bytes(std::span(text).first(n))), Error) << n;
  std::string other = "tenfold build request of 9.9.9\n" + text.substr(text.find('\n') + 1);
  try {
    read_request(std::as_bytes(std::span(other)));
    ADD_FAILURE() << "a request of another version was read";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("from version 9.9.9, this program is version "), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tenfold::background
