"""The commands of gpu_check.py that fill docs/reference/performance-gpu.md: what each is short for."""
import gpu_rows

NOTHING_ELSE = ['--no-sweep', '--no-tests']
TEXT = ','.join(row for row in gpu_rows.ROWS if row.startswith(('minilm', 'bert')))
IMAGES = ','.join(row for row in gpu_rows.ROWS if not row.startswith(('minilm', 'bert')))
MEASURED = [*NOTHING_ELSE, '--seconds', '0.3', '--native', '--memory']
# In the order in which --all runs them; each stays below ten minutes on a machine with 16 processors.
COMMANDS = {
    'tests': ['--no-rows', '--minute', '--cli', '--sharp'],
    'detection': ['--no-rows', *NOTHING_ELSE, '--detection'],
    'suite': ['--no-rows', *NOTHING_ELSE, '--suite'],
    'text': ['--rows', TEXT, *MEASURED],
    'images': ['--rows', IMAGES, *MEASURED],
    'peers-text': ['--rows', TEXT, '--only-peers', '--peer-seconds', '420'],
    'peers-images': ['--rows', IMAGES, '--only-peers', '--peer-seconds', '420'],
    # Of torch.compile's builds four of text, or two of max-autotune at up to 203 s each, end in ten minutes; eight do not.
    **{'masks-' + name: ['--no-rows', *NOTHING_ELSE, '--seconds', '0.3', '--peers', '--masks', ','.join(rows)]
       for name, rows in gpu_rows.by_model(gpu_rows.MASKED).items()},
    **{'max-autotune-' + kind: ['--no-rows', *NOTHING_ELSE, '--most-tuned', ','.join(rows)]
       for kind, rows in {'text': gpu_rows.MOST_TUNED[:2], 'images': gpu_rows.MOST_TUNED[2:]}.items()},
    'figures': ['--no-rows', *NOTHING_ELSE, '--seconds', '0.3', '--figures', 'sentences,fp8,unpadded,latency,builds'],
    'host': ['--no-rows', *NOTHING_ELSE, '--seconds', '0.3', '--figures', 'host'],
    **{name: ['--no-rows', *NOTHING_ELSE, '--figures', name] for name in ('embed', 'serve', 'decoder', 'decoder-int4')},
    **{name: ['--no-rows', *NOTHING_ELSE, '--seconds', '0.3', '--figures', name] for name in ('narrow-images', 'narrow-text')},
    'kernels': ['--rows', 'minilm-l6:1,bert-base:1,bert-base:32,resnet50:1,unet3d:1', *NOTHING_ELSE, '--only-kernels'],
}
