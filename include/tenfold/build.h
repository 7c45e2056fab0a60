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

using NamedTensors = std::map<std::string, Tensor>;
using NamedFormats = std::map<std::string, BindingFormat>;
using NamedTexts = std::map<std::string, std::string>;

// Its fields, their defaults and what each means stand in tenfold/build_fields.h, one row each.
struct BuildConfig {
#define TF_FIELD(type, name, initial, ...) type name = initial;
#include "tenfold/build_fields.h"
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
  std::vector<Note> notes;   // requests that could not be met; EngineInfo::notes has these and more
};

// All builds throw Error. Several builds may run at the same time, also with one BuildConfig if its callbacks are
// thread safe.
TENFOLD_API Engine build_file(const std::string& onnx_path, const BuildConfig& config, BuildReport* report = nullptr);
TENFOLD_API Engine build_bytes(std::span<const std::byte> onnx, const BuildConfig& config, BuildReport* report = nullptr);
TENFOLD_API Engine build(const Network& network, const BuildConfig& config, BuildReport* report = nullptr);
// Chooses kernels again, for this machine, for a plan that was made on another machine of the same kind (CPU or GPU)
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
// types that its newest form takes and gives, as docs/reference/operators.md explains them ("T, int -> T; T: any"). `attributes`
// are those that have a default, with it, then the others with their types ("keepdims=1; axes: ints"). Both are empty
// where a node of the model stands for other operators, which judge it.
struct OperatorInfo { std::string domain, name; int since = 1; std::string types = {}, attributes = {}; };
TENFOLD_API std::vector<OperatorInfo> supported_operators();   // by domain and name

}  // namespace tenfold
