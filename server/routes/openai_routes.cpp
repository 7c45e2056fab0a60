// POST /v1/embeddings and GET /v1/models, as OpenAI's clients have them.
#include <ctime>

#include "observe/json_writer.h"
#include "protocol/json_text.h"
#include "routes/text_routes.h"
#include "text_requests/vector_form.h"

namespace tenfold::server {
namespace {

HttpResponse openai_error(const TextError& error) {
  const int status = error.fault == TextFault::tokenizer ? 400 : http_status(error.fault);
  const char* type = status == 429 ? "rate_limit_error" : status >= 500 ? "server_error" : "invalid_request_error";
  JsonObject json;
  json.add("message", error.what()).add("type", type).raw("param", error.field.empty() ? "null" : json_string(error.field));
  if (status == 404 || status == 429) json.add("code", status == 404 ? "model_not_found" : "rate_limit_exceeded");
  else json.raw("code", "null");
  return with_retry(json_response(JsonObject().raw("error", json.text()).text(), status), error);
}
HttpResponse openai_error(Code code, std::string_view message) {
  return openai_error(as_text_error(RequestError(code, std::string(message))));
}

HttpResponse embeddings_response(TextAnswer& answer, const VectorForm& form, const std::string& model) {
  std::string out = "{\"object\":\"list\",\"data\":[";
  for (std::size_t i = 0; i < answer.results.size(); ++i) {
    out += std::string(i > 0 ? "," : "") + "{\"object\":\"embedding\",\"index\":" + std::to_string(i) + ",\"embedding\":";
    cut_and_normalize(answer.results[i].values, form);
    append_vector(out, answer.results[i].values, form);
    out += "}";
  }
  const std::string tokens = std::to_string(answer.tokens);
  return json_response(out + "],\"model\":" + json_string(model) + ",\"usage\":{\"prompt_tokens\":" + tokens + ",\"total_tokens\":" +
                       tokens + "}}");
}

void embeddings(const TextModels& all, const RoutedRequest& request) {
  const JsonRequest json(request.exchange->request().text());
  const std::shared_ptr<Model> model = find_text_model(all, json.text_or("model", ""));
  need_vectors(*model);
  VectorForm form = read_vector_form(json);
  form.dimensions = read_dimensions(json, *model, all.options);
  const TextInputs inputs = json.inputs("input", all.options.max_texts, all.options.allow_token_input);
  TextRun run{model, TextOutput::vectors, model->encoder()->prompt(), {}};
  run.texts = tokenize(*model, inputs, {run.prompt, all.options.truncate, KeptTokens::by_folder}, "input");
  answer_texts(request.exchange, std::move(run), openai_error,
               [form, name = model->name()](TextAnswer& answer) { return embeddings_response(answer, form, name); });
}

JsonObject model_object(const Model& model, std::int64_t created) {
  return JsonObject().add("id", model.name()).add("object", "model").add("created", created).add("owned_by", "tenfold");
}

}  // namespace

void add_openai_routes(Router& router, const std::shared_ptr<const TextModels>& models) {
  RouteFamily openai = router.family(openai_error);
  const std::int64_t created = std::time(nullptr);
  for (const char* path : {"/v1/embeddings", "/embeddings"})
    openai.add("POST", path, text_route(models, openai_error, embeddings));
  openai.get("/v1/models", [models, created](const RoutedRequest&) {
    JsonList data;
    for (const auto& model : models->models->all()) data.add(model_object(*model, created));
    return json_response(JsonObject().add("object", "list").raw("data", data.text()).text());
  });
  openai.get("/v1/models/{model}", [models, created](const RoutedRequest& request) {
    return json_response(model_object(*models->models->find(request.at("model"), ""), created).text());
  });
}

}  // namespace tenfold::server
