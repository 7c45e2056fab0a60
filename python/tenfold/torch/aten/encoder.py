"""A layer of nn.TransformerEncoder, which torch computes as one operator where nobody asks for gradients (Vaswani et al. 2017)."""
from __future__ import annotations

from tenfold._network import Value
from tenfold.torch._call import Call
from tenfold.torch.aten.table import aten

AXES = {0: [0, 1], 1: [1, 2], 2: []}     # that a mask lacks: of places by places, of places of a sentence, or of four axes


def linear(call: Call, x: Value, weight: Value, bias: Value) -> Value:
    return call.Add(call.MatMul(x, call.Transpose(weight, perm=[1, 0])), bias)


def shown(call: Call, mask: Value | None, kind: int | None) -> Value | None:
    """What may be seen, as attention reads it. torch hides what its mask has other than nought, of whatever type it is."""
    if mask is None:
        return None
    mask = call.cast(mask, 'bool')
    if kind not in AXES or call.rank(mask) != 4 - len(AXES[kind]):
        call.refuse('a mask of another kind')
    return call.Not(call.Unsqueeze(mask, call.ints(AXES[kind])) if AXES[kind] else mask)


def attend(call: Call, x: Value, heads: int, qkv_weight: Value, qkv_bias: Value, weight: Value, bias: Value, mask: Value | None) -> Value:
    batch, places, width = call.argument(0).shape
    if not isinstance(width, int):
        call.refuse('a width that is no number')
    parts = call.Split(linear(call, x, qkv_weight, qkv_bias), call.ints([width] * 3), axis=2, outputs=3)
    split = [call.Transpose(call.reshape(part, [batch, places, heads, width // heads]), perm=[0, 2, 1, 3]) for part in parts]
    seen = call.Transpose(call.Attention(*split, mask, scale=(width // heads) ** -0.5), perm=[0, 2, 1, 3])
    return linear(call, call.reshape(seen, [batch, places, width]), weight, bias)


@aten('_transformer_encoder_layer_fwd')
def transformer_encoder_layer(call: Call, x: Value, width: int, heads: int, qkv_weight: Value, qkv_bias: Value, weight: Value, bias: Value,
                              gelu: bool, norm_first: bool, eps: float, scale_1: Value, shift_1: Value, scale_2: Value, shift_2: Value,
                              up_weight: Value, up_bias: Value, down_weight: Value, down_bias: Value, mask: Value | None = None,
                              kind: int | None = None) -> Value:
    if call.rank(x) != 3:
        call.refuse('sentences that are no batch')
    allowed = shown(call, mask, kind)

    def norm(v: Value, scale: Value, shift: Value) -> Value:
        return call.LayerNormalization(v, scale, shift, axis=-1, epsilon=float(eps))

    def forward(v: Value) -> Value:
        between = linear(call, v, up_weight, up_bias)
        return linear(call, call.Gelu(between) if gelu else call.Relu(between), down_weight, down_bias)

    def attention(v: Value) -> Value:
        return attend(call, v, heads, qkv_weight, qkv_bias, weight, bias, allowed)
    if norm_first:
        x = call.Add(x, attention(norm(x, scale_1, shift_1)))
        return call.Add(x, forward(norm(x, scale_2, shift_2)))
    x = norm(call.Add(x, attention(x)), scale_1, shift_1)
    return norm(call.Add(x, forward(x)), scale_2, shift_2)
