"""Reads units of systemd. Needs Python alone."""
import re
import shlex


def settings(text):
    """Of each section: (name, value) in order; a value may come more than once."""
    found, section = {}, None
    for line in re.sub(r'\\\n', ' ', text).splitlines():
        line = line.strip()
        if not line or line[0] in '#;':
            continue
        if line[0] == '[':
            section = found.setdefault(line.strip('[]'), [])
        else:
            name, _, value = line.partition('=')
            section.append((name, value))
    return found


def value(text, name):
    """The last one, or None."""
    found = [held for section in settings(text).values() for key, held in section if key == name]
    return found[-1] if found else None


def command(text, **variables):
    """The words of ExecStart, with ${NAME} filled in."""
    return [re.sub(r'\$\{(\w+)\}', lambda match: variables[match[1]], word) for word in shlex.split(value(text, 'ExecStart'))]
