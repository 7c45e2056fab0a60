/* Decoders: language models that continue a text token by token, from a folder as transformers saves it
 * (tenfold-text). tenfold/decoder.h explains them. Texts are UTF-8. */
#ifndef TENFOLD_C_DECODER_H
#define TENFOLD_C_DECODER_H

#include "tenfold/c/build.h"
#include "tenfold/c/engine.h"
#include "tenfold/c/run.h"
#include "tenfold/c/status.h"
#include "tenfold/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Threads may share a decoder. */
typedef struct tenfold_decoder tenfold_decoder;
typedef struct {
  size_t struct_size;
  const tenfold_build_config* build; /* without profiles; null: on the CPU, at optimization level 1 */
  const char* cache_folder;          /* of the plan cache; null: the usual one */
  const char* weights;               /* of linear layers, rounded to: "int4:g32", "int8", "nvfp4"; null: as the folder has them */
  int64_t cache_bytes;               /* of all its plans; 0: the default, below 0: no limit */
  int32_t no_cache;
  int32_t max_length;                /* tokens of a sequence; 0: as many as the model has places for, at most 4,096 */
  int32_t max_batch;                 /* sequences at once; 0: 1 */
  int32_t prompt_chunk;              /* tokens of a prompt that one run computes; 0: 512 */
  int32_t speculate;                 /* tokens that a step may guess by the text's own n-grams and check */
  int32_t reserved;                  /* 0 */
  const char* kv_cache_dtype;        /* of keys and values in the cache: "int8" (CPUs); null: what attention computes with */
} tenfold_decoder_options;
/* Reads the folder; the engine is made, or taken from the cache, by the first call that needs it. `options` may be null. */
TENFOLD_API tenfold_status tenfold_decoder_load(const char* folder, const tenfold_decoder_options* options, tenfold_decoder** decoder);
/* Sessions and engines that came from it live on. */
TENFOLD_API void tenfold_decoder_free(tenfold_decoder* decoder);

typedef struct {
  size_t struct_size;
  const char* architecture;
  const char* tokenizer_folder;      /* where the tokenizer was read */
  const char* weights;               /* of linear layers: "int4:g32"; empty: floats */
  const int32_t* end_tokens;         /* which end a text */
  int64_t cache_bytes;               /* keys and values of one sequence */
  int32_t end_token_count;
  int32_t layers, vocabulary, max_length, max_batch, speculate;
  int32_t has_chat_template;
  int32_t reserved;
  const char* kv_cache_dtype; /* of keys and values in the cache: "f32", "bf16", "f16", "int8" */
} tenfold_decoder_information;
/* Set info->struct_size before the call. */
TENFOLD_API tenfold_status tenfold_decoder_info(const tenfold_decoder* decoder, tenfold_decoder_information* info);
/* Of all calls so far; seconds of the caller's clock, steps of a batch count once. */
typedef struct {
  size_t struct_size;
  int64_t prompt_tokens, new_tokens, prompt_runs, steps, guessed_tokens, accepted_tokens;
  double prompt_s, step_s;
} tenfold_decoder_counts_information;
TENFOLD_API tenfold_status tenfold_decoder_counts(const tenfold_decoder* decoder, tenfold_decoder_counts_information* counts);
/* Makes the engine now. `engine` may be null; free it by tenfold_engine_free(). */
TENFOLD_API tenfold_status tenfold_decoder_prepare(const tenfold_decoder* decoder, tenfold_engine** engine);

/* Ids of a text. `special_tokens`: those that the tokenizer puts around it. On entry *count is the room at `ids`, which may be
 * null; on return it is how many there are. */
TENFOLD_API tenfold_status tenfold_decoder_encode(const tenfold_decoder* decoder, const char* text, int32_t special_tokens,
                                                  int32_t* ids, int32_t* count);
/* The text of ids. On entry *bytes is the room at `text`, which may be null; on return it is what the text takes with its
 * final zero. A text that has less room is cut and ends in a zero. */
TENFOLD_API tenfold_status tenfold_decoder_decode(const tenfold_decoder* decoder, const int32_t* ids, int32_t count, char* text,
                                                  int64_t* bytes);

/* Told each new token with the text that it completed; what was held back at the end comes with the token -1. Returning 0
 * ends that sequence. */
typedef int32_t (*tenfold_token_function)(void* user, int32_t sequence, int32_t token, const char* text, int64_t bytes);
/* May change the logits that the next token is chosen by. */
typedef void (*tenfold_logits_function)(void* user, int32_t sequence, const int32_t* ids, int64_t count, float* logits,
                                        int64_t vocabulary);
/* Zeros are the defaults: 128 tokens, greedy. */
typedef struct {
  size_t struct_size;
  int32_t max_tokens;                /* 0: 128; below 0: none */
  int32_t top_k;
  float temperature, top_p, min_p;   /* a top_p of 0 is 1 */
  float repetition_penalty;          /* 0: 1 */
  uint64_t seed;                     /* sequence i draws by seed + i */
  const char* const* stop;           /* texts that end a sequence and are cut off */
  int32_t stop_count;
  int32_t ignore_end;                /* whether sequences go on behind tokens that end a text */
  int32_t speculate;                 /* 0: as the decoder was loaded; below 0: none; above: at most so many tokens */
  int32_t reserved;                  /* 0 */
  tenfold_token_function token;      /* each may be null */
  tenfold_logits_function logits;
  void* user;                        /* for both */
  const tenfold_run_options* run;    /* may be null; its token and timeout end the call, which returns what there is */
} tenfold_generate_options;
/* What continues prompts. */
typedef struct tenfold_generated tenfold_generated;
/* `options` may be null. */
TENFOLD_API tenfold_status tenfold_decoder_generate(const tenfold_decoder* decoder, const char* const* prompts, int32_t count,
                                                    const tenfold_generate_options* options, tenfold_generated** results);
/* The same for `count` lists of ids; list i has sizes[i] of them. */
TENFOLD_API tenfold_status tenfold_decoder_generate_ids(const tenfold_decoder* decoder, const int32_t* const* prompts,
                                                        const int32_t* sizes, int32_t count,
                                                        const tenfold_generate_options* options, tenfold_generated** results);
TENFOLD_API void tenfold_generated_free(tenfold_generated* results);
TENFOLD_API int32_t tenfold_generated_count(const tenfold_generated* results);
typedef struct {
  size_t struct_size;
  const char* text;                  /* ends in a zero */
  int64_t bytes;                     /* without it */
  const int32_t* ids;                /* new tokens, without one that ended the text */
  const char* finish;                /* "max_tokens", "end_token", "stop_text", "callback", "max_length" or "cancelled" */
  int32_t id_count;
  int32_t prompt_tokens, reused_tokens;
  int32_t reserved;
} tenfold_generated_information;
/* Set info->struct_size before the call. */
TENFOLD_API tenfold_status tenfold_generated_get(const tenfold_generated* results, int32_t index, tenfold_generated_information* info);

typedef struct {
  const char* role;                  /* "system", "user", "assistant" */
  const char* content;
} tenfold_chat_message;
typedef struct {
  size_t struct_size;
  const char* chat_template;         /* one of the folder's by name, or the text of another; null: the folder's own */
  const char *tools, *documents;     /* lists of JSON; null: none */
  const char* variables;             /* an object of JSON: what else the template reads; null: none */
  int32_t no_generation_prompt;      /* whether the text does not begin the assistant's next message */
  int32_t reserved;
} tenfold_chat_options;
/* The text that the chat template makes of a conversation; room as in tenfold_decoder_decode(). `options` may be null. */
TENFOLD_API tenfold_status tenfold_decoder_apply_chat_template(const tenfold_decoder* decoder, const tenfold_chat_message* messages,
                                                               int32_t count, const tenfold_chat_options* options, char* text,
                                                               int64_t* bytes);
/* The same for messages as a list of JSON. */
TENFOLD_API tenfold_status tenfold_decoder_apply_chat_template_json(const tenfold_decoder* decoder, const char* messages,
                                                                    const tenfold_chat_options* options, char* text, int64_t* bytes);
/* The model's next message, as the one result. */
TENFOLD_API tenfold_status tenfold_decoder_chat(const tenfold_decoder* decoder, const tenfold_chat_message* messages, int32_t count,
                                                const tenfold_chat_options* chat, const tenfold_generate_options* options,
                                                tenfold_generated** results);

/* Sequences with their keys and values, to be continued token by token. One thread uses it at a time. */
typedef struct tenfold_decoder_session tenfold_decoder_session;
TENFOLD_API tenfold_status tenfold_decoder_start(const tenfold_decoder* decoder, int32_t sequences, tenfold_decoder_session** session);
TENFOLD_API void tenfold_decoder_session_free(tenfold_decoder_session* session);
TENFOLD_API int32_t tenfold_decoder_session_size(const tenfold_decoder_session* session);
/* The tokens of a sequence so far, until the session's next call. */
TENFOLD_API tenfold_status tenfold_decoder_session_ids(const tenfold_decoder_session* session, int32_t sequence, const int32_t** ids,
                                                       int32_t* count);
/* Appends sizes[i] tokens to sequence i of `count`. *logits are a row for each sequence, behind its last token, until the
 * session's next call; rows of sequences that got none are zeros. `run` and `logits` may be null. */
TENFOLD_API tenfold_status tenfold_decoder_session_append(tenfold_decoder_session* session, const int32_t* const* tokens,
                                                          const int32_t* sizes, int32_t count, const tenfold_run_options* run,
                                                          const float** logits);
/* The same with a row behind each of these tokens, at most the decoder's `speculate` + 1 of each sequence. */
TENFOLD_API tenfold_status tenfold_decoder_session_append_each(tenfold_decoder_session* session, const int32_t* const* tokens,
                                                               const int32_t* sizes, int32_t count, const tenfold_run_options* run,
                                                               const float** logits);
/* Forgets a sequence's tokens from `length` on. */
TENFOLD_API tenfold_status tenfold_decoder_session_truncate(tenfold_decoder_session* session, int32_t sequence, int32_t length);
/* A copy, which goes its own way. */
TENFOLD_API tenfold_status tenfold_decoder_session_fork(const tenfold_decoder_session* session, tenfold_decoder_session** copy);

#ifdef __cplusplus
}
#endif
#endif
