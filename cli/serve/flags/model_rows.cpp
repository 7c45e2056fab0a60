// The rows of `tenfold serve`'s flags that are about one model that is named on the command line.
#include "serve/flags/rows.h"

namespace tenfold::cli {

void add_model_rows(Flags& flags, ModelFlags& options) {
  flags.group("Model");
  flags.add_text("name", options.name, "NAME", "what requests call the model; default: the file's name without its ending");
  flags.add_text("device", options.device, "NAME", "cpu, cuda:0; default: the first GPU, else the CPU");
  add_number(flags, "instances", options.instances, 0, 1024,
             "batches that run at the same time; they share the weights; 0: one, of encoders on a GPU two (0)");
  flags.add({"max-batch", "N", "the most rows of a batch, 0: each request runs alone; default: 4 where the model has a batch dim",
             [&options](const std::string& text) { options.max_batch = parse_int("max-batch", text, 0, 1 << 20); }});
  add_choice(flags, "precision", options.precision, {"fp32", "tf32", "fp16", "bf16", "int8", "auto"},
             "what layers may be computed in, as exec has it; int8: of encoders' folders alone; default: tf32");
  add_number(flags, "threads", options.threads, 0, kMaxThreads, "of the CPU, for each batch; 0: as many as this process may use (0)");
  add_choice(flags, "tune", options.tune, {"now", "background", "never"},
             "when kernels are timed; default: now, but background where requests choose shapes beside the batch");
  add_choice(flags, "fallback", options.fallback, {"on", "off"},
             "whether an untimed engine, then the CPU, answers where a GPU fails; default: on");
  flags.add_text("plan-cache-dir", options.plan_cache_folder, "DIR",
                 "where plans and times of kernels are kept; default: the user's cache");
}

}  // namespace tenfold::cli
