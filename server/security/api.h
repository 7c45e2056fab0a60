// Api: the families of endpoints that Triton's --http-restricted-api and --grpc-restricted-protocol name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tenfold::server {

enum class Api : std::uint8_t {
  health, metadata, inference, shared_memory, model_config, model_repository, statistics, trace, logging,
  metrics,                                       // of ours
};
inline constexpr std::size_t kApis = 10;

std::string_view name(Api api);
std::optional<Api> api_named(std::string_view name);
std::string api_names();                         // all, with commas

// Of a path's parts, decoded as the router does it. What is not known is inference, which has the most to lose.
Api api_of_path(std::span<const std::string> parts);
// Of "/package.Service/Method".
Api api_of_method(std::string_view path);
// Whether it loads or unloads models, or changes what the server may read: beyond loopback that needs a key.
bool is_model_control(std::span<const std::string> parts);
bool is_model_control(std::string_view method_path);

}  // namespace tenfold::server
