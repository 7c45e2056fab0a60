"""The names of SAP HANA's guide to fast embeddings, computed by Tenfold: docs/hana.md. They are langchain_hana.gpu's and
langchain_hana.embeddings', too.

    embeddings = TensorRTEmbeddings('sentence-transformers/all-mpnet-base-v2', precision='fp16')
"""
from tenfold_hana._devices import GPUInfo, TensorCoreOptimizer
from tenfold_hana._manager import EnhancedMultiGPUManager
from tenfold_hana._multi_gpu import HanaTensorRTMultiGPUEmbeddings, MultiGPUEmbeddings
from tenfold_hana._tensorrt_embeddings import TensorRTEmbeddings

__all__ = ['EnhancedMultiGPUManager', 'GPUInfo', 'HanaTensorRTMultiGPUEmbeddings', 'MultiGPUEmbeddings', 'TensorCoreOptimizer',
           'TensorRTEmbeddings']
