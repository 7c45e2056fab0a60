"""The names of langchain_hana: beside SAP's package (a stand-in, and the real one where it is installed) and without it."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import tenfold_hana
from hana_case import HanaCase

OURS = pathlib.Path(tenfold_hana.__file__).resolve().parent.parent
REAL = importlib.util.find_spec('hdbcli') is not None


def python(code, folder, *flags, **environment):
    done = subprocess.run([sys.executable, *flags, '-c', code], cwd=folder, env=dict(os.environ, **environment), capture_output=True,
                          text=True)
    return done.returncode, done.stdout + done.stderr


class Names(HanaCase):
    def stand_in(self, apart=False):
        """A package as SAP's is built, in the folder where pip has put our files, or `apart` from them: what it has itself stays."""
        for name, text in (('__init__', 'from langchain_hana.embeddings import HanaInternalEmbeddings\n'),
                           ('embeddings/__init__', 'from .own import HanaInternalEmbeddings\n__all__ = ["HanaInternalEmbeddings"]\n'),
                           ('embeddings/own', 'class HanaInternalEmbeddings: ...\nMultiGPUEmbeddings = 3\n')):
            path = self.path(f'sap/langchain_hana/{name}.py')
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w') as file:
                file.write(text)
        for name in () if apart else ('gpu', 'embeddings.py'):
            os.symlink(OURS / 'langchain_hana' / name, self.path(f'sap/langchain_hana/{name}'))
        return {'PYTHONPATH': os.pathsep.join([self.path('sap'), os.environ.get('PYTHONPATH', '')])}

    def test_beside_a_package(self):
        for apart, first in ((False, ''), (True, 'import tenfold_hana; ')):
            with self.subTest(apart=apart):
                self.assertEqual(python(first + 'import langchain_hana.gpu as g, langchain_hana.embeddings as e, tenfold_hana as t; '
                                        'print(g.TensorRTEmbeddings is t.TensorRTEmbeddings, e.MultiGPUEmbeddings is t.MultiGPUEmbeddings, '
                                        'e.HanaInternalEmbeddings.__module__, "sap" in e.__file__)', self.folder, **self.stand_in(apart)),
                                 (0, 'True True langchain_hana.embeddings.own True\n'))
                code, said = python('import tenfold_hana, langchain_hana.embeddings as e; e.Nothing', self.folder, **self.stand_in(True))
                self.assertIn("module 'langchain_hana.embeddings' has no attribute 'Nothing'", said)
                shutil.rmtree(self.path('sap'))

    def test_a_package_is_as_it_was_until_ours_is_imported(self):
        requested = 'from langchain_hana.embeddings import MultiGPUEmbeddings; print(MultiGPUEmbeddings.__module__)'
        environment = self.stand_in()
        code, said = python(requested, self.folder, **environment)
        self.assertEqual(code, 1)
        self.assertIn("cannot import name 'MultiGPUEmbeddings'", said)
        for first in ('import tenfold_hana', 'import langchain_hana.gpu', 'import langchain_hana.embeddings, tenfold_hana'):
            self.assertEqual(python(f'{first}; {requested}', self.folder, **environment), (0, 'tenfold_hana._multi_gpu\n'))

    def test_a_name_of_the_packages_own_stays(self):
        environment = self.stand_in()
        with open(self.path('sap/langchain_hana/embeddings/__init__.py'), 'a') as file:
            file.write('from .own import MultiGPUEmbeddings\n')
        self.assertEqual(python('import tenfold_hana; from langchain_hana.embeddings import MultiGPUEmbeddings, TensorRTEmbeddings; '
                                'print(MultiGPUEmbeddings)', self.folder, **environment), (0, '3\n'))

    def test_nothing_runs_when_python_starts(self):
        for code in ('import langchain_hana.embeddings', ''):
            found = (f'import sys\n{code}\nprint([m for m in sys.modules if m.partition(".")[0] in ("tenfold", "numpy", "tenfold_hana")], '
                     '[f for f in sys.meta_path if "hana" in f.__module__])')
            self.assertEqual(python(found, self.folder, **self.stand_in(True)), (0, '[] []\n'))
            shutil.rmtree(self.path('sap'))
        self.assertEqual([path.name for path in OURS.glob('*hana*') if path.suffix == '.pth'], [])

    @unittest.skipIf(REAL, "SAP's package is installed")
    def test_alone(self):
        self.assertEqual(python('import langchain_hana; from langchain_hana.gpu import TensorRTEmbeddings; '
                                'from langchain_hana.embeddings import HanaTensorRTMultiGPUEmbeddings; print(TensorRTEmbeddings.__name__)',
                                self.folder), (0, 'TensorRTEmbeddings\n'))

    @unittest.skipUnless(REAL, 'langchain-hana is not installed')
    def test_beside_saps_own(self):
        self.assertEqual(python('import langchain_hana.gpu; from langchain_hana import HanaDB; '
                                'from langchain_hana.embeddings import HanaInternalEmbeddings, MultiGPUEmbeddings; '
                                'print(HanaDB.__module__, HanaInternalEmbeddings.__module__, MultiGPUEmbeddings.__module__)', self.folder),
                         (0, 'langchain_hana.vectorstores.hana_db langchain_hana.embeddings.hana_internal_embeddings '
                             'tenfold_hana._multi_gpu\n'))


@unittest.skipUnless(REAL, 'langchain-hana is not installed')
class HanaDatabase(HanaCase):
    """HanaDB over a connection that keeps what it is given."""

    def test_vectors_reach_the_database(self):
        import struct
        from unittest import mock

        from langchain_hana import HanaDB
        from langchain_hana.gpu import TensorRTEmbeddings
        connection = mock.MagicMock()
        requested = {'_check_column': None, '_table_exists': True, '_validate_datatype_support': None}   # questions to a real database
        with mock.patch.multiple(HanaDB, **{name: mock.Mock(return_value=answer) for name, answer in requested.items()}):
            HanaDB(connection, TensorRTEmbeddings(precision='fp32')).add_texts(['how are you?', 'fine.'])
        rows = connection.cursor.return_value.executemany.call_args[0][1]
        packed = [next(bytes(part) for part in row if isinstance(part, (bytes, bytearray))) for row in rows]
        vectors = [struct.unpack(f'<{struct.unpack_from("<I", one)[0]}f', one[4:]) for one in packed]
        self.near_truth(vectors, texts=['how are you?', 'fine.'])


if __name__ == '__main__':
    unittest.main()
