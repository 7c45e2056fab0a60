# Custom Calibration Dataset (000-49, 000-50).
from langchain_hana.gpu import TensorRTEmbeddings

# Example text samples from your domain
calibration_data = [
    "SAP HANA Cloud is an in-memory database management system.",
    "Vector embeddings enable semantic search capabilities.",
    "TensorRT provides significant performance improvements for inference.",
    # Add more domain-specific examples here
]

# Create embeddings with custom calibration data
embeddings = TensorRTEmbeddings(
    model_name="sentence-transformers/all-mpnet-base-v2",
    precision="int8",
    calibration_data=calibration_data
)
