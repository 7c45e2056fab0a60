// GET /metrics
#include <map>

#include "model_config.pb.h"
#include "routes/metrics_parts.h"
#include "routes/v2_routes.h"

namespace tenfold::server {
namespace {

// And the tags of the configuration, as in Triton.
std::string labels_of(const Model& model) {
  std::string labels = "model=\"" + label_value(model.name()) + "\",version=\"" + label_value(model.version()) + "\"";
  std::map<std::string, std::string> tags;  // in order
  if (model.options().config) tags = {model.config().metric_tags().begin(), model.config().metric_tags().end()};
  for (const auto& [name, value] : tags)
    if (is_label(name)) labels += "," + name + "=\"" + label_value(value) + "\"";
  return labels;
}

}  // namespace

std::vector<SampledModel> sample_models(const Models& models) {
  std::vector<SampledModel> sampled;
  for (const auto& model : models.all()) {
    const std::uint64_t refused = model->refused();  // first, so that failures never pass what was received
    SampledModel one{labels_of(*model), model->queue().statistics(), refused, model->served().fallbacks(), false, model};
    one.cached = models.cache() && model->options().cache_responses;
    sampled.push_back(std::move(one));
  }
  return sampled;
}

HttpResponse metrics(const Models& models) {
  HttpResponse response{200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, {}};
  std::string text = metrics_text(sample_models(models));
  // Prometheus accepts gzip, which takes ten times as long as the text itself.
  constexpr std::size_t kCompressed = 1 << 20;
  response.no_compression = text.size() > kCompressed;
  response.body.push_back(body_part(std::move(text)));
  return response;
}

}  // namespace tenfold::server
