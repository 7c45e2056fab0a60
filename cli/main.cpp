// tenfold: one program, several verbs. Called under the name trtexec it behaves as `tenfold exec`.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <string>

#include "console.h"
#include "flags.h"
#include "progress.h"
#include "tenfold/device.h"
#include "tenfold/error.h"
#include "tenfold/internal/nearest.h"
#include "tenfold/version.h"
#include "verbs.h"

namespace tenfold::cli {
namespace {

constexpr const char* kHelp =
    "usage: tenfold VERB [--flags]\n"
    "Makes trained neural networks run fast: an ONNX model in, a plan out, answers at the speed of the machine.\n\n"
    "  exec      build a model or load a plan, run it, measure it (trtexec's flags)\n"
    "  inspect   show a model or plan step by step; --why: which kernels were tried, their times, why others were refused\n"
    "  check     everything that is wrong with a model, or that it is sound and supported\n"
    "  quantize  the model's own ONNX file with 8-bit products, by samples of its inputs\n"
    "  embed     vectors of texts, by a sentence encoder's folder\n"
    "  latency   how long callers wait for answers, by an open loop\n"
    "  compare   differences between two models, plans or stored outputs\n"
    "  ops       the ONNX operators that models may use\n"
    "  devices   what this machine offers\n"
    "  doctor    what this machine has against threads in a hurry\n\n"
    "  tenfold VERB --help, tenfold --version\n\n"
    "First steps:  tenfold exec --onnx=model.onnx --saveEngine=model.plan\n"
    "              tenfold exec --loadEngine=model.plan --loadInputs=image:cat.npy --exportOutput=out.npz\n\n"
    "Environment: TENFOLD_EARLY_LAUNCH=0     NVIDIA: no kernel starts before the one ahead has ended, to measure or to look for a fault\n"
    "             TENFOLD_NVRTC_HELPER=FILE  NVIDIA: the program that compiles kernels beside a build; default: the one installed\n"
    "             TENFOLD_CUDA_KERNELS=DIR   NVIDIA: CUDA files of kernels that lie in DIR, instead of the ones built in\n"
    "             TENFOLD_CHECK_TYPES=1      compares all types with inference after each pass of a build; the tests do\n\n"
    "Exit codes: 0 ok, 1 run failed or a file cannot be used (libraries of plug-ins, too), 2 usage, 3 model invalid or unsupported,\n"
    "            4 plan refused, 5 accuracy, 6 out of memory\n";

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument: return kUsage;
    case ErrorKind::invalid_model:
    case ErrorKind::unsupported: return kModelInvalid;
    case ErrorKind::plan_refused: return kPlanRefused;
    case ErrorKind::out_of_memory: return kOutOfMemory;
    default: return kRunFailed;
  }
}

int dispatch(const std::string& program, Arguments arguments) {
  if (program == "trtexec") return exec_main(arguments, true);
  if (arguments.empty())
    throw UsageError(
        "say what to do: tenfold exec, inspect, check, quantize, embed, latency, compare, ops, devices or doctor; tenfold "
        "--help explains");
  const std::string verb = arguments.front();
  arguments.erase(arguments.begin());
  if (verb == "--help" || verb == "-h" || verb == "help") return std::fputs(kHelp, stdout), kOk;
  if (verb == "--version") return std::printf("tenfold %s\n", std::string(version()).c_str()), kOk;
  if (verb == "exec") return exec_main(arguments, false);
  if (verb == "inspect") return inspect_main(arguments);
  if (verb == "check") return check_main(arguments);
  if (verb == "compare") return compare_main(arguments);
  if (verb == "quantize") return quantize_main(arguments);
  if (verb == "embed") return embed_main(arguments);
  if (verb == "latency") return latency_main(arguments);
  if (verb == "doctor") return doctor_main(arguments);
  if (verb == "ops") return ops_main(arguments);
  if (verb == "devices") return devices_main(arguments);
  if (verb == "build-request") return build_request_main(arguments);
  const std::string hint =
      nearest(verb, {"exec", "inspect", "check", "quantize", "embed", "latency", "compare", "ops", "devices", "doctor"});
  throw UsageError("unknown verb '" + verb + "'" +
                   (hint.empty() ? "; tenfold --help lists them" : "; did you mean 'tenfold " + hint + "'?"));
}

int guarded(const std::string& program, const Arguments& arguments) {
  const auto report = [](const char* text, int code) {
    clear_bar();
    return std::fprintf(stderr, "tenfold: %s\n", printable(text).c_str()), code;
  };
  try {
    return dispatch(program, arguments);
  } catch (const UsageError& e) {
    return report(e.what(), kUsage);
  } catch (const Error& e) {
    return report(e.what(), exit_code(e.kind()));
  } catch (const std::bad_alloc&) {
    return report("out of memory", kOutOfMemory);
  } catch (const std::exception& e) {
    return report(e.what(), kRunFailed);
  }
}

}  // namespace
}  // namespace tenfold::cli

int main(int count, char** values) {
  if (const char* environment = std::getenv("VIRTUAL_ENV")) tenfold::look_for_libraries_in(environment);   // pip's nvidia-* packages
  std::signal(SIGXFSZ, SIG_IGN);   // a limit on file sizes is a failed write with words, not a death
  const std::string program = count > 0 ? std::filesystem::path(values[0]).filename().string() : "tenfold";
  const int code = tenfold::cli::guarded(program, tenfold::cli::Arguments(values + (count > 0), values + count));
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
  std::fprintf(stderr, "tenfold: cannot write to the standard output: %s\n", std::strerror(errno));  // a full disk behind a redirection
  return code == 0 ? tenfold::cli::kRunFailed : code;
}
