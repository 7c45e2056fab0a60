#include "routes/tei_parts.h"

#include <algorithm>
#include <cctype>

#include "observe/json_writer.h"
#include "protocol/json_text.h"
#include "tenfold/version.h"

namespace tenfold::server {
namespace {

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// Of UTF-8: the bytes of characters `begin` to `end`.
std::string_view part(std::string_view text, std::int32_t begin, std::int32_t end) {
  std::size_t at = 0, first = text.size();
  for (std::int32_t i = 0; at < text.size() && i < end; ++i) {
    if (i == begin) first = at;
    ++at;
    while (at < text.size() && (text[at] & 0xc0) == 0x80) ++at;
  }
  return begin < end ? text.substr(std::min(first, at), at - std::min(first, at)) : std::string_view();
}

std::string tokens(const Tokenizer& tokenizer, std::string_view text, bool special) {
  const Encoding encoding = tokenizer.encode(text, special);
  JsonList out;
  for (std::size_t i = 0; i < encoding.size(); ++i) {
    const bool special_one = encoding.special[i] != 0;
    JsonObject token;
    token.add("id", encoding.ids[i]);
    if (special_one) token.add("text", tokenizer.token(encoding.ids[i])).add("special", true).raw("start", "null").raw("stop", "null");
    else
      token.add("text", part(text, encoding.begins[i], encoding.ends[i]))
          .add("special", false)
          .add("start", encoding.begins[i])
          .add("stop", encoding.ends[i]);
    out.add(token);
  }
  return out.text();
}

std::string kind_of(const Model& model) {
  const EncoderInfo& info = model.encoder()->encoder().info();
  if (info.labels == 0) return JsonObject().raw("embedding", JsonObject().add("pooling", "by the folder").text()).text();
  JsonObject by_id, by_label;
  for (std::size_t i = 0; i < info.label_names.size(); ++i)
    by_id.add(std::to_string(i), info.label_names[i]), by_label.add(info.label_names[i], i);
  const std::string labels = JsonObject().raw("id2label", by_id.text()).raw("label2id", by_label.text()).text();
  return JsonObject().raw(info.labels > 1 ? "classifier" : "reranker", labels).text();
}

std::string milliseconds(std::chrono::nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

}  // namespace

TeiRequest::TeiRequest(const TextModels& all, const RoutedRequest& request)
    : options(all.options), json(request.exchange->request().text()) {
  const std::string by_path = request.get("model");
  model = find_text_model(all, by_path.empty() ? json.text_or("model", "") : by_path);
}

TextRules TeiRequest::rules(const JsonRequest& fields) const {
  TextRules rules;
  const ServedEncoder& encoder = *model->encoder();
  rules.prompt = encoder.prompt();
  if (const std::string name = fields.text_or("prompt_name", ""); !name.empty()) {
    const auto& prompts = encoder.encoder().info().prompts;
    const auto found = prompts.find(name);
    if (found == prompts.end())
      throw TextError(TextFault::field, "'prompt_name' is '" + name + "', which is none of the prompts of '" + model->name() + "'",
                      "prompt_name");
    rules.prompt = found->second;
  }
  rules.truncate = fields.flag("truncate", options.truncate);
  std::string direction = fields.text_or("truncation_direction", "");
  std::transform(direction.begin(), direction.end(), direction.begin(), [](unsigned char c) { return std::tolower(c); });
  if (direction == "left") rules.kept = KeptTokens::last;
  else if (direction == "right") rules.kept = KeptTokens::first;
  else if (!direction.empty())
    throw TextError(TextFault::field, "'truncation_direction' is '" + direction + "', left or right was expected", "truncation_direction");
  return rules;
}

TeiTimes::TeiTimes(const TextInputs& inputs) {
  for (const std::string_view text : inputs.texts) characters_ += characters(text);
}
TeiTimes::TeiTimes(const std::vector<TextOrPair>& inputs) {
  for (const TextOrPair& input : inputs) characters_ += characters(input.first) + (input.second ? characters(*input.second) : 0);
}

HttpResponse TeiTimes::add_to(HttpResponse response, const TextAnswer& answer) const {
  const auto total = std::chrono::steady_clock::now() - start_;
  for (const auto& [name, value] : {std::pair<const char*, std::string>{"x-compute-type", "tenfold"},
                                    {"x-compute-characters", std::to_string(characters_)},
                                    {"x-compute-tokens", std::to_string(answer.tokens)},
                                    {"x-compute-time", milliseconds(total)},
                                    {"x-total-time", milliseconds(total)},
                                    {"x-tokenization-time", milliseconds(tokenized_ - start_)},
                                    {"x-queue-time", milliseconds(answer.queued)},
                                    {"x-inference-time", milliseconds(answer.computed)}})
    response.headers.emplace_back(name, value);
  return response;
}

void tei_tokenize(const TextModels& all, const RoutedRequest& request) {
  const TeiRequest tei(all, request);
  const TextInputs inputs = tei.json.inputs("inputs", all.options.max_texts, false);
  const bool special = tei.json.flag("add_special_tokens", true);
  const Tokenizer& tokenizer = tei.model->encoder()->encoder().tokenizer();
  const std::string prompt = tei.rules(tei.json).prompt;
  std::string out;
  for (const std::string_view text : inputs.texts) {
    try {
      out += (out.empty() ? "[" : ",") + tokens(tokenizer, prompt + std::string(text), special);
    } catch (const Error& error) {
      throw TextError(TextFault::tokenizer, error.what(), "inputs");
    }
  }
  request.exchange->respond(json_response(out + "]"));
}

void tei_decode(const TextModels& all, const RoutedRequest& request) {
  const TeiRequest tei(all, request);
  const TextInputs inputs = tei.json.ids("ids", all.options.max_texts);
  const bool skip = tei.json.flag("skip_special_tokens", true);
  const Tokenizer& tokenizer = tei.model->encoder()->encoder().tokenizer();
  std::string out;
  for (const auto& ids : inputs.ids) {
    for (const std::int32_t id : ids)
      if (id >= tokenizer.vocabulary_size())
        throw TextError(TextFault::tokenizer, "'ids' has the token id " + std::to_string(id) + ", but the vocabulary has the ids 0 to " +
                                                  std::to_string(tokenizer.vocabulary_size() - 1), "ids");
    out += (out.empty() ? "[" : ",") + json_string(tokenizer.decode(ids, skip));
  }
  request.exchange->respond(json_response(out + "]"));
}

HttpResponse tei_info(const TextModels& all, const RoutedRequest& request) {
  const std::shared_ptr<Model> model = find_text_model(all, request.get("model"));
  const QueueOptions& queue = model->options().queue;
  const EncoderPrecision precision = model->options().encoder->encoder.precision;
  const char* dtype = precision == EncoderPrecision::fp16 ? "float16" : precision == EncoderPrecision::bf16 ? "bfloat16" : "float32";
  return json_response(JsonObject()
                           .add("model_id", model->name())
                           .raw("model_sha", "null")
                           .add("model_dtype", dtype)
                           .add("served_model_name", model->name())
                           .raw("model_type", kind_of(*model))
                           .add("max_concurrent_requests", queue.max_requests)
                           .add("max_input_length", model->encoder()->encoder().info().max_tokens)
                           .add("max_batch_tokens", queue.max_tokens)
                           .add("max_batch_requests", model->max_batch())
                           .add("max_client_batch_size", all.options.max_texts)
                           .add("auto_truncate", all.options.truncate)
                           .add("tokenization_workers", all.tokenizers.size())
                           .add("version", version())
                           .raw("sha", "null")
                           .raw("docker_label", "null")
                           .text());
}

}  // namespace tenfold::server
