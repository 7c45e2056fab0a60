// Routes for text: OpenAI's, rerankers', and those of Text Embeddings Inference. Each family has its own words for errors.
#pragma once

#include "routes/router.h"
#include "text_requests/text_call.h"
#include "text_requests/text_model.h"

namespace tenfold::server {

void add_text_routes(Router& router, const std::shared_ptr<Models>& models, const TextOptions& options);
void add_openai_routes(Router& router, const std::shared_ptr<const TextModels>& models);
void add_rerank_routes(Router& router, const std::shared_ptr<const TextModels>& models);
void add_tei_routes(Router& router, const std::shared_ptr<const TextModels>& models);

// For those: a family's response to an error, with Retry-After where another try may help.
using TextErrorResponse = HttpResponse (*)(const TextError& error);
int http_status(TextFault fault);                // of reranking; other families have a few of their own
HttpResponse with_retry(HttpResponse response, const TextError& error);
// A handler whose errors become responses of the family. Large requests are handled in threads of `models`.
using TextHandler = void (*)(const TextModels& models, const RoutedRequest& request);
RouteHandler text_route(const std::shared_ptr<const TextModels>& models, TextErrorResponse error, TextHandler handle);

// Runs the texts and has the response made of the answer, in a thread of the connection's; what `make` throws becomes an error response.
struct TextRun {
  std::shared_ptr<Model> model;
  TextOutput output = TextOutput::vectors;
  std::string prompt;
  std::vector<TokenizedText> texts;
};
void answer_texts(const std::shared_ptr<HttpExchange>& exchange, TextRun run, TextErrorResponse error,
                  std::function<HttpResponse(TextAnswer& answer)> make);

}  // namespace tenfold::server
