// tenfold segment: flags, as help, manual pages and completions show them. The work is the Python package's
// (tenfold.imaging.segment), whose process takes this one's place with the flags as --name=value.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "flags/flags.h"
#include "tenfold/error.h"
#include "verbs.h"

namespace tenfold::cli {
namespace {

// The current folder is no place of packages.
constexpr const char* kProgram = R"(
import sys
sys.path[:] = [path for path in sys.path if path]
try:
    from tenfold.imaging.segment import main
except ImportError as error:
    sys.exit("tenfold: segment runs in Python, and %s has no package for it (%s); run: %s -m pip install 'tenfold[imaging]', "
             "or name another Python by TENFOLD_PYTHON=..." % (sys.executable, error, sys.executable))
sys.exit(main(sys.argv[1:]))
)";

struct SegmentRow { const char *name, *value, *help; };

constexpr SegmentRow kModel[] = {
    {"onnx", "FILE", "the model to build, whose input is [batch, channel, spatial...]; repeatable: the mean of all outputs"},
    {"loadEngine", "FILE", "a plan to run instead; repeatable, also beside --onnx"},
    {"device", "NAME", "cpu, cuda:0; default: the first GPU, else the CPU"},
    {"threads", "N", "of the device; default: what this process may use"},
    {"fp16", "", "enable FP16 on a GPU; CPUs compute in float32"},
    {"bf16", "", "enable BF16 where it is faster"},
    {"int8", "", "enable INT8: models with Q/DQ, else dynamic row-wise quantization of GEMMs"},
    {"fp8", "", "enable FP8 (e4m3) GEMMs on a GPU"},
    {"best", "", "enable every precision: fp16, bf16, int8, fp8"},
    {"noTF32", "", "no rounding of fp32: no TF32 on a GPU; on a CPU no Winograd, Strassen or narrower parts"},
    {"builderOptimizationLevel", "N", "0 times nothing, 3 is the default, 5 searches longest"},
    {"timingCacheFile", "FILE", "read and write times of kernels here"},
};
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

Flags make_flags(Arguments& given, bool& help) {
  Flags flags("tenfold segment --onnx=MODEL|--loadEngine=PLAN --input=IMAGE --output=LABELS [--flags]",
              "Runs a network of small windows over an image or volume of any size, slab by slab, and blends its outputs.");
  add_rows(flags, "Model", kModel, given);
  add_rows(flags, "Image", kImage, given);
  add_rows(flags, "Windows", kWindows, given);
  add_rows(flags, "Output", kOutput, given);
  flags.add_switch("help", help, "this text");
  return flags;
}

}  // namespace

void segment_flags(const UseFlags& use) {
  Arguments given;
  bool help = false;
  use(make_flags(given, help));
}

int segment_main(const Arguments& arguments) {
  Arguments given;
  bool help = false;
  const Flags flags = make_flags(given, help);
  const auto words = flags.parse(arguments);
  if (help) return std::fputs(flags.help().c_str(), stdout), kOk;
  if (!words.empty()) throw UsageError("tenfold segment takes flags only: '" + words[0] + "' is none; --input=PATH names the image");
  const char* const named = std::getenv("TENFOLD_PYTHON");
  const std::string python = named && *named ? named : "python3";
  Arguments line = {python, "-c", kProgram};
  line.insert(line.end(), given.begin(), given.end());
  std::vector<char*> pointers;
  for (std::string& word : line) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(python.c_str(), pointers.data());
  throw Error(ErrorKind::io, "segment runs in Python, and '" + python + "' does not start: " + std::strerror(errno) +
                                 "; install Python 3.11 and: pip install 'tenfold[imaging]', or name another Python by TENFOLD_PYTHON=...");
}

}  // namespace tenfold::cli
