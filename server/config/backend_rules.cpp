#include "config/backend_rules.h"

#include <fstream>
#include <string_view>

#include "tenfold/error.h"

namespace tenfold::server {
namespace {

constexpr std::string_view kTaken[] = {"tenfold", "onnxruntime", "onnxruntime_onnx", "tenfold_onnx", "tenfold_plan"};

[[noreturn]] void refuse(const std::string& what, const std::string& why) { throw Error(ErrorKind::unsupported, what + why); }

void check(const std::string& field, const std::string& value) {
  if (value.empty()) return;
  for (const std::string_view taken : kTaken)
    if (value == taken) return;
  const std::string what = field + " '" + value + "' is not one that Tenfold's server takes the place of";
  if (value == "tensorrt" || value == "tensorrt_plan")
    refuse(what, ": a plan of TensorRT's runs in TensorRT only; give model.onnx, and backend: \"tenfold\"");
  refuse(what, ", which are tenfold and onnxruntime: serve it by Triton and libtriton_tenfold.so, or give model.onnx");
}

}  // namespace

void check_backend(const inference::ModelConfig& config) {
  check("backend", config.backend());
  check("platform", config.platform());
}

void check_plan(const std::string& path) {
  if (!path.ends_with(".plan")) return;
  char head[4] = {};
  std::ifstream(path, std::ios::binary).read(head, sizeof head);
  const std::string_view magic(head, sizeof head);
  if (magic == "ftrt" || magic == "ptrt" || magic == "trtf")
    throw Error(ErrorKind::unsupported, path + " is a plan of TensorRT's, which runs in TensorRT only: give model.onnx");
}

}  // namespace tenfold::server
