"""langchain_hana.gpu, by tenfold-hana."""
from tenfold_hana import (
    EnhancedMultiGPUManager, GPUInfo, HanaTensorRTMultiGPUEmbeddings, MultiGPUEmbeddings, TensorCoreOptimizer, TensorRTEmbeddings,
)

__all__ = ['EnhancedMultiGPUManager', 'GPUInfo', 'HanaTensorRTMultiGPUEmbeddings', 'MultiGPUEmbeddings', 'TensorCoreOptimizer',
           'TensorRTEmbeddings']
