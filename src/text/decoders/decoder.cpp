// The public class: texts become ids, sequences are found or begun, and each call's sequences run max_batch at a time.
#include "tenfold/decoder.h"

#include <algorithm>
#include <mutex>

#include "tenfold/internal/as_error.h"
#include "text/chat/chat_template.h"
#include "text/decoders/engine.h"
#include "text/decoders/generate.h"
#include "text/decoders/session.h"
#include "text/fail.h"

namespace tenfold {

using namespace decoders;
using tokenizing::fail;
using Ids = std::vector<std::int32_t>;

namespace {

DecoderInfo info_of(const Model& model, const DecoderOptions& options) {
  const CacheSizes& cache = model.cache;
  return {.architecture = model.type,
          .layers = static_cast<int>(cache.layers),
          .vocabulary = static_cast<int>(model.vocabulary),
          .max_length = static_cast<int>(cache.capacity),
          .max_batch = options.max_batch,
          .speculate = static_cast<int>(model.speculate),
          .cache_bytes = cache.bytes(),
          .end_tokens = model.end_tokens,
          .tokenizer_folder = model.tokenizer,
          .weights = model.narrow ? model.narrow->text() : "",
          .kv_cache_dtype = std::string(cache.type == DType::i8 ? "int8" : name(cache.type))};
}

void check(const DecoderOptions& options) {
  const auto positive = [](int value, const char* field) {
    if (value < 1) fail(ErrorKind::invalid_argument, std::string(field) + " is " + std::to_string(value) + ", 1 or more was expected");
  };
  positive(options.max_batch, "max_batch"), positive(options.prompt_chunk, "prompt_chunk");
  if (options.speculate < 0 || options.speculate > 64)
    fail(ErrorKind::invalid_argument, "speculate is " + std::to_string(options.speculate) + ", 0 to 64 was expected");
  if (!options.build.profiles.empty())
    fail(ErrorKind::invalid_argument,
         "DecoderOptions::build has profiles; a decoder makes its own from max_length, max_batch and prompt_chunk");
}

std::size_t common(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

// How many tokens of a prompt need not be computed again: the last one gives the logits.
std::size_t reusable(const DecoderSession& session, std::span<const Ids> prompts, std::size_t i) {
  return std::min(common(session.ids(static_cast<int>(i)), prompts[i]), prompts[i].size() - 1);
}

}  // namespace

struct Decoder::Impl {
  Model model;
  DecoderOptions options;
  DecoderInfo info;
  Tokenizer tokenizer;
  chat::ChatTemplates templates;
  mutable std::mutex making, mutex;
  mutable std::shared_ptr<const SessionModel> made;
  mutable std::vector<DecoderSession> idle;          // with the tokens of earlier calls, the newest last
  mutable std::size_t running = 0, max_running = 0;  // sessions in use; idle ones are no more than ever were in use at once
  mutable DecoderCounts counts;

  Impl(const std::string& folder, DecoderOptions given)
      : model((check(given), read_model(folder, given))),
        options(std::move(given)),
        info(info_of(model, options)),
        tokenizer(Tokenizer::load(model.tokenizer)),
        templates(chat::ChatTemplates::of_folder(model.tokenizer)) {
    if (tokenizer.vocabulary_size() > info.vocabulary)
      fail(ErrorKind::invalid_model, "the tokenizer has " + std::to_string(tokenizer.vocabulary_size()) +
                                         " tokens, but the weights have embeddings for " + std::to_string(info.vocabulary) +
                                         "; tokenizer and weights are of different models");
  }

  std::shared_ptr<const SessionModel> shared() const {
    const std::lock_guard lock(making);
    if (!made) {
      Engine engine = make_engine(model, options);
      const std::int64_t capacity = model.cache.capacity;
      made = std::make_shared<const SessionModel>(
          SessionModel{.engine = std::move(engine),
                       .cache = model.cache,
                       .vocabulary = info.vocabulary,
                       .chunk = std::min<std::int64_t>(options.prompt_chunk, capacity),
                       .speculate = model.speculate,
                       .places_step = model.exact_places ? 1 : places_step(model.cache, options.build.device)});
      model.forget();   // the engine has them in its own form
    }
    return made;
  }

  DecoderSession begin(int sequences) const {
    if (sequences < 1 || sequences > options.max_batch)
      fail(ErrorKind::invalid_argument,
           std::to_string(sequences) + " sequences at once, but max_batch is " + std::to_string(options.max_batch));
    return DecoderSession(std::make_unique<DecoderSession::Impl>(shared(), sequences));
  }

  // The idle session that saves most, truncated to what it has in common with the prompts, or a new one.
  DecoderSession session_for(std::span<const Ids> prompts) const {
    std::optional<DecoderSession> found;
    {
      const std::lock_guard lock(mutex);
      std::size_t best = idle.size(), most = 0;
      for (std::size_t s = 0; s < idle.size(); ++s) {
        if (static_cast<std::size_t>(idle[s].size()) != prompts.size()) continue;
        std::size_t saved = 0;
        for (std::size_t i = 0; i < prompts.size(); ++i) saved += reusable(idle[s], prompts, i);
        if (best == idle.size() || saved >= most) best = s, most = saved;
      }
      if (best < idle.size()) {
        found = std::move(idle[best]);
        idle.erase(idle.begin() + static_cast<std::ptrdiff_t>(best));
      }
    }
    if (!found) return begin(static_cast<int>(prompts.size()));
    for (std::size_t i = 0; i < prompts.size(); ++i) found->truncate(static_cast<int>(i), static_cast<int>(reusable(*found, prompts, i)));
    return std::move(*found);
  }

  void check_prompts(std::span<const Ids> prompts) const {
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      const std::string which = "prompt " + std::to_string(i);
      if (prompts[i].empty()) fail(ErrorKind::invalid_argument, which + " has no tokens; a text is continued, so give at least one");
      if (prompts[i].size() > static_cast<std::size_t>(info.max_length))
        fail(ErrorKind::invalid_argument,
             which + " has " + std::to_string(prompts[i].size()) + " tokens, but max_length is " + std::to_string(info.max_length));
      for (const std::int32_t id : prompts[i])
        if (id < 0 || id >= info.vocabulary)
          fail(ErrorKind::invalid_argument,
               which + " has the token " + std::to_string(id) + "; the model has tokens 0 to " + std::to_string(info.vocabulary - 1));
    }
  }

  std::vector<Generated> generate(std::span<const Ids> prompts, const GenerateCall& call) const {
    decoders::check(call, info);
    check_prompts(prompts);
    std::vector<Generated> all;
    for (std::size_t first = 0; first < prompts.size();) {
      const std::span<const Ids> some =
          prompts.subspan(first, std::min<std::size_t>(prompts.size() - first, static_cast<std::size_t>(options.max_batch)));
      const Running taken(*this);
      DecoderSession session = session_for(some);
      Clock clock;
      std::vector<Generated> results = decoders::generate(session, some, first, info, tokenizer, call, clock);
      count(results, clock);
      std::move(results.begin(), results.end(), std::back_inserter(all));
      first += some.size();
      const std::lock_guard lock(mutex);
      idle.push_back(std::move(session));
      if (idle.size() > max_running) idle.erase(idle.begin());
    }
    return all;
  }
  struct Running {  // while it lives, a session is in use
    const Impl& impl;
    explicit Running(const Impl& of) : impl(of) {
      const std::lock_guard lock(impl.mutex);
      impl.max_running = std::max(impl.max_running, ++impl.running);
    }
    ~Running() {
      const std::lock_guard lock(impl.mutex);
      --impl.running;
    }
  };

  void count(std::span<const Generated> results, const Clock& clock) const {
    const std::lock_guard lock(mutex);
    for (const Generated& one : results)
      counts.prompt_tokens += one.prompt_tokens - one.reused_tokens, counts.new_tokens += static_cast<std::int64_t>(one.ids.size());
    counts.prompt_runs += clock.prompt_runs, counts.steps += clock.steps, counts.prompt_s += clock.prompt_s, counts.step_s += clock.step_s;
    counts.guessed_tokens += clock.guessed, counts.accepted_tokens += clock.accepted;
  }
};

Decoder::Decoder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

Decoder Decoder::load(const std::string& folder, DecoderOptions options) {
  try {
    return as_error([&] { return Decoder(std::make_unique<Impl>(folder, std::move(options))); });
  } catch (Error& e) {
    throw e.within("loading the decoder '" + folder + "'");
  }
}

const DecoderInfo& Decoder::info() const { return impl_->info; }
const Tokenizer& Decoder::tokenizer() const { return impl_->tokenizer; }
DecoderCounts Decoder::counts() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->counts;
}
void Decoder::prepare() const {
  as_error([&] { impl_->shared(); });
}
const Engine& Decoder::engine() const {
  return as_error([&]() -> const Engine& { return impl_->shared()->engine; });
}
DecoderSession Decoder::start(int sequences) const {
  return as_error([&] { return impl_->begin(sequences); });
}

Generated Decoder::generate(std::string_view prompt, const GenerateCall& call) const {
  return std::move(generate(std::span(&prompt, 1), call).front());
}
std::vector<Generated> Decoder::generate(std::span<const std::string_view> prompts, const GenerateCall& call) const {
  std::vector<Ids> ids;
  for (const std::string_view prompt : prompts) ids.push_back(impl_->tokenizer.encode(prompt).ids);
  return generate_ids(ids, call);
}
std::vector<Generated> Decoder::generate_ids(std::span<const Ids> prompts, const GenerateCall& call) const {
  return as_error([&] { return impl_->generate(prompts, call); });
}

bool Decoder::has_chat_template() const { return impl_->templates.any(); }
std::string Decoder::apply_chat_template(std::string_view messages_json, const ChatOptions& options) const {
  return as_error([&] { return impl_->templates.apply(messages_json, options); });
}
std::string Decoder::apply_chat_template(std::span<const ChatMessage> messages, const ChatOptions& options) const {
  return as_error([&] { return impl_->templates.apply(chat::messages_json(messages), options); });
}
// The template has written the special tokens.
Generated Decoder::chat(std::span<const ChatMessage> messages, const GenerateCall& call, const ChatOptions& options) const {
  const Ids ids = impl_->tokenizer.encode(apply_chat_template(messages, options), false).ids;
  return std::move(generate_ids(std::span(&ids, 1), call).front());
}

std::string_view name(Finish finish) {
  constexpr std::string_view kNames[] = {"max_tokens", "end_token", "stop_text", "callback", "max_length", "cancelled"};
  return kNames[static_cast<std::size_t>(finish)];
}

}  // namespace tenfold
