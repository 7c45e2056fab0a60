#!/usr/bin/env python3
"""Decoders beside transformers and llama.cpp: a prompt, and greedy steps behind it, in turns, each in a process of its own.

    decoder_peers.py FOLDER [--prompt=480] [--steps=64] [--threads=2] [--rounds=3] [--json=FILE]

FOLDER: as transformers saves a model; bench/decoder_models.py writes random weights of known shapes. Sides: tenfold (fp32, tf32,
bf16, or the option weights, with bf16: tenfold-int4:g32), transformers' eager mode with its DynamicCache, torch.compile with a
StaticCache (fp32, bf16), and llama.cpp with FOLDER/bf16.gguf, q4_0.gguf and so on (llamacpp-q4_0), which bench/decoder_gguf.py
writes; its caches are f16; llamacppplain keeps weights as the file has them, not packed for AMX or AVX. Figures are medians of
steps, then of rounds; the JSON also has each round's quickest tenth of steps, for machines that are not quiet.
"""
import argparse
import ctypes
import json
import statistics
import subprocess
import sys
import time

LENGTH = 1024


def clock(work):
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1e3


def tenfold_side(a, precision):
    import tenfold
    given = {'fp32': dict(tf32=False), 'tf32': {}, 'bf16': dict(bf16=True)}.get(precision, dict(bf16=True, weights=precision))
    decoder = tenfold.Decoder(a.folder, max_length=LENGTH, threads=a.threads, **given)
    decoder.prepare()
    ids = list(range(1, a.prompt + 1))
    prompts, steps = [], []
    for _ in range(3):
        session = decoder.start()
        prompts.append(clock(lambda s=session: s.append([ids])))
        steps += [clock(lambda s=session: s.append([[5]])) for _ in range(a.steps)]
    return prompts[1:], steps[a.steps:]


def torch_side(a, precision, compiled):
    import torch
    from transformers import AutoModelForCausalLM, StaticCache
    torch.set_num_threads(a.threads)
    dtype = torch.bfloat16 if precision == 'bf16' else torch.float32
    model = AutoModelForCausalLM.from_pretrained(a.folder, dtype=dtype).eval()
    ids = torch.arange(1, a.prompt + 1)[None]
    one = torch.tensor([[5]])
    step = torch.compile(model) if compiled else model
    prompts, steps = [], []
    with torch.inference_mode():
        for _ in range(3):
            cache = StaticCache(config=model.config, max_cache_len=LENGTH) if compiled else None
            state = {}

            def prompt(cache=cache, state=state):
                out = model(ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
                state['cache'] = out.past_key_values

            prompts.append(clock(prompt))
            for i in range(a.steps):
                place = torch.tensor([a.prompt + i])
                more = dict(cache_position=place) if compiled else {}
                steps.append(clock(lambda p=place, s=state, m=more: step(one, past_key_values=s['cache'], use_cache=True,
                                                                        position_ids=p[None], **m)))
    return prompts[1:], steps[a.steps:]


def llamacpp_side(a, precision, packed):
    import llama_cpp
    import numpy as np
    llama_cpp.llama_backend_init()
    options = llama_cpp.llama_model_default_params()
    options.use_extra_bufts = packed
    model = llama_cpp.llama_model_load_from_file(f'{a.folder}/{precision}.gguf'.encode(), options)
    given = llama_cpp.llama_context_default_params()
    given.n_ctx, given.n_batch, given.n_ubatch, given.n_threads, given.n_threads_batch = LENGTH, 512, 512, a.threads, a.threads
    context = llama_cpp.llama_init_from_model(model, given)

    def append(ids):
        tokens = np.array(ids, np.int32)   # logits are those of the last one
        batch = llama_cpp.llama_batch_get_one(tokens.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)), len(ids))
        if llama_cpp.llama_decode(context, batch):
            sys.exit('llama_decode failed')
        llama_cpp.llama_get_logits_ith(context, -1)[0]

    prompts, steps = [], []
    for _ in range(3):
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(context), True)
        prompts.append(clock(lambda: append(range(1, a.prompt + 1))))
        steps += [clock(lambda: append([5])) for _ in range(a.steps)]
    return prompts[1:], steps[a.steps:]


def measure(a, side):
    name, precision = side.split('-', 1)
    if name == 'tenfold':
        prompts, steps = tenfold_side(a, precision)
    elif name.startswith('llamacpp'):
        prompts, steps = llamacpp_side(a, precision, name == 'llamacpp')
    else:
        prompts, steps = torch_side(a, precision, name == 'compile')
    quick = sorted(steps)[len(steps) // 10]
    print(json.dumps({'prompt_ms': statistics.median(prompts), 'step_ms': statistics.median(steps), 'quick_prompt_ms': min(prompts),
                      'quick_step_ms': quick}))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('folder')
    for name, value in (('prompt', 480), ('steps', 64), ('threads', 2), ('rounds', 3)):
        p.add_argument('--' + name, type=int, default=value)
    p.add_argument('--sides', default='tenfold-fp32,eager-fp32,compile-fp32,tenfold-tf32,tenfold-bf16,eager-bf16,compile-bf16')
    p.add_argument('--json')
    p.add_argument('--side', help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.side:
        return measure(a, a.side)
    rows = {side: [] for side in a.sides.split(',')}
    for _ in range(a.rounds):
        for side, found in rows.items():
            run = subprocess.run([sys.executable, __file__, *sys.argv[1:], '--side=' + side], capture_output=True, text=True)
            if run.returncode:
                sys.exit(f'{side} failed:\n{run.stderr[-2000:]}')
            found.append(json.loads(run.stdout.splitlines()[-1]))
    print(f'{"side":14} {"prompt ms":>10} {"tokens/s":>9} {"step ms":>9} {"tokens/s":>9}   steps of each round')
    for side, found in rows.items():
        prompt, step = (statistics.median(one[name] for one in found) for name in ('prompt_ms', 'step_ms'))
        print(f'{side:14} {prompt:10.1f} {a.prompt / prompt * 1e3:9.1f} {step:9.2f} {1e3 / step:9.1f}   '
              + ' '.join(f'{one["step_ms"]:.2f}' for one in found))
    if a.json:
        with open(a.json, 'w') as file:
            json.dump(rows, file, indent=1)
    return None


if __name__ == '__main__':
    main()
