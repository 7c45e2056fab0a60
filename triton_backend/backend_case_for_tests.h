// A test of the backend: a model's folder and configuration, loaded in a server that is none.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fake_triton_for_tests.h"
#include "onnx_import/model_for_tests.h"

namespace tenfold::triton {

using nlohmann::json;

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
template <class T>
std::vector<T> values_of(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

inline std::string wire(const std::string& text) {   // an element of BYTES
  const auto length = static_cast<std::uint32_t>(text.size());
  return std::string(reinterpret_cast<const char*>(&length), 4) + text;
}

class TritonBackend : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / ("tenfold_triton_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_ / "1");
    backend_.config = json{{"cmdline", {{"default-max-batch-size", "4"}, {"plan-cache-dir", (folder_ / "plans").string()}}}}.dump();
    clear_fake_log();
    ASSERT_EQ(LoadedBackend::get().initialize(backend_), "");
    model_.backend = &backend_, model_.location = folder_.string();
    model_.config = json{{"name", "model"}, {"max_batch_size", 0}, {"parameters", json::object()}}.dump();
  }
  void TearDown() override {
    for (auto& instance : instances_) EXPECT_EQ(LoadedBackend::get().finalize(*instance), "");
    if (model_.state) {
      EXPECT_EQ(LoadedBackend::get().finalize(model_), "");
    }
    EXPECT_EQ(LoadedBackend::get().finalize(backend_), "");
    std::filesystem::remove_all(folder_);
  }
  void save(const auto& model) {
    std::ofstream(folder_ / "1" / "model.onnx", std::ios::binary) << serialized(model);
  }
  void configure(json config) {
    config["name"] = "model";
    if (!config["parameters"].contains("tenfold.threads")) config["parameters"]["tenfold.threads"] = {{"string_value", "1"}};
    model_.config = config.dump();
  }
  std::string load() {
    const std::string error = LoadedBackend::get().initialize(model_);
    if (!error.empty()) {   // as Triton does, without a state
      EXPECT_EQ(LoadedBackend::get().finalize(model_), "");
    }
    return error.empty() && !model_.state ? "it has no state" : error;
  }
  FakeInstance& instance() {
    auto& made = instances_.emplace_back(std::make_unique<FakeInstance>());
    made->model = &model_;
    EXPECT_EQ(LoadedBackend::get().initialize(*made), "");
    return *made;
  }
  void execute(FakeInstance& on, const std::vector<FakeRequest*>& requests) {
    EXPECT_EQ(LoadedBackend::get().execute(on, requests), "");
    for (const FakeRequest* r : requests) {
      EXPECT_EQ(r->responses, 1);
      EXPECT_EQ(r->releases, 1);
      EXPECT_EQ(r->reports, 1);
      EXPECT_FALSE(r->responded_after_release);
      EXPECT_EQ(r->success, r->error < 0) << r->message;
      EXPECT_TRUE(std::is_sorted(r->times.begin(), r->times.end()));
    }
  }
  static json batching(int rows) {
    return {{"max_batch_size", rows},
            {"input", {{{"name", "x"}, {"data_type", "TYPE_FP32"}, {"dims", {6}}}}},
            {"output", {{{"name", "y"}, {"data_type", "TYPE_FP32"}, {"dims", {4}}}}}};
  }

  std::filesystem::path folder_;
  FakeBackend backend_;
  FakeModel model_;
  std::vector<std::unique_ptr<FakeInstance>> instances_;
};

}  // namespace tenfold::triton
