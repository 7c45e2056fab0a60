// GET /metrics: Prometheus' text, with Triton's names, units and labels.
#include <array>

#include "routes/v2_routes.h"

namespace tenfold::server {
namespace {

struct Sampled {
  std::string labels;                            // without braces
  QueueStatistics statistics;
  std::uint64_t refused;
};

std::string label_value(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') out += "\\n";
    else if (c == '"' || c == '\\') (out += '\\') += c;
    else out += c;
  }
  return out;
}

class Text {
 public:
  explicit Text(const std::vector<Sampled>& models) : models_(models) {}
  void family(const char* name, const char* type, const char* help) {
    out_ += "# HELP " + std::string(name) + " " + help + "\n# TYPE " + name + " " + type + "\n";
  }
  template <class Value>
  void each(const char* name, const char* type, const char* help, const Value& value) {
    family(name, type, help);
    for (const Sampled& model : models_) sample(name, model.labels, value(model.statistics));
  }
  void sample(const char* name, const std::string& labels, std::uint64_t value) {
    out_ += std::string(name) + "{" + labels + "} " + std::to_string(value) + "\n";
  }
  std::string take() { return std::move(out_); }

 private:
  const std::vector<Sampled>& models_;
  std::string out_;
};

std::uint64_t us(const DurationSum& sum) { return sum.ns / 1000; }

using S = const QueueStatistics&;

void add_failures(Text& text, const std::vector<Sampled>& models) {
  text.family("nv_inference_request_failure", "counter", "Requests that failed, by reason");
  for (const Sampled& model : models) {
    const std::array<std::pair<const char*, std::uint64_t>, 4> reasons = {{{"REJECTED", model.statistics.rejected},
                                                                           {"CANCELED", model.statistics.cancelled},
                                                                           {"BACKEND", model.statistics.failed},
                                                                           {"OTHER", model.refused}}};
    for (const auto& [reason, count] : reasons)
      text.sample("nv_inference_request_failure", model.labels + ",reason=\"" + reason + "\"", count);
  }
}

void add_closed(Text& text, const std::vector<Sampled>& models) {
  text.family("tenfold_batch_closed_total", "counter", "Batches by why they took no more requests");
  for (const Sampled& model : models)
    for (std::size_t i = 0; i < kBatchClosedReasons; ++i)
      text.sample("tenfold_batch_closed_total",
                  model.labels + ",reason=\"" + std::string(tenfold::name(static_cast<BatchClosed>(i))) + "\"", model.statistics.closed[i]);
}

}  // namespace

HttpResponse metrics(const Models& models) {
  std::vector<Sampled> sampled;
  for (const auto& model : models.all()) {
    const std::uint64_t refused = model->refused();
    sampled.push_back({"model=\"" + label_value(model->name()) + "\",version=\"" + label_value(model->version()) + "\"",
                       model->queue().statistics(), refused});
  }
  Text text(sampled);
  text.each("nv_inference_request_success", "counter", "Requests that succeeded", [](S s) { return s.success.count; });
  add_failures(text, sampled);
  text.each("nv_inference_count", "counter", "Inferences: rows of batches", [](S s) { return s.inferences; });
  text.each("nv_inference_exec_count", "counter", "Runs of the model", [](S s) { return s.executions; });
  text.each("nv_inference_request_duration_us", "counter", "Time of requests, in all", [](S s) { return us(s.success); });
  text.each("nv_inference_queue_duration_us", "counter", "Time of requests in the queue, in all", [](S s) { return us(s.queue); });
  text.each("nv_inference_compute_input_duration_us", "counter", "Time of copying inputs, in all", [](S s) { return us(s.compute_input); });
  text.each("nv_inference_compute_infer_duration_us", "counter", "Time of running the model, in all",
      [](S s) { return us(s.compute_infer); });
  text.each("nv_inference_compute_output_duration_us", "counter", "Time of copying outputs, in all",
      [](S s) { return us(s.compute_output); });
  text.each("nv_inference_pending_request_count", "gauge", "Requests that wait now", [](S s) { return s.waiting; });
  add_closed(text, sampled);
  HttpResponse response{200, {{"Content-Type", "text_requests/plain; charset=utf-8"}}, {}};
  response.body.push_back(body_part(text.take()));
  return response;
}

}  // namespace tenfold::server
