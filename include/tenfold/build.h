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
#include "tenfold/optimization_profile.h"
#include "tenfold/precision.h"
#include "tenfold/quantize.h"
#include "tenfold/tensor.h"

namespace tenfold {

class Network;
class TimingCache;   // tenfold/timing_cache.h

// One step of progress: "tune", 17 of 120, or "confirm" where times are taken again. `done` rises by one from 1 to
// `total`. It begins anew for each profile and for each further form of the graph.
struct Progress { std::string_view phase; int done = 0, total = 0; };

enum class TacticSource : std::uint32_t { reference = 1, native = 2, onednn = 4, cublas_lt = 8, cudnn = 16 };
constexpr std::uint32_t operator|(TacticSource a, TacticSource b) { return static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b); }
constexpr std::uint32_t operator|(std::uint32_t a, TacticSource b) { return a | static_cast<std::uint32_t>(b); }
// All but oneDNN, which allocates in every call. (EngineInfo::allocates_in_run is true for an engine that uses it.)
inline constexpr std::uint32_t kDefaultTacticSources =
    TacticSource::reference | TacticSource::native | TacticSource::cublas_lt | TacticSource::cudnn;

// Whether text encoders may compute only the tokens that the attention mask keeps.
//   where_equal  only if no result depends on the other tokens (mean pooling under the mask)
//   with_zeros   also if results hold a row for each token; the rows of masked tokens are zeros then
enum class PackTokens : std::uint8_t { no, where_equal, with_zeros };

// A tactic in one configuration and layout that could compute a problem, and its time. -1: it was not timed (level 0).
struct TacticCandidate { std::string tactic, config; double nanoseconds = -1; };
struct TacticQuestion {
  std::string_view node, problem;                 // `problem`: its line, as in forced_tactics
  std::span<const TacticCandidate> candidates;    // never empty
};

// The order of an image's dims in the caller's memory. The binding has the shape of that memory, which stays dense and
// row major. Where the model has x[N,C,H,W], hwc makes the binding x[N,H,W,C] for profiles, set_input_shape() and every
// other shape. (TensorRT keeps the dims and orders the memory alone. To bind such memory without another shape, build
// without a format and give the strides to bind_strided(), tenfold/bindings.h. Elements are then copied at the border.)
enum class BindingOrder : std::uint8_t {
  as_model,
  hwc,   // the last three dims, [...,C,H,W] in the model, are [...,H,W,C]
  dhwc,  // the last four dims, [...,C,D,H,W] in the model, are [...,D,H,W,C]
};
struct BindingFormat {
  std::optional<DType> dtype;  // nothing: the model's type
  BindingOrder order = BindingOrder::as_model;
};

struct BuildConfig {
  std::string device = "cpu";                     // "cpu", "cuda:0", or "null" to plan without hardware
  int threads = 0;                                // tuned for this many, up to 256; 0: from affinity mask and cgroup quota
  bool pin_threads = false;                       // LoadOptions::pin_threads of the engine that is returned
  std::vector<OptimizationProfile> profiles;      // each gets kernels of its own; empty: dynamic dims are fixed to 1
  // Types and orders of callers' arrays where they differ from the model's, by the name of the input or output. Types
  // change as by ONNX's Cast: floats are rounded to the nearest and become integers by truncation (what an integer
  // cannot hold is undefined), and nothing is scaled. The build throws invalid_argument for a name that is none, for
  // strings and values that are no tensors, and for an order of more dims than there are.
  std::map<std::string, BindingFormat> input_formats, output_formats;
  // Initializers of an ONNX model that the model also lists as inputs, by name ("*": all). They become inputs of the
  // engine, whose value is the initializer's where nothing is bound (BindingInfo::has_default). All others are
  // constants, which is faster. Before IR version 4 all initializers are inputs. An override has the initializer's type
  // and shape. The build throws invalid_argument for any other name.
  std::vector<std::string> overridable;
  // The same for inputs of any model, by name. A value has the type and shape of its input, whose shape must be fixed.
  std::map<std::string, Tensor> input_defaults;
  // Precisions that the build may use where they pay. Where the machine lacks one, its steps run in the next wider type
  // and the log says so. int8 and fp8 apply to products of a model that is quantized already; other products stay as
  // they are.
  bool fp16 = false, bf16 = false, int8 = true, fp8 = true;
  // Products of a plain model become integers or e4m3, too, with ranges that this data gives. It needs int8, or fp8, as
  // Calibration::types says.
  std::optional<Calibration> calibration;
  // How far outputs may be from the f32 model's: the build searches for the quickest plan within it. It needs
  // `calibration`, whose data shows the error.
  std::optional<ErrorBudget> budget;
  // fp16, bf16 and int8 follow from the device in place of the fields above: int8 for GPUs from compute capability 7.5 and
  // CPUs with VNNI or AMX, if the model is quantized or has a calibration; else fp16 for GPUs from 7.0, and bf16 for CPUs
  // with AMX. A note tells what was chosen, and why.
  bool auto_precision = false;
  LayerTypes layer_types;                         // of single layers, before what is permitted for all
  // With fp16 on GPUs, the builder first runs the model in f32 on the CPU, and keeps what 16 bits cannot hold in f32.
  // It runs the first four examples of each set in `typical_inputs` (values by the name of the input). Without sets it
  // takes random values, and the log says so. What it finds is kept beside the timing cache.
  bool check_overflow = true;
  std::vector<std::map<std::string, Tensor>> typical_inputs;
  // Products of f32 tensors (matrix products, convolutions, fused attention, LSTM, GRU) may be rounded.
  //
  // A GPU rounds operands to 11 significant bits, at any size. A CPU may round constants to 16 significant bits, and
  // operands to two terms of bf16 (16 bits) or to fixed point: 24 bits beside the largest of a row or column, or 16
  // bits for up to three rows and for LSTM and GRU. It may compute 3x3 windows by Winograd's transforms and large
  // products by Strassen's algorithm. On a CPU results stay within 1e-4 of the largest one. There a product is never
  // rounded if its operands and results take less than 64 KiB together at the sizes it is tuned for, whatever the
  // number of threads.
  //
  // A CPU flushes denormals to zero while a plan runs. With tf32 = false it keeps them, except in products by AMX,
  // whose tiles take terms of bf16 below 2^-126 for zeros.
  bool tf32 = true;
  // The same permission for convolutions, transposed ones included, and for all other products; tf32 = false is for both. A
  // convolution that the builder computes as a product of matrices, such as one of patches, counts as that product.
  bool tf32_convolutions = true, tf32_matmul = true;
  // Winograd's and Strassen's algorithms are parts of that leave, on CPUs, and each can be left out by itself. fast_exp
  // is no part of it: softmax and fused attention then use exponentials by powers of two, exact to 1e-7 in f32 and to
  // 1e-4 where bf16 follows. Without fast_exp, softmax uses the exponential of all other steps, and attention is not
  // fused.
  bool winograd = true, strassen = true, fast_exp = true;
  PackTokens pack_tokens = PackTokens::no;        // pays where batches hold padding
  // "x:1": windows of input `x` slide by one row along axis 1, whose extent is fixed. What does not depend on the newest
  // row, the last of the window, is computed by ExecutionContext::precompute() before that row is there: forward LSTM, GRU
  // and RNN, causal convolutions, and what works row by row. Results are those of the whole window. For CPUs. The build
  // throws invalid_argument for an input or axis that is none, and unsupported, naming a node, where nothing can be
  // computed early (a reverse LSTM). Empty: windows come as a whole.
  std::string newest_row;
  // How long the build searches, 0 to 5. A candidate is a tactic in one configuration and one layout.
  //   0  times nothing, and takes the first tactic that fits each node, in its first configuration
  //   1  times one configuration of each tactic and layout, once; on a GPU the least is compiled
  //   2  times up to four of each; on a CPU what may win is timed again
  //   3  times up to eight, for twice as long (the default)
  //   4  times every configuration
  //   5  times every configuration, each five times as long as level 3
  // docs/cli.md says what the levels take and gain. Any other level throws invalid_argument.
  int optimization_level = 3;
  int max_tactics = -1;                           // most candidates to time for a problem; -1: by level
  int timing_repetitions = 0;                     // launches to time of a candidate; 0: as many as there is time for
  std::uint32_t tactic_sources = kDefaultTacticSources;   // mask of TacticSource
  std::int64_t workspace_bytes = std::int64_t{1} << 40;   // the most that a tactic may work in while it runs
  std::uint32_t cpu_features = 0;                 // the plan uses only these (parse_cpu_features); 0: any
  std::string timing_cache;                       // a file, read at the start and merged back at the end; empty: none
  std::shared_ptr<TimingCache> timings;           // the same in memory; several builds may share one at once
  bool error_on_cache_miss = false;               // the build throws where a time is not in the cache
  // The longest that a build may take, in seconds; 0: as long as it takes. It is looked at between steps of the work (a node,
  // a pass, a measurement, a run on samples). A build that has taken longer throws cancelled and names its stage; nothing
  // is chosen from fewer timings instead. A search within `budget` is one build.
  double time_limit_s = 0;
  std::vector<std::string> disabled_passes;       // by name; an unknown name throws and lists the known ones
  std::vector<std::string> external_data_dirs;    // where a model's weights may lie, beside its own folder
  // Values of initializers of an ONNX model, by name, in place of those that the file has or refers to. External data
  // of such an initializer is not looked for. A value has the initializer's type and shape, or is its bytes as
  // u8[bytes]. It is shared, not copied. The build throws invalid_argument for a name that the model's own graph does
  // not have, and for another type or shape.
  std::map<std::string, Tensor> initializers;
  bool keep_portable_graph = true;                // the plan keeps its graph, so that it can be re-tuned elsewhere
  // The plan keeps the model as it was imported, with a second copy of its weights. load_compatible() builds it again
  // where another version of Tenfold or another device refuses the plan.
  bool version_compatible = false;
  // The same. Besides, on a CPU the plan uses no more than AVX2, so that every CPU which Tenfold supports runs it as it
  // is.
  bool hardware_compatible = false;
  // The plan keeps what Engine::refit needs. Weights of rank 0, and integers that give shapes or quantization
  // parameters, stay fixed.
  bool refittable = false;
  // For tests: the builder chooses tactics, layouts and cuts by this seed instead of by time. 0: by time.
  std::uint64_t random_choices = 0;
  // From a problem's line, or how it begins, to the name of a tactic. A note (notes.h) tells of a line that matches no
  // problem, and of a tactic that cannot compute one.
  std::map<std::string, std::string> forced_tactics;
  // The builder asks it about each problem. It returns the index of a candidate, or -1 for the usual choice by the time
  // of the whole graph. Candidates that rough estimates would leave out are timed, too. It may be asked the same
  // question more than once. Any other index throws invalid_argument.
  std::function<int(const TacticQuestion&)> choose_tactic;
  std::map<std::string, std::string> labels;      // kept in the plan, for Engine::labels: who built it, from what
  std::shared_ptr<const Plugins> plugins;         // further operators and tactics; the engine keeps them alive
  LogCallback log;                                // null: the runtime's log
  std::shared_ptr<Runtime> runtime;               // the engine belongs to it; null: the process's own
  std::function<bool(const Progress&)> progress;  // if it returns false, the build throws cancelled
  // Receives the graph as text: after the import ("import"), and after each pass that changed it.
  std::function<void(std::string_view pass, std::string_view graph)> dump;
};

// A tactic that the builder tried for a step, and all that it tried. `verdict` says why the tactic was not timed.
struct TacticReport { std::string tactic, config, verdict; double nanoseconds = -1; bool chosen = false; };
struct StepReport { std::string node, problem; std::vector<TacticReport> tried; };
// A node whose result stays in f32 in a plan of f16, because it became as large as `largest`.
struct WideReport { std::string node, op; double largest = 0; };
enum class CheckedOn : std::uint8_t { nothing, random_inputs, typical_inputs };
// What a build did. Fields that end in _s are seconds.
struct BuildReport {
  std::vector<StepReport> steps;
  double device_s = 0, import_s = 0, passes_s = 0, check_s = 0, tune_s = 0, assemble_s = 0, open_s = 0;
  int timed = 0, cache_hits = 0;
  // Candidates that may win are timed twice. `disturbed` counts those whose two times differed much, because other
  // programs took the processor meanwhile. `disturbance` is the largest ratio of the two.
  int timed_again = 0, disturbed = 0;
  double disturbance = 1;
  // The inputs that BuildConfig::check_overflow ran, and what it found. Random inputs prove little.
  CheckedOn overflow_checked_on = CheckedOn::nothing;
  std::vector<WideReport> kept_in_f32;
  std::map<DType, int> layers_by_type;   // how many layers of the model compute in each type
  std::optional<CalibrationReport> calibration;
  std::optional<BudgetReport> budget;
  double tuned_ms = -1;   // what the steps of all profiles take by the tuner's times; -1: nothing was timed
  std::vector<Note> notes;   // what was asked for and could not be had; EngineInfo::notes has these and more
};

// All builds throw Error. Several builds may run at the same time, also with one BuildConfig if its callbacks are
// thread safe.
TENFOLD_API Engine build_file(const std::string& onnx_path, const BuildConfig& config, BuildReport* report = nullptr);
TENFOLD_API Engine build_bytes(std::span<const std::byte> onnx, const BuildConfig& config, BuildReport* report = nullptr);
TENFOLD_API Engine build(const Network& network, const BuildConfig& config, BuildReport* report = nullptr);
// Chooses kernels anew, for this machine, for a plan that was made on another machine of the same kind (CPU or GPU)
// with BuildConfig::keep_portable_graph. The plan's graph, precision, profiles and weights stay. `config` says how to
// choose and where to run; it must have no profiles. A plan holds some f32 weights as its kernels multiply them, which
// is rounded if BuildConfig::tf32 permitted that. The new plan starts from these weights, so `config` must permit it
// again; else this throws plan_refused.
TENFOLD_API Engine retune(const Engine& engine, const BuildConfig& config, BuildReport* report = nullptr);
TENFOLD_API Engine retune_file(const std::string& plan_path, const BuildConfig& config, BuildReport* report = nullptr);

// Loads a plan as Engine::load does. A plan that was built with BuildConfig::version_compatible or hardware_compatible,
// and that this version or device refuses, is built again from the model that it keeps. That build is at level 0, for
// LoadOptions::device (empty: the plan's kind). EngineInfo::notes and the log tell of it, and the engine takes no new
// weights then (Engine::refit). Any other fault throws as in Engine::load.
TENFOLD_API Engine load_compatible(const std::string& plan_path, const LoadOptions& options = {});
TENFOLD_API Engine load_compatible(std::span<const std::byte> plan, const LoadOptions& options = {});

// The inputs and outputs of a model, without a build. These fields of the configuration count: profiles (extents that
// all of them fix), formats, inputs with defaults, plug-ins, folders of external data, and the log.
TENFOLD_API std::vector<BindingInfo> model_bindings(const std::string& onnx_path, const BuildConfig& config = {});
TENFOLD_API std::vector<BindingInfo> model_bindings(std::span<const std::byte> onnx, const BuildConfig& config = {});

// The named weights of a model file, for Engine::refit.
TENFOLD_API std::vector<std::pair<std::string, Tensor>> read_weights(const std::string& onnx_path, const BuildConfig& config = {});
TENFOLD_API std::vector<std::pair<std::string, Tensor>> read_weights(std::span<const std::byte> onnx, const BuildConfig& config = {});

// An ONNX operator that models may use. `since` is the first opset whose form is accepted. `types` are the element
// types that its newest form takes and gives, as docs/operators.md explains them ("T, int -> T; T: any"). `attributes`
// are those that have a default, with it, then the others with their types ("keepdims=1; axes: ints"). Both are empty
// where a node of the model stands for other operators, which judge it.
struct OperatorInfo { std::string domain, name; int since = 1; std::string types = {}, attributes = {}; };
TENFOLD_API std::vector<OperatorInfo> supported_operators();   // by domain and name

}  // namespace tenfold
