"""langchain_hana.embeddings where SAP's package is not installed, by tenfold-hana: SAP's, a folder of this name, comes before this file."""
from tenfold_hana import HanaTensorRTMultiGPUEmbeddings, MultiGPUEmbeddings, TensorRTEmbeddings

__all__ = ['HanaTensorRTMultiGPUEmbeddings', 'MultiGPUEmbeddings', 'TensorRTEmbeddings']
