// Building: from a model to an engine, with everything a caller can decide on the way.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenfold/engine.h"
#include "tenfold/error.h"
#include "tenfold/tensor.h"

namespace tenfold {

class Network;

// The range of one input's shape, and the shape to tune for. Equal shapes: a fixed input.
struct ShapeRange { Shape min, opt, max; };
using OptimizationProfile = std::map<std::string, ShapeRange>;   // by input name; inputs left out must be static in the model

// One step of progress: "tune", 17 of 120. Returning false cancels the build with ErrorKind::cancelled.
struct Progress { std::string_view phase; int done = 0, total = 0; };

enum class TacticSource : std::uint32_t { reference = 1, native = 2, onednn = 4, cublas_lt = 8, cudnn = 16 };

// Whether text encoders may compute only the tokens that the attention mask keeps.
// where_equal: where nothing that the graph gives depends on the other tokens (mean pooling under the mask).
// with_zeros: also where results hold a row for each token; those of masked tokens are zeros then.
enum class PackTokens : std::uint8_t { no, where_equal, with_zeros };

struct BuildConfig {
  std::string device = "cpu";                     // "cpu", "cuda:0", or "null" to plan without hardware
  int threads = 0;                                // tuned for this many; 0: from affinity mask and cgroup quota
  bool pin_threads = false;                       // of the engine that is returned: LoadOptions::pin_threads
  std::vector<OptimizationProfile> profiles;      // empty: dynamic dims are tuned at 1 (batch) and refused without a profile otherwise
  // Precisions that may be used where they pay; what the machine lacks runs in the next wider type and the log says so.
  // int8 and fp8: products of a model that is quantised already; others stay as they are.
  bool fp16 = false, bf16 = false, int8 = true, fp8 = true;
  // With fp16 on GPUs: run the model in f32 on the CPU first, and keep what 16 bits cannot hold in f32. On the first four examples of
  // each of these sets of inputs, by name; on random ones if there are none, and then the log says so. What it finds is kept beside the
  // timing cache.
  bool check_overflow = true;
  std::vector<std::map<std::string, Tensor>> typical_inputs;
  // Products of f32 tensors may round: on GPUs operands to 10 bits of fraction; on CPUs constants to 15 bits, operands to two parts of
  // bf16 or to fixed point (24 bits beside the largest of a row or column; 16 for up to three rows), 3x3 windows may be computed by
  // Winograd's transforms, and large products by Strassen's algorithm. There that stays within 1e-4 of the largest result, and products
  // of few numbers are not rounded.
  bool tf32 = true;
  // Parts of that, on CPUs, each by itself: Winograd's and Strassen's algorithms. And what is no part of it: exponentials of softmax and
  // fused attention by powers of two, to 1e-7 in f32 and to 1e-4 where bf16 follows. Without them softmax is computed by the exponential
  // of all other steps, and attention is not fused.
  bool winograd = true, strassen = true, fast_exp = true;
  PackTokens pack_tokens = PackTokens::no;        // pays where batches hold padding
  // 0: first tactic that fits, nothing timed; 1-2: few candidates; 3: default; 4: all configs; 5: all, timed longer.
  int optimization_level = 3;
  int max_tactics = -1;                           // candidates timed per problem and layout; -1: by level
  // Mask of TacticSource. oneDNN is left out unless asked for: it allocates in every call, which the engine then tells.
  std::uint32_t tactic_sources = 27;
  std::int64_t workspace_bytes = std::int64_t{1} << 40;
  std::uint32_t cpu_features = 0;                 // restrict to these (backends' feature bits); 0: all the machine has
  std::string timing_cache;                       // file, read at the start and merged back at the end; empty: none
  bool error_on_cache_miss = false;
  std::vector<std::string> disabled_passes;       // by name; one that does not exist is refused with the names that do
  std::vector<std::string> external_data_dirs;    // allowed beside the model's own folder
  bool keep_portable_graph = true;                // so that the plan can be re-tuned elsewhere
  // Keeps what Engine::refit needs. Weights of rank 0, and integers that give shapes or quantisation parameters, stay fixed.
  bool refittable = false;
  std::uint64_t random_choices = 0;               // tests: choose tactics, layouts and cuts by this seed instead of by time
  std::map<std::string, std::string> forced_tactics;   // problem line (or prefix) -> tactic name
  std::shared_ptr<const Plugins> plugins;         // operators and tactics beside the built-in ones; the engine keeps them alive
  LogCallback log;
  std::function<bool(const Progress&)> progress;
  std::function<void(std::string_view pass, std::string_view graph)> dump;   // "import", then after each pass that changed it
};

// What the builder tried for one step: for `inspect --why`.
struct TacticReport { std::string tactic, config, verdict; double nanoseconds = -1; bool chosen = false; };
struct StepReport { std::string node, problem; std::vector<TacticReport> tried; };
// A node whose result stays in f32 in a plan of f16, for so large it became.
struct WideReport { std::string node, op; double largest = 0; };
enum class CheckedOn : std::uint8_t { nothing, random_inputs, typical_inputs };
struct BuildReport {
  std::vector<StepReport> steps;
  double device_s = 0, import_s = 0, passes_s = 0, check_s = 0, tune_s = 0, assemble_s = 0, open_s = 0;
  int timed = 0, cache_hits = 0;
  // What may win is timed twice. Times that differed much, and the largest ratio of two: other programs took the processor meanwhile.
  int timed_again = 0, disturbed = 0;
  double disturbance = 1;
  // BuildConfig::check_overflow: what it looked at, and what it found. Random inputs prove little.
  CheckedOn overflow_checked_on = CheckedOn::nothing;
  std::vector<WideReport> kept_in_f32;
};

// All throw Error. Not thread safe with one BuildConfig shared by callbacks that are not; otherwise independent.
Engine build_file(const std::string& onnx_path, const BuildConfig& config, BuildReport* report = nullptr);
Engine build_bytes(std::span<const std::byte> onnx, const BuildConfig& config, BuildReport* report = nullptr);
Engine build(const Network& network, const BuildConfig& config, BuildReport* report = nullptr);
// Re-tunes a plan made elsewhere for this machine, from its portable section: with weights as the plan multiplies them. Where these are
// rounded (BuildConfig::tf32), that leave is needed again.
Engine retune(const Engine& engine, const BuildConfig& config, BuildReport* report = nullptr);
Engine retune_file(const std::string& plan_path, const BuildConfig& config, BuildReport* report = nullptr);

// The named weights of a model file, for Engine::refit.
std::vector<std::pair<std::string, Tensor>> read_weights(const std::string& onnx_path, const BuildConfig& config = {});

// The ONNX operators that models may use, by domain and name, with the first opset whose form is accepted.
struct OperatorInfo { std::string domain, name; int since = 1; };
std::vector<OperatorInfo> supported_operators();

}  // namespace tenfold
