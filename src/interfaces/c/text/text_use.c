/* Decoders used from C. Called by text_test.cpp. */
#include "text_use.h"

#include <string.h>

#include "tenfold/c_api.h"

#define EXPECT(condition) do { if (!(condition)) return __LINE__; } while (0)

static const int32_t kPrompt[3] = {1, 2, 3};

static tenfold_status load(const char* folder, int32_t max_batch, int32_t speculate, tenfold_decoder** decoder) {
  tenfold_build_config build;
  tenfold_decoder_options options;
  memset(&build, 0, sizeof build), memset(&options, 0, sizeof options);
  build.struct_size = sizeof build, options.struct_size = sizeof options;
  build.optimization_level = TENFOLD_LEVEL_UNTIMED, build.threads = 1;
  options.build = &build, options.no_cache = 1, options.max_batch = max_batch, options.speculate = speculate;
  return tenfold_decoder_load(folder, &options, decoder);
}

static tenfold_generate_options usual(void) {
  tenfold_generate_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options, options.max_tokens = 12, options.ignore_end = 1;
  return options;
}

int tenfold_generate_from_c(const char* folder, int32_t* ids) {
  tenfold_decoder* decoder;
  tenfold_decoder_information info;
  tenfold_decoder_counts_information counts;
  tenfold_generated_information one;
  tenfold_generated* results;
  tenfold_engine* engine;
  tenfold_generate_options options = usual();
  const int32_t* prompts[1] = {kPrompt};
  const char* texts[2] = {"w1 w2 w3", "w5"};
  const int32_t size = 3;
  int32_t encoded[4], count = 4;
  char text[100];
  int64_t bytes = sizeof text;
  info.struct_size = sizeof info, counts.struct_size = sizeof counts, one.struct_size = sizeof one;
  EXPECT(load(folder, 2, 0, &decoder) == TENFOLD_OK);
  EXPECT(tenfold_decoder_info(decoder, &info) == TENFOLD_OK);
  EXPECT(!strcmp(info.architecture, "llama") && info.layers == 2 && info.vocabulary == 12);
  EXPECT(info.max_length == 24 && info.max_batch == 2 && info.speculate == 0);
  EXPECT(strcmp(info.tokenizer_folder, folder) == 0 && info.weights[0] == 0 && !strcmp(info.kv_cache_dtype, "f32"));
  EXPECT(info.end_token_count == 1 && info.end_tokens[0] == 11 && info.cache_bytes > 0 && info.has_chat_template == 1);
  EXPECT(tenfold_decoder_generate_ids(decoder, prompts, &size, 1, &options, &results) == TENFOLD_OK);
  EXPECT(tenfold_generated_count(results) == 1 && tenfold_generated_get(results, 0, &one) == TENFOLD_OK);
  EXPECT(one.id_count == 12 && one.prompt_tokens == 3 && one.reused_tokens == 0 && !strcmp(one.finish, "max_tokens"));
  EXPECT(one.bytes == (int64_t)strlen(one.text));
  memcpy(ids, one.ids, 12 * sizeof(int32_t));
  EXPECT(tenfold_decoder_decode(decoder, one.ids, one.id_count, text, &bytes) == TENFOLD_OK);
  EXPECT(bytes == one.bytes + 1 && !strcmp(text, one.text));
  bytes = 3;
  EXPECT(tenfold_decoder_decode(decoder, one.ids, one.id_count, text, &bytes) == TENFOLD_OK && bytes == one.bytes + 1 && strlen(text) == 2);
  tenfold_generated_free(results);
  EXPECT(tenfold_decoder_generate(decoder, texts, 2, &options, &results) == TENFOLD_OK);
  EXPECT(tenfold_generated_count(results) == 2 && tenfold_generated_get(results, 0, &one) == TENFOLD_OK);
  EXPECT(!memcmp(one.ids, ids, 12 * sizeof(int32_t)));
  EXPECT(tenfold_generated_get(results, 2, &one) == TENFOLD_INVALID_ARGUMENT);
  tenfold_generated_free(results);
  EXPECT(tenfold_decoder_counts(decoder, &counts) == TENFOLD_OK);
  EXPECT(counts.new_tokens == 36 && counts.prompt_runs == 2 && counts.steps == 22);
  EXPECT(tenfold_decoder_encode(decoder, texts[0], 1, encoded, &count) == TENFOLD_OK && count == 3 && encoded[2] == 3);
  EXPECT(tenfold_decoder_prepare(decoder, &engine) == TENFOLD_OK && engine != NULL);
  tenfold_decoder_free(decoder);
  tenfold_engine_free(engine);
  return 0;
}

typedef struct {
  int32_t calls, logits, ends_at;
  char text[200];
} Seen;

static int32_t saw_token(void* user, int32_t sequence, int32_t token, const char* text, int64_t bytes) {
  Seen* seen = user;
  (void)sequence, (void)token;
  strncat(seen->text, text, (size_t)bytes);
  return ++seen->calls != seen->ends_at;
}

static void only_seven(void* user, int32_t sequence, const int32_t* ids, int64_t count, float* logits, int64_t vocabulary) {
  Seen* seen = user;
  int64_t i;
  (void)sequence, (void)ids, (void)count;
  for (i = 0; i < vocabulary; ++i) logits[i] = i == 7 ? 1.0f : 0.0f;
  ++seen->logits;
}

int tenfold_sampling_from_c(const char* folder) {
  tenfold_decoder* decoder;
  tenfold_generated *a, *b;
  tenfold_generated_information one, other;
  tenfold_generate_options options = usual();
  tenfold_run_options run;
  tenfold_cancel_token* token;
  Seen seen;
  const char *prompt = "w1 w2", *stop = "w7 w7 w7";
  one.struct_size = other.struct_size = sizeof one;
  EXPECT(load(folder, 1, 4, &decoder) == TENFOLD_OK);
  options.temperature = 3, options.top_k = 5, options.seed = 7;
  EXPECT(tenfold_decoder_generate(decoder, &prompt, 1, &options, &a) == TENFOLD_OK && tenfold_generated_get(a, 0, &one) == TENFOLD_OK);
  options.speculate = -1;   /* the same text */
  EXPECT(tenfold_decoder_generate(decoder, &prompt, 1, &options, &b) == TENFOLD_OK && tenfold_generated_get(b, 0, &other) == TENFOLD_OK);
  EXPECT(one.id_count == 12 && !memcmp(one.ids, other.ids, 12 * sizeof(int32_t)));
  tenfold_generated_free(a), tenfold_generated_free(b);
  options = usual();
  memset(&seen, 0, sizeof seen);
  options.token = saw_token, options.logits = only_seven, options.user = &seen, options.stop = &stop, options.stop_count = 1;
  EXPECT(tenfold_decoder_generate(decoder, &prompt, 1, &options, &a) == TENFOLD_OK && tenfold_generated_get(a, 0, &one) == TENFOLD_OK);
  EXPECT(!strcmp(one.finish, "stop_text") && one.bytes == 0 && seen.calls == 3 && seen.logits == 3 && seen.text[0] == 0);
  tenfold_generated_free(a);
  options.stop_count = 0, seen.calls = 0, seen.ends_at = 5;
  EXPECT(tenfold_decoder_generate(decoder, &prompt, 1, &options, &a) == TENFOLD_OK && tenfold_generated_get(a, 0, &one) == TENFOLD_OK);
  EXPECT(!strcmp(one.finish, "callback") && one.id_count == 5 && !strcmp(one.text, seen.text));
  tenfold_generated_free(a);
  memset(&run, 0, sizeof run);
  run.struct_size = sizeof run;
  EXPECT(tenfold_cancel_token_create(&token) == TENFOLD_OK);
  tenfold_cancel_token_trip(token);
  run.token = token, options.run = &run;
  EXPECT(tenfold_decoder_generate(decoder, &prompt, 1, &options, &a) == TENFOLD_OK && tenfold_generated_get(a, 0, &one) == TENFOLD_OK);
  EXPECT(!strcmp(one.finish, "cancelled") && one.id_count == 0);
  tenfold_generated_free(a);
  tenfold_cancel_token_free(token);
  tenfold_decoder_free(decoder);
  return 0;
}

int tenfold_chat_from_c(const char* folder) {
  tenfold_decoder* decoder;
  tenfold_generated *a, *b;
  tenfold_generated_information one, other;
  tenfold_generate_options options = usual();
  tenfold_chat_options chat;
  tenfold_chat_message messages[2];
  const char* whole = "w1 w2 w3";
  char text[50];
  int64_t bytes = sizeof text;
  memset(&chat, 0, sizeof chat);
  chat.struct_size = sizeof chat, one.struct_size = other.struct_size = sizeof one;
  messages[0].role = "system", messages[0].content = "w1", messages[1].role = "user", messages[1].content = "w2";
  EXPECT(load(folder, 1, 0, &decoder) == TENFOLD_OK);
  EXPECT(tenfold_decoder_apply_chat_template(decoder, messages, 2, NULL, text, &bytes) == TENFOLD_OK);
  EXPECT(!strcmp(text, "w1 w2 w3") && bytes == 9);
  chat.no_generation_prompt = 1, bytes = sizeof text;
  EXPECT(tenfold_decoder_apply_chat_template(decoder, messages, 2, &chat, text, &bytes) == TENFOLD_OK && !strcmp(text, "w1 w2 "));
  chat.chat_template = "{{ tools[0].n }}{{ x }}", chat.tools = "[{\"n\": 5}]", chat.variables = "{\"x\": \"y\"}", bytes = sizeof text;
  EXPECT(tenfold_decoder_apply_chat_template_json(decoder, "[]", &chat, text, &bytes) == TENFOLD_OK && !strcmp(text, "5y"));
  EXPECT(tenfold_decoder_chat(decoder, messages, 2, NULL, &options, &a) == TENFOLD_OK && tenfold_generated_get(a, 0, &one) == TENFOLD_OK);
  EXPECT(tenfold_decoder_generate(decoder, &whole, 1, &options, &b) == TENFOLD_OK && tenfold_generated_get(b, 0, &other) == TENFOLD_OK);
  EXPECT(one.id_count == 12 && !memcmp(one.ids, other.ids, 12 * sizeof(int32_t)));
  tenfold_generated_free(a), tenfold_generated_free(b);
  tenfold_decoder_free(decoder);
  return 0;
}

int tenfold_int8_cache_from_c(const char* folder, float* rows) {
  tenfold_build_config build;
  tenfold_decoder_options options;
  tenfold_decoder_information info;
  tenfold_decoder* decoder;
  tenfold_decoder_session* session;
  const int32_t* tokens[1] = {kPrompt};
  const int32_t size = 3;
  const float* logits;
  memset(&build, 0, sizeof build), memset(&options, 0, sizeof options);
  build.struct_size = sizeof build, options.struct_size = sizeof options, info.struct_size = sizeof info;
  build.optimization_level = TENFOLD_LEVEL_UNTIMED, build.threads = 1;
  options.build = &build, options.no_cache = 1, options.kv_cache_dtype = "int8";
  EXPECT(tenfold_decoder_load(folder, &options, &decoder) == TENFOLD_OK);
  EXPECT(tenfold_decoder_info(decoder, &info) == TENFOLD_OK && !strcmp(info.kv_cache_dtype, "int8"));
  EXPECT(info.cache_bytes == 2 * 2 * 24 * (4 + 4));   /* layers, keys and values, places, a head with its scale */
  EXPECT(tenfold_decoder_start(decoder, 1, &session) == TENFOLD_OK);
  EXPECT(tenfold_decoder_session_append(session, tokens, &size, 1, NULL, &logits) == TENFOLD_OK);
  memcpy(rows, logits, 12 * sizeof(float));
  tenfold_decoder_session_free(session);
  tenfold_decoder_free(decoder);
  return 0;
}

int tenfold_session_from_c(const char* folder, float* rows) {
  tenfold_decoder* decoder;
  tenfold_decoder_session *session, *copy;
  const int32_t four[2] = {4, 9}, five = 5, *tokens[1] = {kPrompt}, *ids;
  int32_t size = 3, count;
  const float* logits;
  EXPECT(load(folder, 1, 2, &decoder) == TENFOLD_OK);
  EXPECT(tenfold_decoder_start(decoder, 1, &session) == TENFOLD_OK && tenfold_decoder_session_size(session) == 1);
  tenfold_decoder_free(decoder);   /* it lives on */
  EXPECT(tenfold_decoder_session_append(session, tokens, &size, 1, NULL, &logits) == TENFOLD_OK);
  memcpy(rows, logits, 12 * sizeof(float));
  tokens[0] = four, size = 2;
  EXPECT(tenfold_decoder_session_append_each(session, tokens, &size, 1, NULL, &logits) == TENFOLD_OK);
  memcpy(rows + 12, logits, 12 * sizeof(float));
  EXPECT(tenfold_decoder_session_truncate(session, 0, 4) == TENFOLD_OK);
  EXPECT(tenfold_decoder_session_fork(session, &copy) == TENFOLD_OK);
  tokens[0] = &five, size = 1;
  EXPECT(tenfold_decoder_session_append(copy, tokens, &size, 1, NULL, NULL) == TENFOLD_OK);
  EXPECT(tenfold_decoder_session_ids(session, 0, &ids, &count) == TENFOLD_OK && count == 4 && ids[3] == 4);
  EXPECT(tenfold_decoder_session_ids(copy, 0, &ids, &count) == TENFOLD_OK && count == 5 && ids[4] == 5);
  tenfold_decoder_session_free(session), tenfold_decoder_session_free(copy);
  return 0;
}

#define REFUSED(call, part) EXPECT((call) == TENFOLD_INVALID_ARGUMENT && strstr(tenfold_last_error(), part) != NULL)

int tenfold_decoder_faults_from_c(const char* folder) {
  tenfold_decoder* decoder = NULL;
  tenfold_decoder_session* session;
  tenfold_generated* results = NULL;
  tenfold_generate_options options = usual();
  tenfold_decoder_options wrong;
  tenfold_chat_message message;
  const int32_t far = 12, many[4] = {1, 1, 1, 1}, *tokens[1] = {&far}, *none[1] = {NULL};
  int32_t size = 1, negative = -1;
  const char *prompt = "w1", *empty = "", *broken = "\xff", *nothing = NULL;
  int64_t bytes = 0;
  memset(&wrong, 0, sizeof wrong);
  EXPECT(tenfold_decoder_load("/no/such/folder", NULL, &decoder) == TENFOLD_IO && decoder == NULL);
  REFUSED(tenfold_decoder_load(folder, &wrong, &decoder), "struct_size");
  wrong.struct_size = sizeof wrong, wrong.max_batch = -1;
  REFUSED(tenfold_decoder_load(folder, &wrong, &decoder), "max_batch is -1");
  wrong.max_batch = 0, wrong.max_length = 25;
  REFUSED(tenfold_decoder_load(folder, &wrong, &decoder), "max_length is 25");
  wrong.max_length = 0, wrong.kv_cache_dtype = "fp8";
  REFUSED(tenfold_decoder_load(folder, &wrong, &decoder), "kv_cache_dtype is 'fp8'");
  EXPECT(load(folder, 1, 2, &decoder) == TENFOLD_OK);
  REFUSED(tenfold_decoder_generate(decoder, &prompt, 0, NULL, &results), "0 prompts");
  REFUSED(tenfold_decoder_generate(decoder, &nothing, 1, NULL, &results), "a prompt is null");
  REFUSED(tenfold_decoder_generate(decoder, &empty, 1, NULL, &results), "has no tokens");
  REFUSED(tenfold_decoder_generate(decoder, &broken, 1, NULL, &results), "UTF-8");
  REFUSED(tenfold_decoder_generate_ids(decoder, tokens, &size, 1, NULL, &results), "tokens 0 to 11");
  REFUSED(tenfold_decoder_generate_ids(decoder, tokens, &negative, 1, NULL, &results), "-1 tokens");
  REFUSED(tenfold_decoder_generate_ids(decoder, none, &size, 1, NULL, &results), "is null");
  options.top_p = 2;
  REFUSED(tenfold_decoder_generate(decoder, &prompt, 1, &options, &results), "top_p is 2");
  options.top_p = 0, options.speculate = 3;
  REFUSED(tenfold_decoder_generate(decoder, &prompt, 1, &options, &results), "speculate is 3");
  options.speculate = 0, options.stop_count = 1;
  REFUSED(tenfold_decoder_generate(decoder, &prompt, 1, &options, &results), "stop texts is null");
  message.role = "user", message.content = NULL;
  REFUSED(tenfold_decoder_apply_chat_template(decoder, &message, 1, NULL, NULL, &bytes), "content is null");
  REFUSED(tenfold_decoder_apply_chat_template_json(decoder, "{", NULL, NULL, &bytes), "is no JSON");
  REFUSED(tenfold_decoder_start(decoder, 2, &session), "max_batch is 1");
  EXPECT(tenfold_decoder_start(decoder, 1, &session) == TENFOLD_OK);
  REFUSED(tenfold_decoder_session_append(session, tokens, &size, 1, NULL, NULL), "tokens 0 to 11");
  REFUSED(tenfold_decoder_session_append(session, tokens, &size, 0, NULL, NULL), "0 lists of tokens");
  tokens[0] = many, size = 4;
  REFUSED(tenfold_decoder_session_append_each(session, tokens, &size, 1, NULL, NULL), "speculate is 2");
  REFUSED(tenfold_decoder_session_truncate(session, 0, 1), "cannot be truncated to 1");
  REFUSED(tenfold_decoder_session_truncate(session, 1, 0), "no sequence 1");
  EXPECT(results == NULL);
  tenfold_decoder_session_free(session);
  tenfold_decoder_free(decoder);
  return 0;
}
