// recurrent_stack_rows: layers of LSTM, GRU or RNN side by side, some steps apart, with weights of 32 bits as recurrent_rows.cpp has them.
#include "backends/cpu/tactics/recurrent/recurrent_stack_common.h"
#include "backends/packed_tactic.h"

namespace tenfold::backends {

Tactic cpu_recurrent_rows();

namespace {

using Layers = cpu::Stack<cpu_recurrent_rows>;

}  // namespace

Tactic cpu_recurrent_stack_rows() {
  return packed_tactic({.name = "recurrent_stack_rows",
                        .ops = {{"RecurrentStack"}},
                        .workspace = Layers::workspace,
                        .worker_scratch = Layers::worker_scratch,
                        .cases = {"RecurrentStack f32[13,1,30] f32[1,160,30]! f32[1,160,40]! f32[1,320]! _ _ f32[1,80,40]! f32[1,80,20]! "
                                  "f32[1,160]! _ _ f32[1,72,20]! f32[1,72,18]! outputs=3",
                                  "RecurrentStack f32[9,4,30] f32[1,90,30]! f32[1,90,30]! f32[1,180]! f32[1,4,30] _ f32[1,60,30]! "
                                  "f32[1,60,20]! cell=\"GRU\" linear_before_reset=1 outputs=2",
                                  "RecurrentStack f32[25,2,10] f32[1,40,10]! f32[1,40,40]! _ _ _ f32[1,20,40]! f32[1,20,20]! "
                                  "f32[1,40]! cell=\"RNN\" activation=\"Relu\" outputs=2"}},
                       {Layers::supports, cpu::stack_configs, cpu::valid_stack, Layers::packed_bytes, Layers::pack, Layers::unpack,
                        Layers::open, cpu::run_stack, cpu::stack_work});
}

}  // namespace tenfold::backends
