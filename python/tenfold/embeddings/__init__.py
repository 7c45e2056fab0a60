"""Sentence encoders and cross encoders under the names of sentence-transformers 6, without torch.

    model = SentenceTransformer('all-MiniLM-L6-v2')      # a folder, or a name of HF_HOME's cache
    vectors = model.encode(['How are you?', 'Fine.'])    # f32[2, 384]

docs/guides/embeddings.md tells the rest. Nothing is ever fetched from the network.
"""
from __future__ import annotations

from tenfold._repr import give_reprs as _give_reprs
from tenfold.embeddings._cross_encoder import CrossEncoder
from tenfold.embeddings._folders import find_folder
from tenfold.embeddings._quantize import quantize_embeddings
from tenfold.embeddings._sentence_transformer import SentenceTransformer
from tenfold.embeddings._similarity import pairwise_similarity, similarity

__all__ = ['CrossEncoder', 'SentenceTransformer', 'find_folder', 'pairwise_similarity', 'quantize_embeddings', 'similarity']
_give_reprs(globals())
