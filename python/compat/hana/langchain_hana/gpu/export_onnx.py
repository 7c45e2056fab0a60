"""python -m langchain_hana.gpu.export_onnx --model MODEL --output FILE, by tenfold-hana."""
from tenfold_hana.export_onnx import main

if __name__ == '__main__':
    main()
