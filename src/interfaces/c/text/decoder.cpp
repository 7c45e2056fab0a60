// Decoders from C: folders, texts and what continues them.
#include "c/text/text.h"
#include "tenfold/internal/c_build_config.h"

using namespace tenfold;
using namespace tenfold::c;

std::vector<Ids> tenfold::c::lists_of(const std::int32_t* const* lists, const std::int32_t* sizes, std::int32_t count) {
  require(count >= 0, ErrorKind::invalid_argument, "there are ", count, " lists of tokens");
  std::vector<Ids> all;
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int32_t size = (&need(sizes, "the lists' sizes"))[i];
    require(size >= 0, ErrorKind::invalid_argument, "list ", i, " has ", size, " tokens");
    const std::int32_t* first = (&need(lists, "the lists of tokens"))[i];
    require(first || size == 0, ErrorKind::invalid_argument, "list ", i, " of tokens is null");
    all.emplace_back(first, first + size);
  }
  return all;
}

GenerateCall tenfold::c::call_of(const tenfold_generate_options* given) {
  GenerateCall call;
  if (!given) return call;
  const tenfold_generate_options o = taken(given, "the options of a generation");
  if (o.max_tokens != 0) call.max_tokens = std::max(o.max_tokens, 0);
  call.sampling.temperature = o.temperature, call.sampling.top_k = o.top_k, call.sampling.min_p = o.min_p, call.sampling.seed = o.seed;
  if (o.top_p != 0) call.sampling.top_p = o.top_p;
  if (o.repetition_penalty != 0) call.sampling.repetition_penalty = o.repetition_penalty;
  require(o.stop_count >= 0, ErrorKind::invalid_argument, "stop_count is ", o.stop_count);
  for (std::int32_t i = 0; i < o.stop_count; ++i) call.stop.emplace_back(&need((&need(o.stop, "the stop texts"))[i], "a stop text"));
  call.ignore_end = o.ignore_end != 0;
  call.speculate = o.speculate == 0 ? -1 : std::max(o.speculate, 0);
  if (o.token)
    call.token = [o](std::size_t sequence, std::int32_t token, std::string_view text) {
      const std::string own(text);
      return o.token(o.user, static_cast<std::int32_t>(sequence), token, own.c_str(), static_cast<std::int64_t>(own.size())) != 0;
    };
  if (o.logits)
    call.logits = [o](std::size_t sequence, std::span<const std::int32_t> ids, std::span<float> logits) {
      o.logits(o.user, static_cast<std::int32_t>(sequence), ids.data(), static_cast<std::int64_t>(ids.size()), logits.data(),
               static_cast<std::int64_t>(logits.size()));
    };
  call.run = options_of(o.run);
  return call;
}

void tenfold::c::give_text(const std::string& text, char* to, std::int64_t* bytes) {
  const std::int64_t room = need(bytes, "the place for the size");
  require(room >= 0 && (room == 0 || to), ErrorKind::invalid_argument, "there is no place for the text");
  if (room > 0) {
    const std::size_t size = std::min(text.size(), static_cast<std::size_t>(room) - 1);
    std::memcpy(to, text.data(), size);
    to[size] = 0;
  }
  *bytes = static_cast<std::int64_t>(text.size()) + 1;
}

DecoderOptions tenfold::c::decoder_options_of(const tenfold_decoder_options* given) {
  DecoderOptions options;
  if (!given) return options;
  const tenfold_decoder_options o = taken(given, "the decoder's options");
  if (o.build) options.build = config_of(o.build);
  if (o.cache_folder) options.cache->folder = o.cache_folder;
  if (o.cache_bytes != 0) options.cache->max_bytes = o.cache_bytes;
  if (o.no_cache != 0) options.cache.reset();
  if (o.weights) options.weights = o.weights;
  if (o.kv_cache_dtype) options.kv_cache_dtype = o.kv_cache_dtype;
  options.max_length = o.max_length, options.speculate = o.speculate;
  if (o.max_batch != 0) options.max_batch = o.max_batch;
  if (o.prompt_chunk != 0) options.prompt_chunk = o.prompt_chunk;
  return options;
}

namespace {

const Decoder& own(const tenfold_decoder* decoder) { return need(decoder, "the decoder").decoder; }

}  // namespace

extern "C" tenfold_status tenfold_decoder_load(const char* folder, const tenfold_decoder_options* options, tenfold_decoder** decoder) {
  return guarded([&] {
    place(decoder, "the place for the decoder",
          [&] { return new tenfold_decoder{Decoder::load(&need(folder, "the folder"), decoder_options_of(options))}; });
  });
}
extern "C" void tenfold_decoder_free(tenfold_decoder* decoder) { delete decoder; }

extern "C" tenfold_status tenfold_decoder_info(const tenfold_decoder* decoder, tenfold_decoder_information* info) {
  return guarded([&] {
    const DecoderInfo& i = own(decoder).info();
    give(info,
         {0, i.architecture.c_str(), i.tokenizer_folder.c_str(), i.weights.c_str(), i.end_tokens.data(), i.cache_bytes,
          static_cast<std::int32_t>(i.end_tokens.size()), i.layers, i.vocabulary, i.max_length, i.max_batch, i.speculate,
          own(decoder).has_chat_template(), 0, i.kv_cache_dtype.c_str()},
         "the place for the information");
  });
}
extern "C" tenfold_status tenfold_decoder_counts(const tenfold_decoder* decoder, tenfold_decoder_counts_information* counts) {
  return guarded([&] {
    const DecoderCounts c = own(decoder).counts();
    give(counts, {0, c.prompt_tokens, c.new_tokens, c.prompt_runs, c.steps, c.guessed_tokens, c.accepted_tokens, c.prompt_s, c.step_s},
         "the place for the counts");
  });
}
extern "C" tenfold_status tenfold_decoder_prepare(const tenfold_decoder* decoder, tenfold_engine** engine) {
  return guarded([&] {
    const Engine& made = own(decoder).engine();
    if (engine) *engine = new tenfold_engine{made};
  });
}

extern "C" tenfold_status tenfold_decoder_encode(const tenfold_decoder* decoder, const char* text, int32_t special_tokens, int32_t* ids,
                                                 int32_t* count) {
  return guarded([&] { give_list(own(decoder).tokenizer().encode(&need(text, "the text"), special_tokens != 0).ids, ids, count, "ids"); });
}
extern "C" tenfold_status tenfold_decoder_decode(const tenfold_decoder* decoder, const int32_t* ids, int32_t count, char* text,
                                                 int64_t* bytes) {
  return guarded([&] {
    const Decoder& of = own(decoder);
    give_text(of.tokenizer().decode(lists_of(&ids, &count, 1)[0]), text, bytes);
  });
}

extern "C" tenfold_status tenfold_decoder_generate(const tenfold_decoder* decoder, const char* const* prompts, int32_t count,
                                                   const tenfold_generate_options* options, tenfold_generated** results) {
  return guarded([&] {
    require(count >= 1, ErrorKind::invalid_argument, "there are ", count, " prompts, 1 or more were expected");
    std::vector<std::string_view> texts;
    for (std::int32_t i = 0; i < count; ++i) texts.emplace_back(&need((&need(prompts, "the prompts"))[i], "a prompt"));
    place(results, "the place for the results", [&] { return new tenfold_generated{own(decoder).generate(texts, call_of(options))}; });
  });
}
extern "C" tenfold_status tenfold_decoder_generate_ids(const tenfold_decoder* decoder, const int32_t* const* prompts, const int32_t* sizes,
                                                       int32_t count, const tenfold_generate_options* options,
                                                       tenfold_generated** results) {
  return guarded([&] {
    require(count >= 1, ErrorKind::invalid_argument, "there are ", count, " prompts, 1 or more were expected");
    place(results, "the place for the results",
          [&] { return new tenfold_generated{own(decoder).generate_ids(lists_of(prompts, sizes, count), call_of(options))}; });
  });
}
extern "C" void tenfold_generated_free(tenfold_generated* results) { delete results; }
extern "C" int32_t tenfold_generated_count(const tenfold_generated* results) {
  return results ? static_cast<std::int32_t>(results->all.size()) : 0;
}
extern "C" tenfold_status tenfold_generated_get(const tenfold_generated* results, int32_t index, tenfold_generated_information* info) {
  return guarded([&] {
    const Generated& one = element(need(results, "the results").all, index, "result");
    give(info,
         {0, one.text.c_str(), static_cast<std::int64_t>(one.text.size()), one.ids.data(), name(one.finish).data(),
          static_cast<std::int32_t>(one.ids.size()), one.prompt_tokens, one.reused_tokens, 0},
         "the place for the information");
  });
}
