#!/usr/bin/env python3
"""Writes src/onnx/onnx_import/attribute_table.cpp: attributes of ONNX's operators at each opset that changed them, from the package onnx.

  tools/write_onnx_attributes.py [--check]     --check: only says whether the file is what the installed package tells
"""
import pathlib
import sys

import onnx.defs

TARGET = pathlib.Path(__file__).resolve().parent.parent / "src/onnx/onnx_import/attribute_table.cpp"
LETTERS = {"FLOAT": "f", "INT": "i", "STRING": "s", "TENSOR": "t", "GRAPH": "g", "FLOATS": "F", "INTS": "I", "STRINGS": "S",
           "TYPE_PROTO": "p", "SPARSE_TENSOR": "x"}
HEAD = """// Written by tools/write_onnx_attributes.py from the standard's own definitions: change that, not this.
//
// An operator, the first opset of a form, and its attributes: "name:type", with "!" behind those that must be there.
#include "onnx_import/attribute_table.h"

namespace tenfold::onnx_import {

// clang-format off
const AttributeForm kAttributeForms[] = {
"""


def entries():
    forms = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain in ("", "ai.onnx"):
            forms.setdefault(schema.name, []).append(schema)
    for name in sorted(forms):
        before = None
        for schema in sorted(forms[name], key=lambda s: s.since_version):
            text = " ".join(f"{key}:{LETTERS[a.type.name]}{'!' if a.required else ''}" for key, a in sorted(schema.attributes.items()))
            if text != before:
                yield f'    {{"{name}", {schema.since_version}, "{text}"}},'
            before = text


def wrapped(line):
    if len(line) <= 120:
        return line
    at = line.rindex(" ", 0, 116)
    return line[:at + 1] + '"\n' + wrapped('     "' + line[at + 1:])


def main():
    lines = [wrapped(line) for line in entries()]
    text = HEAD + "\n".join(lines) + "\n};\n// clang-format on\nconst int kNumberOfAttributeForms = std::size(kAttributeForms);\n"
    text += "\n}  // namespace tenfold::onnx_import\n"
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if TARGET.read_text() == text else
                 f"{TARGET} is not what onnx {onnx.__version__} tells: run tools/write_onnx_attributes.py")
    TARGET.write_text(text)


main()
