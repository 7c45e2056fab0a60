/* Decoders' folders with weights of 4 or 8 bits, and how well decoders predict texts (tenfold-text). tenfold/quantize_decoder.h and
 * tenfold/evaluate_decoder.h explain the fields. Texts are UTF-8. */
#ifndef TENFOLD_C_QUANTIZE_DECODER_H
#define TENFOLD_C_QUANTIZE_DECODER_H

#include "tenfold/c/decoder.h"
#include "tenfold/c/status.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Means over all tokens that have another one in front of them. Without a reference its fields are 0. */
typedef struct {
  size_t struct_size;
  int32_t texts, short_texts, cut_texts;
  int32_t reserved;
  int64_t tokens;
  double perplexity, reference_perplexity, kl_divergence, same_token;
} tenfold_decoder_evaluation;
/* A decoder for tenfold_decoder_evaluate(): of `options`, which may be null, `speculate` and `prompt_chunk` are its own. */
TENFOLD_API tenfold_status tenfold_decoder_load_for_evaluation(const char* path, const tenfold_decoder_options* options,
                                                               tenfold_decoder** decoder);
/* `reference` may be null. `max_tokens`: of a text; 0: as many as both decoders have places for. Set evaluation->struct_size. */
TENFOLD_API tenfold_status tenfold_decoder_evaluate(const tenfold_decoder* decoder, const char* const* texts, int32_t count,
                                                    const tenfold_decoder* reference, int32_t max_tokens,
                                                    tenfold_decoder_evaluation* evaluation);

/* A field of 0 or null means the default. */
typedef struct {
  size_t struct_size;
  const char* method;          /* "rtn", "gptq" or "awq" */
  const char* const* texts;
  int32_t text_count;
  int32_t samples, max_tokens, threads;
} tenfold_quantize_decoder_options;
/* What was done. Text lives as long as it. */
typedef struct tenfold_quantize_decoder_report tenfold_quantize_decoder_report;
/* Writes the folder `output`, which does not exist yet. `weights`: "int4:g32", "int8" and so on. `options` and `report` may be null; a
 * report is the caller's to free. */
TENFOLD_API tenfold_status tenfold_quantize_decoder(const char* folder, const char* output, const char* weights,
                                                    const tenfold_quantize_decoder_options* options,
                                                    tenfold_quantize_decoder_report** report);
TENFOLD_API void tenfold_quantize_decoder_report_free(tenfold_quantize_decoder_report* report);

typedef struct {
  size_t struct_size;
  int32_t layers;
  int32_t has_evaluation;      /* whether there were texts, so that the fields below are set */
  int64_t bytes_before, bytes_after;
  int64_t calibration_tokens;
  tenfold_decoder_evaluation evaluation;   /* the folder that was written, beside the one that was read in f32, on texts held out */
} tenfold_quantize_decoder_info;
TENFOLD_API tenfold_status tenfold_quantize_decoder_report_info(const tenfold_quantize_decoder_report* report,
                                                                tenfold_quantize_decoder_info* info);
typedef struct {
  size_t struct_size;
  const char* name;
  double error;                              /* of weights, relative */
  double output_error, output_error_nearest; /* with texts */
} tenfold_quantize_decoder_layer;
TENFOLD_API tenfold_status tenfold_quantize_decoder_report_layer(const tenfold_quantize_decoder_report* report, int32_t index,
                                                                 tenfold_quantize_decoder_layer* layer);

#ifdef __cplusplus
}
#endif
#endif
