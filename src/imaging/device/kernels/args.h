// Arguments of window_kernels.cu, for the host, too. Images and outputs have four axes: those that there are, and ones
// of extent 1 behind the first.
#pragma once

// Element types.
enum WindowType { kU8, kU16, kI16, kF16, kBf16, kF32 };

constexpr int kWindowsOfACut = 32, kWindowsOfAnAdd = 32, kChannelsOfAnAdd = 16, kMaxEngines = 16;

// Windows [window, channel, roi...] out of an image [channel, planes, extent 1, 2, 3] whose plane z lies at z % planes.
struct CutArgs {
  const void* image;
  void* windows;
  const int* maps[4];        // by axis: of a coordinate of the padded image, the image's own; -1: the constant
  int roi[4], extent[4];     // extent[0] is not used
  unsigned stride[4];        // of a channel of a window, whose axes may be in another order
  int planes, channels, from, to;
  float constant;
  int starts[kWindowsOfACut][4];
};

// Sums [channel, planes, padded 1, 2, 3] += values * weights, of windows that differ in their place on the last axis
// alone. Of a window's coordinates along an axis [begin, end) count.
struct AddArgs {
  float* sums;               // plane z lies at z % planes
  const void* values;        // [window, channel, roi...]; null: ones
  const float* weights;      // [roi...]; null: ones
  int roi[4], padded[4];
  unsigned stride[4];        // of a channel of `values`; weights are dense
  int start[3], begin[3], end[3];
  int first, span;           // of the last axis: what all of these windows cover
  int planes, channels, type, windows;
  int starts[kWindowsOfAnAdd], begins[kWindowsOfAnAdd], ends[kWindowsOfAnAdd];   // on the last axis
};

// What becomes of the means of a voxel, by tenfold/sliding_window.h's numbers.
struct Ending {
  int channels, activation, reduction, type;   // type: of labels
  float threshold;
};

// Planes [first, first + count) of the cropped output from sums: mean, activation, reduction.
struct FinishArgs {
  const float* sums;         // plane z lies at z % planes
  // [roi 0, padded...]: what all windows that begin at one plane add to the divisors, from there on.
  const float* divisors;
  const int* starts;         // of the first axis
  void* to;                  // [channel, count, crop...]
  unsigned* not_positive;    // becomes 1 where a divisor is
  long long channel_stride, plane_stride;   // of `to`, in elements
  int padded[4], crop_begin[4], crop[4];   // crop[0] is `count`
  int planes, roi, halo, windows;          // of the first axis
  int first_window, end_window;            // those that touch these planes
  Ending ending;
};

// Planes of results on a grid of their own, from two planes of means: mixed as on CPUs, then activation and reduction.
struct ResampleArgs {
  const float* means;        // [channel, 2, from 1, 2, 3]: plane z lies at z % 2
  // By axis of the results: result i is first[i] * (1 - weight[i]) + second[i] * weight[i] of the means.
  const int* first[4];
  const int* second[4];
  const float* weights[4];
  void* to;                  // [channel, count, results...]
  long long channel_stride, plane_stride;   // of `to`, in elements
  int from[4], results[4];   // results[0] is `count`; from[0] is not used
  int first_plane;           // of the results
  int copies;                // along the last axis, all of whose weights are zero
  Ending ending;
};

// The mean of what several engines give for the same windows.
struct MeanArgs {
  const void* from[kMaxEngines];
  int types[kMaxEngines];
  float* to;
  long long elements;
  int engines;
};
