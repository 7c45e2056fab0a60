#include "routes/v2_routes.h"

#include "observe/json_writer.h"
#include "protocol/json_text.h"
#include "routes/shared_memory_routes.h"

namespace tenfold::server {
namespace {

HttpResponse health(bool ok, const char* what, const std::string& model = "") {
  JsonObject json;
  if (!model.empty()) json.add("name", model);
  HttpResponse response = json_response(json.add(what, ok).text(), ok ? 200 : 503);
  if (!ok) response.headers.emplace_back("Retry-After", "1");
  return response;
}

void add_server_routes(RouteFamily& v2, const std::shared_ptr<Models>& models) {
  v2.get("/v2", [](const RoutedRequest&) { return server_metadata(); });
  v2.get("/openapi.json", [](const RoutedRequest&) { return openapi(); });
  v2.get("/v2/models/stats", [models](const RoutedRequest&) { return model_statistics(models->all()); });
}

// `base` names the model, and maybe its version.
void add_model_routes(RouteFamily& v2, const std::shared_ptr<Models>& models, const std::string& base) {
  const auto found = [models](const RoutedRequest& request) { return models->find(request.at("model"), request.get("version")); };
  v2.get(base, [models, found](const RoutedRequest& request) { return model_metadata(*models, *found(request)); });
  v2.get(base + "/ready", [models, found](const RoutedRequest& request) {
    return health(models->ready(), "ready", found(request)->name());
  });
  v2.get(base + "/config", [found](const RoutedRequest& request) { return model_config(*found(request)); });
  v2.get(base + "/stats", [found](const RoutedRequest& request) { return model_statistics({found(request)}); });
  v2.add("POST", base + "/infer", [models](const RoutedRequest& request) {
    infer_route(models, request.at("model"), request.get("version"), request.exchange);
  });
  for (const std::string name : {"generate", "generate_stream"})
    v2.refuse(base + "/" + name, "this server has no '" + name + "': serve the model by Triton and libtriton_tenfold.so");
}

}  // namespace

void add_health_routes(Router& router, const std::shared_ptr<Models>& models) {
  RouteFamily v2 = router.family(error_response);
  v2.get("/v2/health/live", [](const RoutedRequest&) { return health(true, "live"); });
  v2.get("/v2/health/ready", [models](const RoutedRequest&) { return health(models->all_ready(), "ready"); });
}

void add_v2_routes(Router& router, std::shared_ptr<Models> models) {
  RouteFamily v2 = router.family(error_response);
  add_health_routes(router, models);
  add_server_routes(v2, models);
  add_shared_memory_routes(router, models);
  add_settings_routes(v2, models);
  add_model_routes(v2, models, "/v2/models/{model}/versions/{version}");
  add_model_routes(v2, models, "/v2/models/{model}");
}

void add_metrics_routes(Router& router, std::shared_ptr<Models> models) {
  RouteFamily family = router.family(error_response);
  family.get("/metrics", [models](const RoutedRequest&) { return metrics(*models); });
  add_ui_routes(family, models);
}

}  // namespace tenfold::server
