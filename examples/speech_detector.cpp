// Finds speech in a sound, chunk by chunk, with the recurrent state carried from one run to the next.
//
//   speech_detector MODEL SOUND.wav [PLAN]
//
// MODEL is silero_vad.onnx of the PyPI package silero-vad. If PLAN exists it is loaded; otherwise the model is built and saved there.
// Prints one line per chunk: the time in seconds at which it begins, and the probability that somebody speaks.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>

#include "tenfold/build.h"
#include "tenfold/engine.h"
#include "wav.h"

namespace {

constexpr int kRate = 16000, kChunk = 512, kContext = 64;   // each run sees the last 64 samples of the chunk before, too

tenfold::Engine open_or_build(const std::string& model, const std::string& plan) {
  if (!plan.empty() && std::filesystem::exists(plan)) return tenfold::Engine::load(plan);
  tenfold::BuildConfig config;
  const tenfold::Shape samples{1, kContext + kChunk}, state{2, 1, 128};
  config.threads = 1;
  config.profiles = {{{"input", {samples, samples, samples}}, {"state", {state, state, state}}}};
  tenfold::Engine engine = tenfold::build_file(model, config);
  if (!plan.empty()) engine.save(plan);
  return engine;
}

// Owns the memory that the context reads and writes, bound once; only its contents change from chunk to chunk.
class Detector {
 public:
  explicit Detector(const tenfold::Engine& engine) : context_(engine.create_context()) {
    bind(engine, "input", samples_, {1, kContext + kChunk});
    bind(engine, "state", state_, {2, 1, 128});
    bind(engine, "sr", rate_, {});
    bind(engine, "output", probability_, {});
    bind(engine, "stateN", next_state_, {});
  }

  float feed(std::span<const float> chunk) {
    std::copy(samples_.end() - kContext, samples_.end(), samples_.begin());
    std::copy(chunk.begin(), chunk.end(), samples_.begin() + kContext);
    check(context_->run());
    state_ = next_state_;
    return probability_[0];
  }

 private:
  template <class T, std::size_t N>
  void bind(const tenfold::Engine& engine, const char* name, std::array<T, N>& memory, const tenfold::Shape& shape) {
    const int binding = engine.binding_index(name);
    if (!shape.empty()) check(context_->set_input_shape(binding, shape));
    check(context_->bind(binding, memory.data(), sizeof memory));
  }

  void check(tenfold::Status status) const {
    if (!status) throw std::runtime_error(context_->describe(status));
  }

  std::unique_ptr<tenfold::ExecutionContext> context_;
  std::array<float, kContext + kChunk> samples_{};
  std::array<float, 256> state_{}, next_state_{};
  std::array<float, 1> probability_{};
  std::array<std::int64_t, 1> rate_{kRate};
};

void detect(const std::string& model, const std::string& sound_path, const std::string& plan) {
  const tenfold::Engine engine = open_or_build(model, plan);
  const Sound sound = read_wav(sound_path);
  if (sound.rate != kRate) throw std::runtime_error("the sound has " + std::to_string(sound.rate) + " samples a second, 16000 expected");
  Detector detector(engine);
  const std::span<const float> samples(sound.samples);
  for (std::size_t at = 0; at + kChunk <= samples.size(); at += kChunk)
    std::printf("%.3f %.9g\n", static_cast<double>(at) / kRate, detector.feed(samples.subspan(at, kChunk)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::fprintf(stderr, "usage: speech_detector MODEL.onnx SOUND.wav [PLAN]\n");
    return 1;
  }
  try {
    detect(argv[1], argv[2], argc > 3 ? argv[3] : "");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "speech_detector: %s\n", e.what());
    return 1;
  }
}
