// tenfold segment: flags, as help, manual pages and completions show them. The work is the Python package's
// (tenfold.imaging.segment), whose process takes this one's place with the flags as --name=value. Those of exec that
// shape a plan are exec's own rows; they become --build=--name=value, for the exec that builds the plans.
#include <algorithm>
#include <cstdio>

#include "engines/exec_options.h"
#include "flags/flags.h"
#include "python_verb.h"
#include "verbs.h"

namespace tenfold::cli {
namespace {

struct SegmentRow { const char *name, *value, *help; };

constexpr SegmentRow kModel[] = {
    {"onnx", "FILE", "the model to build, whose input is [batch, channel, spatial...]; repeatable: the mean of all outputs"},
    {"loadEngine", "FILE", "a plan to run instead; repeatable, also beside --onnx"},
    {"device", "NAME[,NAME...]", "cpu, cuda:0; several share the rows, as each is quick: cuda:0,cpu; default: the first GPU, else the CPU"},
    {"threads", "N", "of the device, and for stitching; default: what this process may use"},
};
// Of exec's flags: rows of its own are above, --roi and --swBatch give shapes, and the rest is for texts, for single rows, for classes of
// whole samples, and for plans that others load.
constexpr const char* kNotTaken[] = {
    "device", "threads", "shapes", "minShapes", "optShapes", "maxShapes", "profile", "calibProfile", "minShapesCalib", "optShapesCalib",
    "maxShapesCalib", "overridable", "tokenizer", "packTokens", "newestRow", "labels", "versionCompatible", "vc",
    "hardwareCompatibilityLevel", "refit"};
constexpr SegmentRow kImage[] = {
    {"input", "PATH", "NPY, TIFF, OME-TIFF, NIfTI, Zarr, OME-Zarr, a folder of pictures"},
    {"axes", "LETTERS", "axes of the input in its own order, of t c z y x, where the file does not say them"},
    {"channel", "N[,N...]", "channels for the network; default: all"},
    {"time", "N|N:M", "a time point, or a range of them; default: all"},
    {"level", "N", "level of a pyramid (0)"},
    {"scene", "N", "image of a file that has several (0)"},
    {"normalize", "STEP", "scale:F, clip:A,B, mean:M,std:S, zscore, percentile:1,99.8; repeatable, in this order, or as 'STEP|STEP'; "
                          "the last two read the input before, by channel and time point"},
    {"nan", "fail|zero|pass", "what becomes of NaN in the input (fail)"},
};
constexpr SegmentRow kWindows[] = {
    {"roi", "N[,N...]", "the window, one extent or one for each axis; 0: the image's; default: the model's fixed extents"},
    {"overlap", "F[,F...]", "the part of a window that it shares with the next, in [0, 1) (0.25)"},
    {"mode", "constant|gaussian|halo", "weights of a window's voxels (gaussian)"},
    {"halo", "N[,N...]", "with --mode=halo: outer voxels of a window that do not count"},
    {"placement", "fixed_step|even", "steps of equal length: even, as nnU-Net has them (fixed_step)"},
    {"sigmaScale", "F[,F...]", "of the Gaussian, beside the window's extent (0.125)"},
    {"padding", "constant|reflect|replicate|circular", "of images that are smaller than the window (constant)"},
    {"cval", "V", "the value of constant padding, after --normalize (0)"},
    {"swBatch", "N", "windows of a call of the engine (4)"},
    {"sweep", "auto|z|y|x", "axis along which slabs pass; auto: the one whose slab is smallest, z where all are alike"},
    {"mirror", "AXIS[,AXIS...]", "the mean over windows mirrored along these axes of the network, 0 is its first spatial one"},
    {"memory", "BYTES", "where slab, sums and a batch need more than 4G, 512M, ..., rows are computed in bands; the result is the same"},
};
constexpr SegmentRow kOutput[] = {
    {"output", "PATH", "NPY, TIFF, NIfTI, Zarr, or IMAGE.zarr/labels/NAME"},
    {"grid", "N,N,...", "extents of the result, to which the blended output is resampled; default: the image's"},
    {"gridMode", "linear|nearest[,...]", "how, for all spatial axes or for each (linear)"},
    {"activation", "none|sigmoid|softmax", "of the blended output (none)"},
    {"reduce", "none|argmax|threshold:T", "labels from channels (none)"},
    {"outputType", "TYPE", "uint8, uint16, int16, int32, uint32, float16, float32"},
    {"compress", "NAME", "zstd, lz4, blosc, gzip, none for Zarr; zlib, lzw, zstd for TIFF"},
    {"chunks", "N,N...", "chunks of a Zarr, tiles of a TIFF: one for each axis of the output"},
    {"overwrite", "", "replace an output that is there, when the new one is whole"},
    {"resume", "", "go on with OUTPUT.partial of a run that was killed; the result is the same as without"},
    {"preview", "FILE.png", "a picture: three sections, the result laid over, a scale bar"},
    {"progress", "auto|none|bar", "auto: a bar if stderr is a terminal"},
    {"json", "", "a summary as one JSON object on the last line: seconds by step, windows, bytes, peak memory"},
};

template <std::size_t N>
void add_rows(Flags& flags, const char* title, const SegmentRow (&rows)[N], Arguments& given) {
  flags.group(title);
  for (const SegmentRow& row : rows)
    flags.add({row.name, row.value, row.help, [&given, &row](const std::string& text) {
                 given.push_back("--" + std::string(row.name) + (row.value[0] ? "=" + text : ""));
               }});
}

// Exec reads what it gets here, too, so that a wrong value is refused before Python starts.
void add_build_rows(Flags& flags, Arguments& given, ExecOptions& build) {
  Flags exec("", "");
  exec.group("");
  add_plan_flags(exec, build, true);
  flags.group("Building (with --onnx), as in tenfold exec");
  for (const Flag& row : exec.groups()[0].flags) {
    if (std::find(std::begin(kNotTaken), std::end(kNotTaken), row.name) != std::end(kNotTaken)) continue;
    flags.add({row.name, row.value, row.help, [&given, row](const std::string& text) {
                 row.apply(text);
                 given.push_back("--build=--" + row.name + (text.empty() ? "" : "=" + text));
               }});
  }
}

struct SegmentOptions {
  Arguments given;                   // for Python
  ExecOptions build;
  bool help = false, full_help = false;
};

Flags make_flags(SegmentOptions& options) {
  Arguments& given = options.given;
  Flags flags("tenfold segment --onnx=MODEL|--loadEngine=PLAN --input=IMAGE --output=LABELS [--flags]",
              "Runs a network of small windows over an image or volume of any size, slab by slab, and blends its outputs.");
  add_rows(flags, "Model", kModel, given);
  add_rows(flags, "Image", kImage, given);
  add_rows(flags, "Windows", kWindows, given);
  add_rows(flags, "Output", kOutput, given);
  flags.add({"help", "[all]", "this text; =all: a line for every flag", [&options](const std::string& text) {
               if (!text.empty() && text != "all") throw UsageError("--help or --help=all");
               options.help = true, options.full_help = text == "all";
             }});
  add_build_rows(flags, given, options.build);
  return flags;
}

// What exec says of its flags together, of the first model or plan.
void check_build(SegmentOptions& options) {
  const auto named = [&](const std::string& flag) {
    for (const std::string& word : options.given)
      if (word.starts_with(flag)) return word.substr(flag.size());
    return std::string();
  };
  options.build.onnx = named("--onnx=");
  if (options.build.onnx.empty()) options.build.load_engine = named("--loadEngine=");
  options.build.console.quiet = !options.build.onnx.empty();   // the exec that builds has the same notes
  if (!options.build.onnx.empty() || !options.build.load_engine.empty()) check_plan_flags(options.build);
}

}  // namespace

void segment_flags(const UseFlags& use) {
  SegmentOptions options;
  use(make_flags(options));
}

int segment_main(const Arguments& arguments) {
  SegmentOptions options;
  const Flags flags = make_flags(options);
  const auto words = flags.parse(arguments);
  if (options.help) return std::fputs(flags.help(options.full_help).c_str(), stdout), kOk;
  if (!words.empty()) throw UsageError("tenfold segment takes flags only: '" + words[0] + "' is none; --input=PATH names the image");
  check_build(options);
  run_in_python("segment", "tenfold.imaging.segment", "'tenfold[imaging]'", options.given);
}

}  // namespace tenfold::cli
