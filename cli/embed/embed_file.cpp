// tenfold embed: from a file of texts to a file of vectors. Reading, computing and writing overlap.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <future>

#include "embed/embed.h"
#include "formats/arrays/vector_file.h"
#include "formats/files.h"
#include "stop_signal.h"
#include "tenfold/device.h"

namespace tenfold::cli {
namespace {

class Meter {
 public:
  explicit Meter(bool shown) : shown_(shown && ::isatty(STDERR_FILENO)) {}
  ~Meter() {
    if (shown_) std::fprintf(stderr, "\r\x1b[K");
  }
  void add(std::int64_t texts) {
    const std::int64_t all = texts_ += texts;
    if (shown_) std::fprintf(stderr, "\r%lld texts, %.0f a second", static_cast<long long>(all), static_cast<double>(all) / seconds());
  }
  std::int64_t texts() const { return texts_; }
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  bool shown_;
  std::atomic<std::int64_t> texts_{0};
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// A window's vectors, and the digest of all texts up to its end.
struct Encoded {
  std::vector<float> vectors;
  std::string digest;
};

// In a thread of its own, which the signal is to reach, too.
Encoded encode(const EmbedWish& w, const Encoder& encoder, const TextWindow& window, Meter& meter) {
  const Interrupts interrupts([] { return !StopSignal::came(); });
  const std::vector<std::string_view> views(window.texts.begin(), window.texts.end());
  std::size_t reported = 0;
  const EncodeCall call{.prompt = w.prompt, .progress = [&](std::size_t ready, std::size_t) {
                          meter.add(static_cast<std::int64_t>(ready - std::exchange(reported, ready)));
                          return true;
                        }};
  try {
    return {encoder.encode(views, call), window.digest};
  } catch (Error& e) {  // which counts texts from the window's first one
    if (window.first == 0) throw;
    throw e.within("after the first " + std::to_string(window.first) + " texts");
  }
}

// Goes over the texts whose vectors are there.
void skip(TextWindows& windows, const formats::VectorFile::Mark& mark) {
  std::int64_t rows = 0;
  TextWindow window;
  while (rows < mark.rows) {
    window = windows.next();
    if (window.texts.empty()) throw Error(ErrorKind::invalid_argument, "--resume: the input has fewer texts than OUT.part has vectors");
    rows += static_cast<std::int64_t>(window.texts.size());
  }
  if (rows != mark.rows || window.digest != mark.digest)
    throw Error(ErrorKind::invalid_argument, "--resume: the first " + std::to_string(mark.rows) +
                                                 " texts are not those whose vectors OUT.part has; remove it, or leave --resume out");
}

// While a GPU computes one window, the next one is made into tokens. On a CPU both want the same processors.
std::size_t windows_at_once(const Encoder& encoder) {
  for (const DeviceWork& one : encoder.devices())
    if (!is_gpu(one.device)) return 1;
  return 2;
}

void write_all(const EmbedWish& w, const Encoder& encoder, TextWindows& windows, formats::VectorFile& out, Meter& meter) {
  const std::size_t max_windows = windows_at_once(encoder);
  std::deque<std::future<Encoded>> computing;
  std::future<void> writing;
  for (bool more = true; more || !computing.empty();) {
    if (more) {
      TextWindow window = windows.next();
      more = !window.texts.empty();
      if (more)
        computing.push_back(std::async(std::launch::async, [&, window = std::move(window)] { return encode(w, encoder, window, meter); }));
    }
    if (computing.empty() || (more && computing.size() < max_windows)) continue;
    Encoded ready = computing.front().get();
    computing.pop_front();
    if (writing.valid()) writing.get();
    writing = std::async(std::launch::async, [&out, ready = std::move(ready)] { out.append(ready.vectors, ready.digest); });
  }
  if (writing.valid()) writing.get();
}

// The signal ended the work: what whole windows gave is in OUT.part.
[[noreturn]] void stop(const EmbedWish& w, const formats::VectorFile& out) {
  w.console.warn(out.rows() > 0 ? "stopped: the first " + std::to_string(out.rows()) + " vectors are in '" + w.out +
                                      ".part', and --resume continues after them"
                                : "stopped before the first vectors were there");
  StopSignal::end();
}

}  // namespace

void embed_file(const EmbedWish& w, const Encoder& encoder, TextWindows& windows) {
  const int width = encoder.info().width;
  const std::string how =
      "tenfold embed, smaller windows\nprompt " + w.prompt + "\nwidth " + std::to_string(width) + "\n" + encoder.fingerprint();
  formats::VectorFile out(w.out, width, how, w.resume);
  if (w.resume && !out.resumed())
    w.console.warn("--resume: there is no '" + w.out + ".part' with vectors to go on with: all texts are computed");
  Meter meter(!w.quiet);
  try {
    const StopSignal signals;
    if (out.resumed()) skip(windows, *out.resumed());
    encoder.prepare();
    write_all(w, encoder, windows, out, meter);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::cancelled && StopSignal::came()) stop(w, out);
    throw;
  }
  out.finish();
  std::printf("%lld vectors of %d in %s: %lld texts in %.2f s on %s in %s, %lld of them cut to %d tokens\n",
              static_cast<long long>(out.rows()), width, printable(w.out).c_str(), static_cast<long long>(meter.texts()), meter.seconds(),
              devices_text(encoder).c_str(), precision_text(encoder).c_str(), static_cast<long long>(encoder.counts().truncated),
              encoder.info().max_tokens);
}

}  // namespace tenfold::cli
