// Parts of TEI's endpoints: the model and rules of a request, headers with times, and endpoints that run no model.
#pragma once

#include <chrono>

#include "routes/text_routes.h"

namespace tenfold::server {

HttpResponse tei_error(const TextError& error);

// A request, and the model that its path or its `model` names.
struct TeiRequest {
  TeiRequest(const TextModels& all, const RoutedRequest& request);
  // By `truncate`, `truncation_direction` and `prompt_name`. Throws TextError.
  TextRules rules(const JsonRequest& fields) const;
  const TextOptions& options;
  JsonRequest json;
  std::shared_ptr<Model> model;
};

// What TEI tells of a request in headers.
class TeiTimes {
 public:
  explicit TeiTimes(const TextInputs& inputs);
  explicit TeiTimes(const std::vector<TextOrPair>& inputs);
  void tokenized() { tokenized_ = std::chrono::steady_clock::now(); }
  HttpResponse add_to(HttpResponse response, const TextAnswer& answer) const;

 private:
  std::size_t characters_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), tokenized_ = start_;
};
inline HttpResponse with_times(HttpResponse response, const TextAnswer& answer, const TeiTimes& times) {
  return times.add_to(std::move(response), answer);
}

void tei_tokenize(const TextModels& all, const RoutedRequest& request);
void tei_decode(const TextModels& all, const RoutedRequest& request);
HttpResponse tei_info(const TextModels& all, const RoutedRequest& request);

}  // namespace tenfold::server
