// Results on a grid of their own. A thread has one voxel of them, and mixes the means around it in the order in which CPUs do
// (windows/resampler.cpp): voxels of a row, planes, the outer axis, rows. Products are rounded before they are added.

__device__ __forceinline__ float mixed(float first, float second, float weight) {
  return __fadd_rn(__fmul_rn(first, 1.f - weight), __fmul_rn(second, weight));
}

struct MixedMeans {
  const float* means;
  i64 stride;               // between channels
  i64 rows[2][2][2];        // where rows begin: by row, outer axis, plane
  int x[2];
  float weights[4];
  bool copies;

  __device__ __forceinline__ float in_row(const float* row) const {
    return copies ? row[x[0]] : mixed(row[x[0]], row[x[1]], weights[3]);
  }
  __device__ __forceinline__ float of_planes(const float* channel, const i64 (&at)[2]) const {
    const float first = in_row(channel + at[0]);
    return weights[0] == 0.f ? first : mixed(first, in_row(channel + at[1]), weights[0]);
  }
  __device__ __forceinline__ float of_outer(const float* channel, const i64 (&at)[2][2]) const {
    const float first = of_planes(channel, at[0]);
    return weights[1] == 0.f ? first : mixed(first, of_planes(channel, at[1]), weights[1]);
  }
  __device__ __forceinline__ float of(int c) const {
    const float* const channel = means + c * stride;
    const float first = of_outer(channel, rows[0]);
    return weights[2] == 0.f ? first : mixed(first, of_outer(channel, rows[1]), weights[2]);
  }
};

// Blocks: voxels of the planes of results.
extern "C" __global__ void resample(const ResampleArgs a) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= volume(a.results)) return;
  Place p = place_of(i, a.results);
  const i64 to = (i64)p.at[0] * a.plane_stride + i % ((u32)a.results[1] * (u32)a.results[2] * (u32)a.results[3]);
  p.at[0] += a.first_plane;
  const i64 section = (i64)a.from[1] * a.from[2] * a.from[3];
  int near[4][2];
  MixedMeans mixed_means;
  for (int axis = 0; axis < 4; ++axis) {
    near[axis][0] = a.first[axis][p.at[axis]], near[axis][1] = a.second[axis][p.at[axis]];
    mixed_means.weights[axis] = a.weights[axis][p.at[axis]];
  }
  for (int y = 0; y < 2; ++y)
    for (int o = 0; o < 2; ++o)
      for (int z = 0; z < 2; ++z)
        mixed_means.rows[y][o][z] =
            near[0][z] % 2 * section + ((i64)near[1][o] * a.from[2] + near[2][y]) * a.from[3];
  mixed_means.means = a.means, mixed_means.stride = 2 * section, mixed_means.copies = a.copies != 0;
  mixed_means.x[0] = near[3][0], mixed_means.x[1] = near[3][1];
  end_voxel(a.ending, mixed_means, a.to, to, a.channel_stride);
}
