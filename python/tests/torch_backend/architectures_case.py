"""Architectures of torchvision, timm and transformers with random weights and small inputs; and each by two ways: torch's graph as the
backend converts it, and the module's own ONNX export. Both become one plan."""
import collections
import copy
from unittest import mock

import tenfold
import torch


def vision(name, size=64, **options):
    def make():
        import torchvision
        options.setdefault('weights', None)
        module = torchvision.models.get_model(name, **options)
        return module.eval(), (torch.randn(2, 3, size, size),), {}
    return make


def image(name, size=None, **options):
    def make():
        import timm
        module = timm.create_model(name, pretrained=False, **options)
        side = size or module.default_cfg['input_size'][-1]
        return module.eval(), (torch.randn(2, 3, side, side),), {}
    return make


SMALL = {'vocab_size': 200, 'hidden_size': 64, 'num_hidden_layers': 2, 'num_attention_heads': 4, 'intermediate_size': 128}


def text(family, kind='Model', tokens=12, **config):
    def make():
        import transformers
        made = getattr(transformers, f'{family}Config')(**config)
        module = getattr(transformers, f'{family}{kind}')(made)
        ids = torch.randint(5, 190, (2, tokens))
        return module.eval(), (), {'input_ids': ids, 'attention_mask': torch.ones_like(ids)}
    return make


def decoder(family, kind='ForCausalLM', **config):
    made = text(family, kind, **{'pad_token_id': 0, 'bos_token_id': 1, 'eos_token_id': 2, **config})

    def make():
        module, args, keywords = made()
        return module, args, {**keywords, 'use_cache': False}
    return make


def seq2seq(family, **config):
    made = decoder(family, 'ForConditionalGeneration', **config)

    def make():
        module, args, keywords = made()
        return module, args, {**keywords, 'decoder_input_ids': torch.randint(5, 190, (2, 5))}
    return make


def pixels(family, kind='Model', size=32, **config):
    def make():
        import transformers
        module = getattr(transformers, f'{family}{kind}')(getattr(transformers, f'{family}Config')(**config))
        return module.eval(), (), {'pixel_values': torch.randn(2, 3, size, size)}
    return make


SHORT = ('resnet50', 'mobilenet_v2', 'fcn_resnet50', 'vit_tiny_patch16_224', 'convnext_atto', 'bert', 'gpt2', 'llama')
ARCHITECTURES = {
    'resnet18': vision('resnet18'), 'resnet50': vision('resnet50'), 'resnext50_32x4d': vision('resnext50_32x4d'),
    'wide_resnet50_2': vision('wide_resnet50_2'), 'alexnet': vision('alexnet'), 'vgg11_bn': vision('vgg11_bn'),
    'squeezenet1_1': vision('squeezenet1_1'), 'densenet121': vision('densenet121'),
    'googlenet': vision('googlenet', init_weights=False), 'inception_v3': vision('inception_v3', 80, init_weights=False),
    'mobilenet_v2': vision('mobilenet_v2'), 'mobilenet_v3_small': vision('mobilenet_v3_small'),
    'shufflenet_v2_x1_0': vision('shufflenet_v2_x1_0'), 'mnasnet0_5': vision('mnasnet0_5'),
    'efficientnet_b0': vision('efficientnet_b0'), 'efficientnet_v2_s': vision('efficientnet_v2_s'),
    'regnet_y_400mf': vision('regnet_y_400mf'), 'convnext_tiny': vision('convnext_tiny'),
    'vit_b_32': vision('vit_b_32', image_size=64), 'swin_t': vision('swin_t'), 'swin_v2_t': vision('swin_v2_t'),
    'maxvit_t': vision('maxvit_t', 224, input_size=(224, 224)), 'fcn_resnet50': vision('fcn_resnet50', weights_backbone=None),
    'deeplabv3_resnet50': vision('deeplabv3_resnet50', weights_backbone=None),
    'lraspp_mobilenet_v3_large': vision('lraspp_mobilenet_v3_large', weights_backbone=None),
    'vit_tiny_patch16_224': image('vit_tiny_patch16_224'), 'deit_tiny_patch16_224': image('deit_tiny_patch16_224'),
    'convnext_atto': image('convnext_atto', 64), 'mixer_s32_224': image('mixer_s32_224'),
    'resmlp_12_224': image('resmlp_12_224'), 'gmlp_ti16_224': image('gmlp_ti16_224'),
    'poolformer_s12': image('poolformer_s12', 64), 'mobilevit_xxs': image('mobilevit_xxs', 64),
    'efficientformer_l1': image('efficientformer_l1', 224), 'levit_128s': image('levit_128s', 224),
    'xcit_nano_12_p16_224': image('xcit_nano_12_p16_224'), 'ghostnet_100': image('ghostnet_100', 64),
    'repvgg_a0': image('repvgg_a0', 64), 'hrnet_w18_small': image('hrnet_w18_small', 64), 'dla34': image('dla34', 64),
    'eca_nfnet_l0': image('eca_nfnet_l0', 64), 'edgenext_xx_small': image('edgenext_xx_small', 64),
    'bert': text('Bert', **SMALL), 'roberta': text('Roberta', **SMALL, pad_token_id=1),
    'electra': text('Electra', **SMALL, embedding_size=32),
    'distilbert': text('DistilBert', vocab_size=200, dim=64, n_layers=2, n_heads=4, hidden_dim=128),
    'albert': text('Albert', **SMALL, embedding_size=32), 'mpnet': text('MPNet', **SMALL),
    'deberta_v2': text('DebertaV2', **SMALL, relative_attention=True, pos_att_type=['p2c', 'c2p'], position_buckets=16),
    'gpt2': decoder('GPT2', 'LMHeadModel', vocab_size=200, n_embd=64, n_layer=2, n_head=4, n_positions=64),
    'gpt_neox': decoder('GPTNeoX', **SMALL),
    'opt': decoder('OPT', vocab_size=200, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, ffn_dim=128,
                  word_embed_proj_dim=64),
    'llama': decoder('Llama', **SMALL, num_key_value_heads=2), 'mistral': decoder('Mistral', **SMALL, num_key_value_heads=2),
    'qwen2': decoder('Qwen2', **SMALL, num_key_value_heads=2), 'phi': decoder('Phi', **SMALL),
    'gemma': decoder('Gemma', **SMALL, head_dim=16, num_key_value_heads=2),
    't5': seq2seq('T5', vocab_size=200, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, decoder_start_token_id=0),
    'bart': seq2seq('Bart', vocab_size=200, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                  decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, forced_eos_token_id=None),
    'vit': pixels('ViT', image_size=32, patch_size=8, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128),
    'segformer': pixels('Segformer', size=64, hidden_sizes=[16, 32, 64, 64], num_encoder_blocks=4, depths=[1, 1, 1, 1]),
}


def tensors(value):
    """All tensors of a result, whatever holds them."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict) or hasattr(value, 'items'):
        return [t for v in value.values() for t in tensors(v)]
    return [t for v in value for t in tensors(v)] if isinstance(value, (list, tuple)) else []


def randomized(module, args):
    """Weights that start as zeros would hide what comes before them, and moments that fit no data would let images grow alike."""
    with torch.no_grad():
        for tensor in module.parameters():
            if tensor.is_floating_point() and not bool(tensor.any()):
                tensor.normal_(0, 0.1)
        for name, tensor in module.named_buffers():
            if name.endswith('running_var'):
                tensor.uniform_(0.5, 1.5)
            elif name.endswith('running_mean'):
                tensor.normal_(0, 0.1)
        norms = [part for part in module.modules() if isinstance(part, torch.nn.modules.batchnorm._BatchNorm)]
        if norms and args:
            for norm in norms:
                norm.train().momentum = 1.0
            module(torch.randn(8, *args[0].shape[1:]))
            module.eval()
    return module


def apart(found, expected):
    return max(float((f.double() - w.double()).abs().max() / w.double().abs().max()) for f, w in zip(found, expected, strict=True))


def tried(name, options):
    """The worst error beside eager mode, by the largest element of each result; where that is large, how far eager mode itself is from
    results in 64 bits; engines; what torch computed."""
    from tenfold.torch import _backend, _options
    torch._dynamo.reset()
    torch.manual_seed(0)
    module, args, keywords = ARCHITECTURES[name]()
    randomized(module, args)
    reports, chosen = [], _options.read_options(options, None)
    run = torch.compile(module, backend=lambda graph, inputs: _backend.compiled(graph, inputs, chosen, reports))
    with torch.no_grad():
        expected, found = tensors(module(*args, **keywords)), tensors(run(*args, **keywords))
    if not all(bool(w.isfinite().all()) for w in expected) or torch.allclose(expected[0][:1], expected[0][1:2], rtol=1e-4):
        raise ValueError(f'{name}: results that tell nothing')
    worst, own = apart(found, expected), 0.0
    if worst > 1e-5:
        with torch.no_grad():
            exact = tensors(copy.deepcopy(module).double()(*(a.double() if a.is_floating_point() else a for a in args), **keywords))
        own = apart(expected, exact)
    return worst, own, sum(len(r.engines) for r in reports), [b for r in reports for b in r.all_breaks()]


# Operators whose steps compute nothing; so do steps of the kind "copy".
MOVING = {'Cast', 'Concat', 'DepthToSpace', 'Expand', 'Flatten', 'Gather', 'GatherElements', 'GatherND', 'Identity', 'Pad', 'Reshape',
          'Slice', 'SpaceToDepth', 'Split', 'Squeeze', 'Tile', 'Transpose', 'Unsqueeze'}


def made(name, dtype=torch.float32):
    torch.manual_seed(0)
    module, args, keywords = ARCHITECTURES[name]()
    randomized(module, args)

    def typed(value):
        return value.to(dtype) if value.is_floating_point() else value
    return module.to(dtype), tuple(map(typed, args)), {k: typed(v) for k, v in keywords.items() if isinstance(v, torch.Tensor)} | {
        k: v for k, v in keywords.items() if not isinstance(v, torch.Tensor)}


def onnx_of(module, args, keywords):
    """The model that torch's exporter writes."""
    with torch.no_grad():
        return torch.onnx.export(module, args, kwargs=keywords, dynamo=True, verbose=False).model_proto


def compiled_engine(module, args, keywords, **options):
    """The engine of the backend, and a call of it with this call's tensors; raises ValueError where there is more than one."""
    from tenfold.torch._subgraph import Subgraph
    seen, call = [], Subgraph.__call__

    def kept(self, given):
        seen.append((self, list(given)))
        return call(self, given)
    torch._dynamo.reset()
    run = torch.compile(module, backend='tenfold', options={'plan_cache': False, **options})
    with mock.patch.object(Subgraph, '__call__', kept), torch.no_grad():
        run(*args, **keywords)
    if len(seen) != 1:
        raise ValueError(f'{len(seen)} engines')
    subgraph, given = seen[0]
    return subgraph._last[1], [given[i] for i in subgraph._inputs]


def onnx_engine(model, **options):
    return tenfold.build(model.SerializeToString(), **options)


def steps(engine):
    """How many steps a plan has, by operator."""
    return collections.Counter('copy' if s.kind == 'copy' else s.op for s in engine.inspection().programs[0].steps)


def moving(counted):
    return {op: count for op, count in sorted(counted.items()) if op == 'copy' or op in MOVING}


def reported(counted):
    return ' '.join(f'{count} {op}' for op, count in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))
