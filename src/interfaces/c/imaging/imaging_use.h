/* What imaging_use.c does for imaging_test.cpp: an image [1, 2, 11, 9] through windows of 4x5 whose overlap is 0.5. */
#ifndef TENFOLD_IMAGING_USE_H
#define TENFOLD_IMAGING_USE_H

#ifdef __cplusplus
extern "C" {
#endif

enum { kPlanes = 11, kColumns = 9, kVoxels = kPlanes * kColumns, kRows = 4, kWidth = 5, kWindow = kRows * kWidth };

/* Each returns the failing line, or 0. */
int tenfold_windows_from_c(void);
/* A function that gives (first channel + number of the window / 8) * (1 + place in the window), from a source of planes to sinks of planes;
 * in memory; and by a stitcher that gets the windows one by one. */
int tenfold_sweep_from_c(const float* image, float* swept, float* inferred, float* stitched);
/* Two engines, x * (scale + place in the window): each alone, their mean, and the argmax of [mean, 0]. */
int tenfold_engines_from_c(const float* image, float* first, float* second, float* mean);
int tenfold_faults_from_c(const float* image);

#ifdef __cplusplus
}
#endif
#endif
