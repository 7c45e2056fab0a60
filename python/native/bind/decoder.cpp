// tenfold/decoder.h: from a prompt to new tokens. Forms of arguments are python/tenfold/_decoder.py's.
#include "tenfold/decoder.h"
#include "tenfold/evaluate_decoder.h"
#include "tenfold/quantize_decoder.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>

#include "native/arrays/arrays.h"
#include "native/call/bound_context.h"
#include "native/errors.h"
#include "native/options/options.h"
#include "native/options/values.h"

namespace tenfold::python {
namespace {

using Ids = std::vector<std::int32_t>;

// A copy of rows of logits, f32[rows, columns] or f32[columns].
nb::object array_of(std::span<const float> values, std::vector<std::int64_t> shape, float** data = nullptr) {
  auto* memory = new std::vector<float>(values.begin(), values.end());
  if (data) *data = memory->data();
  const nb::capsule owner(memory, [](void* p) noexcept { delete static_cast<std::vector<float>*>(p); });
  return array_over(memory->data(), true, DType::f32, shape, owner);
}

RunOptions run_options(std::optional<double> timeout, nb::handle token) {
  RunOptions run;
  if (!token.is_none()) run.token = nb::cast<CancelToken&>(token);
  if (!timeout) return run;
  if (std::isnan(*timeout)) raise_error(ErrorKind::invalid_argument, "timeout is not a number of seconds");
  const double seconds = std::min(std::max(*timeout, 0.0), 1e9);
  run.deadline = std::chrono::steady_clock::now() +
                 std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
  return run;
}

struct PySession {
  std::shared_ptr<Callbacks> callbacks;
  DecoderSession session;

  nb::object append(const std::vector<Ids>& tokens, std::optional<double> timeout, nb::handle token) {
    const RunOptions run = run_options(timeout, token);
    const std::span<const float> logits = callbacks->run([&] { return session.append(tokens, run); });
    const auto rows = static_cast<std::int64_t>(session.size());
    return array_of(logits, {rows, static_cast<std::int64_t>(logits.size()) / rows});
  }
  nb::object append_each(const std::vector<Ids>& tokens, std::optional<double> timeout, nb::handle token) {
    const RunOptions run = run_options(timeout, token);
    const std::span<const float> logits = callbacks->run([&] { return session.append_each(tokens, run); });
    std::int64_t rows = 0;
    for (const Ids& one : tokens) rows += static_cast<std::int64_t>(one.size());
    return array_of(logits, {rows, rows > 0 ? static_cast<std::int64_t>(logits.size()) / rows : 0});
  }
  Ids ids(int sequence) const {
    const std::span<const std::int32_t> all = session.ids(sequence);
    return {all.begin(), all.end()};
  }
  PySession fork() const {
    return {callbacks, callbacks->run([&] { return session.fork(); })};
  }
};

// A decoder with the callbacks of its build, which runs in the call that needs the engine first.
struct PyDecoder {
  std::shared_ptr<Callbacks> callbacks = std::make_shared<Callbacks>();
  std::optional<Decoder> decoder;

  PyDecoder(nb::handle folder, const nb::dict& keywords, nb::handle cache, int max_length, int max_batch, int prompt_chunk, int speculate,
            std::string weights, std::string kv_cache_dtype) {
    DecoderOptions options;
    read_options(keywords, options.build, callbacks, "a decoder");
    if (nb::isinstance<nb::bool_>(cache))
      options.cache.reset();
    else if (!cache.is_none())
      options.cache->folder = text_of(cache);
    options.max_length = max_length, options.max_batch = max_batch, options.prompt_chunk = prompt_chunk;
    options.speculate = speculate;
    options.weights = std::move(weights), options.kv_cache_dtype = std::move(kv_cache_dtype);
    const std::string path = text_of(folder);
    decoder.emplace(callbacks->run([&] { return Decoder::load(path, std::move(options)); }));
  }

  nb::list generate(const std::vector<Ids>& prompts, int max_tokens, const nb::dict& sampling, std::vector<std::string> stop,
                    bool ignore_end, int speculate, nb::handle on_token, nb::handle on_logits, std::optional<double> timeout,
                    nb::handle token) {
    GenerateCall call{.max_tokens = max_tokens,
                      .stop = std::move(stop),
                      .speculate = speculate,
                      .ignore_end = ignore_end,
                      .run = run_options(timeout, token)};
    read_sampling(sampling, call.sampling);
    if (!on_token.is_none())
      call.token = [on_token](std::size_t sequence, std::int32_t id, std::string_view text) {
        const nb::gil_scoped_acquire locked;
        const nb::object go_on = on_token(sequence, id, nb::bytes(text.data(), text.size()));
        return nb::cast<bool>(go_on);
      };
    if (!on_logits.is_none())
      call.logits = [on_logits](std::size_t sequence, std::span<const std::int32_t> ids, std::span<float> logits) {
        const nb::gil_scoped_acquire locked;
        // A copy, which the function may keep.
        float* data = nullptr;
        const nb::object array = array_of(logits, {static_cast<std::int64_t>(logits.size())}, &data);
        on_logits(sequence, Ids(ids.begin(), ids.end()), array);
        std::copy_n(data, logits.size(), logits.begin());
      };
    const std::vector<Generated> all = callbacks->run([&] { return decoder->generate_ids(prompts, call); });
    nb::list results;
    for (const Generated& one : all)
      results.append(nb::make_tuple(one.ids, nb::bytes(one.text.data(), one.text.size()), std::string(name(one.finish)), one.prompt_tokens,
                                    one.reused_tokens));
    return results;
  }

  static void read_sampling(const nb::dict& from, Sampling& to) {
    to.temperature = nb::cast<float>(from["temperature"]), to.top_k = nb::cast<int>(from["top_k"]);
    to.top_p = nb::cast<float>(from["top_p"]), to.min_p = nb::cast<float>(from["min_p"]);
    to.repetition_penalty = nb::cast<float>(from["repetition_penalty"]), to.seed = nb::cast<std::uint64_t>(from["seed"]);
  }

  std::string apply_chat_template(const std::string& messages, const nb::dict& given) const {
    ChatOptions options{.add_generation_prompt = nb::cast<bool>(given["add_generation_prompt"])};
    for (const auto& [name, text] : {std::pair{"chat_template", &options.chat_template},
                                     {"tools", &options.tools},
                                     {"documents", &options.documents},
                                     {"variables", &options.variables}})
      *text = nb::cast<std::string>(given[name]);
    return callbacks->run([&] { return decoder->apply_chat_template(messages, options); });
  }

  PySession start(int sequences) const {
    return {callbacks, callbacks->run([&] { return decoder->start(sequences); })};
  }
  nb::dict counts() const {
    const DecoderCounts c = decoder->counts();
    nb::dict dict;
    dict["prompt_tokens"] = c.prompt_tokens, dict["new_tokens"] = c.new_tokens, dict["prompt_runs"] = c.prompt_runs;
    dict["steps"] = c.steps, dict["prompt_s"] = c.prompt_s, dict["step_s"] = c.step_s;
    dict["guessed_tokens"] = c.guessed_tokens, dict["accepted_tokens"] = c.accepted_tokens;
    return dict;
  }
};

nb::object dict_of(const DecoderEvaluation& e) {
  nb::dict fields;
  fields["texts"] = e.texts, fields["short_texts"] = e.short_texts, fields["cut_texts"] = e.cut_texts;
  fields["tokens"] = e.tokens, fields["perplexity"] = e.perplexity;
  fields["reference_perplexity"] = e.reference_perplexity, fields["kl_divergence"] = e.kl_divergence;
  fields["same_token"] = e.same_token;
  return fields;
}

}  // namespace

void bind_decoder(nb::module_& m) {
  nb::class_<DecoderInfo>(m, "DecoderInfo", "What a decoder's folder says.")
      .def_ro("architecture", &DecoderInfo::architecture)
      .def_ro("layers", &DecoderInfo::layers)
      .def_ro("vocabulary", &DecoderInfo::vocabulary)
      .def_ro("max_length", &DecoderInfo::max_length)
      .def_ro("max_batch", &DecoderInfo::max_batch)
      .def_ro("speculate", &DecoderInfo::speculate)
      .def_ro("cache_bytes", &DecoderInfo::cache_bytes)
      .def_ro("end_tokens", &DecoderInfo::end_tokens)
      .def_ro("tokenizer_folder", &DecoderInfo::tokenizer_folder)
      .def_ro("weights", &DecoderInfo::weights)
      .def_ro("kv_cache_dtype", &DecoderInfo::kv_cache_dtype);
  nb::class_<PySession>(m, "DecoderSession", "A batch of sequences with their keys and values.")
      .def("append", &PySession::append, nb::arg("tokens"), nb::arg("timeout").none() = nb::none(), nb::arg("token").none() = nb::none(),
           "Appends a list of tokens to each sequence; f32[sequences, vocabulary], the logits behind each one's last token.")
      .def("append_each", &PySession::append_each, nb::arg("tokens"), nb::arg("timeout").none() = nb::none(),
           nb::arg("token").none() = nb::none(),
           "The same, with logits behind each of these tokens: f32[tokens, vocabulary], those of the first sequence first.")
      .def("ids", &PySession::ids, nb::arg("sequence") = 0, "The tokens of a sequence so far.")
      .def(
          "truncate", [](PySession& s, int sequence, int length) { s.session.truncate(sequence, length); }, nb::arg("sequence"),
          nb::arg("length"), "Forgets the tokens of a sequence from there on.")
      .def("fork", &PySession::fork, "A copy, which goes its own way.")
      .def("__len__", [](const PySession& s) { return s.session.size(); });
  nb::class_<PyDecoder>(m, "Decoder", "A decoder from a folder.")
      .def(nb::init<nb::handle, const nb::dict&, nb::handle, int, int, int, int, std::string, std::string>(), nb::arg("folder"),
           nb::arg("options"), nb::arg("cache").none() = nb::none(), nb::arg("max_length") = 0, nb::arg("max_batch") = 1,
           nb::arg("prompt_chunk") = 512, nb::arg("speculate") = 0, nb::arg("weights") = "", nb::arg("kv_cache_dtype") = "")
      .def_prop_ro("info", [](const PyDecoder& d) { return d.decoder->info(); })
      .def_prop_ro("counts", &PyDecoder::counts, "Tokens, runs and seconds so far.")
      .def_prop_ro(
          "engine",
          [](const PyDecoder& d) {
            return PyEngine{std::make_shared<SharedEngine>(d.callbacks->run([&] { return d.decoder->engine(); }))};
          },
          "The engine, which is made first if there is none yet.")
      .def("generate", &PyDecoder::generate, nb::arg("prompts"), nb::arg("max_tokens"), nb::arg("sampling"), nb::arg("stop"),
           nb::arg("ignore_end"), nb::arg("speculate"), nb::arg("on_token").none(), nb::arg("on_logits").none(), nb::arg("timeout").none(),
           nb::arg("token").none(),
           "For each prompt: ids, text in UTF-8, why it ended, tokens of the prompt, and how many of them were reused.")
      .def("apply_chat_template", &PyDecoder::apply_chat_template, nb::arg("messages"), nb::arg("options"),
           "A conversation, as JSON, as the text that the chat template makes of it.")
      .def_prop_ro(
          "has_chat_template", [](const PyDecoder& d) { return d.decoder->has_chat_template(); }, "Whether the folder has one.")
      .def("start", &PyDecoder::start, nb::arg("sequences") = 1, "Empty sequences.")
      .def(
          "prepare", [](const PyDecoder& d) { d.callbacks->run([&] { d.decoder->prepare(); }); },
          "Makes the engine, or takes it from the cache.")
      .def(
          "evaluate",
          [](const PyDecoder& d, const std::vector<std::string>& texts, const PyDecoder* reference, int max_tokens) {
            return dict_of(d.callbacks->run([&] {
              return evaluate_decoder(*d.decoder, texts, reference ? &*reference->decoder : nullptr, {.max_tokens = max_tokens});
            }));
          },
          nb::arg("texts"), nb::arg("reference").none(), nb::arg("max_tokens"), "How well it predicts texts.");
  m.def(
      "quantize_decoder",
      [](nb::handle folder, nb::handle output, const std::string& weights, std::string method, std::vector<std::string> texts, int samples,
         int max_tokens, int threads) {
        const std::string from = text_of(folder), to = text_of(output);
        const QuantizeDecoderOptions options{.method = std::move(method), .texts = std::move(texts), .samples = samples,
                                             .max_tokens = max_tokens, .threads = threads};
        const auto callbacks = std::make_shared<Callbacks>();
        const QuantizeDecoderReport report = callbacks->run([&] { return quantize_decoder(from, to, weights, options); });
        nb::list layers;
        for (const QuantizeDecoderReport::Layer& one : report.layers)
          layers.append(nb::make_tuple(one.name, one.error, one.output_error, one.output_error_nearest));
        return nb::make_tuple(layers, report.evaluation ? dict_of(*report.evaluation) : nb::none());
      },
      nb::arg("folder"), nb::arg("output"), nb::arg("weights"), nb::arg("method"), nb::arg("texts"), nb::arg("samples"),
      nb::arg("max_tokens"), nb::arg("threads"), "Each layer's errors, and the evaluation on texts held out.");
}

}  // namespace tenfold::python
