#include "verbs/quantize_folder.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "console.h"
#include "data/data.h"
#include "tenfold/quantize_decoder.h"

namespace tenfold::cli {
namespace {

using Json = nlohmann::ordered_json;

// Other flags of ONNX files mean nothing here.
void check(const Arguments& arguments, const FolderArguments& given, const FolderWish& w) {
  if (given.output.empty()) throw UsageError("say where to write the folder: -o OUT");
  static const std::set<std::string> taken{"weights", "method", "data", "samples", "maxTokens", "threads", "json"};
  for (const std::string& one : arguments)
    if (one.starts_with("--") && !taken.contains(one.substr(2, one.find('=') - 2)))
      throw UsageError(printable(one) + " is for ONNX files; a folder of a language model takes -o, --weights, --method, --data, "
                                        "--samples, --maxTokens, --threads and --json");
  if (given.data.empty() && (given.samples > 0 || w.max_tokens > 0))
    throw UsageError("--samples and --maxTokens are for --data=TEXTS: give a file of texts, one a line");
  if (given.data.empty() && !w.method.empty() && w.method != "rtn")
    throw UsageError("--method=" + w.method + " needs --data=TEXTS: a file of texts as the model will read, one a line");
}

Json json_of(const QuantizeDecoderReport& r, const FolderWish& w, const FolderArguments& given) {
  Json layers = Json::array();
  for (const QuantizeDecoderReport::Layer& one : r.layers) {
    Json layer{{"name", one.name}, {"weight_error", one.error}};
    if (r.evaluation) layer["output_error"] = one.output_error, layer["output_error_rtn"] = one.output_error_nearest;
    layers.push_back(layer);
  }
  Json json{{"folder", given.output},     {"weights", w.weights},         {"method", w.method.empty() ? "rtn" : w.method},
            {"bytes_before", r.bytes_before}, {"bytes_after", r.bytes_after}, {"layers", layers}};
  if (!r.evaluation) return json;
  const DecoderEvaluation& e = *r.evaluation;
  json["calibration_tokens"] = r.calibration_tokens, json["held_out_texts"] = e.texts, json["held_out_tokens"] = e.tokens;
  json["perplexity_before"] = e.reference_perplexity, json["perplexity"] = e.perplexity, json["kl_divergence"] = e.kl_divergence;
  json["same_token"] = e.same_token;
  return json;
}

void print(const QuantizeDecoderReport& r, const FolderWish& w, const FolderArguments& given) {
  for (const QuantizeDecoderReport::Layer& one : r.layers)
    if (r.evaluation)
      std::printf("%-60s error of results %.4f (rtn %.4f), of weights %.4f\n", printable(one.name).c_str(), one.output_error,
                  one.output_error_nearest, one.error);
    else
      std::printf("%-60s relative error %.4f\n", printable(one.name).c_str(), one.error);
  std::printf("%zu layers have weights of %s in %s\nbytes of weights: %lld, were %lld\n", r.layers.size(), w.weights.c_str(),
              printable(given.output).c_str(), static_cast<long long>(r.bytes_after), static_cast<long long>(r.bytes_before));
  if (!r.evaluation) return;
  const DecoderEvaluation& e = *r.evaluation;
  std::printf("calibrated on %lld tokens; on %lld tokens of %d texts held out: perplexity %.4f, was %.4f in f32; KL divergence %.5f; "
              "the same most probable token at %.1f %%\n",
              static_cast<long long>(r.calibration_tokens), static_cast<long long>(e.tokens), e.texts, e.perplexity, e.reference_perplexity,
              e.kl_divergence, 100 * e.same_token);
}

}  // namespace

void add_folder_flags(Flags& flags, FolderWish& w) {
  flags.group("Folders of language models (config.json, safetensors)");
  flags.add_text("weights", w.weights, "int4|int8[:gN]|mxfp4|nvfp4",
                 "write OUT, a folder with linear layers of 4 or 8 bits, in groups of N inputs with a scale each, or of e2m1 (mxfp4: "
                 "e8m0 per 32, nvfp4: e4m3 per 16; by rtn): in the layout of compressed-tensors, GPT-2 in GPTQ's; of an ONNX file the "
                 "same as --nbits and --group");
  flags.add_text("method", w.method, "rtn|gptq|awq",
                 "how weights are rounded: rtn (default; to the nearest), or by what they meet in --data, a text a line, of which every "
                 "second one is held out for errors, perplexity and KL divergence");
  flags.add({"maxTokens", "N", "leave out what is behind N tokens of a text (512)",
             [&w](const std::string& text) { w.max_tokens = parse_int("maxTokens", text, 2); }});
  flags.add_switch("json", w.json, "one JSON object on standard output");
}

void check_no_folder(const FolderWish& w) {
  if (!w.method.empty() || w.max_tokens > 0 || w.json)
    throw UsageError("--method, --maxTokens and --json are for folders of language models; an ONNX file's weights are rounded by GPTQ and "
                     "AWQ where --data is given and the outputs are closer then");
}

int quantize_folder(const Arguments& arguments, const std::string& folder, const FolderArguments& given, const FolderWish& w) {
  check(arguments, given, w);
  QuantizeDecoderOptions options;
  if (!w.method.empty()) options.method = w.method;
  if (!given.data.empty()) options.texts = read_texts("data", given.data);
  if (given.samples > 0) options.samples = given.samples;
  if (w.max_tokens > 0) options.max_tokens = w.max_tokens;
  options.threads = given.threads;
  const QuantizeDecoderReport report = quantize_decoder(folder, given.output, w.weights, options);
  if (w.json) std::printf("%s\n", json_of(report, w, given).dump(2).c_str());
  else print(report, w, given);
  return kOk;
}

}  // namespace tenfold::cli
