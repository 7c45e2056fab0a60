"""Reads Dockerfiles: instructions, stages, and what a container of the last stage does. Needs Python alone."""
import json
import re
import shlex


def instructions(text):
    """(name, words as they stand) of each, with lines joined and comments left out."""
    lines = [line for line in text.splitlines() if not re.match(r'\s*#', line)]
    joined = re.sub(r'\\\n', ' ', '\n'.join(lines))
    for line in joined.splitlines():
        if line.strip():
            name, _, rest = line.strip().partition(' ')
            yield name.upper(), rest.strip()


def stages(text):
    """Of each stage: its name, what it is built from, its instructions."""
    found = []
    for name, rest in instructions(text):
        if name == 'FROM':
            words = rest.split()
            found.append({'name': words[2] if len(words) == 3 else '', 'from': words[0], 'does': []})
        elif found:
            found[-1]['does'].append((name, rest))
    return found


def argv(rest):
    """Of CMD and the like: a JSON list, or a line for a shell."""
    return json.loads(rest) if rest.startswith('[') else ['/bin/sh', '-c', rest]


def container(text):
    """How the last stage's container is started: argv of entrypoint and command, of the health check; user; environment; volumes."""
    made = {'entrypoint': [], 'cmd': [], 'health': [], 'user': 'root', 'env': {}, 'volumes': [], 'workdir': '/'}
    for name, rest in stages(text)[-1]['does']:
        if name in ('ENTRYPOINT', 'CMD'):
            made[name.lower()] = argv(rest)
        elif name == 'HEALTHCHECK':
            made['health'] = argv(rest.partition('CMD ')[2])
        elif name == 'USER':
            made['user'] = rest
        elif name == 'ENV':
            made['env'].update(word.split('=', 1) for word in shlex.split(rest))
        elif name == 'VOLUME':
            made['volumes'] += argv(rest)
        elif name == 'WORKDIR':
            made['workdir'] = rest
    return made


def copied(text):
    """What COPY takes from the build's context."""
    for stage in stages(text):
        for name, rest in stage['does']:
            words = shlex.split(rest)
            if name == 'COPY' and not any(word.startswith('--from=') for word in words):
                yield from (word for word in words[:-1] if not word.startswith('--'))


def stage_faults(text):
    """References to stages that there are not."""
    names = {stage['name'] for stage in stages(text)}
    for stage in stages(text):
        for name, rest in stage['does']:
            for wanted in re.findall(r'(?:--|[,=])from=([\w-]+)', rest) if name in ('COPY', 'RUN') else ():
                if wanted not in names:
                    yield f'{name} takes from the stage {wanted}, which is none'
