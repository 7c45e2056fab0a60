// Texts of several requests become one call of an encoder, which all instances on a device share.
#include <algorithm>
#include <cmath>

#include "served_encoder/impl.h"
#include "tenfold/internal/as_error.h"
#include "tenfold/serving/request_groups.h"

namespace tenfold::served_encoder {
namespace {

void apply(ScoreFunction function, std::span<float> row) {
  if (function == ScoreFunction::sigmoid)
    for (float& value : row) value = 1.0f / (1.0f + std::exp(-value));
  if (function != ScoreFunction::softmax || row.empty()) return;
  const float largest = *std::max_element(row.begin(), row.end());
  float sum = 0;
  for (float& value : row) sum += value = std::exp(value - largest);
  for (float& value : row) value /= sum;
}

// A request of a group, its texts' places in the call, and what became of it.
struct Member {
  ServedRequest* request;
  std::size_t first, texts;
  std::optional<Error> failure;
};

bool all_gone(std::span<const Member> members) {
  return std::all_of(members.begin(), members.end(), [](const Member& member) { return member.request->cancelled(); });
}

class EncoderInstance final : public ServedInstance {
 public:
  EncoderInstance(std::shared_ptr<const EncoderModel> model, std::shared_ptr<const Encoder> encoder, std::string device)
      : model_(std::move(model)), encoder_(std::move(encoder)), device_(std::move(device)) {}
  const std::string& device() const noexcept override { return device_; }
  std::int64_t memory_bytes() const noexcept override { return 0; }
  void run(std::span<ServedRequest* const> requests, std::vector<BatchRun>* runs) noexcept override;

 private:
  BatchRun run_strings(const RequestGroup& group) const;
  std::vector<float> compute(TextOutput output, std::span<const TokenIds> texts, const EncodeCall& call,
                             std::vector<std::int64_t>& rows) const;
  BatchRun run_tokenized(std::span<Member> members, TextOutput output, const std::string& prompt) const;
  static void give(const Member& member, int output, const Shape& shape, std::span<const float> values);

  std::int64_t width(TextOutput output) const {
    const EncoderInfo& info = encoder_->info();
    return output == TextOutput::vectors ? info.width : output == TextOutput::token_vectors ? info.token_width : info.labels;
  }
  int output_place() const { return static_cast<int>(model_->bindings().size()) - 1; }

  std::shared_ptr<const EncoderModel> model_;
  std::shared_ptr<const Encoder> encoder_;
  std::string device_;
};

void EncoderInstance::give(const Member& member, int output, const Shape& shape, std::span<const float> values) {
  if (!member.request->requests_output(output)) return;
  auto* to = static_cast<float*>(member.request->output_memory(output, shape, byte_size(DType::f32, element_count(shape))));
  std::copy(values.begin(), values.end(), to);
}

// Rows of all texts one behind the other; `rows`: how many each text has.
std::vector<float> EncoderInstance::compute(TextOutput output, std::span<const TokenIds> texts, const EncodeCall& call,
                                            std::vector<std::int64_t>& rows) const {
  rows.assign(texts.size(), 1);
  if (output == TextOutput::vectors) return encoder_->encode(texts, call);
  std::vector<float> values;
  if (output == TextOutput::token_vectors) {
    const std::vector<TokenVectors> all = encoder_->encode_tokens(texts, call);
    for (std::size_t i = 0; i < all.size(); ++i) {
      rows[i] = all[i].size;
      values.insert(values.end(), all[i].values.begin(), all[i].values.end());
    }
    return values;
  }
  values = encoder_->score(texts, ScoreFunction::none, call);
  const auto labels = static_cast<std::size_t>(encoder_->info().labels);
  if (output == TextOutput::scores)
    for (std::size_t i = 0; i < texts.size(); ++i) apply(encoder_->info().score_function, std::span(values).subspan(i * labels, labels));
  return values;
}

BatchRun EncoderInstance::run_tokenized(std::span<Member> members, TextOutput output, const std::string& prompt) const {
  BatchRun run;
  run.requests = static_cast<int>(members.size());
  run.start = std::chrono::steady_clock::now();
  std::vector<TokenIds> texts;
  std::vector<Member*> owners;
  for (Member& member : members)
    for (const TokenizedText& text : member.request->text_work()->texts) texts.push_back(text), owners.push_back(&member);
  EncodeCall call{.prompt = prompt};
  call.progress = [&](std::size_t, std::size_t) { return !all_gone(members); };
  if (members.size() == 1) call.run.token = members[0].request->cancel_token();
  std::mutex mutex;
  call.failed = [&](std::size_t text, const Error& error) {
    const std::lock_guard lock(mutex);
    if (!owners[text]->failure) owners[text]->failure = error;
  };
  run.compute_start = std::chrono::steady_clock::now();
  std::vector<std::int64_t> rows;
  const std::vector<float> values = compute(output, texts, call, rows);
  run.compute_end = std::chrono::steady_clock::now();
  std::size_t at = 0;
  for (Member& member : members) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < member.texts; ++i) count += rows[member.first + i];
    const auto size = static_cast<std::size_t>(count * width(output));
    try {
      if (!member.failure) give(member, output_place(), {count, width(output)}, std::span(values).subspan(at, size));
    } catch (const Error& error) {
      member.failure = error;
    }
    at += size;
    run.rows += static_cast<std::int64_t>(member.texts);
  }
  run.end = std::chrono::steady_clock::now();
  return run;
}

// Strings that nobody tokenized, as the backend for Triton has them.
BatchRun EncoderInstance::run_strings(const RequestGroup& group) const {
  BatchRun run;
  run.requests = static_cast<int>(group.size());
  run.start = run.compute_start = std::chrono::steady_clock::now();
  std::vector<std::string_view> texts;
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  const bool paired = group[0].inputs.size() > 1 && group[0].inputs[1];
  std::vector<Member> members;
  for (const CheckedRequest& request : group) {
    const auto& first = *request.inputs[0]->strings;
    members.push_back({request.request, texts.size() + pairs.size(), first.size(), std::nullopt});
    if (!paired) {
      texts.insert(texts.end(), first.begin(), first.end());
      continue;
    }
    const auto& second = *request.inputs[1]->strings;
    if (first.size() != second.size())
      throw Error(ErrorKind::invalid_argument, "input 'text' has " + std::to_string(first.size()) + " texts, but 'text_pair' has " +
                                                   std::to_string(second.size()));
    for (std::size_t i = 0; i < first.size(); ++i) pairs.emplace_back(first[i], second[i]);
  }
  const EncodeCall call{.prompt = model_->prompt()};
  const TextOutput output = encoder_->info().labels == 0 ? TextOutput::vectors : TextOutput::scores;
  std::vector<float> values = output == TextOutput::vectors ? encoder_->encode(texts, call)
                              : paired                      ? encoder_->score(pairs, ScoreFunction::none)
                                                            : encoder_->score(texts, ScoreFunction::none);
  const auto row = static_cast<std::size_t>(width(output));
  for (std::size_t at = 0; output == TextOutput::scores && at < values.size(); at += row)
    apply(encoder_->info().score_function, std::span(values).subspan(at, row));
  run.compute_end = std::chrono::steady_clock::now();
  for (Member& member : members) {
    const auto count = static_cast<std::int64_t>(member.texts);
    try {
      give(member, output_place(), {count, width(output)}, std::span(values).subspan(member.first * row, member.texts * row));
    } catch (const Error& error) {
      member.failure = error;
    }
    run.rows += count;
  }
  if (model_->max_batch() == 0) run.rows = 1;
  run.end = std::chrono::steady_clock::now();
  for (const Member& member : members) member.request->finish({member.failure ? &*member.failure : nullptr, &run});
  return run;
}

void EncoderInstance::run(std::span<ServedRequest* const> requests, std::vector<BatchRun>* runs) noexcept {
  std::vector<ServedRequest*> strings;
  std::map<std::pair<TextOutput, std::string>, std::vector<Member>> groups;
  const Error left(ErrorKind::cancelled, "the client has left");
  for (ServedRequest* request : requests) {
    const TextWork* work = request->text_work();
    if (!work) {
      strings.push_back(request);
    } else if (request->cancelled()) {
      request->finish({&left, nullptr});
    } else {
      std::vector<Member>& group = groups[{work->output, work->prompt}];
      group.push_back({request, group.empty() ? 0 : group.back().first + group.back().texts, work->texts.size(), std::nullopt});
    }
  }
  run_in_groups(strings, model_->bindings(), model_->max_batch(), [this](const RequestGroup& group) { return run_strings(group); }, runs);
  for (auto& [how, members] : groups) {
    try {
      const BatchRun run = as_error([&, &how = how, &members = members] { return run_tokenized(members, how.first, how.second); });
      if (runs) runs->push_back(run);
      for (const Member& member : members) member.request->finish({member.failure ? &*member.failure : nullptr, &run});
    } catch (const Error& error) {
      for (const Member& member : members) member.request->finish({&error, nullptr});
    }
  }
}

}  // namespace

std::unique_ptr<ServedInstance> make_instance(std::shared_ptr<const EncoderModel> model, std::shared_ptr<const Encoder> encoder,
                                              std::string device) {
  return std::make_unique<EncoderInstance>(std::move(model), std::move(encoder), std::move(device));
}

}  // namespace tenfold::served_encoder
