"""The queries of deploy/monitoring: which metrics and labels they name, and whether a server has them."""

import json
import re

import yaml

WORDS = {"by", "without", "on", "ignoring", "group_left", "group_right", "and", "or", "unless", "offset", "bool", "inf", "nan"}
# What Prometheus adds to a series, by prometheus.yml and prometheus-kubernetes.yml.
SCRAPED = {"job", "instance", "namespace", "pod"}
GROUPS = re.compile(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")
SELECTOR = re.compile(r"(?<![\w:$])([a-zA-Z_:][\w:]*)(\{[^}]*\})?(?![\w:]|\s*\()")


def of(deploy):
    """(where, query) of the rules, of the dashboard's panels, variables and annotations."""
    for group in yaml.safe_load((deploy / "monitoring/rules.yml").read_text())["groups"]:
        for rule in group["rules"]:
            yield f"rules.yml: {rule.get('alert') or rule['record']}", rule["expr"]
    board = json.loads((deploy / "monitoring/dashboard.json").read_text())
    for panel in board["panels"]:
        for target in panel["targets"]:
            yield f"dashboard.json: {panel['title']}", target["expr"]
    for one in board["annotations"]["list"]:
        yield f"dashboard.json: {one['name']}", one["expr"]
    for one in board["templating"]["list"]:
        if one["type"] == "query":
            yield f"dashboard.json: ${one['name']}", one["query"]["query"]


def parts(query):
    """The metrics, with the labels that each is selected by, and the labels of groups."""
    groups = {label.strip() for found in GROUPS.findall(query) for label in found.split(",") if label.strip()}
    if values := re.fullmatch(r"label_values\((.*), (\w+)\)", query):
        query, groups = values[1], {values[2]}
    text = re.sub(r'"[^"]*"', '""', query)
    text = re.sub(r"\[[^]]*\]", "", GROUPS.sub(" ", text))
    text = re.sub(r"\boffset\s+\w+", "", text)
    metrics = [(name, set(re.findall(r"(\w+)\s*[=!]", selector))) for name, selector in SELECTOR.findall(text) if name not in WORDS]
    return metrics, groups


def scraped(text):
    """The labels of each metric of a scrape; none: it has no sample now."""
    found = {name: set() for name in re.findall(r"^# TYPE (\S+)", text, re.M)}
    for name, labels in re.findall(r"^([a-zA-Z_:][\w:]*)(\{.*\})? ", text, re.M):
        found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    return found


def problems(deploy, known):
    """Of the queries, beside the labels of each metric that a server exports."""
    records = {rule["record"] for group in yaml.safe_load((deploy / "monitoring/rules.yml").read_text())["groups"]
               for rule in group["rules"] if "record" in rule}
    for where, query in of(deploy):
        metrics, groups = parts(query)
        have = set(SCRAPED)
        if not metrics:
            yield f"{where}: names no metric: {query}"
        for name, labels in metrics:
            if name in records or name == "up":
                have |= {"model"}
                continue
            if name not in known:
                yield f"{where}: no server exports {name}"
                continue
            have |= known[name]
            for label in labels - known[name] - SCRAPED:
                yield f"{where}: {name} has no label {label}"
        for label in groups - have:
            yield f"{where}: none of its metrics has the label {label}"
