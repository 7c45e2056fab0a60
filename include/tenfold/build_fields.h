/* The fields of BuildConfig, one row each. What is generated from a row: the members of BuildConfig and, with TF_C_NEW,
 * of tenfold_build_config; the key of the plan cache (plan_key), the request to a process that builds in the
 * background, the model that a compatible plan keeps, the summary of options in a plan; what C and Python set; flags of
 * `tenfold exec`; docs/reference/build-options.md.
 *
 *   TF_FIELD(type, name, default, forms, C, flag)
 *
 * forms: where the field is written (src/compiler/builder/fields.h). Each has .key or .no_key, .request or .no_request:
 *   .key(n), .key(n, "name")  the plan depends on it
 *   .no_key()                 it does not, or says so in another way (src/compiler/builder/plan_key.cpp)
 *   .request(n)               it travels to the process that builds in the background
 *   .no_request()             it is of this process
 *   .kept(), .kept("name")    a plan that keeps its model keeps it, too: it decides what is computed
 *   .summary(n)               it is in the text of options that a plan has
 * The number is the field's place in that form. Forms are stored: numbers stay, and a new field takes the next one, as
 * .key_if_set(n), .kept_if_set() and .summary_if_set(n), which leave out a default: so old configurations keep their forms.
 *
 * C: what sets it, in tenfold_build_config, whose zeros mean the default.
 *   TF_C_IS(member), TF_C_NOT(member)   a bool, or its opposite
 *   TF_C_VALUE(member)        as it is; of a pointer, where it is not null
 *   TF_C_POSITIVE(member)     where it is larger than 0
 *   TF_C_LIST(member, count), TF_C_CALL(member, user)
 *   TF_C_OWN                  from several members, by code of its own (src/interfaces/api_build/c_build.cpp)
 *   TF_C_NEW(type, member, TF_C_IS)   the same, and declares the member. Rows with it go to the end of this file, for
 *                             members of a C struct stay where they are.
 *
 * flag: of `tenfold exec`, with its help.
 *   TF_FLAG_ON(name, help), TF_FLAG_OFF(name, help)   sets a bool, or clears it
 *   TF_FLAG_NUMBER(name, what the help calls it, help)   a number of at least 0
 *   TF_FLAG_OWN(name)         made by code of its own in cli/; TF_FLAG_NONE: there is none
 *
 * A user of the table defines TF_FIELD, and those of the other macros whose column it expands. */
#ifndef TF_C_IS
#define TF_C_IS(member)
#endif
#ifndef TF_C_NOT
#define TF_C_NOT(member)
#endif
#ifndef TF_C_VALUE
#define TF_C_VALUE(member)
#endif
#ifndef TF_C_POSITIVE
#define TF_C_POSITIVE(member)
#endif
#ifndef TF_C_LIST
#define TF_C_LIST(member, count)
#endif
#ifndef TF_C_CALL
#define TF_C_CALL(member, user)
#endif
#ifndef TF_C_OWN
#define TF_C_OWN
#endif
#ifndef TF_C_NEW
#define TF_C_NEW(type, member, how)
#endif
#ifndef TF_FLAG_ON
#define TF_FLAG_ON(name, help)
#endif
#ifndef TF_FLAG_OFF
#define TF_FLAG_OFF(name, help)
#endif
#ifndef TF_FLAG_NUMBER
#define TF_FLAG_NUMBER(name, value, help)
#endif
#ifndef TF_FLAG_OWN
#define TF_FLAG_OWN(name)
#endif
#ifndef TF_FLAG_NONE
#define TF_FLAG_NONE
#endif

// "cpu", "cuda:0", or "null" to plan without hardware
TF_FIELD(std::string, device, "cpu", .no_key().request(1), TF_C_VALUE(device), TF_FLAG_OWN("device"))

// tuned for this many, up to 256; 0: from affinity mask and cgroup quota
TF_FIELD(int, threads, 0, .key(1).request(2).summary(21), TF_C_VALUE(threads), TF_FLAG_OWN("threads"))

// LoadOptions::pin_threads of the engine that is returned
TF_FIELD(bool, pin_threads, false, .no_key().no_request(), TF_C_IS(pin_threads), TF_FLAG_NONE)

// each gets kernels of its own; empty: dynamic dims are fixed to 1
TF_FIELD(std::vector<OptimizationProfile>, profiles, {}, .key(2, "profile").request(3), TF_C_LIST(ranges, range_count),
         TF_FLAG_OWN("minShapes"))

// Types and orders of callers' arrays where they differ from the model's, by the name of the input or output. Types
// change as by ONNX's Cast: floats are rounded to the nearest and become integers by truncation (what an integer
// cannot hold is undefined), and nothing is scaled. The build throws invalid_argument for a name that is none, for
// strings and values that are no tensors, and for an order of more dims than there are.
TF_FIELD(NamedFormats, input_formats, {}, .key(3, "input").request(4), TF_C_LIST(input_formats, input_format_count),
         TF_FLAG_OWN("inputIOFormats"))
TF_FIELD(NamedFormats, output_formats, {}, .key(4, "output").request(5), TF_C_LIST(output_formats, output_format_count),
         TF_FLAG_OWN("outputIOFormats"))

// Initializers of an ONNX model that the model also lists as inputs, by name ("*": all). They become inputs of the
// engine, whose value is the initializer's where nothing is bound (BindingInfo::has_default). All others are
// constants, which is faster. Before IR version 4 all initializers are inputs. An override has the initializer's type
// and shape. The build throws invalid_argument for any other name.
TF_FIELD(std::vector<std::string>, overridable, {}, .key(5).request(6), TF_C_LIST(overridable, overridable_count),
         TF_FLAG_OWN("overridable"))

// The same for inputs of any model, by name. A value has the type and shape of its input, whose shape must be fixed.
TF_FIELD(NamedTensors, input_defaults, {},
         .key(6, "default").request(7), TF_C_LIST(input_defaults, input_default_count), TF_FLAG_NONE)

// Precisions that the build may use where they pay. Where the machine lacks one, its steps run in the next wider type
// and the log says so. int8 and fp8 apply to products of a model that is quantized already; other products stay as
// they are.
TF_FIELD(bool, fp16, false, .key(8).request(8).kept().summary(1), TF_C_IS(allow_fp16), TF_FLAG_OWN("fp16"))
TF_FIELD(bool, bf16, false, .key(9).request(9).kept().summary(2), TF_C_IS(allow_bf16), TF_FLAG_OWN("bf16"))
TF_FIELD(bool, int8, true, .key(10).request(10).kept().summary(3), TF_C_NOT(no_int8), TF_FLAG_OWN("int8"))
TF_FIELD(bool, fp8, true, .key(11).request(11).kept().summary(4), TF_C_NOT(no_fp8), TF_FLAG_OWN("fp8"))

// Products of a plain model become integers or e4m3, too, with ranges that this data gives. It needs int8, or fp8, as
// Calibration::types says.
TF_FIELD(std::optional<Calibration>, calibration, {}, .no_key().no_request().summary(24), TF_C_VALUE(calibration),
         TF_FLAG_OWN("calib"))

// How far outputs may be from the f32 model's: the build searches for the quickest plan within it. It needs
// `calibration`, whose data shows the error.
TF_FIELD(std::optional<ErrorBudget>, budget, {}, .no_key().no_request(), TF_C_VALUE(budget), TF_FLAG_OWN("max-error"))

// fp16, bf16 and int8 follow from the device in place of the fields above: int8 for GPUs from compute capability 7.5 and
// CPUs with VNNI or AMX, if the model is quantized or has a calibration; else fp16 for GPUs from 7.0, and bf16 for CPUs
// with AMX. A note tells what was chosen, and why.
TF_FIELD(bool, auto_precision, false, .key(12).request(41).kept().summary_if_set(23), TF_C_IS(auto_precision),
         TF_FLAG_OWN("precision"))

// of single layers, before what is permitted for all
TF_FIELD(LayerTypes, layer_types, {}, .key(13).request(42).kept().summary(25), TF_C_OWN, TF_FLAG_OWN("layerPrecisions"))

// With fp16 on GPUs, the builder first runs the model in f32 on the CPU, and keeps what 16 bits cannot hold in f32.
// It runs the first four examples of each set in `typical_inputs` (values by the name of the input). Without sets it
// takes random values, and the log says so. What it finds is kept beside the timing cache.
TF_FIELD(bool, check_overflow, true, .key(14).request(12).kept().summary(11), TF_C_NOT(no_overflow_check),
         TF_FLAG_OFF("noOverflowCheck", "+with --fp16 on a GPU, do not check first for overflow of fp16 (on --loadInputs, or random "
                                        "values)"))

TF_FIELD(std::vector<NamedTensors>, typical_inputs, {},
         .key(15, "typical").request(13), TF_C_LIST(typical_inputs, typical_input_count), TF_FLAG_NONE)

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
TF_FIELD(bool, tf32, true, .key(16).request(14).kept().summary(5), TF_C_NOT(no_tf32),
         TF_FLAG_OFF("noTF32", "+no rounding of fp32, denormals are kept: no TF32 on a GPU; on a CPU no Winograd, Strassen, narrower "
                               "weights or bf16x2 (GEMMs of less than 64 KiB are never rounded)"))

// The same permission for convolutions, transposed ones included, and for all other products; tf32 = false is for both. A
// convolution that the builder computes as a product of matrices, such as one of patches, counts as that product.
TF_FIELD(bool, tf32_convolutions, true, .key(17).request(15).kept().summary(6), TF_C_NOT(no_tf32_convolutions),
         TF_FLAG_NONE)
TF_FIELD(bool, tf32_matmul, true, .key(18).request(16).kept().summary(7), TF_C_NOT(no_tf32_matmul), TF_FLAG_NONE)

// Winograd's and Strassen's algorithms are parts of that permission, on CPUs, and each can be left out by itself. fast_exp
// is no part of it: softmax and fused attention then use exponentials by powers of two, exact to 1e-7 in f32 and to
// 1e-4 where bf16 follows. Without fast_exp, softmax uses the exponential of all other steps, and attention is not
// fused.
TF_FIELD(bool, winograd, true, .key(19).request(17).kept().summary(8), TF_C_NOT(no_winograd),
         TF_FLAG_OFF("noWinograd", "+no Winograd convolution on a CPU"))
TF_FIELD(bool, strassen, true, .key(20).request(18).kept().summary(9), TF_C_NOT(no_strassen),
         TF_FLAG_OFF("noStrassen", "+no Strassen GEMM on a CPU"))
TF_FIELD(bool, fast_exp, true, .key(21).request(19).kept().summary(10), TF_C_NOT(no_fast_exp),
         TF_FLAG_OFF("noFastExp", "+exact exp in softmax on a CPU; attention is not fused"))

// pays where batches hold padding
TF_FIELD(PackTokens, pack_tokens, PackTokens::no,
         .key(23, "pack").request(20).kept().summary(12, "pack"), TF_C_VALUE(pack_tokens), TF_FLAG_OWN("packTokens"))

// "x:1": windows of input `x` slide by one row along axis 1, whose extent is fixed. What does not depend on the newest
// row, the last of the window, is computed by ExecutionContext::precompute() before that row is there: forward LSTM, GRU
// and RNN, causal convolutions, and what works row by row. Results are those of the whole window. For CPUs. The build
// throws invalid_argument for an input or axis that is none, and unsupported, naming a node, where nothing can be
// computed early (a reverse LSTM). Empty: windows come as a whole.
TF_FIELD(std::string, newest_row, {}, .key(22, "newest").request(21).kept().summary(22), TF_C_VALUE(newest_row),
         TF_FLAG_OWN("newestRow"))

// How long the build searches, 0 to 5. A candidate is a tactic in one configuration and one layout.
//   0  times nothing, and takes the first tactic that fits each node, in its first configuration
//   1  times one configuration of each tactic and layout, once; on a GPU the least is compiled
//   2  times up to four of each; on a CPU what may win is timed again
//   3  times up to eight, for twice as long (the default)
//   4  times every configuration
//   5  times every configuration, each five times as long as level 3
// docs/reference/cli.md says what the levels take and gain. Any other level throws invalid_argument.
TF_FIELD(int, optimization_level, 3, .key(24, "level").request(22).summary(13, "level"), TF_C_OWN,
         TF_FLAG_OWN("builderOptimizationLevel"))

// most candidates to time for a problem; -1: by level
TF_FIELD(int, max_tactics, -1, .key(25).request(23).summary(14), TF_C_POSITIVE(max_tactics),
         TF_FLAG_NUMBER("maxTactics", "N", "+time at most N candidates for each problem, over all tactics and layouts"))

// launches to time of a candidate; 0: as many as there is time for
TF_FIELD(int, timing_repetitions, 0, .key(26, "repetitions").request(24), TF_C_VALUE(timing_repetitions),
         TF_FLAG_NUMBER("avgTiming", "N", "+time N launches of each candidate; default: by optimization level"))

// mask of TacticSource
TF_FIELD(std::uint32_t, tactic_sources, kDefaultTacticSources,
         .key(27, "sources").request(25).summary(15, "sources"), TF_C_POSITIVE(tactic_sources),
         TF_FLAG_OWN("tacticSources"))

// the most that a tactic may work in while it runs
TF_FIELD(std::int64_t, workspace_bytes, std::int64_t{1} << 40,
         .key(28, "workspace").request(26).summary(16, "workspace"), TF_C_POSITIVE(workspace_bytes),
         TF_FLAG_OWN("memPoolSize"))

// the plan uses only these (parse_cpu_features); 0: any
TF_FIELD(std::uint32_t, cpu_features, 0,
         .key(29, "features").request(27).summary(17, "features"), TF_C_VALUE(cpu_features), TF_FLAG_OWN("cpuFeatures"))

// a file, read at the start and merged back at the end; empty: none
TF_FIELD(std::string, timing_cache, {}, .no_key().request(28), TF_C_VALUE(timing_cache), TF_FLAG_OWN("timingCacheFile"))

// the same in memory; several builds may share one at once
TF_FIELD(std::shared_ptr<TimingCache>, timings, {}, .no_key().no_request(), TF_C_VALUE(timings), TF_FLAG_NONE)

// the build throws where a time is not in the cache
TF_FIELD(bool, error_on_cache_miss, false, .no_key().request(29), TF_C_IS(error_on_cache_miss),
         TF_FLAG_ON("errorOnTimingCacheMiss", "+fail if a time is not in the timing cache"))

// The longest that a build may take, in seconds; 0: as long as it takes. It is looked at between steps of the work (a
// node, a pass, a measurement, a run on samples). A build that has taken longer throws cancelled and names its stage;
// nothing is chosen from fewer timings instead. A search within `budget` is one build.
TF_FIELD(double, time_limit_s, 0, .no_key().request(30), TF_C_VALUE(time_limit_s),
         TF_FLAG_NUMBER("buildTimeout", "SECONDS", "+end a build that takes longer, with an error that names its "
                                                   "stage (default: no limit)"))

// by name; an unknown name throws and lists the known ones
TF_FIELD(std::vector<std::string>, disabled_passes, {},
         .key(30, "without").request(31).kept("disabled").summary(26, "without"),
         TF_C_LIST(disabled_passes, disabled_pass_count), TF_FLAG_OWN("disablePasses"))

// where a model's weights may lie, beside its own folder
TF_FIELD(std::vector<std::string>, external_data_dirs, {},
         .no_key().request(32), TF_C_LIST(external_data_dirs, external_data_dir_count), TF_FLAG_OWN("externalDataDir"))

// Values of initializers of an ONNX model, by name, in place of those that the file has or refers to. External data
// of such an initializer is not looked for. A value has the initializer's type and shape, or is its bytes as
// u8[bytes]. It is shared, not copied. The build throws invalid_argument for a name that the model's own graph does
// not have, and for another type or shape.
TF_FIELD(NamedTensors, initializers, {}, .key(7, "initializer").request(33), TF_C_LIST(initializers, initializer_count),
         TF_FLAG_NONE)

// the plan keeps its graph, so that it can be re-tuned elsewhere
TF_FIELD(bool, keep_portable_graph, true,
         .key(31, "portable").request(34).summary(18, "portable"), TF_C_NOT(drop_portable_graph), TF_FLAG_NONE)

// The plan keeps the model as it was imported, with a second copy of its weights. load_compatible() builds it again
// where another version of Tenfold or another device refuses the plan.
TF_FIELD(bool, version_compatible, false, .key(32).request(35).kept(), TF_C_IS(version_compatible),
         TF_FLAG_OWN("versionCompatible"))

// The same. Besides, on a CPU the plan uses no more than AVX2, so that every CPU which Tenfold supports runs it as it
// is.
TF_FIELD(bool, hardware_compatible, false, .key(33).request(36).kept(), TF_C_IS(hardware_compatible),
         TF_FLAG_OWN("hardwareCompatibilityLevel"))

// The plan keeps what Engine::refit needs. Weights of rank 0, and integers that give shapes or quantization
// parameters, stay fixed.
TF_FIELD(bool, refittable, false, .key(34).request(37).summary(19), TF_C_IS(refittable),
         TF_FLAG_ON("refit", "+build a refittable plan: weights can be replaced without a rebuild, except scalars and quantization "
                             "parameters"))

// For tests: the builder chooses tactics, layouts and cuts by this seed instead of by time. 0: by time.
TF_FIELD(std::uint64_t, random_choices, 0,
         .key(35, "random").request(38).summary(20, "random"), TF_C_VALUE(random_choices), TF_FLAG_NONE)

// From a problem's line, or how it begins, to the name of a tactic. A note (notes.h) tells of a line that matches no
// problem, and of a tactic that cannot compute one.
TF_FIELD(NamedTexts, forced_tactics, {},
         .key(36, "forced").request(39).summary(27, "forced"), TF_C_LIST(forced_tactics, forced_tactic_count),
         TF_FLAG_NONE)

// The builder asks it about each problem. It returns the index of a candidate, or -1 for the usual choice by the time
// of the whole graph. Candidates that rough estimates would leave out are timed, too. It may be asked the same
// question more than once. Any other index throws invalid_argument.
TF_FIELD(std::function<int(const TacticQuestion&)>, choose_tactic, {},
         .no_key().no_request(), TF_C_CALL(choose, choose_user), TF_FLAG_NONE)

// kept in the plan, for Engine::labels: who built it, from what
TF_FIELD(NamedTexts, labels, {}, .key(37, "label").request(40), TF_C_LIST(labels, label_count), TF_FLAG_NONE)

// further operators and tactics; the engine keeps them alive
TF_FIELD(std::shared_ptr<const Plugins>, plugins, {}, .no_key().no_request(), TF_C_VALUE(plugins),
         TF_FLAG_OWN("plugins"))

// null: the runtime's log
TF_FIELD(LogCallback, log, {}, .no_key().no_request(), TF_C_CALL(log, log_user), TF_FLAG_NONE)

// the engine belongs to it; null: the process's own
TF_FIELD(std::shared_ptr<Runtime>, runtime, {}, .no_key().no_request(), TF_C_VALUE(runtime), TF_FLAG_NONE)

// if it returns false, the build throws cancelled
TF_FIELD(std::function<bool(const Progress&)>, progress, {}, .no_key().no_request(), TF_C_CALL(progress, progress_user),
         TF_FLAG_NONE)

// Receives the graph as text: after the import ("import"), and after each pass that changed it.
TF_FIELD(std::function<void(std::string_view pass, std::string_view graph)>, dump, {},
         .no_key().no_request(), TF_C_CALL(dump, dump_user), TF_FLAG_OWN("dumpPasses"))

#undef TF_FIELD
#undef TF_C_IS
#undef TF_C_NOT
#undef TF_C_VALUE
#undef TF_C_POSITIVE
#undef TF_C_LIST
#undef TF_C_CALL
#undef TF_C_OWN
#undef TF_C_NEW
#undef TF_FLAG_ON
#undef TF_FLAG_OFF
#undef TF_FLAG_NUMBER
#undef TF_FLAG_OWN
#undef TF_FLAG_NONE
