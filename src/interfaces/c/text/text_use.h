/* What text_use.c does for text_test.cpp, with a folder whose words are w0 to w11. */
#ifndef TENFOLD_TEXT_USE_H
#define TENFOLD_TEXT_USE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each returns the failing line, or 0. */
/* `ids` gets 12 greedy tokens behind w1 w2 w3. */
int tenfold_generate_from_c(const char* folder, int32_t* ids);
int tenfold_sampling_from_c(const char* folder);
int tenfold_chat_from_c(const char* folder);
/* Rows of logits behind w1 w2 w3 and w4. */
int tenfold_session_from_c(const char* folder, float* rows);
/* Logits behind w1 w2 w3 of a decoder with an int8 cache. */
int tenfold_int8_cache_from_c(const char* folder, float* rows);
int tenfold_decoder_faults_from_c(const char* folder);
/* Rounds to int8 by GPTQ into `output`. */
int tenfold_quantize_decoder_from_c(const char* folder, const char* output);

#ifdef __cplusplus
}
#endif
#endif
