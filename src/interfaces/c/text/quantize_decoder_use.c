/* Quantized decoders and evaluations used from C. Called by text_test.cpp. */
#include <string.h>

#include "tenfold/c_api.h"
#include "text_use.h"

#define EXPECT(condition) do { if (!(condition)) return __LINE__; } while (0)
#define REFUSED(call, part) EXPECT((call) == TENFOLD_INVALID_ARGUMENT && strstr(tenfold_last_error(), part) != NULL)

static const char* const kTexts[4] = {"w1 w2 w3 w4 w5", "w5 w4 w3 w2", "w9 w8 w1 w7 w2", "w2 w2 w6 w3 w1 w4"};

static tenfold_status load(const char* folder, tenfold_decoder** decoder) {
  tenfold_build_config build;
  tenfold_decoder_options options;
  memset(&build, 0, sizeof build), memset(&options, 0, sizeof options);
  build.struct_size = sizeof build, options.struct_size = sizeof options;
  build.optimization_level = TENFOLD_LEVEL_UNTIMED, build.threads = 1, build.no_tf32 = 1;
  options.build = &build, options.no_cache = 1;
  return tenfold_decoder_load_for_evaluation(folder, &options, decoder);
}

int tenfold_quantize_decoder_from_c(const char* folder, const char* output) {
  tenfold_decoder *before = NULL, *after = NULL;
  tenfold_decoder_evaluation evaluation;
  tenfold_quantize_decoder_options options;
  tenfold_quantize_decoder_report* report = NULL;
  tenfold_quantize_decoder_info info;
  tenfold_quantize_decoder_layer layer;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options, info.struct_size = sizeof info, layer.struct_size = sizeof layer;
  evaluation.struct_size = sizeof evaluation;
  options.method = "gptq";
  REFUSED(tenfold_quantize_decoder(folder, output, "int8", &options, &report), "needs texts");
  options.texts = kTexts, options.text_count = -1;
  REFUSED(tenfold_quantize_decoder(folder, output, "int8", &options, &report), "-1 texts");
  options.text_count = 4, options.threads = 1;
  REFUSED(tenfold_quantize_decoder(folder, output, "int5", &options, &report), "int5");
  EXPECT(report == NULL);
  EXPECT(tenfold_quantize_decoder(folder, output, "int8", &options, &report) == TENFOLD_OK);
  EXPECT(tenfold_quantize_decoder_report_info(report, &info) == TENFOLD_OK);
  EXPECT(info.layers == 14 && info.has_evaluation == 1 && info.calibration_tokens == 10);
  EXPECT(info.evaluation.texts == 2 && info.evaluation.tokens == 8 && info.bytes_after > 0 && info.bytes_before > 0);
  EXPECT(tenfold_quantize_decoder_report_layer(report, 13, &layer) == TENFOLD_OK);
  EXPECT(strlen(layer.name) > 0 && layer.error > 0 && layer.output_error > 0 && layer.output_error_nearest > 0);
  REFUSED(tenfold_quantize_decoder_report_layer(report, 14, &layer), "no layer 14");
  EXPECT(load(folder, &before) == TENFOLD_OK && load(output, &after) == TENFOLD_OK);
  REFUSED(tenfold_decoder_evaluate(after, NULL, 1, before, 0, &evaluation), "texts is null");
  EXPECT(tenfold_decoder_evaluate(after, kTexts, 4, before, 5, &evaluation) == TENFOLD_OK);
  EXPECT(evaluation.texts == 4 && evaluation.cut_texts == 1 && evaluation.short_texts == 0 && evaluation.tokens == 15);
  EXPECT(evaluation.perplexity > 1 && evaluation.kl_divergence > 0 && evaluation.kl_divergence < 0.05);
  EXPECT(tenfold_decoder_evaluate(before, kTexts, 4, NULL, 0, &evaluation) == TENFOLD_OK);
  EXPECT(evaluation.tokens == 16 && evaluation.reference_perplexity == 0 && evaluation.cut_texts == 0);
  tenfold_decoder_free(before), tenfold_decoder_free(after);
  tenfold_quantize_decoder_report_free(report);
  return 0;
}
