// Which code answers a request, by its path and method.
#pragma once

#include "core/models.h"
#include "net/http_message.h"

namespace tenfold::server {

// Of the port of models: /v2 and what is below it, and /metrics.
HttpHandler make_router(std::shared_ptr<Models> models);
// Of the port of metrics.
HttpHandler make_metrics_router(std::shared_ptr<Models> models);

int http_status(Code code);
HttpResponse json_response(std::string json, int status = 200);
HttpResponse error_response(Code code, std::string_view message);   // as v2 has errors

// A file each. They may throw RequestError.
HttpResponse server_metadata();
HttpResponse model_metadata(const Models& models, const Model& model);
HttpResponse model_config(const Model& model);
HttpResponse model_statistics(const std::vector<std::shared_ptr<Model>>& models);
HttpResponse metrics(const Models& models);
void infer_route(const std::shared_ptr<Models>& models, const std::string& model, const std::string& version,
                 const std::shared_ptr<HttpExchange>& exchange);

}  // namespace tenfold::server
