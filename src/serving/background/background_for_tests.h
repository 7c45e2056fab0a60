// What the tests of engines in the background share: a model with an open batch, its truth, programs that stand in for
// the one that tunes.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "onnx_import/model_for_tests.h"
#include "tenfold/model_engines.h"

namespace tenfold::background {

inline constexpr std::int64_t kIn = 6, kOut = 4;
inline float weight(std::int64_t i, std::int64_t o) { return static_cast<float>((i * 7 + o * 3) % 11 - 5) / 8; }

// y[batch,4] = tanh(x[batch,6] w)
inline std::vector<std::byte> tanh_model() {
  using namespace onnx_import;
  onnx::ModelProto m = new_model();
  add_input(*m.graph, "x", {"batch", "6"});
  std::vector<float> w;
  for (std::int64_t i = 0; i < kIn; ++i)
    for (std::int64_t o = 0; o < kOut; ++o) w.push_back(weight(i, o));
  m.graph->initializer.push_back(floats("w", {kIn, kOut}, w));
  add_node(*m.graph, "MatMul", {"x", "w"}, {"p"});
  add_node(*m.graph, "Tanh", {"p"}, {"y"});
  add_output(*m.graph, "y");
  const std::string text = serialized(m);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// The largest distance between what an engine computes and what the formula says, for so many rows.
inline double distance(const Engine& engine, std::int64_t rows) {
  Tensor x(DType::f32, {rows, kIn});
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = static_cast<float>((i * 5) % 13 - 6) / 7;
  const Tensor y = engine.create_context()->run({x}).at(0);
  double worst = y.shape() == Shape{rows, kOut} ? 0 : 1e9;
  for (std::int64_t r = 0; worst < 1e9 && r < rows; ++r)
    for (std::int64_t o = 0; o < kOut; ++o) {
      double sum = 0;
      for (std::int64_t i = 0; i < kIn; ++i) sum += static_cast<double>(x.data<float>()[r * kIn + i]) * weight(i, o);
      worst = std::max(worst, std::abs(std::tanh(sum) - y.as_double(r * kOut + o)));
    }
  return worst;
}
inline constexpr double kNear = 1e-5;

// Lines of a log, from any thread.
class Lines {
 public:
  LogCallback callback() {
    return [this](Severity severity, std::string_view text) {
      const std::lock_guard lock(mutex_);
      all_.emplace_back(severity, text);
    };
  }
  int count(const std::string& part, Severity min = Severity::warning) const {
    const std::lock_guard lock(mutex_);
    int n = 0;
    for (const auto& [severity, text] : all_) n += severity >= min && text.find(part) != std::string::npos;
    return n;
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    std::string out;
    for (const auto& [severity, line] : all_) out += line + "\n";
    return out;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<Severity, std::string>> all_;
};

class Folder {
 public:
  Folder()
      : path(std::filesystem::path(testing::TempDir()) /
             cat("tenfold_background_", ::getpid(), "_",
                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string program(const std::string& shell) const {
    const std::filesystem::path file = path / cat("program", ++made_);
    std::ofstream(file) << "#!/bin/sh\n" << shell << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file.string();
  }
  std::filesystem::path path;

 private:
  mutable int made_ = 0;
};

inline int threads_of_process() {
  int n = 0;
  for ([[maybe_unused]] const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) ++n;
  return n;
}
// Whether a child of this process is there, ended or not. Takes none away.
inline bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

inline ModelEnginesOptions quick(Tune tune, Lines* lines = nullptr) {
  ModelEnginesOptions options;
  options.build.optimization_level = 1, options.build.threads = 1, options.build.tf32 = false;
  if (lines) options.build.log = lines->callback();
  options.tune = tune, options.tuner = TENFOLD_PROGRAM;
  return options;
}

inline ServedEngine served(ModelEngines& engines, std::int64_t rows) {
  return engines.engine_for({{"x", {rows, kIn}}});
}

}  // namespace tenfold::background
