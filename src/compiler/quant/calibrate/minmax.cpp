// minmax: everything that was seen. More data makes it worse where outliers come.
#include "quant/calibrator.h"

namespace tenfold::quant {
namespace {

Range range(const Histogram& histogram, const Grid&) { return {histogram.low(), histogram.high()}; }

}  // namespace

Calibrator calibrate_minmax() { return {"minmax", range}; }

}  // namespace tenfold::quant
