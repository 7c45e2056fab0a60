// The endpoints of Text Embeddings Inference (TEI): its paths, fields, error bodies and statuses. /models/NAME/embed names a model.
#include <algorithm>

#include "observe/json_writer.h"
#include "protocol/json_text.h"
#include "routes/tei_parts.h"
#include "text_requests/ranking.h"
#include "text_requests/vector_form.h"

namespace tenfold::server {
namespace {

// Where TEI has a status of its own.
int status_of(TextFault fault) {
  switch (fault) {
    case TextFault::field: return 422;
    case TextFault::too_many: return 413;
    case TextFault::wrong_model:
    case TextFault::backend: return 424;
    case TextFault::cancelled: return 503;
    default: return http_status(fault);
  }
}

HttpResponse embedded(TextAnswer& answer, const VectorForm& form, const TeiTimes& times) {
  std::string out = "[";
  for (TextResult& result : answer.results) {
    if (out.size() > 1) out += ',';
    cut_and_normalize(result.values, form);
    append_vector(out, result.values, form);
  }
  return with_times(json_response(out + "]"), answer, times);
}

void embed(const TextModels& all, const RoutedRequest& request) {
  const TeiRequest tei(all, request);
  need_vectors(*tei.model);
  const TextRules rules = tei.rules(tei.json);
  VectorForm form;
  form.dimensions = read_dimensions(tei.json, *tei.model, all.options);
  form.normalize = tei.json.flag("normalize", true);
  const TextInputs inputs = tei.json.inputs("inputs", all.options.max_texts, all.options.allow_token_input);
  TeiTimes times(inputs);
  TextRun run{tei.model, TextOutput::vectors, rules.prompt, tokenize(*tei.model, inputs, rules, "inputs")};
  times.tokenized();
  answer_texts(request.exchange, std::move(run), tei_error, [form, times](TextAnswer& answer) { return embedded(answer, form, times); });
}

HttpResponse all_embedded(const TextAnswer& answer, const TeiTimes& times) {
  std::string out = "[";
  for (const TextResult& result : answer.results) {
    out += out.size() > 1 ? ",[" : "[";
    for (std::int64_t row = 0; row < result.rows; ++row) {
      if (row > 0) out += ',';
      const auto width = static_cast<std::size_t>(result.width);
      append_floats(out, std::span(result.values).subspan(static_cast<std::size_t>(row) * width, width));
    }
    out += ']';
  }
  return with_times(json_response(out + "]"), answer, times);
}

void embed_all(const TextModels& all, const RoutedRequest& request) {
  const TeiRequest tei(all, request);
  need_vectors(*tei.model);
  const TextRules rules = tei.rules(tei.json);
  const TextInputs inputs = tei.json.inputs("inputs", all.options.max_texts, all.options.allow_token_input);
  TeiTimes times(inputs);
  TextRun run{tei.model, TextOutput::token_vectors, rules.prompt, tokenize(*tei.model, inputs, rules, "inputs")};
  times.tokenized();
  answer_texts(request.exchange, std::move(run), tei_error, [times](TextAnswer& answer) { return all_embedded(answer, times); });
}

std::string predictions(const TextResult& result, const std::vector<std::string>& labels) {
  std::vector<std::size_t> order(labels.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return result.values[a] > result.values[b]; });
  std::string out = "[";
  for (const std::size_t i : order) {
    out += std::string(out.size() > 1 ? "," : "") + "{\"score\":";
    append_float(out, result.values[i]);
    out += ",\"label\":" + json_string(labels[i]) + "}";
  }
  return out + "]";
}

void predict(const TextModels& all, const RoutedRequest& request) {
  const TeiRequest tei(all, request);
  need_scores(*tei.model);
  bool single = false;
  const auto inputs = tei.json.pairs("inputs", all.options.max_texts, single);
  TeiTimes times(inputs);
  const bool raw = tei.json.flag("raw_scores", false);
  TextRun run{tei.model, TextOutput::raw_scores, {}, {}};
  run.texts = tokenize(*tei.model, inputs, tei.rules(tei.json), "inputs");
  times.tokenized();
  answer_texts(request.exchange, std::move(run), tei_error, [single, raw, times, model = tei.model](TextAnswer& answer) {
    if (!raw) to_probabilities(answer);
    const std::vector<std::string>& labels = model->encoder()->encoder().info().label_names;
    std::string out;
    for (const TextResult& result : answer.results) out += (out.empty() ? "" : ",") + predictions(result, labels);
    return with_times(json_response(single ? out : "[" + out + "]"), answer, times);
  });
}

HttpResponse reranked(const TextAnswer& answer, const std::vector<std::string>& texts, const TeiTimes& times) {
  std::string out = "[";
  for (const Rank& rank : ranked(answer)) {
    out += std::string(out.size() > 1 ? "," : "") + "{\"index\":" + std::to_string(rank.index);
    if (!texts.empty()) out += ",\"text\":" + json_string(texts[rank.index]);
    out += ",\"score\":";
    append_float(out, rank.score);
    out += "}";
  }
  return with_times(json_response(out + "]"), answer, times);
}

void rerank(const TextModels& all, const RoutedRequest& request) {
  const TeiRequest tei(all, request);
  need_reranker(*tei.model);
  const auto texts = tei.json.texts("texts", all.options.max_texts);
  const auto pairs = pairs_with(tei.json.text("query"), texts);
  TeiTimes times(pairs);
  const bool raw = tei.json.flag("raw_scores", false);
  TextRun run{tei.model, TextOutput::raw_scores, {}, {}};
  run.texts = tokenize(*tei.model, pairs, tei.rules(tei.json), "query");
  times.tokenized();
  std::vector<std::string> returned;
  if (tei.json.flag("return_text", false)) returned.assign(texts.begin(), texts.end());
  answer_texts(request.exchange, std::move(run), tei_error, [returned, raw, times](TextAnswer& answer) {
    if (!raw) to_probabilities(answer);
    return reranked(answer, returned, times);
  });
}

HttpResponse similar(TextAnswer& answer, const TeiTimes& times) {
  for (TextResult& result : answer.results) cut_and_normalize(result.values, {});
  const std::vector<float>& source = answer.results.front().values;
  std::vector<float> cosines;
  for (std::size_t i = 1; i < answer.results.size(); ++i) {
    double sum = 0;
    const std::vector<float>& other = answer.results[i].values;
    for (std::size_t k = 0; k < source.size(); ++k) sum += static_cast<double>(source[k]) * static_cast<double>(other[k]);
    cosines.push_back(static_cast<float>(sum));
  }
  std::string out;
  append_floats(out, cosines);
  return with_times(json_response(std::move(out)), answer, times);
}

void similarity(const TextModels& all, const RoutedRequest& request) {
  const TeiRequest tei(all, request);
  need_vectors(*tei.model);
  const JsonRequest inputs = tei.json.object("inputs");
  TextInputs texts;
  texts.texts = {inputs.text("source_sentence")};
  for (const std::string_view text : inputs.texts("sentences", all.options.max_texts)) texts.texts.push_back(text);
  TeiTimes times(texts);
  const TextRules rules = tei.rules(tei.json.object("parameters"));
  TextRun run{tei.model, TextOutput::vectors, rules.prompt, tokenize(*tei.model, texts, rules, "inputs")};
  times.tokenized();
  answer_texts(request.exchange, std::move(run), tei_error, [times](TextAnswer& answer) { return similar(answer, times); });
}

// POST /: what the model is for, as TEI does.
void by_kind(const TextModels& all, const RoutedRequest& request) {
  const TeiRequest tei(all, request);
  const bool vectors = tei.model->encoder()->encoder().info().labels == 0;
  if (vectors) return tei.json.is_object("inputs") ? similarity(all, request) : embed(all, request);
  if (tei.json.has("query") && tei.json.has("texts")) return rerank(all, request);
  predict(all, request);
}

}  // namespace

HttpResponse tei_error(const TextError& error) {
  const std::string json = JsonObject().add("error", error.what()).add("error_type", name(error.fault)).text();
  return with_retry(json_response(json, status_of(error.fault)), error);
}

void add_tei_routes(Router& router, const std::shared_ptr<const TextModels>& models) {
  RouteFamily tei = router.family([](Code code, std::string_view message) {
    return tei_error(as_text_error(RequestError(code, std::string(message))));
  });
  const std::pair<const char*, TextHandler> posts[] = {{"/embed", embed},       {"/embed_all", embed_all},   {"/predict", predict},
                                                       {"/rerank", rerank},     {"/similarity", similarity}, {"/tokenize", tei_tokenize},
                                                       {"/decode", tei_decode}};
  for (const std::string base : {"", "/models/{model}"}) {
    for (const auto& [path, handle] : posts) tei.add("POST", base + path, text_route(models, tei_error, handle));
    tei.add("POST", base + "/embed_sparse", [](const RoutedRequest&) {
      throw RequestError(Code::unsupported, "this server has no sparse pooling (SPLADE) yet");
    });
    tei.get(base + "/info", [models](const RoutedRequest& request) { return tei_info(*models, request); });
  }
  tei.add("POST", "/", text_route(models, tei_error, by_kind));
  for (const char* path : {"/health", "/ping"})
    tei.get(path, [models](const RoutedRequest&) {
      if (models->models->ready()) return HttpResponse{};
      return tei_error(TextError(TextFault::unavailable, "unhealthy"));
    });
}

}  // namespace tenfold::server
