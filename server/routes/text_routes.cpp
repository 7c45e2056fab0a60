#include "routes/text_routes.h"

namespace tenfold::server {
namespace {

constexpr std::size_t kAtOnce = 32768;           // bytes of a request that the network's thread tokenizes itself

}  // namespace

void add_text_routes(Router& router, const std::shared_ptr<Models>& models, const TextOptions& options) {
  const auto all = std::make_shared<const TextModels>(models, options);
  add_openai_routes(router, all);
  add_rerank_routes(router, all);
  add_tei_routes(router, all);
}

int http_status(TextFault fault) {
  switch (fault) {
    case TextFault::unknown_model: return 404;
    case TextFault::tokenizer: return 422;
    case TextFault::overloaded: return 429;
    case TextFault::unavailable: return 503;
    case TextFault::unsupported: return 501;
    case TextFault::backend:
    case TextFault::cancelled: return 500;
    default: return 400;
  }
}

HttpResponse with_retry(HttpResponse response, const TextError& error) {
  if (error.fault == TextFault::overloaded || error.fault == TextFault::unavailable) response.headers.emplace_back("Retry-After", "1");
  return response;
}

RouteHandler text_route(const std::shared_ptr<const TextModels>& models, TextErrorResponse error, TextHandler handle) {
  const auto answer = [models = models.get(), error, handle](const RoutedRequest& request) {
    try {
      handle(*models, request);
    } catch (const RequestError& thrown) {
      request.exchange->respond(error(as_text_error(thrown)));
    } catch (const std::exception& thrown) {
      request.exchange->respond(error({TextFault::backend, thrown.what()}));
    }
  };
  return [models, answer](const RoutedRequest& request) {
    if (request.exchange->request().size <= kAtOnce) return answer(request);
    models->tokenizers.add([answer, request] { answer(request); });
  };
}

void answer_texts(const std::shared_ptr<HttpExchange>& exchange, TextRun run, TextErrorResponse error,
                  std::function<HttpResponse(TextAnswer& answer)> make) {
  const auto respond = [exchange, error, make = std::move(make)](TextAnswer answer) {
    exchange->respond_by([held = std::make_shared<TextAnswer>(std::move(answer)), error, make] {
      if (held->error) return error(*held->error);
      try {
        return make(*held);
      } catch (const RequestError& thrown) {
        return error(as_text_error(thrown));
      }
    });
  };
  const std::shared_ptr<TextCall> call = run_texts(run.model, run.output, run.prompt, std::move(run.texts), respond);
  exchange->when_gone([call] { call->cancel(); });
}

}  // namespace tenfold::server
