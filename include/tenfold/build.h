// Building: from a model to an engine, with everything a caller can decide on the way.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenfold/engine.h"
#include "tenfold/error.h"
#include "tenfold/export.h"
#include "tenfold/tensor.h"

namespace tenfold {

class Network;
class TimingCache;   // tenfold/timing_cache.h

// The range of one input's shape, and the shape to tune for. Equal shapes: a fixed input.
struct ShapeRange { Shape min, opt, max; };
using OptimizationProfile = std::map<std::string, ShapeRange>;   // by input name; inputs left out must be static in the model

// One step of progress: "tune", 17 of 120; "confirm" where times are taken again. `done` rises by one from 1 to `total` and never passes
// it; a profile or another form of the graph begins anew. Returning false cancels the build with ErrorKind::cancelled.
struct Progress { std::string_view phase; int done = 0, total = 0; };

enum class TacticSource : std::uint32_t { reference = 1, native = 2, onednn = 4, cublas_lt = 8, cudnn = 16 };
constexpr std::uint32_t operator|(TacticSource a, TacticSource b) { return static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b); }
constexpr std::uint32_t operator|(std::uint32_t a, TacticSource b) { return a | static_cast<std::uint32_t>(b); }
// All but oneDNN, which allocates in every call (the engine then tells: EngineInfo::allocates_in_run).
inline constexpr std::uint32_t kDefaultTacticSources =
    TacticSource::reference | TacticSource::native | TacticSource::cublas_lt | TacticSource::cudnn;

// Whether text encoders may compute only the tokens that the attention mask keeps.
// where_equal: where nothing that the graph gives depends on the other tokens (mean pooling under the mask).
// with_zeros: also where results hold a row for each token; those of masked tokens are zeros then.
enum class PackTokens : std::uint8_t { no, where_equal, with_zeros };

// What could compute a problem: a tactic in one configuration and layout, and its time; -1: it was not timed (level 0).
struct TacticCandidate { std::string tactic, config; double nanoseconds = -1; };
struct TacticQuestion {
  std::string_view node, problem;                 // the problem's line, as in forced_tactics
  std::span<const TacticCandidate> candidates;    // never empty
};

// The order of an image's dims in the caller's memory. The binding has the shape of that memory, which is dense and row major as ever:
// where the model has x[N,C,H,W], hwc makes it x[N,H,W,C] for profiles, set_input_shape() and all else that tells a shape. (TensorRT keeps
// the dims and orders the memory alone. To bind such memory without a change of shape, build as ever and give its strides to
// bind_strided(), tenfold/bindings.h; then elements are copied at the border.)
enum class BindingOrder : std::uint8_t {
  as_model,
  hwc,   // the last three dims, [...,C,H,W] in the model, lie as [...,H,W,C]
  dhwc,  // the last four, [...,C,D,H,W], lie as [...,D,H,W,C]
};
struct BindingFormat {
  std::optional<DType> dtype;  // nothing: the model's
  BindingOrder order = BindingOrder::as_model;
};

struct BuildConfig {
  std::string device = "cpu";                     // "cpu", "cuda:0", or "null" to plan without hardware
  int threads = 0;                                // tuned for this many; 0: from affinity mask and cgroup quota
  bool pin_threads = false;                       // of the engine that is returned: LoadOptions::pin_threads
  std::vector<OptimizationProfile> profiles;      // empty: dynamic dims are tuned at 1 (batch) and refused without a profile otherwise
  // Types and orders that callers have in the place of the model's, by the input's or output's name. Types change as by ONNX's Cast: floats
  // are rounded to the nearest, become integers by truncation (what an integer cannot hold is undefined), and nothing is scaled. Refused
  // with invalid_argument: a name that is none, strings and values that are no tensors, an order of more dims than there are.
  std::map<std::string, BindingFormat> input_formats, output_formats;
  // Initialisers of an ONNX model that are inputs, too, by name ("*": all): inputs of the engine, whose value is the initialiser's where
  // nothing is bound (BindingInfo::has_default). What is not named here is a constant, which is faster; before IR version 4 all
  // initialisers are inputs. Refused with invalid_argument: a name that is none of these. An override has the initialiser's type and shape.
  std::vector<std::string> overridable;
  // The same for inputs of any model, by name: values of the input's type and shape, which must be fixed.
  std::map<std::string, Tensor> input_defaults;
  // Precisions that may be used where they pay; what the machine lacks runs in the next wider type and the log says so.
  // int8 and fp8: products of a model that is quantised already; others stay as they are.
  bool fp16 = false, bf16 = false, int8 = true, fp8 = true;
  // With fp16 on GPUs: run the model in f32 on the CPU first, and keep what 16 bits cannot hold in f32. On the first four examples of
  // each of these sets of inputs, by name; on random ones if there are none, and then the log says so. What it finds is kept beside the
  // timing cache.
  bool check_overflow = true;
  std::vector<std::map<std::string, Tensor>> typical_inputs;
  // Products of f32 tensors (matrix products, convolutions, fused attention) may round. On GPUs operands to 11 significant bits, of any
  // size. On CPUs constants to 16 significant bits, operands to two parts of bf16 (16 bits) or to fixed point (24 bits beside the largest
  // of a row or column; 16 for up to three rows); 3x3 windows may be computed by Winograd's transforms, large products by Strassen's
  // algorithm. There that stays within 1e-4 of the largest result, and a product whose operands and results take less than 64 KiB
  // together, at the sizes it is tuned for, is never rounded, whatever the number of threads.
  // A CPU flushes denormals to zero while a plan runs. Without this leave it keeps them, but for AMX's products, whose tiles take parts of
  // bf16 below 2^-126 for zeros.
  bool tf32 = true;
  // Parts of that leave, on CPUs, each by itself: Winograd's and Strassen's algorithms. And what is no part of it: exponentials of
  // softmax and fused attention by powers of two, to 1e-7 in f32 and to 1e-4 where bf16 follows. Without them softmax is computed by the
  // exponential of all other steps, and attention is not fused.
  bool winograd = true, strassen = true, fast_exp = true;
  PackTokens pack_tokens = PackTokens::no;        // pays where batches hold padding
  // How long the build searches. A candidate is a tactic in one configuration and one layout.
  //   0  times nothing: the first tactic that fits each node, in its first configuration
  //   1  times one configuration of each tactic and layout, once; on a GPU the least is compiled
  //   2  times up to four of each; on a CPU what may win is timed again
  //   3  up to eight, for twice as long (the default)
  //   4  every configuration
  //   5  every configuration, each five times as long as level 3
  // docs/cli.md says what that takes and gains. Others are refused with invalid_argument.
  int optimization_level = 3;
  int max_tactics = -1;                           // candidates timed for a problem, over all tactics and layouts; -1: by level
  int timing_repetitions = 0;                     // launches of a candidate that are timed; 0: as many as the level's time allows
  std::uint32_t tactic_sources = kDefaultTacticSources;   // mask of TacticSource
  std::int64_t workspace_bytes = std::int64_t{1} << 40;
  std::uint32_t cpu_features = 0;                 // restrict to these (backends' feature bits); 0: all the machine has
  std::string timing_cache;                       // file, read at the start and merged back at the end; empty: none
  std::shared_ptr<TimingCache> timings;           // the same in memory, beside the file: several builds may share one, also at once
  bool error_on_cache_miss = false;
  std::vector<std::string> disabled_passes;       // by name; one that does not exist is refused with the names that do
  std::vector<std::string> external_data_dirs;    // allowed beside the model's own folder
  // Values of initialisers of an ONNX model, by name, in the place of those that the file has or refers to; its external data is then not
  // looked for. Of the initialiser's type and shape, or its bytes as u8[bytes]; shared, not copied. Refused with invalid_argument: a name
  // that is none of the model's own graph, another type or shape.
  std::map<std::string, Tensor> initializers;
  bool keep_portable_graph = true;                // so that the plan can be re-tuned elsewhere
  // The plan keeps the model as it was imported, its weights once more, so that load_compatible() can build it again where another
  // version of Tenfold or another device refuses it.
  bool version_compatible = false;
  // The same; and on a CPU the plan uses no more than AVX2, so that every CPU which Tenfold supports runs it as it is.
  bool hardware_compatible = false;
  // Keeps what Engine::refit needs. Weights of rank 0, and integers that give shapes or quantisation parameters, stay fixed.
  bool refittable = false;
  std::uint64_t random_choices = 0;               // tests: choose tactics, layouts and cuts by this seed instead of by time
  // Problem line (or prefix) -> tactic name. What matches no problem, or a tactic that cannot compute one, is noted (notes.h).
  std::map<std::string, std::string> forced_tactics;
  // Chooses for each problem: the index of a candidate, or -1 for the usual choice by the time of the whole graph. What rough estimates
  // would leave out is timed, too. The same question may come more than once; an index that is none is refused (invalid_argument).
  std::function<int(const TacticQuestion&)> choose_tactic;
  std::map<std::string, std::string> labels;      // kept in the plan: who built it, from what, what for (Engine::labels)
  std::shared_ptr<const Plugins> plugins;         // operators and tactics beside the built-in ones; the engine keeps them alive
  LogCallback log;                                // null: the runtime's
  std::shared_ptr<Runtime> runtime;               // that the engine belongs to; null: the process's own (tenfold/runtime.h)
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
  std::vector<Note> notes;   // of what was asked for and could not be had; EngineInfo::notes has these and more
};

// All throw Error. Not thread safe with one BuildConfig shared by callbacks that are not; otherwise independent.
TENFOLD_API Engine build_file(const std::string& onnx_path, const BuildConfig& config, BuildReport* report = nullptr);
TENFOLD_API Engine build_bytes(std::span<const std::byte> onnx, const BuildConfig& config, BuildReport* report = nullptr);
TENFOLD_API Engine build(const Network& network, const BuildConfig& config, BuildReport* report = nullptr);
// Chooses kernels for this machine anew, for a plan that was made on another of the same kind (CPU or GPU) with
// BuildConfig::keep_portable_graph. The plan's graph, precision, profiles and weights stay; `config` says how to choose and where to run,
// and must have no profiles. A plan holds some float32 weights as its kernels multiply them: rounded, if BuildConfig::tf32 permitted that
// when it was built. The new plan starts from those, so `config` must permit it again, or this throws plan_refused.
TENFOLD_API Engine retune(const Engine& engine, const BuildConfig& config, BuildReport* report = nullptr);
TENFOLD_API Engine retune_file(const std::string& plan_path, const BuildConfig& config, BuildReport* report = nullptr);

// Loads a plan as Engine::load does. If this version or device refuses it, and it was built to be compatible (BuildConfig::
// version_compatible, hardware_compatible), it is built again from the model that it keeps: at level 0, for LoadOptions::device (empty:
// the plan's kind), which is told in EngineInfo::notes and to the log; it takes no new weights then (Engine::refit). Whatever else is wrong
// with it is thrown as Engine::load does.
TENFOLD_API Engine load_compatible(const std::string& plan_path, const LoadOptions& options = {});
TENFOLD_API Engine load_compatible(std::span<const std::byte> plan, const LoadOptions& options = {});

// Inputs and outputs of a model without a build. Of the configuration: profiles (extents that all of them fix), formats, inputs with
// defaults, plug-ins, folders of external data, log.
TENFOLD_API std::vector<BindingInfo> model_bindings(const std::string& onnx_path, const BuildConfig& config = {});
TENFOLD_API std::vector<BindingInfo> model_bindings(std::span<const std::byte> onnx, const BuildConfig& config = {});

// The named weights of a model file, for Engine::refit.
TENFOLD_API std::vector<std::pair<std::string, Tensor>> read_weights(const std::string& onnx_path, const BuildConfig& config = {});
TENFOLD_API std::vector<std::pair<std::string, Tensor>> read_weights(std::span<const std::byte> onnx, const BuildConfig& config = {});

// The ONNX operators that models may use, by domain and name, with the first opset whose form is accepted. `types` are the element types
// that its newest form takes and gives, as src/ir/op_types.h reads them ("T, int -> T; T: any"). `attributes` are those that have a
// default, with it, then the others with their types ("keepdims=1; axes: ints"). Both are empty where a model's node stands for others,
// which judge it.
struct OperatorInfo { std::string domain, name; int since = 1; std::string types = {}, attributes = {}; };
TENFOLD_API std::vector<OperatorInfo> supported_operators();

}  // namespace tenfold
