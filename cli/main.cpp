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
#include "flags/flag_words.h"
#include "flags/flags.h"
#include "flags/manual.h"
#include "progress.h"
#include "verbs.h"
#include "tenfold/device.h"
#include "tenfold/error.h"
#include "tenfold/internal/file.h"
#include "tenfold/internal/nearest.h"
#include "tenfold/version.h"

namespace tenfold::cli {
namespace {

constexpr const char* kEnvironment =
    "TENFOLD_EARLY_LAUNCH=0     NVIDIA: no programmatic dependent launch, for debugging: kernels start one after the other\n"
    "TENFOLD_NVRTC_HELPER=FILE  NVIDIA: helper program that compiles kernels during a build; default: the installed one\n"
    "TENFOLD_CUDA_KERNELS=DIR   NVIDIA: read kernel sources from DIR instead of the built-in ones\n"
    "TENFOLD_CHECK_TYPES=1      check all types after each pass of a build (used by tests)\n"
    "TENFOLD_DEVICE             read by the Python package only; this program takes --device\n";
constexpr const char* kExitCodes =
    "0 ok, 1 run failed, device missing, or file unusable (plug-in libraries, too), 2 usage,\n"
    "3 model invalid or unsupported, 4 plan refused, 5 accuracy, 6 out of memory\n";

// Every line of `text` but the first, which follows `title`, is moved below the first.
std::string titled(const std::string& title, std::string_view text) {
  std::string out = title;
  for (const char c : text) {
    if (!out.empty() && out.back() == '\n') out += std::string(title.size(), ' ');
    out += c;
  }
  return out;
}

std::string help_text() {
  std::string text =
      "usage: tenfold VERB [--flags]\n"
      "Compiles ONNX models into optimized plans and runs them on x86 CPUs and NVIDIA GPUs.\n\n";
  for (const Verb& verb : verbs())
    text += "  " + std::string(verb.name) + std::string(12 - std::strlen(verb.name), ' ') + verb.summary + "\n";
  return text +
         "\n  tenfold help VERB (or tenfold VERB --help), tenfold completion bash|zsh|fish, tenfold --version\n\n"
         "First steps:  tenfold exec --onnx=model.onnx --saveEngine=model.plan\n"
         "              tenfold exec --loadEngine=model.plan --loadInputs=image:cat.npy --exportOutput=out.npz\n\n" +
         titled("Environment: ", kEnvironment) + "\n" + titled("Exit codes: ", kExitCodes);
}

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

int print_version() { return std::printf("tenfold %s\n", std::string(version()).c_str()), kOk; }

const Verb* find_verb(const std::string& name) {
  for (const Verb& verb : verbs())
    if (name == verb.name) return &verb;
  return nullptr;
}

[[noreturn]] void unknown_verb(const std::string& name) {
  std::vector<std::string> names{"help", "version"};
  for (const Verb& verb : verbs()) names.emplace_back(verb.name);
  const std::string hint = nearest(name, names);
  throw UsageError("unknown verb '" + name + "'" +
                   (hint.empty() ? "; tenfold --help lists them" : "; did you mean 'tenfold " + hint + "'?"));
}

int help_main(const Arguments& arguments) {
  if (arguments.empty()) return std::fputs(help_text().c_str(), stdout), kOk;
  const Verb* verb = find_verb(arguments[0]);
  if (!verb) unknown_verb(arguments[0]);
  return verb->run({"--help"});
}

// What packages put below share/: pages of `man`, and completions where shells look for them.
void write_share(const std::filesystem::path& share) {
  const auto write = [&](const char* folder, const std::string& file, const std::string& text) {
    std::filesystem::create_directories(share / folder);
    write_file((share / folder / file).string(), text);
  };
  write("man/man1", "tenfold.1", manual_of_program(kEnvironment, kExitCodes));
  write("man/man1", "tenfold-server.1", manual_of_server());
  for (const Verb& verb : verbs()) write("man/man1", "tenfold-" + std::string(verb.name) + ".1", manual_of(verb));
  write("bash-completion/completions", "tenfold", completion_for("bash"));
  write("zsh/site-functions", "_tenfold", completion_for("zsh"));
  write("fish/vendor_completions.d", "tenfold.fish", completion_for("fish"));
}

// A page of `man`, of the program without a verb; or, for packages, --share=DIR: all files of that kind.
int manual_main(const Arguments& arguments) {
  constexpr std::string_view kShare = "--share=";
  if (arguments.size() == 1 && arguments[0].starts_with(kShare)) return write_share(arguments[0].substr(kShare.size())), kOk;
  const Verb* verb = arguments.empty() ? nullptr : find_verb(arguments[0]);
  if (!arguments.empty() && !verb) unknown_verb(arguments[0]);
  return std::fputs((verb ? manual_of(*verb) : manual_of_program(kEnvironment, kExitCodes)).c_str(), stdout), kOk;
}
int completion_main(const Arguments& arguments) {
  if (arguments.size() != 1) throw UsageError("tenfold completion takes the name of a shell: bash, zsh or fish");
  return std::fputs(completion_for(arguments[0]).c_str(), stdout), kOk;
}

int dispatch(const std::string& program, Arguments arguments) {
  if (program == "trtexec") return exec_main(arguments, true);
  if (arguments.empty()) {
    std::string names;
    for (const Verb& verb : verbs()) names += (names.empty() ? "" : ", ") + std::string(verb.name);
    throw UsageError("a verb is missing: tenfold " + names + "; tenfold --help explains");
  }
  const std::string verb = arguments.front();
  arguments.erase(arguments.begin());
  if (verb == "--help" || verb == "-h" || verb == "help") return help_main(arguments);
  if (verb == "--version" || verb == "-v" || verb == "version") return print_version();
  if (verb == "manual") return manual_main(arguments);
  if (verb == "completion") return completion_main(arguments);
  if (verb == "build-request") return build_request_main(arguments);
  if (const Verb* found = find_verb(verb)) return found->run(arguments);
  unknown_verb(verb);
}

int guarded(const std::string& program, const Arguments& arguments) {
  const auto report = [](const char* text, int code) {
    clear_bar();
    return std::fprintf(stderr, "tenfold: %s\n", printable(in_flags(text)).c_str()), code;
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

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> all = {
      {"exec", "build a model or load a plan, run it, measure it (trtexec's flags)",
       [](const Arguments& arguments) { return exec_main(arguments, false); }, exec_flags},
      {"inspect", "show a model or plan step by step; --why: which kernels were tried, their times, why others were refused", inspect_main,
       inspect_flags},
      {"report", "one HTML page about a plan: graph, times, memory, precision; about two plans: what changed", report_main, report_flags},
      {"check", "list everything that is invalid or unsupported in a model", check_main, check_flags},
      {"quantize", "write an ONNX file with int8, fp8 or 4-bit layers, calibrated on samples", quantize_main, quantize_flags},
      {"convert", "raise an ONNX file to a newer opset", convert_main, convert_flags},
      {"embed", "embed texts with a sentence encoder", embed_main, embed_flags},
      {"generate", "continue texts with a language model", generate_main, generate_flags},
      {"segment", "run a network over images and volumes of any size, window by window", segment_main, segment_flags},
      {"serve", "answer requests over HTTP (KServe v2, as Triton does), batched", serve_main, serve_flags},
      {"latency", "measure response times in an open loop", latency_main, latency_flags},
      {"compare", "compare two models, plans or stored outputs", compare_main, compare_flags},
      {"onnx-suite", "run a folder of ONNX backend tests", onnx_suite_main, onnx_suite_flags},
      {"ops", "list the supported ONNX operators", ops_main, ops_flags},
      {"devices", "list CPU features, GPUs and their libraries", devices_main, devices_flags},
      {"cache", "list or remove cached plans", cache_main, cache_flags},
      {"doctor", "check this machine and collect data for a bug report", doctor_main, doctor_flags},
  };
  return all;
}

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
