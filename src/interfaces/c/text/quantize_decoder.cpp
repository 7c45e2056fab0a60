// Quantized decoders, and evaluations of decoders, from C.
#include "tenfold/c/quantize_decoder.h"

#include "c/text/text.h"
#include "tenfold/quantize_decoder.h"

using namespace tenfold;
using namespace tenfold::c;

struct tenfold_quantize_decoder_report {
  QuantizeDecoderReport report;
};

namespace {

std::vector<std::string> texts_of(const char* const* texts, std::int32_t count) {
  require(count >= 0, ErrorKind::invalid_argument, "there are ", count, " texts");
  std::vector<std::string> all;
  for (std::int32_t i = 0; i < count; ++i) all.emplace_back(&need((&need(texts, "the texts"))[i], "a text"));
  return all;
}

tenfold_decoder_evaluation information(const DecoderEvaluation& e) {
  return {sizeof(tenfold_decoder_evaluation), e.texts, e.short_texts, e.cut_texts, 0, e.tokens, e.perplexity, e.reference_perplexity,
          e.kl_divergence, e.same_token};
}

QuantizeDecoderOptions options_of(const tenfold_quantize_decoder_options* given) {
  QuantizeDecoderOptions options;
  if (!given) return options;
  const tenfold_quantize_decoder_options o = taken(given, "the options of quantization");
  if (o.method) options.method = o.method;
  options.texts = texts_of(o.texts, o.text_count);
  if (o.samples != 0) options.samples = o.samples;
  if (o.max_tokens != 0) options.max_tokens = o.max_tokens;
  options.threads = o.threads;
  return options;
}

}  // namespace

extern "C" tenfold_status tenfold_decoder_load_for_evaluation(const char* path, const tenfold_decoder_options* options,
                                                              tenfold_decoder** decoder) {
  return guarded([&] {
    place(decoder, "the place for the decoder",
          [&] { return new tenfold_decoder{load_for_evaluation(&need(path, "the path"), decoder_options_of(options))}; });
  });
}
extern "C" tenfold_status tenfold_decoder_evaluate(const tenfold_decoder* decoder, const char* const* texts, int32_t count,
                                                   const tenfold_decoder* reference, int32_t max_tokens,
                                                   tenfold_decoder_evaluation* evaluation) {
  return guarded([&] {
    need(evaluation, "the place for the evaluation");
    const Decoder& of = need(decoder, "the decoder").decoder;
    const std::vector<std::string> all = texts_of(texts, count);
    give(evaluation, information(evaluate_decoder(of, all, reference ? &reference->decoder : nullptr, {.max_tokens = max_tokens})),
         "the place for the evaluation");
  });
}

extern "C" tenfold_status tenfold_quantize_decoder(const char* folder, const char* output, const char* weights,
                                                   const tenfold_quantize_decoder_options* options,
                                                   tenfold_quantize_decoder_report** report) {
  return guarded([&] {
    if (report) *report = nullptr;
    QuantizeDecoderReport made = quantize_decoder(&need(folder, "the folder"), &need(output, "the output's path"),
                                                  &need(weights, "the type of the weights"), options_of(options));
    if (report) *report = new tenfold_quantize_decoder_report{std::move(made)};
  });
}
extern "C" void tenfold_quantize_decoder_report_free(tenfold_quantize_decoder_report* report) { delete report; }

extern "C" tenfold_status tenfold_quantize_decoder_report_info(const tenfold_quantize_decoder_report* report,
                                                               tenfold_quantize_decoder_info* info) {
  return guarded([&] {
    const QuantizeDecoderReport& r = need(report, "the report").report;
    give(info,
         tenfold_quantize_decoder_info{0, static_cast<std::int32_t>(r.layers.size()), r.evaluation.has_value(), r.bytes_before,
                                       r.bytes_after, r.calibration_tokens, information(r.evaluation.value_or(DecoderEvaluation{}))},
         "the place for the information");
  });
}
extern "C" tenfold_status tenfold_quantize_decoder_report_layer(const tenfold_quantize_decoder_report* report, int32_t index,
                                                                tenfold_quantize_decoder_layer* layer) {
  return guarded([&] {
    const QuantizeDecoderReport::Layer& one = element(need(report, "the report").report.layers, index, "layer");
    give(layer, tenfold_quantize_decoder_layer{0, one.name.c_str(), one.error, one.output_error, one.output_error_nearest},
         "the place for the layer");
  });
}
