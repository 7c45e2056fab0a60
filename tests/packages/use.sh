# In the bare Debian: installs the packages, uses them, purges them, and compares what lies there before and after.
export DEBIAN_FRONTEND=noninteractive
cd /tmp/use
fail() { echo "FAILED: $1"; exit 1; }
files() { find / -xdev \( -path /proc -o -path /dev -o -path /sys -o -path /tmp -o -path /var/cache -o -path /var/lib/apt -o -path /var/lib/dpkg \
  -o -path /var/log -o -path /run -o -path /root \) -prune -o -print | sort; }
apt-get update -qq
echo "the server alone, beside a minimal Debian"
bare=$(dpkg-query -W -f '${Package}\n')
occupied() { du -sxk --exclude=./{var/cache,var/lib/apt,var/log,tmp,proc,sys,dev} . | cut -f1; }
minimal=$(cd / && occupied)
server=$(ls /tmp/packages/{libtenfold0,libtenfold-builder0,libtenfold-text0,tenfold,tenfold-server}_*.deb)
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $server >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; fail "apt install tenfold-server"; }
came=$(dpkg-query -W -f '${Package}\n' | grep -vxF "$bare" | tr '\n' ' ')
taken=$((($(cd / && occupied) - minimal) * 1024 / 1000000))
echo "it takes $taken MB with what it needs: $came"
[ "$taken" -le 60 ] || fail "the server takes more than 60 MB"
tenfold-server --help >/dev/null || fail "a server that has nothing but what it needs"
# shellcheck disable=SC2086
apt-get purge -y -qq $came >/dev/null 2>&1

apt-get install -y -qq --no-install-recommends python3 python3-numpy >/dev/null   # what others bring is not ours to remove
before=$(dpkg-query -W -f '${Package}\n')
files >/tmp/files-before
apt-get install -y -qq --no-install-recommends /tmp/packages/*.deb >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; fail "apt install"; }
added=$(dpkg-query -W -f '${Package} ${Installed-Size}\n' | grep -vxF -f <(dpkg-query -W -f '${Package} ${Installed-Size}\n' $before) || true)
echo "installed, in KiB: $(echo $added)"

echo "the program"
tenfold --version
tenfold doctor >/dev/null
man -w tenfold >/dev/null 2>&1 || [ -e /usr/share/man/man1/tenfold.1.gz ] || fail "no manual page"
tenfold exec --onnx=relu.onnx --saveEngine=relu.plan --iterations=3 --duration=0 --warmUp=0 >exec.log 2>&1 || { cat exec.log; fail exec; }
[ "$(readlink /usr/bin/trtexec)" = tenfold ] || fail "trtexec is no name of tenfold"
trtexec --onnx=relu.onnx --saveEngine=model.engine --fp16 --workspace=1024 --iterations=3 --duration=0 --warmUp=0 >trtexec.log 2>&1 ||
  { cat trtexec.log; fail trtexec; }
tenfold exec --onnx=relu.onnx --device=cuda:0 >gpu.log 2>&1 && fail "a GPU was found"
grep -qi 'cuda\|gpu' gpu.log || { cat gpu.log; fail "what is said without a GPU"; }

# Never over a program of that name, which packages do not remove either.
rm /usr/bin/trtexec && echo another >/usr/bin/trtexec
/var/lib/dpkg/info/tenfold.postinst configure 0.1.0 && /var/lib/dpkg/info/tenfold.prerm remove
[ "$(cat /usr/bin/trtexec)" = another ] || fail "another trtexec was replaced"
rm /usr/bin/trtexec && /var/lib/dpkg/info/tenfold.postinst configure 0.1.0

echo "bills of materials"
for deb in /tmp/packages/*.deb; do
  name=$(dpkg-deb -f "$deb" Package)
  python3 sbom_check.py "/usr/share/doc/$name/sbom.cdx.json" >sbom.log || { cat sbom.log; fail "the bill of materials of $name"; }
  [ -s "/usr/share/doc/$name/copyright" ] || fail "the licenses of $name"
done

echo "Python"
python3 -c "import tenfold, numpy as np
engine = tenfold.build('relu.onnx')
print(tenfold.__version__, len(tenfold.devices()))" || fail "import tenfold"

echo "C and C++"
apt-get install -y -qq --no-install-recommends gcc g++ libc6-dev pkg-config >/dev/null 2>&1
cc -std=c99 use.c -o use $(pkg-config --cflags --libs tenfold) && [ "$(./use relu.onnx)" = right ] || fail "a C program"
c++ -std=c++20 build_model.cpp -o build_model $(pkg-config --cflags --libs tenfold) && ./build_model relu.onnx other.plan || fail "a C++ program"
apt-get purge -y -qq --autoremove gcc g++ libc6-dev pkg-config >/dev/null 2>&1

if [ -e /usr/lib/tenfold/triton/tenfold/libtriton_tenfold.so ]; then echo "Triton's backend"
  ldd /usr/lib/tenfold/triton/tenfold/libtriton_tenfold.so | grep 'not found' && fail "the backend lacks libraries"; fi

if [ -x /usr/bin/tenfold-server ]; then echo "the server"
  for file in /usr/share/man/man1/tenfold-server.1.gz /lib/systemd/system/tenfold-server.service /etc/tenfold/server.conf; do
    [ -e "$file" ] || fail "there is no $file"
  done
  [ -d /var/lib/tenfold/models ] || fail "the service has no folder of models"
  [ ! -e /etc/systemd/system/multi-user.target.wants/tenfold-server.service ] || fail "the service is enabled"
  mkdir -p /var/cache/private/tenfold   # as the service does
  tenfold serve relu.onnx --http-port=18000 --grpc-port=18001 --metrics-port=18002 2>server.log &
  server=$!
  python3 - <<'END' || { cat server.log; fail "the server"; }
import time, urllib.request
for _ in range(300):
    try:
        assert urllib.request.urlopen('http://127.0.0.1:18000/v2/health/ready').status == 200
        break
    except OSError:
        time.sleep(0.1)
else:
    raise SystemExit('it is not ready')
print(urllib.request.urlopen('http://127.0.0.1:18000/v2/models/relu').read().decode())
END
  kill $server; wait $server || fail "the server's end"
fi

echo "purge"
ours=$(cd /tmp/packages && for deb in *.deb; do dpkg-deb -f "$deb" Package; done)
apt-get purge -y -qq $ours >/dev/null 2>&1 || fail "apt purge"
now=$(dpkg-query -W -f '${Package}\n'); added=$(comm -13 <(echo "$before" | sort) <(echo "$now" | sort))
[ -z "$added" ] || apt-get purge -y -qq $added >/dev/null 2>&1
files >/tmp/files-after
left=$(comm -13 /tmp/files-before /tmp/files-after)
[ -z "$left" ] || fail "purged, and left: $left"
[ ! -e /var/cache/private/tenfold ] || fail "purged, and left the cache"
echo "all packages work, and leave nothing"
