"""Two nodes of Ray, of which one is killed while both embed: every row once, and right."""
import os
import threading
import time
import unittest

from ray_case import Case, RandomEncoder, find_modules, ray, right_once, texts_of

from tenfold.ray import Embedder

COUNT = 600


class Slow(Embedder):
    """It tells where it works, and gives the other node the time to."""

    def __init__(self, *, folder, marks, **options):
        self._marks = marks
        super().__init__(folder, **options)

    def __call__(self, rows):
        open(os.path.join(self._marks, f'{ray.get_runtime_context().get_node_id()}-{time.monotonic_ns()}'), 'w').close()
        time.sleep(0.2)
        return super().__call__(rows)


class Nodes(Case):
    def test_a_node_is_killed(self):
        from ray.cluster_utils import Cluster
        encoder, marks = RandomEncoder(self.path('bert'), 'bert'), self.path('marks')
        os.mkdir(marks)
        find_modules()
        cluster = Cluster(initialize_head=True, head_node_args={'num_cpus': 2, 'object_store_memory': 200 << 20})
        self.addCleanup(cluster.shutdown)
        other = cluster.add_node(num_cpus=2, object_store_memory=200 << 20)
        ray.init(address=cluster.address, log_to_driver=False, logging_level='ERROR')
        self.addCleanup(ray.shutdown)
        ray.data.DataContext.get_current().enable_progress_bars = False
        killed = []

        def kill():
            while not any(name.startswith(other.node_id) for name in os.listdir(marks)):
                time.sleep(0.05)
            time.sleep(0.5)   # some of its rows are done, others are not
            killed.append(len(os.listdir(marks)))
            cluster.remove_node(other, allow_graceful=False)
        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        rows = ray.data.from_items([{'i': i, 'text': text} for i, text in enumerate(texts_of(COUNT))], override_num_blocks=30)
        options = {'folder': self.path('bert'), 'marks': marks, 'column': 'text', 'plan_cache': self.path('cache'),
                   'model_kwargs': {'optimization_level': 0}}
        found = rows.map_batches(Slow, fn_constructor_kwargs=options, batch_size=20, batch_format='pyarrow', num_cpus=1,
                                 scheduling_strategy='SPREAD', compute=ray.data.ActorPoolStrategy(size=2)).take_all()
        self.assertTrue(killed and killed[0] < COUNT // 20, 'the node was killed before the end')
        right_once(self, encoder, found, COUNT)


if __name__ == '__main__':
    unittest.main()
