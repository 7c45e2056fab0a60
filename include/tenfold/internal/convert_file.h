// An ONNX file raised to a newer opset (tenfold convert).
#pragma once

#include <string>

#include "tenfold/build.h"
#include "tenfold/export.h"

namespace tenfold {

struct ConvertReport {
  int opset_before = 0, opset_after = 0;   // of ai.onnx; equal: the model imports that version or a newer one, and is copied
  int rewritten = 0;                       // nodes that are written in another form
};

// Writes `output`: the ONNX file `model` with its nodes in the forms of version `opset` of ai.onnx. Nodes that mean the same there stay as
// they are, and names, weights, metadata and other domains do. Of `config` it uses what concerns the model (profiles, external_data_dirs,
// plugins) and log. `external_data`: tensors of 1 KiB and more are written to OUTPUT.data. Nothing is written unless everything
// succeeded: the result is imported once before. Throws unsupported: nodes mean something else at that version and have no form here; the
// message names them. Throws invalid_argument: the output is the model itself, or no version known here is asked for.
TENFOLD_API ConvertReport convert_file(const std::string& model, const std::string& output, int opset, const BuildConfig& config,
                                       bool external_data = false);

}  // namespace tenfold
