// recurrent_stack_s16: layers of LSTM, GRU or RNN side by side, some steps apart, with weights of 16 bits as recurrent_s16.cpp has them.
#include "backends/cpu/tactics/recurrent/recurrent_stack_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends {

Tactic cpu_recurrent_s16();

namespace {

using Layers = cpu::Stack<cpu_recurrent_s16>;

}  // namespace

Tactic cpu_recurrent_stack_s16() {
  return packed_tactic({.name = "recurrent_stack_s16",
                        .ops = {{"RecurrentStack"}},
                        .rounds_f32 = true,
                        .workspace = Layers::workspace,
                        .worker_scratch = Layers::worker_scratch,
                        .cases = {"RecurrentStack f32[13,1,30] f32[1,160,30]! f32[1,160,40]! f32[1,320]! _ _ f32[1,80,40]! f32[1,80,20]! "
                                  "f32[1,160]! _ _ f32[1,72,20]! f32[1,72,18]! outputs=3 numerics={round_to=tf32}",
                                  "RecurrentStack f32[9,4,30] f32[1,90,30]! f32[1,90,30]! f32[1,180]! f32[1,4,30] _ f32[1,60,30]! "
                                  "f32[1,60,20]! cell=\"GRU\" linear_before_reset=1 outputs=2 numerics={round_to=tf32}",
                                  "RecurrentStack f32[25,2,10] f32[1,40,10]! f32[1,40,40]! _ _ _ f32[1,20,40]! f32[1,20,20]! "
                                  "f32[1,40]! cell=\"RNN\" activation=\"Relu\" outputs=2 numerics={round_to=tf32}"}},
                       {Layers::supports, cpu::stack_configs, cpu::valid_stack, Layers::packed_bytes, Layers::pack, Layers::unpack,
                        Layers::open, cpu::run_stack, cpu::stack_work});
}

}  // namespace tenfold::backends
