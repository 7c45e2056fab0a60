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

// Types and layouts of callers' arrays where they differ from the model's, by the name of the input or output. Types are
// converted as by ONNX's Cast: floats are rounded to nearest, and truncated to integers (values out of range are
// undefined); nothing is scaled. The build throws invalid_argument for an unknown name, for strings and values that are
// not tensors, and for a layout of more dims than the value has.
TF_FIELD(NamedFormats, input_formats, {}, .key(3, "input").request(4), TF_C_LIST(input_formats, input_format_count),
         TF_FLAG_OWN("inputIOFormats"))
TF_FIELD(NamedFormats, output_formats, {}, .key(4, "output").request(5), TF_C_LIST(output_formats, output_format_count),
         TF_FLAG_OWN("outputIOFormats"))

// Initializers of an ONNX model that are also graph inputs, by name ("*": all). They become inputs of the engine, with
// the initializer as the default value (BindingInfo::has_default). All others are constants, which is faster. Before IR
// version 4 all initializers are inputs. An override has the initializer's type and shape. The build throws
// invalid_argument for any other name.
TF_FIELD(std::vector<std::string>, overridable, {}, .key(5).request(6), TF_C_LIST(overridable, overridable_count),
         TF_FLAG_OWN("overridable"))

// The same for inputs of any model, by name. A value has the type and shape of its input, whose shape must be fixed.
TF_FIELD(NamedTensors, input_defaults, {},
         .key(6, "default").request(7), TF_C_LIST(input_defaults, input_default_count), TF_FLAG_NONE)

// Precisions that the build may use where they are faster. If the machine lacks one, steps run in the next wider type
// and the log says so. int8 and fp8 apply to layers that the model quantizes (Q/DQ); other layers do not change.
TF_FIELD(bool, fp16, false, .key(8).request(8).kept().summary(1), TF_C_IS(allow_fp16), TF_FLAG_OWN("fp16"))
TF_FIELD(bool, bf16, false, .key(9).request(9).kept().summary(2), TF_C_IS(allow_bf16), TF_FLAG_OWN("bf16"))
TF_FIELD(bool, int8, true, .key(10).request(10).kept().summary(3), TF_C_NOT(no_int8), TF_FLAG_OWN("int8"))
TF_FIELD(bool, fp8, true, .key(11).request(11).kept().summary(4), TF_C_NOT(no_fp8), TF_FLAG_OWN("fp8"))

// Calibration: GEMMs and convolutions of a plain model become int8 or e4m3, too, with ranges from this data. It needs
// int8, or fp8, as Calibration::types says.
TF_FIELD(std::optional<Calibration>, calibration, {}, .no_key().no_request().summary(24), TF_C_VALUE(calibration),
         TF_FLAG_OWN("calib"))

// An error budget: the build searches for the fastest plan whose outputs differ from the fp32 model's by no more. It
// needs `calibration`, on whose data the error is measured.
TF_FIELD(std::optional<ErrorBudget>, budget, {}, .no_key().no_request(), TF_C_VALUE(budget), TF_FLAG_OWN("max-error"))

// fp16, bf16 and int8 are chosen by the device instead of the fields above: int8 for GPUs from compute capability 7.5 and
// CPUs with VNNI or AMX, if the model is quantized or has a calibration; else fp16 for GPUs from 7.0, and bf16 for CPUs
// with AMX. A note says what was chosen, and why.
TF_FIELD(bool, auto_precision, false, .key(12).request(41).kept().summary_if_set(23), TF_C_IS(auto_precision),
         TF_FLAG_OWN("precision"))

// of single layers; takes precedence over the permissions above
TF_FIELD(LayerTypes, layer_types, {}, .key(13).request(42).kept().summary(25), TF_C_OWN, TF_FLAG_OWN("layerPrecisions"))

// With fp16 on GPUs, the builder first runs the model in fp32 on the CPU, and keeps in fp32 what would overflow fp16.
// It runs the first four examples of each set in `typical_inputs` (values by input name). Without sets it takes random
// values, and the log says so. The result is stored beside the timing cache.
TF_FIELD(bool, check_overflow, true, .key(14).request(12).kept().summary(11), TF_C_NOT(no_overflow_check),
         TF_FLAG_OFF("noOverflowCheck", "+with --fp16 on a GPU, do not check first for overflow of fp16 (on --loadInputs, or random "
                                        "values)"))

TF_FIELD(std::vector<NamedTensors>, typical_inputs, {},
         .key(15, "typical").request(13), TF_C_LIST(typical_inputs, typical_input_count), TF_FLAG_NONE)

// GEMMs, convolutions, fused attention, LSTM and GRU of fp32 tensors may be rounded.
//
// A GPU rounds operands to 11 significant bits (TF32), at any size. A CPU may round constants to 16 significant bits
// (fp24), and operands to two bf16 terms (bf16x2, 16 bits) or to fixed point: 24 bits scaled by row or column, or 16 bits
// for up to three rows and for LSTM and GRU. It may compute 3x3 convolutions by Winograd's algorithm and large GEMMs by
// Strassen's. On a CPU, results stay within 1e-4 of the largest one, and nothing is rounded if the operands and results
// of a layer take less than 64 KiB together at the sizes it is tuned for, whatever the number of threads.
//
// A CPU flushes denormals to zero while a plan runs. With tf32 = false it keeps them, except in AMX GEMMs, whose tiles
// treat bf16 terms below 2^-126 as zero.
TF_FIELD(bool, tf32, true, .key(16).request(14).kept().summary(5), TF_C_NOT(no_tf32),
         TF_FLAG_OFF("noTF32", "+no rounding of fp32, denormals are kept: no TF32 on a GPU; on a CPU no Winograd, Strassen, narrower "
                               "weights or bf16x2 (GEMMs of less than 64 KiB are never rounded)"))

// The same permission for convolutions, transposed ones included, and for GEMMs and all others; tf32 = false forbids both.
// A convolution that the builder computes as a GEMM, such as a patch embedding, counts as a GEMM.
TF_FIELD(bool, tf32_convolutions, true, .key(17).request(15).kept().summary(6), TF_C_NOT(no_tf32_convolutions),
         TF_FLAG_NONE)
TF_FIELD(bool, tf32_matmul, true, .key(18).request(16).kept().summary(7), TF_C_NOT(no_tf32_matmul), TF_FLAG_NONE)

// Winograd's and Strassen's algorithms belong to that permission, on CPUs, and each can be disabled alone. fast_exp does
// not: softmax and fused attention use a fast exp, with a relative error of 1e-7 in fp32 and of 1e-4 before bf16. Without
// fast_exp, softmax uses the exact exp, and attention is not fused.
TF_FIELD(bool, winograd, true, .key(19).request(17).kept().summary(8), TF_C_NOT(no_winograd),
         TF_FLAG_OFF("noWinograd", "+no Winograd convolution on a CPU"))
TF_FIELD(bool, strassen, true, .key(20).request(18).kept().summary(9), TF_C_NOT(no_strassen),
         TF_FLAG_OFF("noStrassen", "+no Strassen GEMM on a CPU"))
TF_FIELD(bool, fast_exp, true, .key(21).request(19).kept().summary(10), TF_C_NOT(no_fast_exp),
         TF_FLAG_OFF("noFastExp", "+exact exp in softmax on a CPU; attention is not fused"))

// pays where batches hold padding
TF_FIELD(PackTokens, pack_tokens, PackTokens::no,
         .key(23, "pack").request(20).kept().summary(12, "pack"), TF_C_VALUE(pack_tokens), TF_FLAG_OWN("packTokens"))

// "x:1": windows of input `x` slide by one row along axis 1, whose extent is fixed. ExecutionContext::precompute()
// computes what does not depend on the newest row, the last of the window, before that row arrives: forward LSTM, GRU and
// RNN, causal convolutions, and operators that work row by row. Results are those of the whole window. CPUs only. The
// build throws invalid_argument for an unknown input or axis, and unsupported, naming a node, if nothing can be
// precomputed (a reverse LSTM). Empty: whole windows.
TF_FIELD(std::string, newest_row, {}, .key(22, "newest").request(21).kept().summary(22), TF_C_VALUE(newest_row),
         TF_FLAG_OWN("newestRow"))

// How long the build searches, 0 to 5. A candidate is a tactic in one configuration and one layout.
//   0  times nothing, and takes the first tactic that supports each node, in its first configuration
//   1  times one configuration of each tactic and layout, once; on a GPU few kernels are compiled
//   2  times up to four of each; on a CPU the promising candidates are timed again
//   3  times up to eight, for twice as long (the default)
//   4  times every configuration
//   5  times every configuration, each five times as long as level 3
// docs/reference/cli.md has build and run times by level. Any other level throws invalid_argument.
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

// the largest workspace of a tactic
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

// the build throws if a time is not in the cache
TF_FIELD(bool, error_on_cache_miss, false, .no_key().request(29), TF_C_IS(error_on_cache_miss),
         TF_FLAG_ON("errorOnTimingCacheMiss", "+fail if a time is not in the timing cache"))

// Time limit of a build in seconds; 0: none. It is checked between steps of the work (a node, a pass, a measurement, a run
// on samples). A build that has taken longer throws cancelled and names its stage; a plan is never chosen from fewer
// timings instead. A search within `budget` is one build.
TF_FIELD(double, time_limit_s, 0, .no_key().request(30), TF_C_VALUE(time_limit_s),
         TF_FLAG_NUMBER("buildTimeout", "SECONDS", "+end a build that takes longer, with an error that names its "
                                                   "stage (default: no limit)"))

// by name; an unknown name throws and lists the known ones
TF_FIELD(std::vector<std::string>, disabled_passes, {},
         .key(30, "without").request(31).kept("disabled").summary(26, "without"),
         TF_C_LIST(disabled_passes, disabled_pass_count), TF_FLAG_OWN("disablePasses"))

// further folders to search for a model's external data
TF_FIELD(std::vector<std::string>, external_data_dirs, {},
         .no_key().request(32), TF_C_LIST(external_data_dirs, external_data_dir_count), TF_FLAG_OWN("externalDataDir"))

// Values of initializers of an ONNX model, by name, which replace those of the file. External data of such an initializer
// is not looked for. A value has the initializer's type and shape, or is its bytes as
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

// The same. In addition, a CPU plan uses AVX2 only, so that every supported CPU runs it unchanged.
TF_FIELD(bool, hardware_compatible, false, .key(33).request(36).kept(), TF_C_IS(hardware_compatible),
         TF_FLAG_OWN("hardwareCompatibilityLevel"))

// The plan keeps what Engine::refit needs. Weights of rank 0, and integers that give shapes or quantization
// parameters, stay fixed.
TF_FIELD(bool, refittable, false, .key(34).request(37).summary(19), TF_C_IS(refittable),
         TF_FLAG_ON("refit", "+build a refittable plan: weights can be replaced without a rebuild, except scalars and quantization "
                             "parameters"))

// For tests: the builder chooses tactics, layouts and fusions by this seed instead of by time. 0: by time.
TF_FIELD(std::uint64_t, random_choices, 0,
         .key(35, "random").request(38).summary(20, "random"), TF_C_VALUE(random_choices), TF_FLAG_NONE)

// From a problem's line, or its beginning, to the name of a tactic. A note (notes.h) reports a line that matches no
// problem, and a tactic that does not support one.
TF_FIELD(NamedTexts, forced_tactics, {},
         .key(36, "forced").request(39).summary(27, "forced"), TF_C_LIST(forced_tactics, forced_tactic_count),
         TF_FLAG_NONE)

// Called for each problem. It returns the index of a candidate, or -1 for the default choice by the time of the whole
// graph. Candidates that rough estimates would exclude are timed, too. It may be called more than once for a problem. Any
// other index throws invalid_argument.
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

// Of a build with several profiles: how many times as much as the weights of one profile those of all may take, in the
// plan's file and in memory. Each profile has the kernels that are fastest for its shapes, and kernels pack weights in
// forms of their own. Where these forms together take more, the builder chooses kernels that share them, and gives up as
// little time as it can; a note (notes.h) says how much. 0: no limit; in C any large number. A plan of one profile never
// changes. Level 0, which times nothing, has no limit.
TF_FIELD(double, max_weight_ratio, 1.3, .key_if_set(38).request(43).summary_if_set(28),
         TF_C_NEW(double, max_weight_ratio, TF_C_POSITIVE),
         TF_FLAG_NUMBER("maxWeightRatio", "RATIO",
                        "+with several profiles, let packed weights take at most RATIO times the bytes of one profile's "
                        "(default 1.3; 0: no limit)"))

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
