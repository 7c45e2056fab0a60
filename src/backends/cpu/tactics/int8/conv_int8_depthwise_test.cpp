// conv_int8_depthwise against the reference: widths around the vector, odd and even windows, borders, strides, epilogues of layers.
#include "backends/cpu/tactics/int8/int8_for_tests.h"

namespace tenfold::backends {
Tactic cpu_conv_int8_depthwise();
namespace {

using namespace testing;

TEST(ConvInt8Depthwise, IsExact) {
  for (const char* text : {
           "u8[1,32,9,11](0,255) i8[32,1,3,3](-128,127)! u8[]{128} group=32 pads=[1,1,1,1]",
           "i8[2,96,8,8](-128,127) i8[96,1,3,3](-128,127)! i8[]{-128} group=96 pads=[1,1,1,1] strides=[2,2]",
           "u8[1,19,5,6](0,255) u8[19,1,5,5](0,255)! u8[]{3} u8[19](0,255)! group=19 pads=[2,2,2,2]",
           "u8[1,300,7,7](0,255) i8[300,1,3,3](-128,127)! u8[]{255} group=300 pads=[1,1,1,1]",
           "i8[1,70,6,5](-128,127) i8[70,1,3,3](-128,127)! i8[]{7} i8[70](-128,127)! group=70 pads=[0,1,2,3]",
           "u8[1,48,9,10](0,255) i8[48,1,3,3](-127,127)! u8[]{77} i8[48](0,0)! group=48 pads=[1,0,1,2] strides=[2,2]",
           "i8[1,8,9,9](-128,-128) i8[8,1,2,2](-128,-128)! group=8 dilations=[2,2]",
           "u8[1,40,12](255,255) i8[40,1,3](-128,-128)! u8[]{1} group=40 pads=[1,1]",
           "u8[1,33,3,5,6](0,255) i8[33,1,3,3,3](-128,127)! u8[]{9} group=33 pads=[1,1,1,1,1,1]",
       }) {
    check_int8(cpu_conv_int8_depthwise(), {"ConvInteger", text}, 0);
  }
}

TEST(ConvInt8Depthwise, EpiloguesOfLayers) {
  for (const DType to : {DType::f32, DType::u8, DType::i8}) {
    Int8Case c{"ConvInteger", "u8[2,40,6,21](0,255) i8[40,1,3,3](-128,127)! u8[]{128} group=40 pads=[1,1,1,1]"};
    c.body = quantized_epilogue(to, 0.05, to == DType::u8 ? 128 : 0);
    c.extra = {"f32[40,1,1](0.0001,0.002)!", "f32[40,1,1](-3,3)!"};
    check_int8(cpu_conv_int8_depthwise(), c, to == DType::f32 ? 1e-4 : 1);
  }
}

// Bytes from lines: bounds within what a byte holds, signed input, blocks of 64, 32, 16 and fewer channels, both strides.
TEST(ConvInt8Depthwise, BytesOfLines) {
  for (const char* text : {"i8[2,48,6,9](-128,127) i8[48,1,3,3](-128,127)! i8[]{-7} group=48 pads=[1,1,1,1]",
                           "u8[2,98,6,9](0,255) i8[98,1,3,3](-128,127)! u8[]{9} group=98 pads=[1,1,1,1]",
                           "u8[1,75,9,9](0,255) i8[75,1,3,3](-128,127)! u8[]{9} group=75 pads=[1,1,1,1] strides=[2,2]"}) {
    const std::string channels = std::string(text).substr(5, 2);
    for (const DType to : {DType::u8, DType::i8}) {
      for (const bool relu : {false, true}) {
        Int8Case c{"ConvInteger", text};
        c.body = quantized_epilogue(to, 0.05, to == DType::u8 ? 128 : -20, DType::i32, relu);
        c.extra = {"f32[" + channels + ",1,1](0.0001,0.002)!", "f32[" + channels + ",1,1](-3,3)!"};
        check_int8(cpu_conv_int8_depthwise(), c, 1);
      }
    }
  }
}

}  // namespace
}  // namespace tenfold::backends
