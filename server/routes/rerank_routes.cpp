// POST /v1/rerank, as the clients of Jina and Cohere have it.
#include <algorithm>

#include "observe/json_writer.h"
#include "protocol/json_text.h"
#include "routes/text_routes.h"
#include "text_requests/ranking.h"
#include "text_requests/vector_form.h"

namespace tenfold::server {
namespace {

// Cohere's clients show `message`, Jina's `detail`.
HttpResponse rerank_error(const TextError& error) {
  const std::string json = JsonObject().add("message", error.what()).add("detail", error.what()).text();
  return with_retry(json_response(json, http_status(error.fault)), error);
}
HttpResponse rerank_error(Code code, std::string_view message) {
  return rerank_error(as_text_error(RequestError(code, std::string(message))));
}

struct Documents {
  std::vector<std::string> texts;                // where they are to be returned
  std::size_t top = 0;
};

HttpResponse ranks_response(const TextAnswer& answer, const Documents& documents, const std::string& model) {
  std::string out = "{\"model\":" + json_string(model) + ",\"object\":\"list\",\"results\":[";
  const std::vector<Rank> ranks = ranked(answer);
  for (std::size_t i = 0; i < std::min(documents.top, ranks.size()); ++i) {
    out += std::string(i > 0 ? "," : "") + "{\"index\":" + std::to_string(ranks[i].index) + ",\"relevance_score\":";
    append_float(out, ranks[i].score);
    if (!documents.texts.empty()) out += ",\"document\":{\"text\":" + json_string(documents.texts[ranks[i].index]) + "}";
    out += "}";
  }
  const std::string tokens = std::to_string(answer.tokens);
  return json_response(out + "],\"usage\":{\"prompt_tokens\":" + tokens + ",\"total_tokens\":" + tokens + "}}");
}

void rerank(const TextModels& all, const RoutedRequest& request) {
  const JsonRequest json(request.exchange->request().text());
  const std::shared_ptr<Model> model = find_text_model(all, json.text_or("model", ""));
  need_reranker(*model);
  const std::string_view query = json.text("query");
  const auto texts = json.texts("documents", all.options.max_texts);
  Documents documents;
  documents.top = static_cast<std::size_t>(json.integer("top_n", static_cast<std::int64_t>(texts.size()), 1));
  if (json.flag("return_documents", false)) documents.texts.assign(texts.begin(), texts.end());
  const bool raw = json.flag("raw_scores", false);
  TextRun run{model, TextOutput::raw_scores, {}, {}};
  run.texts = tokenize(*model, pairs_with(query, texts), {{}, json.flag("truncate", all.options.truncate), KeptTokens::by_folder}, "query");
  answer_texts(request.exchange, std::move(run), rerank_error,
               [documents, raw, name = model->name()](TextAnswer& answer) {
                 if (!raw) to_probabilities(answer);
                 return ranks_response(answer, documents, name);
               });
}

}  // namespace

void add_rerank_routes(Router& router, const std::shared_ptr<const TextModels>& models) {
  RouteFamily family = router.family(rerank_error);
  for (const char* path : {"/v1/rerank", "/v2/rerank"})
    family.add("POST", path, text_route(models, rerank_error, rerank));
}

}  // namespace tenfold::server
