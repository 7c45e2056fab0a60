// Windows of images on a GPU: cut, add, finish; the mean of engines. A thread has one voxel, and none waits for another.
// Types and conversions are those that DeviceWork::load_kernel() puts in front.

__device__ __forceinline__ float load_value(const void* p, i64 i, int type) {
  switch (type) {
    case kU8: return ((const u8*)p)[i];
    case kU16: return ((const u16*)p)[i];
    case kI16: return ((const short*)p)[i];
    case kF16: return from_f16(((const u16*)p)[i]);
    case kBf16: return from_bf16(((const u16*)p)[i]);
    default: return ((const float*)p)[i];
  }
}
__device__ __forceinline__ void store_value(void* p, i64 i, int type, float value) {
  switch (type) {
    case kU8: ((u8*)p)[i] = (u8)value; break;
    case kU16: ((u16*)p)[i] = (u16)value; break;
    case kI16: ((short*)p)[i] = (short)value; break;
    case kF16: ((u16*)p)[i] = to_f16(value); break;
    case kBf16: ((u16*)p)[i] = to_bf16(value); break;
    default: ((float*)p)[i] = value;
  }
}

// Coordinates of element `i` of an array of these extents.
struct Place { int at[4]; };
__device__ __forceinline__ Place place_of(u32 i, const int* extents) {
  Place p;
  p.at[3] = i % (u32)extents[3], i /= (u32)extents[3];
  p.at[2] = i % (u32)extents[2], i /= (u32)extents[2];
  p.at[1] = i % (u32)extents[1], p.at[0] = i / (u32)extents[1];
  return p;
}
__device__ __forceinline__ u32 volume(const int* extents) {
  return (u32)extents[0] * (u32)extents[1] * (u32)extents[2] * (u32)extents[3];
}

// Blocks: voxels, channels, windows.
extern "C" __global__ void cut(const CutArgs a) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x, voxels = volume(a.roi);
  if (i >= voxels) return;
  const Place p = place_of(i, a.roi);
  i64 from = 0;
  u32 to = 0;
  bool outside = false;
  for (int axis = 0; axis < 4; ++axis) {
    to += (u32)p.at[axis] * a.stride[axis];
    const int at = a.maps[axis][a.starts[blockIdx.z][axis] + p.at[axis]];
    outside = outside || at < 0;
    from = axis == 0 ? (i64)blockIdx.y * a.planes + at % a.planes : from * a.extent[axis] + at;
  }
  const float value = outside ? a.constant : load_value(a.image, from, a.from);
  store_value(a.windows, ((i64)blockIdx.z * a.channels + blockIdx.y) * voxels + to, a.to, value);
}

// Blocks: voxels that the windows cover, groups of channels. In each voxel windows are added in their order, and a product is rounded
// before it is added, as on CPUs.
extern "C" __global__ void add(const AddArgs a) {
  const int extents[4] = {a.roi[0], a.roi[1], a.roi[2], a.span};
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= volume(extents)) return;
  const Place p = place_of(i, extents);
  i64 to = 0, stride = a.planes;
  u32 row = 0, line = 0;   // of a window: of its weights, of its values
  for (int axis = 0; axis < 3; ++axis) {
    if (p.at[axis] < a.begin[axis] || p.at[axis] >= a.end[axis]) return;
    const int at = a.start[axis] + p.at[axis];
    if (axis > 0) stride *= a.padded[axis];
    to = axis == 0 ? at % a.planes : to * a.padded[axis] + at;
    row = row * (u32)a.roi[axis] + (u32)p.at[axis];
    line += (u32)p.at[axis] * a.stride[axis];
  }
  const int x = a.first + p.at[3];
  to = to * a.padded[3] + x, stride *= a.padded[3];
  const u32 voxels = volume(a.roi);
  const int begin = blockIdx.y * kChannelsOfAnAdd, left = a.channels - begin;
  const int end = begin + (left < kChannelsOfAnAdd ? left : kChannelsOfAnAdd);
  for (int c = begin; c < end; c += 4) {   // four loads are under way at once
    float sum[4];
    for (int k = 0; k < 4; ++k) sum[k] = c + k < end ? a.sums[(c + k) * stride + to] : 0.f;
    for (int w = 0; w < a.windows; ++w) {
      const int at = x - a.starts[w];
      if (at < a.begins[w] || at >= a.ends[w]) continue;
      const u32 voxel = row * (u32)a.roi[3] + (u32)at;
      const i64 from = ((i64)w * a.channels + c) * voxels + line + (u32)at * a.stride[3];
      const float weight = a.weights ? a.weights[voxel] : 1.f;
      float value[4];
      for (int k = 0; k < 4; ++k)
        value[k] = a.values && c + k < end ? load_value(a.values, from + (i64)k * voxels, a.type) : 1.f;
      for (int k = 0; k < 4; ++k) sum[k] = __fadd_rn(sum[k], a.weights ? __fmul_rn(value[k], weight) : value[k]);
    }
    for (int k = 0; k < 4; ++k)
      if (c + k < end) a.sums[(c + k) * stride + to] = sum[k];
  }
}

// The sum of the weights of all windows at a voxel: `z` is its plane, `at` its place in a plane.
__device__ __forceinline__ float divisor_of(const FinishArgs& a, int z, i64 at, i64 section) {
  float sum = 0.f;
  bool first = true;
  for (int w = a.first_window; w < a.end_window; ++w) {
    const int plane = z - a.starts[w];
    if (plane < (w == 0 ? 0 : a.halo) || plane >= a.roi - (w + 1 == a.windows ? 0 : a.halo)) continue;
    const float some = a.divisors[plane * section + at];
    sum = first ? some : __fadd_rn(sum, some);
    first = false;
  }
  return sum;
}

// Of the sums of one voxel.
struct Means {
  const float* sums;
  i64 stride;       // between channels
  float divisor;
  __device__ __forceinline__ float of(int channel) const { return __fdiv_rn(sums[channel * stride], divisor); }
};

// Activation and reduction of a voxel, whose means by channel are `means.of(channel)`, to element `at` of a channel.
template <class Values>
__device__ __forceinline__ void end_voxel(const Ending& how, const Values& means, void* to, i64 at, i64 channel_stride) {
  float largest = 0.f, total = 1.f;
  if (how.activation == 2) {   // softmax
    largest = -INFINITY_F, total = 0.f;
    for (int c = 0; c < how.channels; ++c) largest = fmaxf(largest, means.of(c));
    for (int c = 0; c < how.channels; ++c) total += expf(means.of(c) - largest);
  }
  float best = 0.f;
  int label = 0;
  for (int c = 0; c < how.channels; ++c) {
    float value = means.of(c);
    if (how.activation == 1) value = __fdiv_rn(1.f, 1.f + expf(-value));
    if (how.activation == 2) value = __fdiv_rn(expf(value - largest), total);
    if (how.reduction == 0) ((float*)to)[c * channel_stride + at] = value;
    if (how.reduction == 2) ((u8*)to)[c * channel_stride + at] = value >= how.threshold ? 1 : 0;
    // NaN is the largest of all, as in NumPy and torch.
    if (c == 0 || value > best || (value != value && best == best)) best = value, label = c;
  }
  if (how.reduction == 1) store_value(to, at, how.type, (float)label);
}

// Blocks: voxels of the cropped planes.
extern "C" __global__ void finish(const FinishArgs a) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= volume(a.crop)) return;
  const Place p = place_of(i, a.crop);
  const int z = a.crop_begin[0] + p.at[0];
  i64 at = 0, section = 1;
  for (int axis = 1; axis < 4; ++axis) {
    at = at * a.padded[axis] + a.crop_begin[axis] + p.at[axis];
    section *= a.padded[axis];
  }
  const Means means = {a.sums + (i64)(z % a.planes) * section + at, (i64)a.planes * section, divisor_of(a, z, at, section)};
  if (!(means.divisor > 0.f)) *a.not_positive = 1;
  const i64 to = (i64)p.at[0] * a.plane_stride + i % ((u32)a.crop[1] * (u32)a.crop[2] * (u32)a.crop[3]);
  end_voxel(a.ending, means, a.to, to, a.channel_stride);
}

// Blocks: elements of a batch's outputs. Engines are added in their order, as on CPUs.
extern "C" __global__ void mean(const MeanArgs a) {
  const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a.elements) return;
  float sum = load_value(a.from[0], i, a.types[0]);
  for (int e = 1; e < a.engines; ++e) sum = __fadd_rn(sum, load_value(a.from[e], i, a.types[e]));
  a.to[i] = __fdiv_rn(sum, (float)a.engines);
}
