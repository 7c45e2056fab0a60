"""Builds the Dockerfiles by buildah on a bare Debian 12 and starts what they say: check_images.py BUILD

BUILD/packages are what `script/packages make` made, in place of the stage that compiles, and build/bare-debian is what
`script/packages try` made (TENFOLD_BARE_DEBIAN: another). Entrypoint,
command, user, volumes and health check are read out of the images, ExecStart out of the
unit that the package has installed there. Each fault of FAULTS, made in a copy, has to fail."""

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import broken
import containers
import unit

RELU = broken.ROOT / 'tests' / 'install' / 'relu.onnx'
CACHE = '/var/cache/tenfold'
NVRTC = 'nvidia-cuda-nvrtc-cu12==12.9.86'
# What is broken in a copy of deploy/Dockerfile, and which words the failure has.
FAULTS = [
    ('/packages/tenfold_*.deb', '/packages/tenfold_*.debs', 'buildah bud'),
    ('USER 1000:1000', 'USER 0:0', 'user'),
    ('"--probe=ready"', '"--probe=ready", "--http-port=1"', 'health check'),
    ('TENFOLD_PLAN_CACHE_DIR=/var/cache/tenfold', 'TENFOLD_PLAN_CACHE_DIR=/var/cache', 'no plan'),
]


def require(condition, words):
    if not condition:
        raise AssertionError(words)


def free_ports():
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(3)]
        for one in sockets:
            one.bind(('127.0.0.1', 0))
        return [one.getsockname()[1] for one in sockets]


class Trial:
    """A folder of models, a cache that belongs to the container's user, and ports."""

    def __init__(self, folder, mode='rw'):
        self.models, self.cache = pathlib.Path(folder, 'models'), pathlib.Path(folder, 'cache')
        version = self.models / 'relu' / '1'
        version.mkdir(parents=True)
        shutil.copy(RELU, version / 'model.onnx')
        self.cache.mkdir()
        os.chown(self.cache, 1000, 1000)
        pathlib.Path(folder).chmod(0o755)
        http_port, grpc_port, metrics_port = free_ports()
        self.port = http_port
        self.environment = {'TENFOLD_HTTP_PORT': str(http_port), 'TENFOLD_GRPC_PORT': str(grpc_port),
                            'TENFOLD_METRICS_PORT': str(metrics_port), 'TENFOLD_TUNE': 'never'}
        self.volumes = {'/models': (self.models, 'ro'), CACHE: (self.cache, mode)}

    def infer(self):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)
        connection.request('GET', '/v2/models/relu')
        told = json.load(connection.getresponse())['inputs'][0]
        shape = [2 if size < 0 else size for size in told['shape']]
        count = 1
        for size in shape:
            count *= size
        values = [float(index - 3) for index in range(count)]
        request = {'inputs': [{'name': told['name'], 'datatype': told['datatype'], 'shape': shape, 'data': values}]}
        connection.request('POST', '/v2/models/relu/infer', json.dumps(request))
        answer = json.load(connection.getresponse())['outputs'][0]['data']
        require(answer == [max(0.0, value) for value in values], f'the answer is {answer}')


def until_healthy(image, trial, server):
    for _ in range(120):
        probe = image.start(image.health(), trial.volumes, trial.environment, stderr=subprocess.PIPE, text=True)
        said = probe.communicate(timeout=60)[1]
        if probe.returncode == 0:
            return
        require(server.poll() is None, f'the server ended with {server.poll()}')
        time.sleep(0.5)
    raise AssertionError(f'the health check says: {said}')


def serve(image, mode='rw'):
    """What the image says is started, asked, and ended; gives what it logged."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile('w+') as log:
        trial = Trial(folder, mode)
        server = image.start(image.argv(), trial.volumes, trial.environment, stderr=log)
        try:
            until_healthy(image, trial, server)
            trial.infer()
            user = next(line for line in pathlib.Path(f'/proc/{server.pid}/status').read_text().splitlines() if line.startswith('Uid'))
            require(user.split()[1:] == ['1000'] * 4, f'the user is {user}')
            require(mode == 'ro' or list(trial.cache.rglob('*.plan')), 'there is no plan in the volume')
            server.send_signal(signal.SIGTERM)
            code = server.wait(timeout=60)
        finally:
            if server.poll() is None:
                server.kill()
                server.wait()
            log.seek(0)
            text = log.read()
        require(code == 0, f'SIGTERM ends it with {code}: {text}')
        return text


def service(image):
    """ExecStart of the installed unit, with a manager that notes what it is told."""
    text = (image.root / 'lib/systemd/system/tenfold-server.service').read_text()
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        trial = Trial(folder)
        manager.bind('\0tenfold-check-%d' % os.getpid())
        manager.settimeout(60)
        trial.volumes['/var/lib/tenfold/models'] = trial.volumes.pop('/models')
        trial.environment |= {'NOTIFY_SOCKET': '@tenfold-check-%d' % os.getpid(), 'WATCHDOG_USEC': '2000000'}
        server = image.start(unit.command(text, CACHE_DIRECTORY=CACHE), trial.volumes, trial.environment, stderr=subprocess.DEVNULL)
        try:
            told = ''
            for wanted in ('READY=1', 'WATCHDOG=1', 'STOPPING=1'):
                if wanted == 'STOPPING=1':
                    trial.infer()
                    server.send_signal(signal.SIGTERM)
                while wanted not in told:
                    told += manager.recv(4096).decode() + '\n'
            require(server.wait(timeout=60) == 0, 'the service does not end with 0')
        finally:
            if server.poll() is None:
                server.kill()
                server.wait()


def build_server(file, packages, *options, tag='tenfold-server:check'):
    return containers.build(file, tag, '--build-context', f'packages={packages}', *options)


def check_server(file, packages, *options):
    with contextlib.closing(Closed(build_server(file, packages, *options))) as held:
        serve(held.image)
        return held.image.bytes()


class Closed:
    def __init__(self, image):
        self.image = image

    def close(self):
        self.image.remove()


def sound(packages):
    file = broken.DEPLOY / 'Dockerfile'
    with contextlib.closing(Closed(build_server(file, packages))) as held:
        serve(held.image)
        told = serve(held.image, 'ro')
        require('read-only' in told.lower(), f'nothing is said of a cache that cannot be written: {told}')
        service(held.image)
        base = containers.Image('debian:12-slim')
        print(f'the server adds {(held.image.bytes() - base.bytes()) / 1e6:.1f} MB to debian:12-slim')
        base.remove()
    with contextlib.closing(Closed(build_server(file, packages, '--build-arg', f'NVRTC={NVRTC}', tag='tenfold-server:nvrtc'))) as held:
        require(list(held.image.root.glob('usr/local/lib/python3.11/dist-packages/nvidia/*/lib/libnvrtc.so.12')), 'there is no NVRTC')
        serve(held.image)
    backend = list(packages.glob('tenfold-triton-backend_*.deb'))
    with tempfile.TemporaryDirectory() as folder:
        containers.call('dpkg-deb', '-x', backend[0], folder)
        with contextlib.closing(Closed(containers.build(broken.DEPLOY / 'Dockerfile.triton', 'tenfold-triton:check',
                                                        '--build-arg', 'TRITON=debian:12-slim', context=folder))) as held:
            library = '/opt/tritonserver/backends/tenfold/libtriton_tenfold.so'
            require((held.image.root / library[1:]).exists(), f'{library} is not there')


def main():
    packages = pathlib.Path(sys.argv[1]).resolve() / 'packages'
    if not list(packages.glob('tenfold-server_*.deb')):
        print(f'not tried: there are no packages in {packages}: script/packages make')
        return broken.LEFT_OUT
    try:
        containers.prepare(os.environ.get('TENFOLD_BARE_DEBIAN', broken.ROOT / 'build' / 'bare-debian'))
    except containers.CannotRun as reason:
        print(f'not tried: {reason}')
        return broken.LEFT_OUT
    sound(packages)
    for old, new, word in FAULTS:
        with broken.broken('Dockerfile', old, new) as deploy:
            try:
                check_server(deploy / 'Dockerfile', packages)
            except AssertionError as error:
                require(word in str(error), f'{new!r} fails for another reason: {error}')
            else:
                raise AssertionError(f'{new!r} passes')
    print(f'the images work, and {len(FAULTS)} broken ones do not')
    return 0


if __name__ == '__main__':
    sys.exit(main())
