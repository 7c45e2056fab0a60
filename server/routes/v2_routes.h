// The v2 protocol over HTTP: health, metadata, inference, statistics; and /metrics.
#pragma once

#include "core/models.h"
#include "routes/router.h"

namespace tenfold::server {

void add_v2_routes(Router& router, std::shared_ptr<Models> models);
// Whether the server lives and is ready, for a port that has no other routes of v2.
void add_health_routes(Router& router, const std::shared_ptr<Models>& models);
// And /ui.
void add_metrics_routes(Router& router, std::shared_ptr<Models> models);

// Of traces and logs.
void add_settings_routes(RouteFamily& v2, const std::shared_ptr<Models>& models);

void add_ui_routes(RouteFamily& family, const std::shared_ptr<Models>& models);

// A file each. They may throw RequestError.
HttpResponse server_metadata();
HttpResponse openapi();
HttpResponse model_metadata(const Models& models, const Model& model);
HttpResponse model_config(const Model& model);
HttpResponse model_statistics(const std::vector<std::shared_ptr<Model>>& models);
std::string batches_closed(const QueueStatistics& statistics);   // by their reasons
HttpResponse metrics(const Models& models);
void infer_route(const std::shared_ptr<Models>& models, const std::string& model, const std::string& version,
                 const std::shared_ptr<HttpExchange>& exchange);

}  // namespace tenfold::server
