#!/usr/bin/env python3
"""Decoders beside transformers and llama.cpp: a prompt, and greedy steps behind it, in turns, each in a process of its own.

    decoder_peers.py FOLDER [--prompt=480] [--steps=64] [--threads=2] [--rounds=3] [--json=FILE]
    decoder_peers.py FOLDER --device=cuda:0 --sides=tenfold-fp16,eager-fp16,compile-fp16 [--tenfold=PROGRAM]

FOLDER: as transformers saves a model; bench/decoder_models.py writes random weights of known shapes. Sides: tenfold (fp32, tf32,
bf16, fp16, or the option weights, with bf16: tenfold-int4:g32), transformers' eager mode with its DynamicCache, torch.compile
with a StaticCache, which on a GPU records its steps (reduce-overhead; compile-int4:g128: linear layers by torch's int4 product), and
llama.cpp with FOLDER/bf16.gguf, q4_0.gguf and so on (llamacpp-q4_0), which bench/decoder_gguf.py writes; its caches are f16;
llamacppplain keeps weights as the file has them, not packed for AMX or AVX. Figures are medians of steps, then of rounds; the JSON
also has each round's quickest tenth of steps, for machines that are not quiet. --tenfold: that program's `generate --benchmark` in
place of the package.
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


def program_side(a, precision):
    words = [a.tenfold, 'generate', a.folder, f'--maxLength={LENGTH}', '--benchmark', f'--promptTokens={a.prompt}',
             f'--maxTokens={a.steps}', f'--threads={a.threads}', f'--device={a.device}', '--json', f'--planCache={a.plans}']
    flag = {'fp32': '--noTF32', 'tf32': '--precision=fp32'}.get(precision, f'--precision={precision}')
    flags = ['--precision=bf16', f'--weights={precision}'] if precision.startswith('int') else [flag]
    times = json.loads(subprocess.run([*words, *flags], check=True, capture_output=True, text=True).stdout)
    return [times['prompt_ms']], [times['step_ms']]


def tenfold_side(a, precision):
    if a.tenfold:
        return program_side(a, precision)
    import tenfold
    given = {'fp32': dict(tf32=False), 'tf32': {}, 'bf16': dict(bf16=True), 'fp16': dict(fp16=True)}
    given = given.get(precision, dict(bf16=True, weights=precision))
    decoder = tenfold.Decoder(a.folder, max_length=LENGTH, threads=a.threads, device=a.device, **given)
    decoder.prepare()
    ids = list(range(1, a.prompt + 1))
    prompts, steps = [], []
    session = decoder.start()
    for _ in range(3):
        session.truncate(0, 0)
        prompts.append(clock(lambda s=session: s.append([ids])))
        steps += [clock(lambda s=session: s.append([[5]])) for _ in range(a.steps)]
    return prompts[1:], steps[a.steps:]


def with_int4(model, group):
    """Linear layers of a model in bf16, but for the one that gives the logits, by torch's own int4 product."""
    import torch
    if not next(model.parameters()).is_cuda:
        raise SystemExit("torch's int4 product is measured on a GPU: give --device=cuda")

    class Int4(torch.nn.Module):
        def __init__(self, linear):
            super().__init__()
            w = linear.weight.float().unflatten(1, (-1, group))
            scale = w.abs().amax(-1, keepdim=True).clamp(min=1e-6) / 7
            q = (w / scale).round().clamp(-8, 7).add(8).flatten(1).to(torch.uint8)
            packed = (q[:, ::2] << 4 | q[:, 1::2]).contiguous()
            both = torch.stack([scale[..., 0], torch.zeros_like(scale[..., 0])], -1)
            self.register_buffer('packed', torch.ops.aten._convert_weight_to_int4pack(packed, 8))
            self.register_buffer('scales', both.transpose(0, 1).contiguous().bfloat16())
            self.columns = linear.out_features

        def forward(self, x):
            y = torch.ops.aten._weight_int4pack_mm(x.flatten(0, -2), self.packed, group, self.scales)
            return y.unflatten(0, x.shape[:-1])

    for name, module in list(model.named_modules()):
        if isinstance(module, torch.nn.Linear) and name != 'lm_head':
            owner, _, last = name.rpartition('.')
            setattr(model.get_submodule(owner), last, Int4(module))
    return model


def torch_side(a, precision, compiled):
    import torch
    from transformers import AutoModelForCausalLM, StaticCache
    gpu = a.device != 'cpu'
    torch.set_num_threads(a.threads)
    torch.backends.cuda.matmul.allow_tf32 = precision == 'tf32'
    int4 = precision.startswith('int4:g')
    dtype = {'bf16': torch.bfloat16, 'fp16': torch.float16}.get(precision, torch.bfloat16 if int4 else torch.float32)
    model = AutoModelForCausalLM.from_pretrained(a.folder, dtype=dtype).eval().to(a.device)
    if int4:
        model = with_int4(model, int(precision.removeprefix('int4:g')))
    ids = torch.arange(1, a.prompt + 1, device=a.device)[None]
    one = torch.tensor([[5]], device=a.device)
    step = torch.compile(model, mode='reduce-overhead' if gpu else 'default') if compiled else model

    def ended(work):
        work()
        if gpu:
            torch.cuda.synchronize()
    prompts, steps = [], []
    with torch.inference_mode():
        for _ in range(3):
            cache = StaticCache(config=model.config, max_cache_len=LENGTH) if compiled else None
            state = {}

            def prompt(cache=cache, state=state):
                out = model(ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
                state['cache'] = out.past_key_values

            def one_step(place, state=state):
                more = dict(cache_position=place) if compiled else {}
                out = step(one, past_key_values=state['cache'], use_cache=True, position_ids=place[None], **more)
                return out.logits.float().cpu() if gpu else out   # whoever chooses the next token has them

            prompts.append(clock(lambda work=prompt: ended(work)))
            for i in range(a.steps):
                place = torch.tensor([a.prompt + i], device=a.device)
                steps.append(clock(lambda work=one_step, p=place: work(p)))
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
    p.add_argument('--device', default='cpu')
    p.add_argument('--tenfold', help='a program')
    p.add_argument('--plans', default='/tmp/tenfold-decoder-plans', help="folder of --tenfold's plans")
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
            print(side, found[-1], file=sys.stderr, flush=True)
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
