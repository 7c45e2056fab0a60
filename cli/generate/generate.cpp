// tenfold generate: a decoder continues texts.
#include "generate/generate.h"

#include <algorithm>
#include <cstdio>

#include "data/data.h"
#include "flags/flags.h"
#include "formats/files.h"
#include "progress.h"
#include "tenfold/evaluate_decoder.h"
#include "verbs.h"

namespace tenfold::cli {
namespace {

void set_precision(BuildConfig& build, const std::string& text) {
  build.fp16 = text == "fp16", build.bf16 = text == "bf16", build.auto_precision = text == "auto";
  if (text != "fp32" && text != "tf32" && !build.fp16 && !build.bf16 && !build.auto_precision)
    throw UsageError("--precision is '" + text + "'; fp32, tf32, fp16, bf16 or auto was expected");
  build.tf32 = text != "fp32";
}

Flags make_flags(GenerateWish& w) {
  Flags flags(
      "tenfold generate MODEL --prompt=TEXT [--flags]\n       tenfold generate MODEL --chat [--prompt=TEXT] [--flags]\n       tenfold "
      "generate MODEL --benchmark [--flags]\n       tenfold generate MODEL --evaluate=TEXTS [--reference=MODEL] [--flags]",
      "Continues texts token by token. MODEL is a language model: a folder as transformers saves it (config.json, tokenizer,\n"
      "safetensors), or an ONNX file with past_key_values as optimum and onnxruntime-genai write it, or its folder.\n"
      "New text goes to standard output as it comes, times to standard error.");
  const auto number = [&](const char* name, float& target, const char* value, const char* help) {
    flags.add({name, value, help, [name, &target](const std::string& text) { target = static_cast<float>(parse_number(name, text)); }});
  };
  flags.group("Flags");
  flags.add({"prompt", "TEXT", "the text to continue; given several times: several texts, computed together",
             [&w](const std::string& text) { w.prompts.push_back(text); }});
  flags.add_text("promptFile", w.prompt_file, "FILE", "the text to continue, from a file; -: standard input");
  flags.add_switch("chat", w.chat,
                   "the prompt is what a user says in a conversation, by the folder's chat template; "
                   "without --prompt each line of standard input is, one answer after the other");
  flags.add_text("system", w.system, "TEXT", "with --chat: the system message");
  flags.add({"message", "ROLE:TEXT", "with --chat: an earlier message of the conversation, or its last; may be given several times",
             [&w](const std::string& text) {
               const std::size_t colon = text.find(':');
               if (colon == 0 || colon == std::string::npos)
                 throw UsageError("--message is '" + text + "'; ROLE:TEXT was expected, as in user:Hello");
               w.messages.push_back({text.substr(0, colon), text.substr(colon + 1)});
             }});
  flags.add_text("chatTemplate", w.chat_template, "NAME|FILE", "with --chat: one of the folder's templates, or a file with another");
  flags.add_int("maxTokens", w.call.max_tokens, "new tokens of each text, at most (128)");
  number("temperature", w.call.sampling.temperature, "T", "0 (default): the largest logit; above: tokens are drawn");
  flags.add_int("topK", w.call.sampling.top_k, "draw among the K largest logits; 0: all");
  number("topP", w.call.sampling.top_p, "P", "draw among the fewest tokens that have this probability together (1)");
  number("minP", w.call.sampling.min_p, "P", "draw among tokens of at least P times the largest probability (0)");
  number("repetitionPenalty", w.call.sampling.repetition_penalty, "R", "divides logits of tokens that the text has (1)");
  flags.add({"seed", "N", "equal seeds draw equal tokens (0)",
             [&w](const std::string& text) { w.call.sampling.seed = static_cast<std::uint64_t>(parse_int("seed", text, 0)); }});
  flags.add({"stop", "TEXT", "a text that ends the generation and is cut off; may be given several times",
             [&w](const std::string& text) { w.call.stop.push_back(text); }});
  flags.add_switch("ignoreEnd", w.call.ignore_end, "go on behind tokens that end a text");
  flags.add_switch("json", w.json, "one JSON object a text on standard output: text, ids, why it ended, tokens per second");
  flags.add({"device", "cpu|cuda:N", "device (cpu)", [&w](const std::string& text) { w.options.build.device = text; }});
  flags.add({"precision", "fp32|tf32|fp16|bf16|auto", "precision of GEMMs (tf32: on CPUs fixed-point weights of 16 bits or more)",
             [&w](const std::string& text) { set_precision(w.options.build, text); }});
  flags.add_text("weights", w.options.weights, "int4|int8[:gN]|mxfp4|nvfp4",
                 "round linear layers' weights to 4 or 8 bits, in groups of N inputs (a multiple of 16) with a scale each (int4:g32); to "
                 "floats of 4 bits (e2m1) with scales of e8m0 per 32 (mxfp4), or of e4m3 per 16 (nvfp4)");
  flags.add_text("kvCacheDtype", w.options.kv_cache_dtype, "int8",
                 "keep keys and values in the cache as bytes, with a scale for each head's row of a token (on CPUs)");
  flags.add_int("maxLength", w.options.max_length,
                "tokens of a text, prompt included; 0: as many as the model has places for, at most 4,096");
  flags.add_int("promptChunk", w.options.prompt_chunk, "tokens of a prompt that one run computes (512)");
  flags.add_int("speculate", w.options.speculate,
                "tokens that a step may guess from the text's own n-grams and check; 0: none (default). The text is the same, and comes "
                "sooner where it repeats itself");
  flags.add({"threads", "N", "default: what this process may use",
             [&w](const std::string& text) { w.options.build.threads = parse_int("threads", text, 1, kMaxThreads); }});
  flags.add({"builderOptimizationLevel", "N", "optimization level, 0 to 5 (1)",
             [&w](const std::string& text) { w.options.build.optimization_level = parse_int("builderOptimizationLevel", text, 0, 5); }});
  flags.add_text("planCache", w.cache, "DIR", "folder of the plan cache; default: ~/.cache/tenfold/plans");
  flags.add_switch("noPlanCache", w.no_cache, "do not use the plan cache");
  flags.add_switch("quiet", w.quiet, "no progress and no times");
  flags.add_switch("verbose", w.console.verbose, "log the build");
  flags.add_switch("help", w.help, "this text");
  flags.group("Evaluation");
  flags.add_text("evaluate", w.evaluate, "TEXTS",
                 "tell the perplexity of texts: .csv:COLUMN, .tsv:COLUMN, or a file with one a line; with --json as JSON");
  flags.add_text("reference", w.reference, "MODEL", "beside this model in f32, of the same tokens: KL divergence, equal best tokens");
  flags.add({"samples", "N", "at most so many of the texts; default: all",
             [&w](const std::string& text) { w.samples = parse_int("samples", text, 1); }});
  flags.add({"textTokens", "N", "leave out what is behind N tokens of a text; default: what is behind --maxLength",
             [&w](const std::string& text) { w.max_text = parse_int("textTokens", text, 2); }});
  flags.group("Benchmark");
  flags.add_switch("benchmark", w.benchmark, "time a prompt of random tokens and --maxTokens steps behind it");
  flags.add(
      {"promptTokens", "N", "its tokens (512)", [&w](const std::string& text) { w.prompt_tokens = parse_int("promptTokens", text, 1); }});
  flags.add({"iterations", "N", "how often; the median is told (3)",
             [&w](const std::string& text) { w.iterations = parse_int("iterations", text, 1); }});
  return flags;
}

void take_words(GenerateWish& w, const std::vector<std::string>& words) {
  if (words.size() != 1) throw UsageError("tenfold generate takes one MODEL, " + std::to_string(words.size()) + " given");
  w.model = words[0];
  if (!w.prompt_file.empty()) w.prompts.push_back(formats::read_whole(w.prompt_file == "-" ? "/dev/stdin" : w.prompt_file));
  if (w.benchmark && !w.prompts.empty()) throw UsageError("--benchmark makes its own prompt; leave --prompt and --promptFile out");
  if (w.benchmark && w.chat) throw UsageError("--benchmark makes its own prompt; leave --chat out");
  if (!w.chat && (!w.system.empty() || !w.messages.empty() || !w.chat_template.empty()))
    throw UsageError("--system, --message and --chatTemplate are parts of a conversation; give --chat, too");
  if (w.evaluate.empty() && (!w.reference.empty() || w.samples > 0 || w.max_text > 0))
    throw UsageError("--reference, --samples and --textTokens are for --evaluate=TEXTS; give it, too");
  if (!w.evaluate.empty() && (w.benchmark || w.chat || !w.prompts.empty()))
    throw UsageError("--evaluate reads its own texts; leave --prompt, --promptFile, --chat and --benchmark out");
  if (!w.evaluate.empty() && (w.options.speculate != 0 || w.options.prompt_chunk != DecoderOptions{}.prompt_chunk))
    throw UsageError("--speculate and --promptChunk are for new text; leave them out with --evaluate, which computes as many tokens in a "
                     "run as the model gives logits for");
  if (!w.benchmark && !w.chat && w.evaluate.empty() && w.prompts.empty())
    throw UsageError("what is to be continued? Give --prompt=TEXT, or --promptFile=FILE (- is standard input)");
  if (w.chat && w.json && w.prompts.empty() && w.messages.empty()) throw UsageError("--json with --chat needs --prompt or --message");
  if (w.chat_template.find('/') != std::string::npos || w.chat_template.ends_with(".jinja"))
    w.chat_template = formats::read_whole(w.chat_template);
  w.options.max_batch = static_cast<int>(std::max<std::size_t>(w.prompts.size(), 1));
}

}  // namespace

void generate_flags(const UseFlags& use) {
  GenerateWish w;
  use(make_flags(w));
}

int generate_main(const Arguments& arguments) {
  GenerateWish w;
  w.console.show_info = false;
  const Flags flags = make_flags(w);
  const auto words = flags.parse(arguments);
  if (w.help) return std::fputs(flags.help().c_str(), stdout), kOk;
  take_words(w, words);
  w.options.build.log = w.console.callback();
  if (!w.quiet) w.options.build.progress = progress_printer("auto");
  if (w.no_cache)
    w.options.cache.reset();
  else
    w.options.cache->folder = w.cache;
  const std::vector<std::string> texts = w.evaluate.empty() ? std::vector<std::string>{} : read_texts("evaluate", w.evaluate);
  const Decoder decoder = w.evaluate.empty() ? Decoder::load(w.model, w.options) : load_for_evaluation(w.model, w.options);
  if (w.chat && w.chat_template.empty() && !decoder.has_chat_template())
    throw Error(ErrorKind::invalid_argument,
                "'" + w.model + "' has no chat template; give a file with one, --chatTemplate=FILE, or leave --chat out");
  decoder.prepare();
  clear_bar();
  if (!w.evaluate.empty()) return generate_evaluation(w, decoder, texts), kOk;
  const bool talks = w.chat && w.prompts.empty() && w.messages.empty();
  (w.benchmark ? generate_benchmark : talks ? generate_chat : generate_texts)(w, decoder);
  return kOk;
}

}  // namespace tenfold::cli
