#!/usr/bin/env python3
"""torch.compile on one GPU in fp16, for rows that ../shared/peers/gpu_peers.py does not have: max-autotune, and text with real masks.

    gpu_torch.py OUT MODE MODEL:BATCH[:mixed],...      MODE: reduce-overhead or max-autotune; mixed: sentences of mixed lengths, padded

Prints one JSON line a row. Random weights: only time is measured. Part of the bundle that script/gpu-check makes.
"""
import json, sys, time

import numpy as np
import torch

from gpu_common import Power, mixed_lengths

CONFIGS = {'minilm-l6': dict(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536), 'bert-base': {}}


class Encoder(torch.nn.Module):
    """Sentences' embeddings: the mean over tokens under the mask, normalized."""

    def __init__(self, **config):
        super().__init__()
        from transformers import BertConfig, BertModel
        self.m = BertModel(BertConfig(**config), add_pooling_layer=False)

    def forward(self, ids, mask):
        h = self.m(input_ids=ids, attention_mask=mask).last_hidden_state
        w = mask.unsqueeze(-1).to(h.dtype)
        return torch.nn.functional.normalize(((h * w).sum(1) / w.sum(1).clamp(min=1e-9)).float(), dim=1)


def model_and_inputs(name, batch, mixed):
    if name in CONFIGS:
        mask = np.ones((batch, 128), np.int64)
        if mixed:
            mask = (np.arange(128)[None, :] < mixed_lengths(batch)[:, None]).astype(np.int64)
        return Encoder(**CONFIGS[name]).cuda().eval().half(), (torch.randint(0, 30000, (batch, 128), device='cuda'),
                                                               torch.from_numpy(mask).cuda())
    import torchvision
    make = {'resnet50': torchvision.models.resnet50, 'vit-b16': torchvision.models.vit_b_16}[name]
    image = torch.randn(batch, 3, 224, 224, device='cuda', dtype=torch.half).to(memory_format=torch.channels_last)
    return make().cuda().eval().half().to(memory_format=torch.channels_last), (image,)


def event_ms(run, inputs, repetitions=60):
    for _ in range(8):
        run(*inputs)
    torch.cuda.synchronize()
    pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(repetitions)]
    for first, last in pairs:
        first.record()
        run(*inputs)
        last.record()
    torch.cuda.synchronize()
    return sorted(first.elapsed_time(last) for first, last in pairs)[repetitions // 2]


def main():
    mode, rows = sys.argv[2], sys.argv[3].split(',')
    torch.backends.cudnn.benchmark = True
    for row in rows:
        name, batch, *mixed = row.split(':')
        start = time.time()
        torch._dynamo.reset()
        with torch.inference_mode():
            model, inputs = model_and_inputs(name, int(batch), bool(mixed))
            run = torch.compile(model, mode=mode)
            event_ms(run, inputs, 5)
            built = time.time() - start
            with Power() as power:
                until = time.time() + 1.5
                while time.time() < until:
                    ms = event_ms(run, inputs)
        print(json.dumps(dict(model=name, batch=int(batch), mask='mixed' if mixed else 'ones', mode=mode, event_ms=ms, build_s=built,
                              **power.said())), flush=True)


if __name__ == '__main__':
    main()
