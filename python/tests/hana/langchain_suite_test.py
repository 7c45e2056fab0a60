"""LangChain's own tests of embeddings (langchain-tests, with pytest-asyncio) on TensorRTEmbeddings, where they are installed."""
import importlib.util
import subprocess
import sys
import unittest

from hana_case import HanaCase

SUITE = '''
from langchain_hana.gpu import TensorRTEmbeddings
from langchain_tests.integration_tests import EmbeddingsIntegrationTests
from langchain_tests.unit_tests import EmbeddingsUnitTests

class Ours:
    embeddings_class = TensorRTEmbeddings
    embedding_model_params = {"precision": "fp32"}

class TestUnits(Ours, EmbeddingsUnitTests): ...
class TestIntegration(Ours, EmbeddingsIntegrationTests): ...
'''


@unittest.skipUnless(all(map(importlib.util.find_spec, ('langchain_tests', 'pytest_asyncio'))), 'langchain-tests is not installed')
class Suite(HanaCase):
    def test_it_passes(self):
        with open(self.path('suite_test.py'), 'w') as file:
            file.write(SUITE)
        done = subprocess.run([sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-o', 'asyncio_mode=auto', 'suite_test.py'],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('8 passed', done.stdout)


if __name__ == '__main__':
    unittest.main()
