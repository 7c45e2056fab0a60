#!/usr/bin/env bash
# deploy/monitoring by promtool: the rules, their tests, the configurations; and copies that are broken on purpose, which it must refuse.
set -euo pipefail
cd "$(dirname "$0")/../../deploy/monitoring"
command -v promtool >/dev/null || { echo "promtool is not installed: apt-get install prometheus"; exit 77; }
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
failed=0

# In this folder. Debian's promtool knows no Kubernetes: there its section is a list of targets.
check_all() {
  promtool check rules "$1/rules.yml" && (cd "$1" && promtool test rules rules_test.yml) && promtool check config "$1/prometheus.yml" &&
    sed 's/^    kubernetes_sd_configs:$/    static_configs:/; s/^      - role: pod$/      - targets: ["pod"]/' \
      "$1/prometheus-kubernetes.yml" >"$1/plain.yml" && promtool check config "$1/plain.yml" && grep -q '^      - role: pod$' "$1/prometheus-kubernetes.yml" &&
    python3 -m json.tool "$1/dashboard.json" >/dev/null
}
refuses() {   # FILE OLD NEW
  rm -rf "${copy:?}"/*
  cp -r . "$copy/"
  grep -qF -- "$2" "$copy/$1" || { echo "$1 has no '$2' that could be broken"; failed=1; return; }
  python3 - "$copy/$1" "$2" "$3" <<'PYTHON'
import pathlib, sys
path = pathlib.Path(sys.argv[1])
path.write_text(path.read_text().replace(sys.argv[2], sys.argv[3], 1))
PYTHON
  ! check_all "$copy" >/dev/null 2>&1 || { echo "$1 with '$3' in place of '$2' passes"; failed=1; }
}

cp -r . "$copy/"
check_all "$copy" || failed=1
refuses rules.yml 'sum by (instance, model) (rate' 'sum by (instance, model) rate('
refuses rules.yml '> 0.01' '> 0.1'
refuses rules.yml '> 100000' '> 1000000'
refuses rules.yml 'unless tenfold_fallback offset 10m' 'unless tenfold_fallback'
refuses rules.yml 'increase(tenfold_worker_starts_total[15m]) > 0' 'tenfold_worker_starts_total > 0'
refuses rules.yml 'for: 1m' 'for: 1h'
refuses rules_test.yml 'value: 10000' 'value: 1000'
refuses prometheus.yml 'scrape_configs:' 'scrape_config:'
refuses prometheus-kubernetes.yml 'action: drop' 'action: remove'
refuses prometheus-kubernetes.yml 'role: pod' 'role: pods'
refuses dashboard.json '"panels": [' '"panels": ['','
[ "$failed" = 0 ] && echo "deploy/monitoring is as it should be, and 11 broken copies are refused"
exit "$failed"
