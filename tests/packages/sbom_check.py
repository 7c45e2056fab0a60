#!/usr/bin/env python3
"""Checks bills of materials: sbom_check.py FILE... [-- NAME...]   NAME: components that each has to list

They follow CycloneDX's schema (where the package cyclonedx-python-lib is there to tell), every component has a license and a version,
and every reference leads somewhere.
"""
import json
import re
import sys

UNVERSIONED = {'unicode-data'}   # the reference of its tables mixes versions


def faults_of(text):
    bill = json.loads(text)
    if (bill['bomFormat'], bill['specVersion']) != ('CycloneDX', '1.6'):
        yield 'it is not CycloneDX 1.6'
    names = [bill['metadata']['component']['bom-ref']] + [each['bom-ref'] for each in bill['components']]
    if len(set(names)) != len(names):
        yield 'references occur twice'
    for each in bill['components']:
        if not each.get('licenses'):
            yield f'{each["name"]}: nobody says under which license; tools/sbom_parts.py lists what is known'
        if not each.get('version') and each['name'] not in UNVERSIONED:
            yield f'{each["name"]}: nobody says which version'
        if not re.match(r'pkg:(deb|generic|pypi)/', each['purl']):
            yield f'{each["name"]}: {each["purl"]} is no package URL'
    for each in bill['dependencies']:
        for reference in [each['ref'], *each.get('dependsOn', [])]:
            if reference not in names:
                yield f'{reference} is no component'


def schema_faults(text):
    """None where the schema is not at hand."""
    try:
        from cyclonedx.schema import SchemaVersion
        from cyclonedx.validation.json import JsonStrictValidator
    except ImportError:
        return None
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    return [str(fault)] if fault else []


def main(arguments):
    files, _, wanted = ' '.join(arguments).partition(' -- ')
    wrong, checked = [], True
    for file in files.split():
        text = open(file).read()
        by_schema = schema_faults(text)
        checked = checked and by_schema is not None
        listed = {each['name'] for each in json.loads(text)['components']}
        faults = [*faults_of(text), *(by_schema or []), *(f'{name} is not listed' for name in wanted.split() if name not in listed)]
        wrong += [f'{file}: {fault}' for fault in faults]
        print(f'{file}: {len(listed)} components: {" ".join(sorted(listed))}')
    if not checked:
        print('not compared with the schema: cyclonedx-python-lib[json-validation] is not installed')
    sys.exit('\n'.join(wrong) or None)


if __name__ == '__main__':
    main(sys.argv[1:])
