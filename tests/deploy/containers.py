"""Images by buildah, without a daemon and a registry, and what is started in them as the user that the image says."""

import json
import os
import pathlib
import shlex
import shutil
import subprocess

import broken

ISOLATION = ['--isolation=chroot']


class CannotRun(Exception):
    """What this machine lacks."""


def call(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f'{shlex.join(str(word) for word in words)}: {done.stdout[-2000:]}{done.stderr[-2000:]}')
    return done.stdout


def prepare(bare):
    """The image debian:12-slim, of a bare Debian that script/packages or debootstrap has made."""
    if os.geteuid() != 0:
        raise CannotRun('buildah --isolation=chroot needs root here')
    if not shutil.which('buildah'):
        raise CannotRun('buildah is not installed')
    done = subprocess.run([broken.ROOT / 'tests' / 'deploy' / 'base_image', bare], capture_output=True, text=True)
    if done.returncode != 0:
        raise CannotRun((done.stdout + done.stderr).strip())


def build(file, tag, *options, context=broken.ROOT):
    call('buildah', 'bud', *ISOLATION, '--format=docker', *options, '-f', file, '-t', tag, context)
    return Image(tag)


class Image:
    def __init__(self, tag):
        docker = json.loads(call('buildah', 'inspect', '--type', 'image', tag))['Docker']
        self.config = docker['config']
        self.container = call('buildah', 'from', tag).strip()
        self.root = pathlib.Path(call('buildah', 'mount', self.container).strip())

    def remove(self):
        call('buildah', 'rm', self.container)

    def bytes(self):
        return int(call('du', '-sxb', self.root).split()[0])

    def argv(self):
        return [*(self.config.get('Entrypoint') or []), *(self.config.get('Cmd') or [])]

    def health(self):
        test = self.config['Healthcheck']['Test']
        return ['/bin/sh', '-c', test[1]] if test[0] == 'CMD-SHELL' else test[1:]

    def start(self, argv, volumes=None, environment=None, **options):
        """In a read-only file system, as the image's user, without capabilities; `volumes`: folder of the machine by folder there."""
        root, user = str(self.root), (self.config.get('User') or '0').partition(':')[0]
        mounts = [f'mount --bind {root} {root}', f'mount -o remount,bind,ro {root}', f'mount -t proc proc {root}/proc',
                  f'mount --bind /dev {root}/dev', f'mount -t tmpfs -o mode=1777 tmpfs {root}/tmp']
        for inside, (folder, mode) in (volumes or {}).items():
            mounts += [f'mount --bind {folder} {root}{inside}', f'mount -o remount,bind,{mode} {root}{inside}']
        become = ['setpriv', f'--reuid={user}', f'--regid={user}', '--clear-groups', '--no-new-privs', '--inh-caps=-all',
                  '--bounding-set=-all']
        variables = dict(entry.split('=', 1) for entry in self.config.get('Env') or []) | (environment or {})
        script = '\n'.join(mounts) + f'\nexec chroot {root} "$@"'
        inside = ['env', '-C', self.config.get('WorkingDir') or '/', *argv]
        return subprocess.Popen(['unshare', '--mount', '--propagation=private', 'sh', '-ec', script, 'sh', *become, *inside],
                                env=variables | {'PATH': variables.get('PATH', '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin')}, **options)
