"""Encoders of every kind that Tenfold builds, with random weights, as transformers and sentence-transformers save them."""
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification, PreTrainedTokenizerFast, T5EncoderModel

KINDS = ('bert', 'distilbert', 'roberta', 'xlm-roberta', 'camembert', 'mpnet', 'electra', 'albert', 'modernbert', 't5')
WITHOUT_HEADS = ('t5',)
SPECIAL = ['<s>', '<pad>', '</s>', '<unk>', '<mask>']   # padding is 1 in all of them, as RoBERTa's places want
SMALL = dict(width=128, heads=4, layers=4, wide=512)
BASE = dict(width=768, heads=12, layers=12, wide=3072)
PLACES = 514


def tokenizer_of(kind, texts):
    """WordPiece, bytes in pairs, or Unigram, whatever the kind has; trained on the texts."""
    if kind in ('bert', 'distilbert', 'mpnet', 'electra', 'albert'):
        t = Tokenizer(models.WordPiece(unk_token='<unk>'))
        t.normalizer, t.pre_tokenizer, t.decoder = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
        trainer = trainers.WordPieceTrainer(vocab_size=8000, special_tokens=SPECIAL, show_progress=False)
    elif kind in ('roberta', 'modernbert'):
        t = Tokenizer(models.BPE())
        t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
        trainer = trainers.BpeTrainer(vocab_size=8000, special_tokens=SPECIAL, show_progress=False,
                                      initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    else:
        t = Tokenizer(models.Unigram())
        t.normalizer, t.pre_tokenizer, t.decoder = normalizers.NFKC(), pre_tokenizers.Metaspace(), decoders.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=8000, special_tokens=SPECIAL, unk_token='<unk>', show_progress=False)
    t.train_from_iterator(texts, trainer)
    start, end = ('<s>', t.token_to_id('<s>')), ('</s>', t.token_to_id('</s>'))
    if kind == 't5':
        t.post_processor = processors.TemplateProcessing(single='$A </s>', pair='$A </s> $B </s>', special_tokens=[end])
    elif kind in ('bert', 'distilbert', 'electra', 'albert', 'modernbert'):
        t.post_processor = processors.BertProcessing(end, start)
    else:
        t.post_processor = processors.RobertaProcessing(end, start, add_prefix_space=False)
    names = ['input_ids', 'attention_mask'] + (['token_type_ids'] if kind in ('bert', 'electra', 'albert') else [])
    return PreTrainedTokenizerFast(tokenizer_object=t, bos_token='<s>', eos_token='</s>', cls_token='<s>', sep_token='</s>',
                                   unk_token='<unk>', pad_token='<pad>', mask_token='<mask>', model_max_length=PLACES - 2,
                                   model_input_names=names)


def config_of(kind, tokens, size, labels):
    common = dict(vocab_size=tokens, pad_token_id=1, bos_token_id=0, eos_token_id=2, max_position_embeddings=PLACES)
    if labels:
        common['num_labels'] = labels
    if kind == 'distilbert':
        return AutoConfig.for_model(kind, dim=size['width'], n_heads=size['heads'], n_layers=size['layers'], hidden_dim=size['wide'],
                                    **common)
    if kind == 't5':
        del common['bos_token_id'], common['max_position_embeddings']
        return AutoConfig.for_model(kind, d_model=size['width'], d_kv=size['width'] // size['heads'], num_heads=size['heads'],
                                    num_layers=size['layers'], d_ff=size['wide'], feed_forward_proj='gated-gelu', **common)
    if kind == 'modernbert':
        common.update(cls_token_id=0, sep_token_id=2, local_attention=32, classifier_pooling='mean')
        return AutoConfig.for_model(kind, hidden_size=size['width'], num_attention_heads=size['heads'], num_hidden_layers=size['layers'],
                                    intermediate_size=size['wide'], **common)
    if kind in ('electra', 'albert'):
        common['embedding_size'] = size['width'] // 2
    types = {} if kind == 'mpnet' else {'type_vocab_size': 2 if kind in ('bert', 'electra', 'albert') else 1}
    return AutoConfig.for_model(kind, hidden_size=size['width'], num_attention_heads=size['heads'], num_hidden_layers=size['layers'],
                                intermediate_size=size['wide'], **types, **common)


def shake(model, seed):
    """Weights as far apart as those of trained models: products keep the size of what they are given, and attention has opinions."""
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            scale = 1.2 / p.shape[-1] ** 0.5 if p.ndim == 2 and 'embedding' not in name else 0.3
            p.copy_(torch.randn(p.shape, generator=random) * scale + (1 if 'norm' in name.lower() and name.endswith('weight') else 0))


def save(folder, kind, tokenizer, labels=0, size=SMALL, seed=0):
    """The folder of a model with a head of so many labels, or with none."""
    folder = Path(folder)
    config = config_of(kind, len(tokenizer), size, labels)
    make = AutoModelForSequenceClassification if labels else AutoModel
    model = (T5EncoderModel(config) if kind == 't5' else make.from_config(config)).eval()
    shake(model, seed)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def with_modules(folder, base, modes, dense=0, normalize=False, include_prompt=True, prompts=None, residual=False, on_tokens=0, **config):
    """A folder as sentence-transformers saves it: the transformer of `base`, pooling by `modes`, a dense layer, a norm; `on_tokens`: a
    dense layer of so many and a norm in front of the pooling."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense, Normalize, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    torch.manual_seed(1)
    modules = [Transformer(str(base))]
    if on_tokens:
        name = 'token_embeddings'
        modules += [Dense(modules[0].get_embedding_dimension(), on_tokens, activation_function=torch.nn.SiLU(), module_input_name=name),
                    Normalize(module_input_name=name)]
    modules.append(Pooling(on_tokens or modules[0].get_embedding_dimension(), modes, include_prompt=include_prompt))
    if dense:
        modules.append(Dense(modules[-1].get_embedding_dimension(), dense, activation_function=torch.nn.Tanh(), use_residual=residual))
    if normalize:
        modules.append(Normalize())
    SentenceTransformer(modules=modules, device='cpu', prompts=prompts, **config).save(str(folder))
    return Path(folder)


def with_zeros(folder):
    """The folder, its dense layer now one that makes zeros of all vectors."""
    from safetensors.torch import load_file, save_file
    file = folder / '2_Dense' / 'model.safetensors'
    save_file({name: torch.zeros_like(value) for name, value in load_file(file).items()}, file)
    return folder
