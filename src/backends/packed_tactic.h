// What tactics that pack constant weights have in common, products and convolutions above all.
#pragma once

#include "backends/tactic.h"

namespace tenfold::backends {

// Their functions, in the order in which a build and a run call them; all differ in type. `valid` and `work` may be null.
struct PackedFunctions {
  decltype(Tactic::supports) supports;
  decltype(Tactic::configs) configs;
  decltype(Tactic::valid) valid;
  decltype(Tactic::packed_bytes) packed_bytes;
  decltype(Tactic::pack) pack;
  decltype(Tactic::unpack) unpack;
  decltype(Tactic::open) open;
  decltype(Tactic::run) run;
  decltype(Tactic::work) work;
};

// `own`: everything else that the tactic says of itself.
inline Tactic packed_tactic(Tactic own, const PackedFunctions& f) {
  own.supports = f.supports, own.configs = f.configs, own.valid = f.valid;
  own.packed_bytes = f.packed_bytes, own.pack = f.pack, own.unpack = f.unpack;
  own.open = f.open, own.run = f.run, own.work = f.work;
  return own;
}

}  // namespace tenfold::backends
