#!/usr/bin/env python3
"""Trains a small GPT-2 on sentences: train_small_gpt2.py SENTENCES.csv OUT [--minutes=10].

SENTENCES.csv is STS-B: two sentences a line, then a score. OUT gets a folder as transformers saves it, with a byte-level BPE tokenizer,
and two files beside it: OUT.train.txt and OUT.test.txt, a sentence a line; 400 are never trained on. Seeds are fixed. After each epoch 200
others are foretold, on which it was not trained either, and the best state is kept. A core takes a few minutes. Torch, transformers and
tokenizers have to be installed.
"""
import argparse
import csv
import math
import os
import random
import time

import tokenizers
import torch
import transformers

END, TEST, WATCHED, BATCH = '<|endoftext|>', 400, 200, 32


def sentences(path):
    with open(path, newline='', encoding='utf-8') as file:
        found = list(dict.fromkeys(text.strip() for row in csv.reader(file) for text in row[:2]))
    random.Random(0).shuffle(found)
    return found[:-TEST], found[-TEST:]


def tokenizer_of(texts):
    made = tokenizers.ByteLevelBPETokenizer()
    made.train_from_iterator(texts, vocab_size=1024, min_frequency=2, special_tokens=[END])
    # A sentence begins with END: its first word is foretold, too.
    made.post_processor = tokenizers.processors.TemplateProcessing(single=f'{END} $A', special_tokens=[(END, 0)])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made._tokenizer, bos_token=END, eos_token=END, unk_token=END)


def batches(ids, shuffle):
    order = list(range(len(ids)))
    if shuffle:
        random.shuffle(order)
    for first in range(0, len(order), BATCH):
        rows = [torch.tensor(ids[i] + [0]) for i in order[first:first + BATCH]]   # and ends with it
        mask = torch.nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
        tokens = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        yield tokens, mask, tokens.masked_fill(mask == 0, -100)


def loss_of(model, ids):
    model.eval()
    total = count = 0
    with torch.no_grad():
        for tokens, mask, labels in batches(ids, False):
            here = int((labels[:, 1:] != -100).sum())
            total += float(model(tokens, attention_mask=mask, labels=labels).loss) * here
            count += here
    return total / count


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument('sentences')
    arguments.add_argument('out')
    arguments.add_argument('--minutes', type=float, default=10)
    arguments.add_argument('--threads', type=int, default=2)
    a = arguments.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(a.threads)
    train, test = sentences(a.sentences)
    tokenizer = tokenizer_of(train)
    ids = [tokenizer(text).input_ids for text in train]
    watched, ids = ids[:WATCHED], ids[WATCHED:]
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=128, n_embd=128, n_layer=4, n_head=4, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.2, embd_pdrop=0.2, attn_pdrop=0.2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.1)
    epochs = 14
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=epochs * math.ceil(len(ids) / BATCH))
    best, kept, begin = math.inf, None, time.monotonic()
    for epoch in range(epochs):
        model.train()
        for tokens, mask, labels in batches(ids, True):
            optimizer.zero_grad()
            model(tokens, attention_mask=mask, labels=labels).loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        loss = loss_of(model, watched)
        print(f'epoch {epoch}: perplexity {math.exp(loss):.2f}, {time.monotonic() - begin:.0f} s', flush=True)
        if loss < best:
            best, kept = loss, {name: value.clone() for name, value in model.state_dict().items()}
        if time.monotonic() - begin > 60 * a.minutes:
            break
    model.load_state_dict(kept)
    model.save_pretrained(a.out)
    tokenizer.save_pretrained(a.out)
    for name, texts in (('train', train), ('test', test)):
        with open(f'{os.path.normpath(a.out)}.{name}.txt', 'w', encoding='utf-8') as file:
            file.write('\n'.join(texts) + '\n')
    tested = math.exp(loss_of(model, [tokenizer(text).input_ids for text in test]))
    print(f'{a.out}: perplexity {math.exp(best):.2f} of the 200 sentences, {tested:.2f} of those in {os.path.normpath(a.out)}.test.txt')


if __name__ == '__main__':
    main()
