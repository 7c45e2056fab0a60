// Flags of trtexec (8.6 to 10.16): those that we have under another name, those that change no result here, and those that ask for what
// Tenfold does not do.
#include "engines/exec_options.h"
#include "flags/specs.h"

namespace tenfold::cli {
namespace {

struct Reason {
  const char* why;
  std::vector<const char*> flags;   // "name" or "name=VALUE"
};

// Whoever gives them gets the results, the plan and the speed that he asked for.
const std::vector<Reason>& without_effect() {
  static const std::vector<Reason> all = {
      {"layers are always profiled in a run of their own", {"separateProfileRun"}},
      {"the time is always printed", {"timeRefit", "timeDeserialize"}},
      {"inputs and outputs are always read and written in place, in the order that the model or --inputIOFormats gives them", {"directIO"}},
      {"there is no compilation cache", {"noCompilationCache"}},
      {"large plans are read in several threads, small ones mapped", {"asyncFileReader"}},
      {"the batch is always a dimension of the model's inputs", {"explicitBatch"}},
      {"precision always follows the model's QuantizeLinear and DequantizeLinear", {"explicitPrecision"}},
      {"candidates are timed until their times are stable; --avgTiming=N times exactly N launches", {"minTiming=N"}},
      {"the tuner always skips candidates that cannot win", {"heuristic"}},
      {"builds write no temporary files", {"tempdir=DIR", "tempfileControls=LIST"}},
      {"TensorRT's preview features are always on or do not exist here", {"preview=LIST"}},
      {"copies and kernels of a run are on one stream", {"exposeDMA"}},
      {"runs start immediately", {"sleepTime=MS"}},
      {"the tuner chooses caching, tiling and parallel branches by time",
       {"tilingOptimizationLevel=N", "l2LimitForTiling=BYTES", "persistentCacheRatio=RATIO", "maxAuxStreams=N"}},
      {"a context holds one arena, as large as its largest profile needs", {"allocationStrategy=static|profile|runtime"}},
      {"memory is pinned or pageable (--hostMemory), never managed", {"useManagedMemory"}},
      {"all weights are always in memory", {"allowWeightStreaming"}},
      {"attention and normalization are fused from any form, and unfused where that is faster",
       {"pluginInstanceNorm", "decomposableAttentions"}},
      {"there is only one runtime, and plans do not contain it",
       {"useRuntime=full|lean|dispatch", "leanDLLPath=FILE", "excludeLeanRuntime"}},
      {"a plan never names a library", {"ignoreParsedPluginLibs"}},
      {"there is no DLA, so every layer runs on the device", {"allowGPUFallback"}},
      {"fp32 is the default; --noTF32 also forbids TF32-like rounding", {"fp32"}},
  };
  return all;
}

const std::vector<Reason>& refused() {
  static const std::vector<Reason> all = {
      {"there is no DLA",
       {"useDLACore", "buildDLAStandalone", "adjustForDLA", "reportCapabilityDLA", "uint8AsymmetricQuantizationDLA"}},
      {"there is no safety runtime", {"safe", "useSafe", "restricted", "consistency", "safetyPlugins"}},
      {"TensorRT's plug-ins cannot be loaded; those of Tenfold come with --plugins=FILE",
       {"staticPlugins", "dynamicPlugins", "setPluginsToSerialize", "enablePluginOverride"}},
      {"build the plan on the machine that runs it, or use --versionCompatible and tune again there",
       {"cpuOnly", "remoteAutoTuningConfig"}},
      {"a plan is for one device; --device says which", {"layerDeviceTypes"}},
      {"only ONNX models are read (--onnx), with the outputs of the file",
       {"uff", "uffInput", "uffNHWC", "caffe", "deploy", "model", "output"}},
      {"plans hold their weights; --refit lets them be replaced", {"stripWeights", "stripAllWeights", "weightless"}},
      {"all weights are always in memory; --bf16, --fp16 or a quantized model make them smaller",
       {"weightStreamingBudget"}},
      {"tenfold compare shows every layer's values and the first that differs",
       {"markDebug", "markUnfusedTensorsAsDebugTensors", "saveDebugTensors", "saveAllDebugTensors", "loadRefOutputs", "refPair",
        "accuracyAlgorithm", "accuracyThreshold", "atol", "rtol"}},
      {"use --exportOutput=FILE.npz", {"dumpRawBindingsToFile"}},
      {"the tuner always searches; --timingCacheFile stores the times",
       {"tuneBuildRoutes", "tuneBuildRouteFile", "setBuildRoute", "helpBuildRoute", "tuningSearch", "tuningCacheFile", "tuningTimeOut",
        "saveAllEngines", "dryRun", "continue"}},
      {"Tenfold does not guarantee equal bits when a model is split", {"distributiveIndependence"}},
      {"tenfold inspect shows each step's kernel", {"dumpKernelText"}},
  };
  return all;
}

void add_without_effect(Flags& f, ExecOptions& o) {
  for (const Reason& reason : without_effect())
    for (const std::string spelled : reason.flags) {
      const std::size_t equals = spelled.find('=');
      const std::string name = spelled.substr(0, equals);
      f.add({name, equals == std::string::npos ? "" : spelled.substr(equals + 1), std::string("+no effect: ") + reason.why,
             [&o, name, why = reason.why](const std::string&) { o.notes.push_back("--" + name + " has no effect: " + why); }});
    }
}

// What has another name here.
void add_mapped(Flags& f, ExecOptions& o) {
  f.add({"workspace", "MiB", "+old name of --memPoolSize=workspace:MiB", [&o](const std::string& text) {
           o.build.workspace_bytes = parse_bytes("workspace", text);
           o.notes.push_back("--workspace=" + text + " is taken as --memPoolSize=workspace:" + text);
         }});
  for (const char* name : {"batch", "maxBatch"})
    f.add({name, "1", "+only 1: the batch is a dimension of the model's inputs", [&o, name](const std::string& text) {
             if (parse_int(name, text, 1) != 1)
               throw UsageError("--" + std::string(name) + "=" + text +
                                " is not supported by Tenfold: the batch is a dimension of the model's inputs: --shapes=name:" + text +
                                "x3x224x224");
             o.notes.push_back("--" + std::string(name) + "=1 has no effect: the batch is a dimension of the model's inputs");
           }});
  f.add({"sparsity", "disable|enable", "+no effect: zeros in weights are multiplied like any number", [&o](const std::string& text) {
           if (text == "force")
             throw UsageError("--sparsity=force is not supported by Tenfold: it would set weights of the model to zero");
           if (text != "disable" && text != "enable") throw UsageError("--sparsity is disable or enable, not '" + text + "'");
           o.notes.push_back("--sparsity has no effect: zeros in weights are multiplied like any number");
         }});
  f.add({"runtimePlatform", "sameAsBuild", "+plans run on the system that they are built on", [&o](const std::string& text) {
           if (lower(text) != "sameasbuild")
             throw UsageError("--runtimePlatform=" + text + " is not supported by Tenfold: plans run on the system that they are built on");
           o.notes.emplace_back("--runtimePlatform has no effect: plans always run on the system that they are built on");
         }});
}

}  // namespace

void trtexec_flags(Flags& f, ExecOptions& o) {
  f.group("trtexec's flags without effect, accepted with a note", true);
  add_mapped(f, o);
  add_without_effect(f, o);
  for (const Reason& reason : refused())
    for (const char* name : reason.flags) f.refuse(name, reason.why);
}

}  // namespace tenfold::cli
