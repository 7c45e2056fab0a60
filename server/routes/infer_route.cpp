// POST /v2/models/NAME[/versions/V]/infer
#include "observe/request_counts.h"
#include "protocol/v2_message.h"
#include "routes/v2_routes.h"

namespace tenfold::server {
namespace {

HttpResponse response_to(InferAnswer& answer, const OutputForms& forms) {
  if (!answer.status) return error_response(answer.status.code, answer.status.message);
  try {
    V2Response written = write_v2_response(std::move(answer), forms);
    const std::size_t json = written.json.size();
    HttpResponse response{200, {}, {body_part(std::move(written.json))}};
    const bool binary = !written.binary.empty();
    response.headers.emplace_back("Content-Type", binary ? "application/octet-stream" : "application/json");
    if (binary) response.headers.emplace_back("Inference-Header-Content-Length", std::to_string(json));
    for (OutputBytes& bytes : written.binary) {
      const auto owner = std::make_shared<OutputBytes>(std::move(bytes));
      response.body.push_back({owner, {owner->data.get(), owner->size}});
    }
    return response;
  } catch (const RequestError& error) {
    ++request_counts().unwritten;
    return error_response(error.code, error.what());
  }
}

V2Request read(const HttpRequest& http, Model& model) {
  try {
    return read_v2_request({http.body, http.text(), http.header("inference-header-content-length")}, model);
  } catch (const std::exception& error) {
    model.count_refused(error.what());
    throw;
  }
}

}  // namespace

void infer_route(const std::shared_ptr<Models>& models, const std::string& name, const std::string& version,
                 const std::shared_ptr<HttpExchange>& exchange) {
  const auto received = std::chrono::steady_clock::now();
  const std::shared_ptr<Model> model = model_of_request(*models, name, version);
  const HttpRequest& http = exchange->request();
  V2Request v2 = read(http, *model);
  v2.request.model = name, v2.request.version = version;
  v2.request.origin = {std::string(http.header("traceparent")), std::string(http.header("tracestate")), "HTTP", received};
  const auto forms = std::make_shared<const OutputForms>(std::move(v2.forms));
  const std::shared_ptr<InferCall> call = infer(*models, std::move(v2.request), [exchange, forms](InferAnswer answer) {
    // JSON of large outputs takes time, which is not that of the model's thread.
    exchange->respond_by([held = std::make_shared<InferAnswer>(std::move(answer)), forms] { return response_to(*held, *forms); });
  });
  if (call) exchange->when_gone([call] { call->cancel(); });
}

}  // namespace tenfold::server
