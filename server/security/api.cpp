#include "security/api.h"

#include <algorithm>
#include <array>

namespace tenfold::server {
namespace {

constexpr std::array<std::string_view, kApis> kNames = {"health",           "metadata",   "inference", "shared-memory", "model-config",
                                                        "model-repository", "statistics", "trace",     "logging",       "metrics"};

// Behind "v2".
Api api_of_v2(std::span<const std::string> parts) {
  if (parts.empty()) return Api::metadata;
  const std::string &first = parts.front(), &last = parts.back();
  if (first == "health") return Api::health;
  if (first == "repository") return Api::model_repository;
  if (first == "systemsharedmemory" || first == "cudasharedmemory") return Api::shared_memory;
  if (first == "logging") return Api::logging;
  if (first == "trace") return Api::trace;
  if (first != "models") return Api::inference;
  // models/NAME[/versions/V][/what], where NAME may be any word, and models/stats.
  if (parts.size() == 2 && last == "stats") return Api::statistics;
  const std::size_t behind = parts.size() > 2 && parts[2] == "versions" ? 4 : 2;
  if (parts.size() <= behind) return Api::metadata;
  const std::string& what = parts[behind];
  if (what == "ready") return Api::health;
  if (what == "config") return Api::model_config;
  if (what == "stats") return Api::statistics;
  if (what == "trace") return Api::trace;
  return Api::inference;
}

}  // namespace

std::string_view name(Api api) { return kNames[static_cast<std::size_t>(api)]; }

std::optional<Api> api_named(std::string_view name) {
  if (name == "shm-memory") name = "shared-memory";   // as Triton's older releases call it
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Api>(found - kNames.begin());
}

std::string api_names() {
  std::string all;
  for (const std::string_view name : kNames) all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

Api api_of_path(std::span<const std::string> parts) {
  if (parts.empty()) return Api::inference;
  if (parts[0] == "v2") return api_of_v2(parts.subspan(1));
  if (parts.size() > 1) return parts[0] == "model" && parts[1] == "status" ? Api::metadata : Api::inference;
  if (parts[0] == "metrics") return Api::metrics;
  if (parts[0] == "health" || parts[0] == "ready" || parts[0] == "ping") return Api::health;
  if (parts[0] == "ui") return Api::statistics;
  return parts[0] == "info" || parts[0] == "openapi.json" ? Api::metadata : Api::inference;
}

Api api_of_method(std::string_view path) {
  if (path.starts_with("/grpc.health.")) return Api::health;
  if (path.starts_with("/grpc.reflection.")) return Api::metadata;
  const std::string_view method = path.substr(path.rfind('/') + 1);
  if (method == "ServerLive" || method == "ServerReady" || method == "ModelReady") return Api::health;
  if (method == "ServerMetadata" || method == "ModelMetadata") return Api::metadata;
  if (method == "ModelConfig") return Api::model_config;
  if (method == "ModelStatistics") return Api::statistics;
  if (method.starts_with("Repository")) return Api::model_repository;
  if (method.starts_with("SystemSharedMemory") || method.starts_with("CudaSharedMemory")) return Api::shared_memory;
  if (method == "TraceSetting") return Api::trace;
  return method == "LogSettings" ? Api::logging : Api::inference;
}

bool is_model_control(std::span<const std::string> parts) {
  return parts.size() > 2 && parts[0] == "v2" && parts[1] == "repository" && parts[2] == "models";
}

bool is_model_control(std::string_view method_path) {
  return method_path.ends_with("/RepositoryModelLoad") || method_path.ends_with("/RepositoryModelUnload");
}

}  // namespace tenfold::server
