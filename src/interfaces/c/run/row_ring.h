// What a tenfold_row_ring is.
#pragma once

#include "tenfold/c/latency.h"
#include "tenfold/row_ring.h"

struct tenfold_row_ring {
  tenfold::RowRing ring;
};
