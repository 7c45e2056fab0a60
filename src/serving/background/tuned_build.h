// A tuned engine of one model, made in the place where its configuration lets it be made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenfold/model_engines.h"

namespace tenfold::background {

// A model as it was given.
struct Model {
  std::string path;  // empty: the bytes
  std::vector<std::byte> bytes;

  std::string key(const BuildConfig& config) const {
    return path.empty() ? plan_key(bytes, config) : plan_key(path, config);
  }
  Engine build(const BuildConfig& config) const;
  std::vector<BindingInfo> bindings(const BuildConfig& config) const {
    return path.empty() ? model_bindings(bytes, config) : model_bindings(path, config);
  }
};

// Why builds in the background have to be done in this process; empty: they need not. Finds the program, if none is
// named.
std::string why_in_this_process(const BuildConfig& config, std::string& program);
// A build that a caller waits for, by `program`, or here where that is empty. `built`: whether it took place, for the cache may have the
// plan.
Engine build_for_caller(const Model& model, const BuildConfig& config, const std::string& program, const PlanCache* cache, bool& built);
// The key of a tuned plan in the cache, which is one for a range whatever shapes it was tuned for.
std::string tuned_key(const Model& model, BuildConfig config);
// By `program`, or in this thread where it is empty. From the cache, if it has it by now, and into it. May be
// interrupted.
Engine build_tuned(const Model& model, const BuildConfig& config, const std::string& program, const PlanCache* cache);

}  // namespace tenfold::background
