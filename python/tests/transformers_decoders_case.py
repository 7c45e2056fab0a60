"""Small random models of transformers as folders, and what it continues a prompt with."""
import importlib.util
import os

os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')
HAVE = all(importlib.util.find_spec(name) for name in ('torch', 'transformers', 'tokenizers'))
if HAVE:
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

QUICK = dict(device='cpu', optimization_level=0, plan_cache=False, tf32=False, max_length=256)
VOCABULARY = 300
SHAPES = [dict(width=64, heads=4, shared=4, layers=2, wide=96), dict(width=48, heads=6, shared=2, layers=3, wide=80),
          dict(width=96, heads=8, shared=1, layers=1, wide=128), dict(width=32, heads=2, shared=2, layers=4, wide=200),
          dict(width=80, heads=5, shared=5, layers=2, wide=112), dict(width=128, heads=16, shared=8, layers=2, wide=64)]
LLAMA3 = dict(rope_type='llama3', rope_theta=5e5, factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=64)


def config_of(kind, shape, number):
    if kind == 'gpt2':
        return transformers.GPT2Config(vocab_size=VOCABULARY, n_positions=256, n_embd=shape['width'], n_head=shape['heads'],
                                       n_layer=shape['layers'], n_inner=shape['wide'], bos_token_id=0, eos_token_id=0)
    common = dict(vocab_size=VOCABULARY, hidden_size=shape['width'], intermediate_size=shape['wide'], num_hidden_layers=shape['layers'],
                  num_attention_heads=shape['heads'], num_key_value_heads=shape['shared'], max_position_embeddings=256,
                  bos_token_id=0, eos_token_id=0, pad_token_id=0, tie_word_embeddings=number % 2 == 1)
    more = {'llama': dict(rope_parameters=LLAMA3) if number % 3 == 1 else dict(attention_bias=number % 3 == 2),
            'mistral': dict(sliding_window=[16, 100, 7, 31, 32, 33][number]), 'qwen3': dict(head_dim=16)}
    return transformers.AutoConfig.for_model(kind, **common, **more.get(kind, {}))


def shake(model, seed):
    """Weights far apart, so that the largest logit is clear."""
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(torch.randn(p.shape, generator=random) * (1.5 / p.shape[-1] ** 0.5 if p.ndim == 2 and 'emb' not in name else 0.3)
                    + (1 if name.endswith('weight') and ('norm' in name or 'ln_' in name) else 0))


def save(folder, kind, shape, number):
    model = transformers.AutoModelForCausalLM.from_config(config_of(kind, shape, number)).eval()
    shake(model, number)
    model.save_pretrained(folder)
    tokenizer = Tokenizer(models.BPE({c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, []))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer.save(os.path.join(folder, 'tokenizer.json'))
    return model


def greedy(model, ids, count, cache=True):
    given = torch.tensor([ids])
    with torch.no_grad():
        made = model.generate(given, attention_mask=torch.ones_like(given), max_new_tokens=count, do_sample=False, eos_token_id=None,
                              pad_token_id=0, use_cache=cache)
    return made[0, len(ids):].tolist()


def judged(model, reference, ids_of_texts):
    """Tokens foretold, perplexity, the reference's, divergence from it, and the share of equal best tokens."""
    loss, before, divergence, same = [], [], [], []
    for ids in ids_of_texts:
        given = torch.tensor([ids])
        with torch.no_grad():
            q, p = (torch.log_softmax(one(given).logits[0, :-1].double(), -1) for one in (model, reference))
        target = given[0, 1:, None]
        loss.append(-q.gather(1, target)), before.append(-p.gather(1, target))
        divergence.append(torch.nn.functional.kl_div(q, p, reduction='none', log_target=True).sum(-1))
        same.append((q.argmax(-1) == p.argmax(-1)).double())
    loss, before, divergence, same = (torch.cat([x.flatten() for x in one]) for one in (loss, before, divergence, same))
    return len(loss), loss.mean().exp().item(), before.mean().exp().item(), divergence.mean().item(), same.mean().item()


def figures(told):
    """Those of judged() in an Evaluation."""
    return told.tokens, told.perplexity, told.reference_perplexity, told.kl_divergence, told.same_token
