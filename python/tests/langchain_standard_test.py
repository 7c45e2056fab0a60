"""langchain-tests' own tests of embeddings on TenfoldEmbeddings, with a random BERT and without sockets."""
import importlib.util
import sys
import tempfile
import unittest

HAVE = importlib.util.find_spec('langchain_tests')

if HAVE:
    import pytest
    from langchain_tests.integration_tests import EmbeddingsIntegrationTests
    from langchain_tests.unit_tests import EmbeddingsUnitTests

    from embeddings_case import RandomEncoder
    from tenfold.langchain import TenfoldEmbeddings

    class Bert:
        folder = tempfile.TemporaryDirectory()

        @property
        def embeddings_class(self):
            return TenfoldEmbeddings

        @property
        def embedding_model_params(self):
            encoder = RandomEncoder(self.folder.name, 'bert')
            return dict(model=encoder.folder, device='cpu', model_kwargs=dict(optimization_level=0, threads=1), plan_cache=False)

    class TestUnits(Bert, EmbeddingsUnitTests):
        pass

    class TestTogether(Bert, EmbeddingsIntegrationTests):
        pass
else:
    @unittest.skip('langchain-tests is not installed')
    class Left(unittest.TestCase):
        def test_embeddings(self):
            pass


if __name__ == '__main__':
    if not HAVE:
        unittest.main()
    sys.exit(pytest.main([__file__, '-q', '-p', 'no:cacheprovider', '-o', 'asyncio_mode=auto', '--disable-socket', '--allow-unix-socket']))
