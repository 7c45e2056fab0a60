# Pipeline Parallelism (000-72 to 000-74).
from langchain_hana.gpu import EnhancedMultiGPUManager

# Create a manager with custom strategy
manager = EnhancedMultiGPUManager(strategy="pipeline")

# Configure pipeline stages
manager.configure_pipeline(
    stages=[
        {"name": "tokenization", "device_id": 0},
        {"name": "embedding", "device_id": 1},
        {"name": "pooling", "device_id": 1}
    ]
)

# Use the manager with embeddings
from langchain_hana.embeddings import MultiGPUEmbeddings
embeddings = MultiGPUEmbeddings(
    base_embeddings=base_model,
    gpu_manager=manager
)
