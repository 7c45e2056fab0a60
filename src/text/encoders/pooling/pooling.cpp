#include "text/encoders/pooling/pooling.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace tenfold::encoders {

const std::vector<Pooling>& poolings() {
  static const std::vector<Pooling> all{pool_cls(),           pool_max(),       pool_mean(), pool_mean_sqrt_length(),
                                        pool_weighted_mean(), pool_last_token()};
  return all;
}

std::vector<std::string> poolings_of(const tokenizing::Json& config) {
  std::vector<std::string> kinds;
  if (config.has("pooling_mode")) {
    const nlohmann::json& mode = config.at("pooling_mode").value;
    const nlohmann::json list = mode.is_array() ? mode : nlohmann::json::array({mode});
    for (const nlohmann::json& one : list) {
      if (!one.is_string()) config.wrong("pooling_mode is neither a name nor a list of names");
      kinds.push_back(one.get<std::string>());
    }
    if (kinds.empty()) config.wrong("pooling_mode names no pooling");
    return kinds;
  }
  for (const Pooling& one : poolings())
    if (config.flag(one.flag, false)) kinds.emplace_back(one.name);
  return kinds.empty() ? std::vector<std::string>{"mean"} : kinds;
}

bool refuses_all_poolings(const tokenizing::Json& config) {
  const auto is_there = [&](const Pooling& one) { return config.has(one.flag); };
  const auto is_on = [&](const Pooling& one) { return config.flag(one.flag, false); };
  return !config.has("pooling_mode") && std::ranges::any_of(poolings(), is_there) && std::ranges::none_of(poolings(), is_on);
}

NetworkTensor counted(const Blocks& b, NetworkTensor x, std::int64_t skipped) {
  if (skipped == 0) return x;
  return b.net.add_node("Slice", {x, b.integers({skipped}), b.integers({std::numeric_limits<std::int64_t>::max()}), b.integers({1})})[0];
}

NetworkTensor token_count(const Blocks& b, NetworkTensor x) {
  const NetworkTensor count = b.net.cast(b.length(x), DType::f32);
  return b.net.add_node("Squeeze", {count, b.integers({0})})[0];
}

}  // namespace tenfold::encoders
