"""main(): every model of the path, whole and, if asked, node by node; errors as one message, with the exit codes of the other verbs."""
from __future__ import annotations

import sys

import onnx

from tenfold.beside_onnxruntime._models import files_of, random_inputs, read
from tenfold.beside_onnxruntime._nodes import distinct_nodes
from tenfold.beside_onnxruntime._options import Options, parse
from tenfold.beside_onnxruntime._tables import Report, print_json, print_report
from tenfold.beside_onnxruntime._times import beside
from tenfold.errors import Error, InvalidArgument, InvalidModel, Unsupported

USAGE, INVALID_MODEL, DIFFERS, FAILED, INTERRUPTED = 2, 3, 5, 1, 130
CODES = ((InvalidArgument, USAGE), (InvalidModel, INVALID_MODEL), (Unsupported, INVALID_MODEL))


def one_line(error: Exception) -> str:
    return ' '.join(str(error).split())[:400]


def compare_nodes(model: onnx.ModelProto, feed: dict, report: Report, options: Options) -> None:
    nodes, report.skipped = distinct_nodes(model, feed)
    for node in nodes:
        try:
            report.nodes.append((node, beside(node.model, node.inputs, options)))
        except Exception as error:   # either side may refuse it
            report.failed.append((node, one_line(error)))


def compare_file(path: str, options: Options) -> Report:
    report = Report(path)
    model = read(path)
    feed = random_inputs(model, options.shapes)
    try:
        report.whole = beside(model, feed, options)
    except Exception as error:
        if not options.per_node:
            raise
        report.problem = one_line(error)
    if options.per_node:
        compare_nodes(model, feed, report, options)
    return report


def run(options: Options) -> int:
    files, reports = files_of(options.path), []
    for path in files:
        try:
            reports.append(compare_file(path, options))
        except Exception as error:   # of a folder, the next
            if len(files) == 1:
                raise
            reports.append(Report(path, problem=one_line(error)))
        if not options.json:
            print_report(reports[-1], options if len(reports) == 1 else None)
    if options.json:
        print_json(reports, options)
    if options.tolerance is not None:
        found = [t.difference for r in reports for t in [r.whole, *(times for _, times in r.nodes)] if t]
        if any(d > options.tolerance for d in found):
            return DIFFERS
    return FAILED if any(r.problem for r in reports) else 0


def main(words: list[str]) -> int:
    try:
        return run(parse(words))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:   # whoever read has enough
        sys.stdout = None
        return FAILED
    except Exception as error:
        name = '' if isinstance(error, Error) else type(error).__name__ + ': '
        sys.stderr.write(f'tenfold: {name}{one_line(error)}\n')
        return next((code for kind, code in CODES if isinstance(error, kind)), FAILED)
