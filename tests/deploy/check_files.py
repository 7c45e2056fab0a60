#!/usr/bin/env python3
"""What deploy/ and .github/ hold, without running it: check_files.py BUILD

Each file is judged by the tools of its kind that are installed, and by what the server says to its argv and variables. A broken copy of
each file has to fail (test_broken_copies). What they build and start is tried by check_images.py.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / 'tests')]
import dockerfile
import report_skips
import unit

DEPLOY, WORKFLOWS = ROOT / 'deploy', ROOT / '.github' / 'workflows'
SERVER = ''
EXPOSURE = 20                                    # 2.0, as systemd-analyze counts


class Missing(Exception):
    """A tool that is not installed."""


def tool(name):
    beside = pathlib.Path(sys.executable).parent / name
    for path in (str(beside) if beside.exists() else None, shutil.which(name)):
        if path:
            return path
    raise Missing(f'{name} is not installed')


def call(*words, **environment):
    """What it says where it fails; empty where all is well."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120, env={**os.environ, **environment})
    return '' if done.returncode == 0 else done.stdout + done.stderr or f'exit code {done.returncode}'


def lint_dockerfile(path):
    return call(tool('hadolint'), '--no-color', '--config', DEPLOY / 'hadolint.yaml', path)


def compose_schema(path):
    return call(tool('check-jsonschema'), '--builtin-schema', 'vendor.compose-spec', path)


def compose_config(path):
    """By docker-compose 1.29, which asks no daemon for it."""
    return call(tool('docker-compose'), '-f', path, 'config', '-q', GRAFANA_PASSWORD='secret')


def workflow_schema(path):
    tool_path = tool('check-jsonschema')
    return call(tool_path, '--builtin-schema', 'vendor.github-workflows', path) + \
        call(tool_path, '--builtin-schema', 'custom.github-workflows-require-timeout', path)


def shell_lines(path):
    """By shellcheck: scripts, and the lines of RUN."""
    text = path.read_text()
    if path.name.startswith('Dockerfile'):
        runs = [re.sub(r'--mount=\S+', '', rest) for stage in dockerfile.stages(text) for name, rest in stage['does'] if name == 'RUN']
        text = '#!/bin/sh\nexport EXTRA="" NVRTC=""\n' + '\n'.join(runs) + '\n'
    with tempfile.NamedTemporaryFile('w', suffix='.sh') as copy:
        copy.write(text)
        copy.flush()
        return call(tool('shellcheck'), '--severity=warning', copy.name)


def unit_verified(path):
    with tempfile.TemporaryDirectory() as folder:   # its program and its page are there only where the package is
        copy = pathlib.Path(folder) / path.name
        copy.write_text(re.sub(r'^Documentation=.*\n', '', path.read_text(), flags=re.M).replace('/usr/bin/tenfold-server', '/bin/true'))
        done = subprocess.run([tool('systemd-analyze'), 'verify', '--man=no', copy], capture_output=True, text=True, timeout=120)
        return '\n'.join(line for line in (done.stdout + done.stderr).splitlines() if path.name in line)


def unit_exposure(path):
    return call(tool('systemd-analyze'), 'security', '--offline=true', f'--threshold={EXPOSURE}', path)


def facts_of_dockerfile(path):
    """Stages that are named are there; so is what is copied; no shell or curl is needed to ask for health; the user is not root."""
    text = path.read_text()
    faults = list(dockerfile.stage_faults(text))
    if path.name != 'Dockerfile.triton':         # whose context is an unpacked package
        faults += [f'COPY {word}: it is not there' for word in dockerfile.copied(text) if word != '.' and not list(ROOT.glob(word))]
        user = dockerfile.container(text)['user']
        faults += [] if user == '1000:1000' else [f'USER is {user}, not 1000:1000']
    return '\n'.join(faults)


def server_takes(*argv, **environment):
    """What the server says to flags and variables that it cannot take."""
    if not SERVER:
        raise Missing('no tenfold-server was built')
    clean = {name: value for name, value in os.environ.items() if not name.startswith('TENFOLD_')}
    done = subprocess.run([SERVER, *argv, '--print-config'], capture_output=True, text=True, timeout=60, env={**clean, **environment})
    return '' if done.returncode == 0 else done.stderr


def argv_of_dockerfile(path):
    made = dockerfile.container(path.read_text())
    ours = {name: value for name, value in made['env'].items() if name.startswith('TENFOLD_')}
    faults = server_takes(*made['cmd'], **ours)
    health = made['health']
    if health[:1] != made['entrypoint'] or health[1:] != ['--probe=ready']:
        faults += f'HEALTHCHECK is {health}, not the probe of {made["entrypoint"]}'
    return faults


def argv_of_unit(path):
    """And its configuration's file, which lies beside it."""
    words = unit.command(path.read_text(), CACHE_DIRECTORY='/var/cache/tenfold')
    return server_takes(*(word.replace('/etc/tenfold', str(path.parent)) for word in words[1:]))


def argv_of_configuration(path):
    return server_takes(f'--config={path}')


def pinned(path):
    """Actions by commit, permissions to read only."""
    text = path.read_text()
    faults = [f'not pinned: {line}' for line in re.findall(r'uses: *(\S+)', text) if not re.search(r'@[0-9a-f]{40}$', line)]
    return '\n'.join(faults + ([] if re.search(r'^permissions:\n  contents: read\n', text, re.M) else ['permissions: contents: read']))


def called(path):
    """Programs of this tree that a workflow calls are there."""
    text = path.read_text()
    names = re.findall(r'(?:run: |&& )((?:\.ci|script|tools)/[\w-]+)', text) + re.findall(r'-f (\S+/Dockerfile\S*)', text)
    return '\n'.join(f'{name} is not there' for name in names if not (ROOT / name).exists())


def mounted(path):
    """Files beside a compose file that it mounts, and Dockerfiles that it builds, are there."""
    text = path.read_text()
    files = [DEPLOY / name for name in re.findall(r'- (\./monitoring/[^:]+):', text)] + \
        [ROOT / name for name in re.findall(r'dockerfile: (\S+)', text)]
    return '\n'.join(f'{name} is not there' for name in files if not name.exists())


DOCKERFILES = ['Dockerfile', 'Dockerfile.tensorrt', 'Dockerfile.triton']
COMPOSE = ['docker-compose.nvidia.yml', 'docker-compose.gpu.yml', 'docker-compose.monitoring.yml']
CHECKS = [
    *((DEPLOY / name, check) for name in DOCKERFILES for check in (lint_dockerfile, shell_lines, facts_of_dockerfile)),
    (DEPLOY / 'Dockerfile', argv_of_dockerfile),
    *((DEPLOY / name, check) for name in COMPOSE for check in (compose_schema, compose_config, mounted)),
    *((path, check) for path in sorted(WORKFLOWS.glob('*.yml')) for check in (workflow_schema, pinned, called)),
    *((DEPLOY / 'systemd' / 'tenfold-server.service', check) for check in (unit_verified, unit_exposure, argv_of_unit)),
    (DEPLOY / 'systemd' / 'server.conf', argv_of_configuration),
    *((path, shell_lines) for path in sorted((DEPLOY / 'debian').glob('tenfold-server.p*'))),
]
# What in a copy of a file is broken, and by which check that must be seen.
BROKEN = [
    ('Dockerfile', 'COPY . .', 'ADD . .', lint_dockerfile),
    ('Dockerfile', 'mkdir -p /nvidia &&', 'cd $NOWHERE; mkdir -p /nvidia &&', shell_lines),
    ('Dockerfile', '--from=nvrtc', '--from=nvrtcs', facts_of_dockerfile),
    ('Dockerfile', 'USER 1000:1000', 'USER root', facts_of_dockerfile),
    ('Dockerfile', '"--model-repository=/models"', '"--model-repositry=/models"', argv_of_dockerfile),
    ('Dockerfile', 'TENFOLD_HTTP_ADDRESS', 'TENFOLD_HTTP_ADRESS', argv_of_dockerfile),
    ('Dockerfile', '["tenfold-server", "--probe=ready"]', 'curl localhost', argv_of_dockerfile),
    ('Dockerfile.tensorrt', 'COPY examples/pattern_engine .', 'COPY examples/pattern_engines .', facts_of_dockerfile),
    ('Dockerfile.tensorrt', 'WORKDIR /app', 'WORKDIR app', lint_dockerfile),
    ('Dockerfile.triton', 'FROM ${TRITON}', 'FROM nvcr.io/nvidia/tritonserver', lint_dockerfile),
    ('docker-compose.nvidia.yml', 'capabilities:', 'capability:', compose_schema),
    ('docker-compose.nvidia.yml', 'tenfold-cache:/var', 'tenfold-cash:/var', compose_config),
    ('docker-compose.gpu.yml', 'count: 1', 'count: [1]', compose_schema),
    ('docker-compose.gpu.yml', 'Dockerfile.tensorrt', 'Dockerfile.tensort', mounted),
    ('docker-compose.monitoring.yml', './monitoring/rules.yml:', './monitoring/rule.yml:', mounted),
    ('docker-compose.monitoring.yml', 'depends_on: [prometheus]', 'depends_on: [prometeus]', compose_config),
    ('ci.yml', 'runs-on:', 'run-on:', workflow_schema),
    ('ci.yml', '.ci/run', '.ci/runs', called),
    ('gpu.yml', 'script/gpu-check', 'script/gpu-checks', called),
    ('gpu.yml', 'contents: read', 'contents: write', pinned),
    ('tensorrt.yml', '@11bd71901bbe5b1630ceea73d27597364c9af683', '@v4', pinned),
    ('tensorrt.yml', 'workflow_dispatch', 'workflow_dispatched', workflow_schema),
    ('tenfold-server.service', 'Type=notify', 'Type=notified', unit_verified),
    ('tenfold-server.service', 'CapabilityBoundingSet=\n', '', unit_exposure),
    ('tenfold-server.service', '--plan-cache-dir', '--plan-cash-dir', argv_of_unit),
    ('server.conf', 'model-repository=', 'model-repositories=', argv_of_configuration),
    ('tenfold-server.postrm', 'then\n  systemctl', 'then\n  fi; systemctl', shell_lines),
]


def path_of(name):
    return next(path for path, _ in CHECKS if path.name == name)


class Deploy(unittest.TestCase):
    def each(self, rows):
        """Calls check(row) for all rows; those whose tool is missing are left out, with the reason."""
        missing = set()
        for row, check in rows:
            with self.subTest(row):
                try:
                    check()
                except Missing as reason:
                    missing.add(str(reason))
        if missing:
            self.skipTest('; '.join(sorted(missing)))

    def test_files(self):
        self.each([(f'{path.name} {check.__name__}', lambda path=path, check=check: self.assertEqual(check(path), ''))
                   for path, check in CHECKS])

    def broken(self, name, old, new, check):
        path = path_of(name)
        text = path.read_text()
        self.assertIn(old, text)
        with tempfile.TemporaryDirectory() as folder:
            for other in path.parent.glob('*.conf'):
                shutil.copy(other, folder)
            copy = pathlib.Path(folder) / name
            copy.write_text(text.replace(old, new))
            self.assertNotEqual(check(copy), '', 'a broken copy passes')

    def test_broken_copies(self):
        self.each([(f'{row[0]} {row[3].__name__}', lambda row=row: self.broken(*row)) for row in BROKEN])

    def test_every_check_has_a_broken_copy(self):
        self.assertEqual({check.__name__ for _, check in CHECKS}, {row[3].__name__ for row in BROKEN})
        self.assertEqual({path.name for path, _ in CHECKS} - {row[0] for row in BROKEN},
                         {'tenfold-server.postinst', 'tenfold-server.prerm'})

    def test_guides_keys(self):
        """The names that a guide to TensorRT has: files, service, device, workflow."""
        text = (DEPLOY / 'docker-compose.gpu.yml').read_text()
        for line in ('  pattern-engine:', '- driver: nvidia', 'count: 1', 'capabilities: [gpu]'):
            self.assertIn(line, text)
        made = dockerfile.container((DEPLOY / 'Dockerfile.tensorrt').read_text())
        self.assertEqual((made['cmd'], made['workdir']), (['python', 'pattern_engine/runner.py'], '/app'))
        self.assertIn('pip install --no-cache-dir --find-links /wheel -r requirements.txt', (DEPLOY / 'Dockerfile.tensorrt').read_text())
        text = (WORKFLOWS / 'tensorrt.yml').read_text()
        for line in ('name: TensorRT CI', 'workflow_dispatch:', 'runs-on: [self-hosted, gpu]', 'actions/checkout@'):
            self.assertIn(line, text)


if __name__ == '__main__':
    if len(sys.argv) > 1 and '/' in sys.argv[1]:
        server = os.path.join(sys.argv.pop(1), 'cli', 'tenfold-server')
        SERVER = server if os.path.exists(server) else ''
    report_skips.run()
