#include "builder/precision/choose_precision.h"

#include "base/check.h"
#include "builder/diagnostics.h"
#include "passes/precision/auto_precision.h"
#include "passes/precision/qdq.h"

namespace tenfold::builder {

void choose_precision(BuildConfig& config, const ir::Graph& model, const backends::DeviceInfo& device, BuildReport& report) {
  const passes::PrecisionChoice choice = passes::auto_precision(device, config.calibration || passes::is_quantized(model));
  config.fp16 = choice.fp16, config.bf16 = choice.bf16, config.int8 = choice.int8;
  if (!choice.int8 && !config.budget) config.calibration.reset();   // a budget needs the data all the same
  add_note({Severity::info, NoteKind::precision, "", cat("precision was chosen by the device: ", choice.why)}, config, report);
}

}  // namespace tenfold::builder
