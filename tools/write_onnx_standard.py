#!/usr/bin/env python3
"""Writes src/onnx/onnx_import/standard_attributes.cpp and standard_operands.cpp from the package onnx: attributes of ONNX's operators, and
which operands share a type, at each opset that changed them.

  tools/write_onnx_standard.py [--check]     --check: only says whether the files are what the installed package tells
"""
import pathlib
import sys

import onnx.defs

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "src/onnx/onnx_import"
LETTERS = {"FLOAT": "f", "INT": "i", "STRING": "s", "TENSOR": "t", "GRAPH": "g", "FLOATS": "F", "INTS": "I", "STRINGS": "S",
           "TYPE_PROTO": "p", "SPARSE_TENSOR": "x"}
HEAD = """// Written by tools/write_onnx_standard.py from the standard's own definitions: change that, not this.
//
// An operator, the first opset of a form, and what standard_table.h says of its text.
#include "onnx_import/standard_table.h"

namespace tenfold::onnx_import {

namespace {

// clang-format off
"""


def attributes(schema):
    return " ".join(f"{key}:{LETTERS[a.type.name]}{'!' if a.required else ''}" for key, a in sorted(schema.attributes.items()))


def operands(schema):
    """A character for each operand: a letter for a type variable that several have, "." for others, "+" behind a repeated one."""
    variables, text = {}, ""
    declared = [operand.type_str for operand in schema.inputs]
    for operand in schema.inputs:
        repeated = operand.option == onnx.defs.OpSchema.FormalParameterOption.Variadic
        shared = operand.is_homogeneous if repeated else declared.count(operand.type_str) > 1
        if not shared or "(" in operand.type_str:
            text += "."
        else:
            text += variables.setdefault(operand.type_str, "abcd"[len(variables)]) + ("+" if repeated else "")
    return text.rstrip(".")


def entries(describe, first):
    """Lines for each opset that changed what `describe` says; `first` is what is assumed before the first one."""
    forms = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain in ("", "ai.onnx"):
            forms.setdefault(schema.name, []).append(schema)
    for name in sorted(forms):
        before = first
        for schema in sorted(forms[name], key=lambda s: s.since_version):
            text = describe(schema)
            if text != before:
                yield f'    {{"{name}", {schema.since_version}, "{text}"}},'
            before = text


def wrapped(line):
    if len(line) <= 120:
        return line
    at = line.rindex(" ", 0, 116)
    return line[:at + 1] + '"\n' + wrapped('     "' + line[at + 1:])


def source(public, own, describe, first):
    lines = [HEAD + f"constexpr StandardForm {own}[] = {{", *(wrapped(line) for line in entries(describe, first)), "};"]
    end = f"\n// clang-format on\n\n}}  // namespace\n\nconst std::span<const StandardForm> {public} = {own};\n"
    return "\n".join(lines) + end + "\n}  // namespace tenfold::onnx_import\n"


def main():
    texts = {FOLDER / "standard_attributes.cpp": source("kAttributeForms", "attribute_forms", attributes, None),
             FOLDER / "standard_operands.cpp": source("kOperandForms", "operand_forms", operands, "")}
    for path, text in texts.items():
        if sys.argv[1:] != ["--check"]:
            path.write_text(text)
        elif path.read_text() != text:
            sys.exit(f"{path} is not what onnx {onnx.__version__} tells: run tools/write_onnx_standard.py")


main()
