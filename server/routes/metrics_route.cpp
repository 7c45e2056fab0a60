// GET /metrics
#include "routes/metrics_parts.h"
#include "routes/v2_routes.h"

namespace tenfold::server {

std::vector<SampledModel> sample_models(const Models& models) {
  std::vector<SampledModel> sampled;
  for (const auto& model : models.all()) {
    const std::uint64_t refused = model->refused();  // first, so that failures never pass what was received
    sampled.push_back({"model=\"" + label_value(model->name()) + "\",version=\"" + label_value(model->version()) + "\"",
                       model->queue().statistics(), refused, model});
  }
  return sampled;
}

HttpResponse metrics(const Models& models) {
  HttpResponse response{200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, {}};
  response.body.push_back(body_part(metrics_text(sample_models(models))));
  return response;
}

}  // namespace tenfold::server
