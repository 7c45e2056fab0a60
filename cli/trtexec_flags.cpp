// Flags of trtexec that change nothing here, and those that ask for what Tenfold does not do.
#include "exec_options.h"

namespace tenfold::cli {
namespace {

struct Reason {
  const char* why;
  std::vector<const char*> flags;
};

const std::vector<Reason>& without_effect() {
  static const std::vector<Reason> all = {
      {"layers are always profiled in a run of their own", {"separateProfileRun"}},
      {"the time is always printed", {"timeRefit", "timeDeserialize"}},
      {"inputs and outputs always keep the model's types", {"stronglyTyped"}},
      {"nothing is compiled ahead that could be cached", {"noCompilationCache"}},
      {"large plans are read in several threads, small ones mapped", {"asyncFileReader"}},
  };
  return all;
}

const std::vector<Reason>& refused() {
  static const std::vector<Reason> all = {
      {"there is no DLA behind it",
       {"useDLACore", "allowGPUFallback", "buildDLAStandalone", "adjustForDLA", "reportCapabilityDLA", "uint8AsymmetricQuantizationDLA"}},
      {"there is no safety runtime", {"safe", "useSafe", "restricted", "consistency", "safetyPlugins"}},
      {"TensorRT plug-ins cannot be loaded",
       {"staticPlugins", "dynamicPlugins", "plugins", "setPluginsToSerialize", "ignoreParsedPluginLibs", "enablePluginOverride"}},
      {"a plan made elsewhere is tuned again for this machine with --retune",
       {"versionCompatible", "vc", "excludeLeanRuntime", "useRuntime", "leanDLLPath", "hardwareCompatibilityLevel", "runtimePlatform",
        "cpuOnly", "remoteAutoTuningConfig"}},
      {"precision follows the model; quantise it with QuantizeLinear and DequantizeLinear",
       {"calib", "layerPrecisions", "precisionConstraints", "layerOutputTypes", "layerDeviceTypes", "int4"}},
      {"models come as ONNX (--onnx)", {"uff", "caffe", "deploy", "model"}},
      {"it concerns GPU memory or streams",
       {"exposeDMA", "useManagedMemory", "persistentCacheRatio", "l2LimitForTiling", "tilingOptimizationLevel", "maxAuxStreams",
        "allocationStrategy"}},
      {"plans hold their weights; --refit lets them be replaced",
       {"stripWeights", "stripAllWeights", "weightless", "allowWeightStreaming", "weightStreamingBudget"}},
      {"zeros in weights are multiplied like any number", {"sparsity"}},
      {"the batch is a dimension of the model's inputs: --shapes=name:4x3x224x224", {"batch", "maxBatch", "explicitBatch"}},
      {"say --memPoolSize=workspace:MiB", {"workspace"}},
      {"times are trimmed medians within a budget that --builderOptimizationLevel sets", {"avgTiming", "minTiming", "heuristic"}},
      {"runs follow each other without a pause", {"idleTime", "sleepTime"}},
      {"tenfold compare shows every layer's values and the first that differs",
       {"markDebug", "markUnfusedTensorsAsDebugTensors", "saveDebugTensors", "saveAllDebugTensors", "loadRefOutputs", "refPair",
        "accuracyAlgorithm", "accuracyThreshold", "atol", "rtol"}},
      {"say --exportOutput=FILE.npz", {"dumpRawBindingsToFile"}},
      {"tenfold inspect PLAN names the version that wrote it", {"getPlanVersionOnly"}},
      {"builds write no temporary files", {"tempdir", "tempfileControls"}},
      {"tenfold inspect shows the plan's memory and its profiles", {"dumpOptimizationProfile"}},
      {"the tuner searches by itself, and --timingCacheFile keeps what it found",
       {"tuneBuildRoutes", "tuneBuildRouteFile", "setBuildRoute", "helpBuildRoute", "tuningSearch", "tuningCacheFile", "tuningTimeOut",
        "saveAllEngines", "dryRun", "continue", "preview"}},
      {"attention and normalisation are recognised in any form, and cut again where that is faster",
       {"pluginInstanceNorm", "decomposableAttentions", "distributiveIndependence"}},
      {"tenfold inspect shows each step's kernel", {"dumpKernelText"}},
      {"inputs and outputs keep the model's type and order", {"directIO"}},
  };
  return all;
}

}  // namespace

void trtexec_flags(Flags& f, std::vector<std::string>& notes) {
  f.group("Of trtexec, accepted with a note and without effect on a CPU");
  for (const Reason& reason : without_effect())
    for (const char* name : reason.flags)
      f.add({name, "", std::string("+") + reason.why, [&notes, name, why = reason.why](const std::string&) {
               notes.push_back(std::string("--") + name + " has no effect: " + why);
             }});
  for (const Reason& reason : refused())
    for (const char* name : reason.flags) f.refuse(name, reason.why);
}

}  // namespace tenfold::cli
