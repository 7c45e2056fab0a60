"""The class names of a community's guide to fast embeddings for SAP HANA, computed by Tenfold: docs/guides/hana.md.
SAP has no such classes.

    embeddings = TensorRTEmbeddings('sentence-transformers/all-mpnet-base-v2', precision='fp16')

They are langchain_hana.gpu's, too. Importing this package adds three of them to SAP's `langchain_hana.embeddings` in this process.
"""
from tenfold_hana._devices import GPUInfo, TensorCoreOptimizer
from tenfold_hana._manager import EnhancedMultiGPUManager
from tenfold_hana._multi_gpu import HanaTensorRTMultiGPUEmbeddings, MultiGPUEmbeddings
from tenfold_hana._names import add_names
from tenfold_hana._tensorrt_embeddings import TensorRTEmbeddings

__all__ = ['EnhancedMultiGPUManager', 'GPUInfo', 'HanaTensorRTMultiGPUEmbeddings', 'MultiGPUEmbeddings', 'TensorCoreOptimizer',
           'TensorRTEmbeddings']
add_names()
