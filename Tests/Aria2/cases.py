"""Command lines of aria2c as scripts write them.

{u} and {f} are the HTTP and the FTP server, {a} the HTTP server's address without a scheme, {d} the folder.
"""

import dataclasses
import re
import shlex

import origin


@dataclasses.dataclass
class Case:
    line: list
    files: dict
    times: dict
    environment: dict
    input: str = ""
    ignored: tuple = ()
    reason: str = ""
    signal_after: float = 0
    compares_output: bool = True
    compares_times: bool = False
    sorts_output: bool = False
    needs_readouts: bool = False


CASES = []

# Lines whose presence depends on speed, and those about the way to a result: redirects, and places in aria2's source.
IGNORED = re.compile(
    r"^ \*\*\* Download Progress Summary|^=+$|^-+$|^FILE: |Redirecting to|Verification finished|^Exception: |^  -> "
)


def case(line, files=None, times=None, environment=None, **more):
    words = line if isinstance(line, list) else shlex.split(line)
    CASES.append(Case(words, files or {}, times or {}, environment or {}, **more))


def half(name):
    return origin.cached(name)[: len(origin.cached(name)) // 2]


whole = origin.cached

# 1. One file.
case("{u}/a.bin")
case("-q {u}/a.bin")
case("--quiet=true {u}/a.bin")
case("-o x.bin {u}/a.bin")
case("-d out {u}/a.bin")
case("-d out/deep -o x.bin {u}/a.bin")
case("--dir={d}/out --out=sub/x.bin {u}/a.bin")
case("-x 16 -s 16 -k 1M {u}/big.bin")
case("-x16 -s16 -k1M -j5 -c {u}/big.bin -o big")
case(["-s 16", "-x 16", "-k 1M", "{u}/big.bin"])
case("--console-log-level=error -c -x 16 -s 16 -k 1M {u}/big.bin -d models -o big.safetensors")
case("--console-log-level=warn --summary-interval=0 {u}/a.bin")
case("--summary-interval=0 --download-result=hide {u}/a.bin")
case("--download-result=full {u}/a.bin")
case("--show-console-readout=false {u}/a.bin")
case("--show-console-readout false {u}/a.bin")
case("--enable-color=false {u}/a.bin")
case("--human-readable=false {u}/a.bin")
case("--stderr=true {u}/a.bin")
case("-l - {u}/tiny.txt", compares_output=False)
case("-l run.log {u}/a.bin")
case("-l run.log --log-level=notice {u}/404/a.bin")
case("{u}/empty.bin")
case("{u}/chunk/nolength/a.bin")
case("{u}/norange/a.bin -x4 -s4")
case("{u}/a%20b.bin")
case("{u}/a.bin?token=1")
case("{u}/")
case("{u}/dir/")
case("'{u}/cd=served.bin/get?id=1'")
case("'{u}/cd=..%2Fevil.bin/get'", reason="the last part of a name that leads out of the folder is used")
case("--content-disposition-default-utf8=true {u}/cd=served.bin/get")
case("-o own.bin {u}/cd=served.bin/get")
case("{u}/redirect301/redirect302/a.bin")
case("{u}/redirect307/cd=served.bin/a.bin")
case("{u}/loop/a.bin", sorts_output=True)
case("-j 1 {u}/a.bin {u}/mirror/a.bin")
case("-Z {u}/a.bin {u}/b.bin", sorts_output=True)
case("-Z -j1 {u}/a.bin {u}/b.bin {u}/c.bin")
case("--force-sequential=true -j1 {u}/a.bin {u}/404/b.bin")
case("-Z -j1 {u}/404/a.bin {u}/b.bin")
case("{u}/404/a.bin {u}/a.bin")
case("-Z -j1 {u}/a.bin {u}/a.bin")
case("-Z -j1 {u}/tagged/a.bin {u}/tagged/a.bin")
case("-P -j1 -Z '{u}/{a,b}.bin'")
case("-P -Z -j1 '{u}/f[1-3].bin'")
case("-P -Z -j1 '{u}/f[001-007:3].bin'")
case("-P -Z -j1 '{u}/f[a-c].bin'")
case("-P '{u}/{m1,m2}/a.bin'")
case("'{u}/f[1-2].bin'")
case("-P '{u}/f[1-'")
# 2. What is there already.
case("{u}/a.bin", {"a.bin": "old"})
case("{u}/a.bin", {"a.bin": "old", "a.1.bin": "older"})
case("{u}/tiny", {"tiny": "old"})
case("--auto-file-renaming=false {u}/a.bin", {"a.bin": "old"})
case("--auto-file-renaming false {u}/a.bin", {"a.bin": "old"})
case("--allow-overwrite=true {u}/a.bin", {"a.bin": "old"})
case("--allow-overwrite=true --auto-file-renaming=false {u}/a.bin", {"a.bin": "old"})
case("-c {u}/a.bin", {"a.bin": half("a.bin")})
case("--continue=true {u}/a.bin", {"a.bin": whole("a.bin")})
case("-c {u}/a.bin", {"a.bin": whole("a.bin") + b"more"})
case("-c {u}/norange/a.bin", {"a.bin": half("a.bin")}, reason="the whole is requested and compared instead of giving up")
case("-c --always-resume=false {u}/norange/a.bin", {"a.bin": half("a.bin")}, reason="aria2c aborts")
case("-c --allow-overwrite=true {u}/norange/a.bin", {"a.bin": half("a.bin")}, reason="the whole is requested and compared instead of giving up")
case("-c -o x.bin {u}/a.bin", {"x.bin": half("a.bin")})
case("-c {u}/a.bin", {"a.bin": b""})
case("{u}/a.bin", {"a.bin/keep": "x"})
case("-d a.bin {u}/b.bin", {"a.bin": "a file"})
case("-c -x4 -s4 {u}/mid.bin", {"mid.bin": half("mid.bin")})
# 3. Lists.
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n{u}/b.bin\n"})
case("-i - -j1", input="{u}/a.bin\n{u}/b.bin\n")
case("--input-file=list.txt -j 1", {"list.txt": "# comment\n\n{u}/a.bin\n  out=x.bin\n  dir=sub\n{u}/b.bin\n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\t{u}/m/a.bin\n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n dir=\n out=x.bin\n\n{u}/b.bin\n dir=\n out=y.bin\n"})
case("-i list.txt -j1", {"list.txt": "{u}/needs=X-Test=yes/a.bin\n  header=X-Test: yes\n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n  checksum=sha-1=0000000000000000000000000000000000000000\n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n{u}/a.bin\n"})
case("-i list.txt -j1", {"list.txt": ""})
case("-i list.txt -j1", {"list.txt": "\n\n# nothing\n"})
case("-i list.txt -j1", {"list.txt": "this is not a url\n{u}/a.bin\n"})
case("-i list.txt -j1", {"list.txt": "junk\n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n  junk line\n  out=x.bin\n"})
case("-i list.txt -j1", {"list.txt": "  out=lost.bin\n{u}/a.bin\n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n  nosuchoption=1\n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n  split=zero\n{u}/b.bin\n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\r\n  out=x.bin\r\n{u}/b.bin\r\n"})
case("-i missing.txt")
case("-i list.gz -j1", {"list.gz": "{u}/a.bin\n{u}/b.bin\n"}, ignored=("list.gz",))
case("-i list.txt -j1 {u}/c.bin", {"list.txt": "{u}/a.bin\n"})
case("-i list.txt --deferred-input=true -j1", {"list.txt": "{u}/a.bin\n{u}/b.bin\n"})
case("-i list.txt -j1 -d sub", {"list.txt": "{u}/404/a.bin\n{u}/b.bin\n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n gid=0123456789abcdef\n out=x.bin\n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n gid=0123456789abcdef\n{u}/b.bin\n gid=0123456789abcdef\n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n gid=xyz\n{u}/b.bin\n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n pause=true\n"})
# 4. Sessions.
case("-i l.session --save-session=l.session -j1", {"l.session": "{u}/a.bin\n out=x.bin\n{u}/404/b.bin\n out=y.bin\n"})
case("-i l.session --save-session=l.session -j1", {"l.session": "{u}/a.bin\n{u}/b.bin\n"})
case("--save-session=s.session {u}/404/a.bin")
case("--save-session=s.session {u}/403/a.bin")
case("--save-session=s.session --save-not-found=false {u}/404/a.bin")
case("--save-session=s.session --force-save=true {u}/a.bin")
case("--save-session=s.session --save-session-interval=1 -Z -j1 {u}/a.bin {u}/500/b.bin -m1")
case("--save-session=s.session {u}/slow100000/mid.bin", signal_after=2.2, compares_output=False)
case("--save-session=no/such/folder/s.session {u}/a.bin")
# 5. Errors.
case("{u}/404/a.bin")
case("{u}/410/a.bin")
case("{u}/403/a.bin")
case("{u}/401/a.bin")
case("{u}/400/a.bin")
case("{u}/405/a.bin")
case("-m1 {u}/500/a.bin")
case("-m1 {u}/502/a.bin")
case("-m2 --retry-wait=1 {u}/503/a.bin")
case("-m1 {u}/504/a.bin")
case("-m1 {u}/429/a.bin")
case("-m 3 --retry-wait=1 {u}/fail503x2/a.bin")
case("-m 5 --retry-wait 1 {u}/cut/mid.bin")
case("-m1 {u}/cutalways/mid.bin", ignored=("mid.bin.*",))
case("http://127.0.0.1:1/a.bin -m1")
case("-t1 -m1 {u}/stall/a.bin")
case("-t1 -m1 --connect-timeout=1 {u}/reset/a.bin", sorts_output=True)
case("--max-file-not-found=2 -m3 {u}/404/a.bin")
case("--checksum=sha-256=0000000000000000000000000000000000000000000000000000000000000000 {u}/a.bin")
case(f"--checksum=sha-1={__import__('hashlib').sha1(whole('a.bin')).hexdigest()} {{u}}/a.bin")
case(f"--checksum=md5={__import__('hashlib').md5(whole('a.bin')).hexdigest().upper()} {{u}}/a.bin")
case("--checksum=sha-256=12 {u}/a.bin")
case("--checksum=sha-224=" + __import__("hashlib").sha224(whole("a.bin")).hexdigest() + " {u}/a.bin")
case("--checksum=adler32=" + "%08x" % __import__("zlib").adler32(whole("a.bin")) + " {u}/a.bin")
case("")
case("--nosuchoption {u}/a.bin")
case("--split=0 {u}/a.bin")
case("-x 17 {u}/a.bin")
case("-k 1K {u}/a.bin")
case("-j 0 {u}/a.bin")
case("--file-allocation=nope {u}/a.bin")
case("-x")
case("notaurl")
case("sftp2://x/y")
case("sftp2://x/y {u}/a.bin")
case("-Z -j1 sftp2://x/y {u}/a.bin sftp2:///y", sorts_output=True)
case("-Z -j1 sftp2://x/y {u}/a.bin")
case("-i list.txt -j1", {"list.txt": "sftp2://x/y\n  out=x\n{u}/a.bin\n"})
case("--save-session=s.session sftp2://x/y")
case("--max-tries=abc {u}/a.bin")
case("--lowest-speed-limit=100K {u}/slow10000/mid.bin", ignored=("mid.bin.*",), needs_readouts=True)
# 6. Requests.
case("--header='X-Test: yes' {u}/needs=X-Test=yes/a.bin")
case("--header='X-A: 1' --header='X-B: 2' {u}/needs=X-A=1/needs=X-B=2/a.bin")
case("-U 'Mozilla/5.0 (X11)' {u}/needs=User-Agent=Mozilla/a.bin")
case("--user-agent=netdisk --referer=http://x/ {u}/needs=User-Agent=netdisk/needs=Referer=x/a.bin")
case("--referer='*' {u}/needs=Referer=a.bin/a.bin")
case("--http-user=user --http-passwd=pass {u}/auth/a.bin")
case("http://user:pass@{a}/auth/a.bin")
case("--http-user=user --http-passwd=wrong {u}/auth/a.bin")
case("{u}/auth/a.bin", {"home/.netrc": "machine 127.0.0.1 login user password pass\n"})
case("-n {u}/auth/a.bin", {"home/.netrc": "machine 127.0.0.1 login user password pass\n"})
case("--netrc-path=my.netrc {u}/auth/a.bin", {"my.netrc": "machine 127.0.0.1 login user password pass\n"})
case("--load-cookies=c.txt {u}/needs=Cookie=k=v1/a.bin", {"c.txt": "127.0.0.1\tFALSE\t/\tFALSE\t2000000000\tk\tv1\n"})
case("--save-cookies=jar.cookies {u}/setcookie=k=v/a.bin", ignored=("jar.cookies",))
case("--load-cookies=none.txt {u}/a.bin")
case("--use-head=true {u}/a.bin")
case("--http-no-cache=true {u}/needs=Cache-Control=no-cache/a.bin")
case("--http-accept-gzip=true {u}/gzip/a.bin")
case("{u}/gzip/a.bin")
case("--all-proxy=http://{a} http://example.invalid/a.bin")
case("--http-proxy={u} --no-proxy=127.0.0.1 {u}/a.bin")
case("{f}/a.bin")
case("{f}/404/a.bin", reason="no empty file is left")
case("--ftp-user=user --ftp-passwd=pass {f}/a.bin")
case("ftp://user:wrong@127.0.0.1:1/a.bin -m1", reason="no password is printed")
case("{f}/a.bin {u}/a.bin -s2")
case("-c {f}/a.bin", {"a.bin": half("a.bin")})
case("-R {u}/dated/a.bin", compares_times=True)
case("--remote-time=true {u}/dated/a.bin", compares_times=True)
case("--conditional-get=true --allow-overwrite=true {u}/dated/a.bin", {"a.bin": "old"}, {"a.bin": 1_600_000_000})
case("--conditional-get=true --allow-overwrite=true -R {u}/dated/a.bin", {"a.bin": "old"}, {"a.bin": 1_500_000_000})
case("--dry-run=true {u}/a.bin")
case("--dry-run {u}/404/a.bin")
# 7. Speed.
case("--max-download-limit=2M {u}/big.bin", needs_readouts=True)
case("--max-overall-download-limit=2M -Z -j2 {u}/mid.bin {u}/big.bin", sorts_output=True, needs_readouts=True)
case("--summary-interval=1 {u}/slow/mid.bin", needs_readouts=True)
case("--stop=2 {u}/slow100000/mid.bin", ignored=("mid.bin.*",), needs_readouts=True)
case("{u}/slow100000/mid.bin", ignored=("mid.bin.*",), signal_after=2.3, needs_readouts=True)
case("--stop-with-process=1 {u}/a.bin")
# 8. Metalinks.
META = {"m.meta4": lambda u: origin.meta4(u, "a.bin", "b.bin")}
case("-M m.meta4 -j1", META)
case("m.meta4 -j1", META)
case("--metalink-file=m.meta4 --select-file=2", META)
case("-S m.meta4", META)
case("-M m.meta4 -S", META)
case("{u}/metalink/a.bin+b.bin.meta4 -j1", compares_output=False)
case("--follow-metalink=false {u}/metalink/a.bin.meta4")
case("--follow-metalink=mem {u}/metalink/a.bin.meta4", compares_output=False)
case("-M m.meta4", {"m.meta4": "<metalink"})
case("-M missing.meta4")
case("-M m.meta4 -d sub -o renamed.bin", {"m.meta4": lambda u: origin.meta4(u, "a.bin")})
# 9. Checks.
case(f"-V --checksum=sha-1={__import__('hashlib').sha1(whole('a.bin')).hexdigest()} {{u}}/a.bin", {"a.bin": whole("a.bin")})
case(f"-V --checksum=sha-1={__import__('hashlib').sha1(whole('a.bin')).hexdigest()} {{u}}/a.bin", {"a.bin": whole("a.bin")[:-1] + b"?"})
case("-V -M m.meta4 -j1", {**META, "a.bin": whole("a.bin"), "b.bin": whole("b.bin")})
case("-V --hash-check-only=true -M m.meta4 -j1", {**META, "a.bin": whole("a.bin"), "b.bin": whole("b.bin")})
case("-V --hash-check-only=true -M m.meta4 -j1", {**META, "a.bin": b"x" * 100_001, "b.bin": whole("b.bin")},
     reason="aria2c fetches the file, although its manual says that nothing is fetched")
# 10. Configurations.
case("--conf-path=my.conf {u}/a.bin", {"my.conf": "# mine\ndir={d}/sub\nsplit=4\n\nquiet=true\n"})
case("--conf-path=my.conf {u}/a.bin", {"my.conf": "dir=${HOME}/dl\n"})
case("--conf-path=my.conf {u}/a.bin", {"my.conf": "nosuch=1\n"})
case("--conf-path=my.conf {u}/a.bin", {"my.conf": "split=zero\n"})
case("--conf-path=missing.conf {u}/a.bin")
case("{u}/a.bin", {"home/.aria2/aria2.conf": "dir={d}/conf\n"})
case("--no-conf {u}/a.bin", {"home/.aria2/aria2.conf": "dir={d}/conf\n"})
case("{u}/a.bin", {"home/.config/aria2/aria2.conf": "out=conf.bin\n"})
case("--conf-path=my.conf", {"my.conf": "input-file={d}/l.session\nsave-session={d}/l.session\nmax-concurrent-downloads=1\n", "l.session": "{u}/a.bin\n"})
# 11. Hooks.
HOOK = {"hook.sh": '#!/bin/sh\necho "$(basename $0) $# $2 $3" >> {d}/hook.out\n'}
case("--on-download-complete={d}/hook.sh {u}/a.bin", HOOK)
case("--on-download-error={d}/hook.sh {u}/404/a.bin", HOOK)
case("--on-download-stop={d}/hook.sh {u}/a.bin", HOOK)
case("--on-download-start={d}/hook.sh {u}/a.bin", HOOK)
case("--on-download-complete=./hook.sh --on-download-start ./hook.sh -Z -j1 {u}/a.bin {u}/404/b.bin", HOOK)
case("--on-download-complete={d}/missing.sh {u}/a.bin")
# 12. As programs call it.
case(
    "-c --no-conf --console-log-level=warn --summary-interval=0 --download-result=hide --http-accept-gzip=true "
    "--file-allocation=none -x16 -j16 -s16 --min-split-size 1M --header 'User-Agent: Mozilla/5.0' "
    "--header 'Accept: */*' --check-certificate=true --remote-time=true --show-console-readout=false "
    "--auto-file-renaming=false --dir ./ --out 'video [x].mp4.part' -- {u}/dated/big.bin",
    compares_times=True,
)
case(
    "-c --no-conf --console-log-level=warn --summary-interval=0 --download-result=hide --http-accept-gzip=true "
    "--file-allocation=none -x16 -j16 -s16 --min-split-size 1M --allow-overwrite=true "
    "--allow-piece-length-change=true --dir ./ --auto-file-renaming=false --uri-selector inorder -i v.frag.urls",
    {"v.frag.urls": "{u}/a.bin\n\tout=v.part-Frag0\n{u}/b.bin\n\tout=v.part-Frag1\n"},
)
case(
    "--console-log-level=error --file-allocation=none -x 4 -j 1 -s 4 -k 1M -c -i l.session --save-session=l.session",
    {"l.session": "{u}/a.bin\n dir=\n out=config.json\n gid=0000000000000a01\n header=Authorization: Bearer x\n\n"
     "{u}/404/b.bin\n dir=sub\n out=model.bin\n gid=0000000000000a02\n\n"},
)
case(
    "--no-conf -c -j 5 -x 16 -s 16 -i debs.list --min-split-size=1M --stream-piece-selector=default "
    "--connect-timeout=600 --timeout=600 -m0 --header 'Accept: */*'",
    {"debs.list": lambda u: f"{u}/a.bin\t{u}/m/a.bin\n checksum=sha256=x\n out=a_1.0_amd64.deb\n".replace(
        "sha256=x", "sha-256=" + __import__("hashlib").sha256(whole("a.bin")).hexdigest())},
)
case("-x 5 -s 5 --retry-wait=2 --max-tries=5 --timeout=20 --allow-overwrite=true --auto-file-renaming=false -d models -o m.ckpt {u}/redirect/big.bin")
case("--no-conf --file-allocation=none --seed-time=0 --bt-tracker= --dht-listen-port=6881 {u}/a.bin")
case("-j16 -x16 -s16 --file-allocation=falloc --max-connection-per-server=8 --optimize-concurrent-downloads=true {u}/mid.bin")
case("--file-allocation=prealloc --no-file-allocation-limit=1M {u}/big.bin")
case("--disk-cache=64M --enable-mmap=true --piece-length=1M --realtime-chunk-checksum=true {u}/big.bin")
case("--async-dns=false --disable-ipv6=true --event-poll=poll --min-tls-version=TLSv1.2 --rlimit-nofile=1024 {u}/a.bin")
case("-v", compares_output=False)
case("-h", compares_output=False)
case("-h#all", compares_output=False)
case("--help=#basic", compares_output=False)
case("-h --split", compares_output=False)
# 13. As distributions, package managers and scripts call it.
case(
    "--allow-overwrite=true --continue=true --file-allocation=none --log-level=error --max-tries=2 "
    "--max-connection-per-server=2 --max-file-not-found=5 --min-split-size=5M --no-conf --remote-time=true "
    "--summary-interval=60 --timeout=5 --dir=/ --out {d}/cache/a.pkg.part {u}/dated/a.bin",
    compares_times=True,
)
case(
    "-d {d}/distfiles -o a.tar.xz --allow-overwrite=true --max-tries=5 --max-file-not-found=2 --max-concurrent-downloads=5 "
    "--connect-timeout=10 --timeout=10 --split=5 --min-split-size=2M --max-connection-per-server=2 --lowest-speed-limit=20K "
    "--user-agent=Wget/1.21 {u}/a.bin"
)
case("--continue -d {d}/distfiles -o a.tar.xz --allow-overwrite=true {u}/a.bin", {"distfiles/a.tar.xz": half("a.bin")})
case(
    "--download-result=hide --disable-ipv6=true --summary-interval=0 --console-log-level=error --auto-file-renaming=false "
    "--continue=false --allow-overwrite=true --dir={d}/cache {u}/a.bin {u}/m/a.bin --out=image.img.xz",
    {"cache/image.img.xz": "old"},
)
case(
    "--no-conf --async-dns=false --console-log-level=warn --log-level=info --log={d}/aria2_download.log -oscript.txt "
    "--allow-overwrite=true --auto-file-renaming=false {u}/tiny.txt"
)
# Lists of others: bytes that are not UTF-8, and a device.
case("--no-conf --max-tries=1 -ilist", {"list": lambda base: base.encode() + b"/a\xff\xc3\xbc.bin\n out=x\n"})
case("--no-conf -ilist", {"list": "/dev/zero\nlist\n{u}/a.bin\n"})
case("--no-conf -x16 -s16 -j2 -c -R -dUUPs -iscript.txt", {"script.txt": "{u}/dated/a.bin\n  out=x.cab\n  checksum=sha-1="
     + __import__("hashlib").sha1(whole("a.bin")).hexdigest() + "\n\n{u}/dated/b.bin\n  out=y.esd\n"}, compares_times=True, sorts_output=True)
case(
    "--input-file=app.txt --user-agent=Scoop/1.0 --allow-overwrite=true --auto-file-renaming=false --retry-wait=2 --split=5 "
    "--max-connection-per-server=5 --min-split-size=5M --console-log-level=warn --enable-color=false --no-conf=true "
    "--follow-metalink=true --metalink-preferred-protocol=https --min-tls-version=TLSv1.2 --continue --summary-interval=0 "
    "--auto-save-interval=1",
    {"app.txt": "{u}/a.bin\n    referer={u}/\n    dir={d}/cache\n    out=app#1.0#a.zip\n"},
)
case(
    "--allow-overwrite=true --always-resume=false --auto-file-renaming=false --check-integrity=true --conditional-get=true "
    "--continue=true --file-allocation=none --log-level=error --max-tries=2 --max-connection-per-server=5 "
    "--max-concurrent-downloads=1 --max-file-not-found=5 --min-split-size=5M --no-conf --remote-time=true "
    "--show-console-readout=true --metalink-file=m.meta4", META,
)
case("-c -s10 -k1M -x16 --enable-rpc=false -o 'film name.mkv' --header 'User-Agent: netdisk' --header 'Cookie: BDUSS=1' "
     "{u}/needs=Cookie=BDUSS/a.bin")
case("--header='Authorization: Bearer token' --header 'Cookie: a=1; b=2' {u}/needs=Authorization=token/needs=Cookie=b=2/a.bin")
case("-i - -x16 -s16 -k1M -j1", input="{u}/big.bin\n  out=x.bin\n{u}/a.bin\n")
case("--input-file=- -j1 -q", input="{u}/a.bin")
case("-i /dev/stdin -j1", input="{u}/a.bin\n{u}/b.bin")
case("-cx16 -s16 {u}/a.bin")
case("-qc {u}/a.bin")
case("-Zj1 {u}/a.bin {u}/b.bin")
case("-ctrue {u}/a.bin")
case("-c=true {u}/a.bin")
case("--continue true {u}/a.bin")
case("-x16s16 {u}/a.bin")
case("--max-connection=8 --max-concurrent=3 {u}/a.bin")
case("--max=3 {u}/a.bin")
case("--dry {u}/a.bin")
case("--check-integ=true --no-conf {u}/a.bin")
case("--quiet --out=x.bin --dir=new/sub {u}/404/a.bin")
case("-o a.bin {u}/x.bin -o b.bin {u}/m/x.bin")
case("{u}/a.bin -- -o x.bin")
case("-- {u}/a.bin")
case("-x2 -o ../up.bin -d sub {u}/a.bin")
case("-o {d}/abs.bin {u}/a.bin", ignored=("tmp/.*",))
case("'{u}/a b.bin'")
case("{u}/a%2Fb.bin", reason="of an encoded slash the last part is used")
case("{u}/%E6%B5%B7.bin")
case("-o 文件.bin {u}/a.bin")
case("'{u}/a.bin#part'")
case("'{u}/get?file=a.bin&x=1'")
case("'{u}/get;v=1/a+b.bin'")
case("-a none {u}/a.bin")
case("-a trunc --no-file-allocation-limit=0 {u}/a.bin")
case("--remove-control-file=true --allow-overwrite=true {u}/a.bin", {"a.bin": "old"})
case("--max-download-result=0 -Z -j1 {u}/a.bin {u}/404/b.bin")
case("--keep-unfinished-download-result=false --auto-save-interval=0 {u}/a.bin")
case("-m0 --retry-wait=0 --max-file-not-found=2 {u}/404/a.bin")
case("--retry-wait=0 -m3 {u}/fail500x2/a.bin", reason="a status such as 500 is retried")
case("--uri-selector=feedback --stream-piece-selector=geom --server-stat-timeout=60 {u}/a.bin {u}/m/a.bin")
case("--enable-http-keep-alive=false --enable-http-pipelining=true --http-auth-challenge=true {u}/a.bin")
case("--http-auth-challenge=true --http-user=user --http-passwd=pass {u}/auth/a.bin")
case("--ca-certificate=/etc/ssl/certs/ca-certificates.crt --check-certificate=false {u}/a.bin")
case("--ca-certificate=missing.pem {u}/a.bin", sorts_output=True)
case("https://127.0.0.1:1/a.bin -m1")
case("https://{a}/a.bin -m1", sorts_output=True)
case("http://nosuch.invalid/a.bin -m1")
case("--interface=127.0.0.1 {u}/a.bin")
case("--interface=nosuch0 {u}/a.bin")
case("--interface=lo {u}/a.bin")
case("--https-proxy=http://127.0.0.1:1 {u}/a.bin")
case("--all-proxy=http://127.0.0.1:1 --http-proxy=http://{a} http://example.invalid/a.bin")
case("--all-proxy={a} http://example.invalid/a.bin")
case("--all-proxy={a}/ --all-proxy-user=u --all-proxy-passwd=p http://example.invalid/needs=Proxy-Authorization=Basic/a.bin")
case("http://example.invalid/a.bin", environment={"http_proxy": "{u}"})
case("{u}/a.bin", environment={"all_proxy": "http://127.0.0.1:1", "no_proxy": "127.0.0.1"})
case("--all-proxy= {u}/a.bin", environment={"http_proxy": "http://127.0.0.1:1"})
case("--proxy-method=tunnel --http-proxy={u} -m1 http://example.invalid/a.bin", sorts_output=True,
     reason="a URL without TLS needs no tunnel")
case("-i list.txt -j1 -c -x4", {"list.txt": "{u}/needs=X-A=1/needs=X-B=2/a.bin\n  header=X-A: 1\n  header=X-B: 2\n"
     "  user-agent=test\n  referer={u}/x\n  max-download-limit=10M\n  split=2\n  allow-overwrite=true\n  out=sub/x.bin\n"})
case("-i list.txt -j1", {"list.txt": "{u}/auth/a.bin\n  http-user=user\n  http-passwd=pass\n{u}/auth/b.bin\n"})
case("-i list.txt -j1", {"list.txt": "\ufeff{u}/a.bin\n"}, reason="a byte order mark is skipped")
case("-i list.txt -j1", {"list.txt": "  {u}/a.bin\n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin  \n\tout=x y.bin \n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n  out=x.bin\n  out=y.bin\n  OUT=z.bin\n"})
case("-i list.txt -j1 -o over.bin", {"list.txt": "{u}/a.bin\n"})
case("-i list.txt -j1 -o over.bin -d sub", {"list.txt": "{u}/a.bin\n{u}/b.bin\n"})
case("-i list.txt -j1 --continue", {"list.txt": "{u}/a.bin\n out=x.bin\n{u}/b.bin\n out=y.bin\n", "x.bin": whole("a.bin")})
case("-i list.txt -j1 --allow-overwrite=false --auto-file-renaming=false",
     {"list.txt": "{u}/a.bin\n{u}/b.bin\n", "a.bin": whole("a.bin")})
case("-i list.txt -j1 -P", {"list.txt": "{u}/f[1-2].bin\n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n#  out=x.bin\n  #out=y.bin\n"})
case("-i m.meta4", META)
case("-i list.txt --save-session=left.session -j1 -m1", {"list.txt": "{u}/404/a.bin\t{u}/404/m/a.bin\n  out=x.bin\n{u}/b.bin\n"})
case("--gid=00000000000000aa {u}/a.bin")
case("--gid=xyz {u}/a.bin")
case("--pause=true {u}/a.bin")
case("--stop=1 --max-download-limit=100K {u}/big.bin", ignored=("big.bin.*",), needs_readouts=True)
case("-j1 -Z --stop=60 {u}/a.bin {u}/b.bin")
case("--on-download-complete=true {u}/a.bin")
case("--on-download-complete={d}/hook.sh --on-download-stop={d}/hook.sh --on-download-start={d}/hook.sh "
     "--on-download-pause={d}/hook.sh -Z -j1 {u}/a.bin {u}/404/b.bin", HOOK)
case("-l no/such/run.log {u}/a.bin")
case("--dry-run=true -q {u}/a.bin")
case("--dry-run=true -Z -j1 {u}/a.bin {u}/404/b.bin")
case("--dry-run=true -o x.bin --save-session=s.session {u}/a.bin")
case("--dry-run=true {u}/cd=served.bin/get")
case("--conditional-get=true {u}/dated/a.bin", {"a.bin": "old"}, {"a.bin": 1_600_000_000})
case("--select-file=1-2 -j1 -M m.meta4", META)
case("--select-file=9 -j1 -M m.meta4", META)
case("--select-file=x -j1 -M m.meta4", META)
case("--select-file=1-2-3 -j1 -M m.meta4", META)
case("--select-file='1 - 2,' -j1 -M m.meta4", META)
case("-M m.meta4 --metalink-base-uri={u}/ -j1", {"m.meta4": '<?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink">'
     '<file name="a.bin"><url>a.bin</url></file></metalink>'})
case("-V --checksum=sha-1=" + __import__("hashlib").sha1(whole("a.bin")).hexdigest() + " -c {u}/a.bin", {"a.bin": half("a.bin")})
case("--checksum=sha256=" + "0" * 64 + " {u}/a.bin")
case("--checksum=sha-256:" + "0" * 64 + " {u}/a.bin")
case("--checksum=md5=zz {u}/a.bin")
case("--truncate-console-readout=false --summary-interval=1 --human-readable=false {u}/slow/mid.bin", needs_readouts=True)
case("-x4 -s4 -j2 --show-console-readout=true -Z {u}/a.bin {u}/404/b.bin {u}/c.bin --download-result=full -j1")
case("-u 100K --max-overall-upload-limit=1M {u}/a.bin")
case("--split=16 --max-connection-per-server=16 --min-split-size=1M --max-overall-download-limit=0 --max-download-limit=0 {u}/big.bin")
case("-k 20M -s5 {u}/big.bin")
case("--lowest-speed-limit=1K --timeout=60 {u}/a.bin")
case("--no-netrc=true {u}/a.bin")
case("--load-cookies={d}/c.sqlite {u}/a.bin", {"c.sqlite": b"SQLite format 3\0" + b"\0" * 100})
case("--xyz=1")
case("--enable-color=maybe {u}/a.bin")
case("--console-log-level=verbose {u}/a.bin")
case("-t0 {u}/a.bin")
case("--summary-interval=-1 {u}/a.bin")
case("--piece-length=1K {u}/a.bin")
case("-d '' {u}/a.bin")
case("-o '' {u}/a.bin")
case("--out= {u}/a.bin")
case("-U '' {u}/a.bin")
case("--referer={u}/index.html -U 'Mozilla/5.0' --http-no-cache=false {u}/redirect/needs=Referer=index/a.bin")
case("-T missing.torrent")
case("{f}/dir/ -m1")
case("-p {f}/a.bin")
case("--ftp-pasv=true --ftp-type=binary --ftp-reuse-connection=false -Z -j1 {f}/a.bin {f}/b.bin")
case("-R {f}/a.bin", compares_times=True)
case("{u}/500/a.bin {u}/a.bin -m1")
case("-s2 -x1 {u}/a.bin {u}/m/a.bin {u}/404/m/a.bin")
case("-c {u}/a.bin", {"a.bin": "?" * 100_001}, reason="content is compared, not the length alone")
case("-c --auto-file-renaming=false {u}/a.bin", {"a.bin": whole("a.bin") + b"more"})
case("{u}/a.bin", {"a.bin": half("a.bin"), "a.bin.aria2": b"\0\1"}, ignored=(".*",),
     reason="what aria2c left unfinished is fetched again")
case("-h#http", compares_output=False)
case("-hsplit", compares_output=False)
case("--help=max-tries", compares_output=False)
case("-D {u}/a.bin", ignored=(".*",))
case("-Z -o x.bin -j1 {u}/a.bin {u}/b.bin")
case("-c -V --checksum=sha-1=" + __import__("hashlib").sha1(whole("a.bin")).hexdigest() + " {u}/a.bin",
     {"a.bin": whole("a.bin")[:-1] + b"?"})
case("-c -V --checksum=sha-1=" + __import__("hashlib").sha1(whole("a.bin")).hexdigest() + " {u}/a.bin",
     {"a.bin": whole("a.bin")})
case("-i list.txt --checksum=sha-1=" + "0" * 40, {"list.txt": "{u}/a.bin\n"})
case("-i list.txt -j1 -Z", {"list.txt": "{u}/a.bin\t{u}/b.bin\n  out=1.bin\n{u}/c.bin\n  out=2.bin\n"})
case("-i list.txt -j1 --deferred-input=true --save-session=s.session", {"list.txt": "{u}/404/a.bin\n{u}/b.bin\n"})
case("--stop-with-process=999999 {u}/slow100000/mid.bin", ignored=("mid.bin.*",))
case("--min-tls-version=TLSv1 {u}/a.bin")
case("--event-poll=kqueue {u}/a.bin")
case("--conf-path=c.conf {u}/a.bin", {"c.conf": "max-connection-per-server=16\ncontinue\nsplit = 8 \n#x\n;y\n[section]\n"})
case("--save-session=s.session --continue --header='A: 1' --user-agent=X -o z.bin {u}/404/a.bin {u}/404/m/a.bin")
case("--header='Cookie: k=v' --load-cookies=c.txt {u}/needs=Cookie=k=v/a.bin", {"c.txt": "127.0.0.1\tFALSE\t/\tFALSE\t0\ts\tt\n"})
case("file:///etc/hostname")
case("--ftp-user=user --ftp-passwd=wrong {f}/a.bin")
case("http://us%65r:p%61ss@{a}/auth/a.bin")
case("--header='Host: other.example' {u}/needs=Host=other/a.bin")
case("--user-agent= {u}/lacks=User-Agent/a.bin")
case("-c -M m.meta4 -j1", {**META, "a.bin": half("a.bin"), "b.bin": whole("b.bin")})
case("m.meta4 {u}/c.bin -j1", META)
case("-P -Z -j1 '{u}/{a,b}{1,2}.bin'")
case("-x4 -s4 -k1M {f}/big.bin")
case("--header='Accept-Encoding: gzip' {u}/gzip/a.bin", reason="no coding of the content is requested, so that it can be resumed")
case("{u}/.hidden", reason="a name of a server begins with neither a dot nor a dash")
# 14. As installers, downloaders of models and media, images and pipelines call it.
SHA256 = __import__("hashlib").sha256(whole("a.bin")).hexdigest()
BEARER = "{u}/needs=Authorization=Bearer hf/"
# winetricks: empty values undo what a configuration says.
case(
    "--connect-timeout=15 --continue --daemon=false --dir={d}/cache --enable-rpc=false --input-file='' "
    "--max-connection-per-server=5 --max-tries=3 --out=dotnet.exe --save-session='' --stop=0 --summary-interval=0 {u}/a.bin",
    {"home/.aria2/aria2.conf": "input-file={d}/none.txt\nsave-session={d}/s.session\n"},
)
# makepkg's DLAGENTS, and Homebrew.
case("--follow-metalink=mem -UWget -s4 {u}/a.bin -o a-1.0.tar.gz.part")
case("-q --auto-file-renaming=false --allow-overwrite=true -x 16 -s 16 -k 1M -d {d}/cache -o a--1.0.tar.gz {u}/redirect/big.bin")
# ani-cli, and a downloader of videos.
case(
    "--referer={u}/watch --enable-rpc=false --check-certificate=false --continue --summary-interval=0 -x 16 -s 16 "
    "{u}/needs=Referer=watch/a.bin --dir={d}/anime -o 'Episode 1: a/b.mp4' --download-result=hide"
)
case(
    "--auto-file-renaming=false --download-result=hide --allow-overwrite=true --console-log-level=warn -x16 -s16 -j16 -k5M "
    "--header='Referer: {u}' --header='User-Agent: Mozilla/5.0' --header='Cookie: SESSDATA=x%2C1' "
    "'{u}/needs=Cookie=SESSDATA/a.bin?e=1&deadline=2&sign=3' -d {d}/v -o 1.P1.mp4"
)
# Models.
case("-c -x 16 -s 16 -k 1M --header='Authorization: Bearer hf' '" + BEARER + "big.bin?download=true' -d models -o m.gguf")
case(
    "--console-log-level=error --summary-interval=10 --optimize-concurrent-downloads -j5 -x16 -s16 -k1M -c -d . -Z "
    "{u}/a.bin {u}/b.bin", sorts_output=True,
)
case("--content-disposition-default-utf8=true '{u}/cd=model.safetensors/1?type=Model&format=SafeTensor' -d loras -x4")
case(f"-x16 -s16 -c --auto-file-renaming=false --check-integrity=true --checksum=sha-256={SHA256} -d blobs -o sha256-1 {{u}}/a.bin")
case(f"--checksum=sha-256={SHA256} -c -o sha256-1 {{u}}/a.bin", {"sha256-1": half("a.bin")})
case(f"--checksum sha-256={SHA256} --allow-overwrite=true -o x {{u}}/a.bin", {"x": "old"})
case("-i models.txt -j2 -x8 -s8 -k1M -c --auto-file-renaming=false --console-log-level=warn --download-result=full -d models",
     {"models.txt": "# models\n{u}/a.bin\n  out=vae/a.safetensors\n\n# more\n{u}/b.bin\n  dir={d}/other\n  out=b.safetensors\n"},
     sorts_output=True)
# Images of containers and machines.
case("--retry-wait=5 -m 10 --check-certificate=false -x10 -s10 -d /tmp/../{d} -o foo.tar.gz {u}/a.bin")
case("-q -x 16 -d {d}/opt -o install.sh {u}/tiny.txt")
case("--no-conf --quiet --dir {d}/iso --out d.iso --split 8 --max-connection-per-server 8 --checksum=sha-1="
     + __import__("hashlib").sha1(whole("mid.bin")).hexdigest() + " {u}/mid.bin {u}/m/mid.bin {u}/404/m/mid.bin")
case("-c -x 4 --header 'Host: oscdn' --header 'User-Agent: InternetRecovery/1.0' --header 'Cookie: AssetToken=x' "
     "{u}/needs=Host=oscdn/needs=Cookie=AssetToken/BaseSystem.dmg")
case("--file-allocation=none --summary-interval=0 --console-log-level=warn --auto-file-renaming=false --conditional-get=true "
     "--allow-overwrite=true --remote-time=true -d cache {u}/dated/a.bin", {"cache/a.bin": "old"}, {"cache/a.bin": 1_500_000_000},
     compares_times=True)
# Pipelines.
case("--max-tries=3 --retry-wait=1 --timeout 60 --connect-timeout 30 --max-file-not-found=2 -i urls.txt -j 4 "
     "--deferred-input=true --save-not-found=false --save-session=left.session",
     {"urls.txt": "{u}/a.bin\n{u}/404/b.bin\n{u}/c.bin\n"}, sorts_output=True)
case("-i urls.txt -j 1 -x 1 --auto-file-renaming=false --allow-overwrite=false", {"urls.txt": "{u}/a.bin\r\n{u}/b.bin\r\n", "a.bin": "there"})
case("-i urls.txt -j 1 -c", {"urls.txt": "{u}/a.bin\n{u}/b.bin\n", "a.bin": whole("a.bin"), "b.bin": half("b.bin")})
case("-Z -j1 --retry-wait=1 -m2 {u}/fail503x1/a.bin {u}/fail502x1/b.bin")
case("-j1 -i urls.txt.gz --deferred-input=true", {"urls.txt.gz": "{u}/a.bin\n{u}/b.bin\n"})
case("-P '{u}/page[001-003].jpg' -Z -j1 -d pages")
case("-P true '{u}/{x,y}/a.bin' -o joined.bin")
case("-Z -j1 -P '{u}/v[8-10:2].jpg'")
case("--on-download-complete=exit {u}/a.bin")
case("--on-bt-download-complete=exit --seed-time=0 --seed-ratio=0.0 --bt-stop-timeout=60 {u}/a.bin")
case("-x16 -s16 -k1M -c --save-session-interval=30 --force-save=true --save-session=s.session {u}/a.bin")
case("--force-sequential=true -j1 {u}/a.bin {u}/b.bin")
case("-Z -j1 {u}/a.bin {u}/a.bin")
case("-Z -j1 --auto-file-renaming=false {u}/a.bin {u}/a.bin")
case("--max-resume-failure-tries=1 --always-resume=false -c {u}/norange/a.bin", {"a.bin": half("a.bin")},
     reason="aria2c ends by SIGABRT")
case("--always-resume=true -c {u}/norange/a.bin", {"a.bin": half("a.bin")},
     reason="the whole is requested and compared with what is there")
case("--reuse-uri=false -s4 -x1 -k1M {u}/big.bin {u}/m/big.bin")
case("--disable-ipv6 --async-dns-server=1.1.1.1,8.8.8.8 --check-certificate=false {u}/a.bin")
case("--dscp=8 --socket-recv-buffer-size=1M --max-mmap-limit=1G {u}/a.bin")
case("--load-cookies= --ca-certificate= --private-key= --interface= --netrc-path= --log= --save-cookies= --referer= {u}/a.bin")
case("--conf-path=c.conf --input-file= --load-cookies= --interface= --dir=. {u}/a.bin",
     {"c.conf": "input-file=none.txt\nload-cookies={d}/none.cookies\ninterface=nosuch0\ndir={d}/sub\n"})
case("--no-want-digest-header=true --hash-check-only=false --gid=2089b05ecca3d829 {u}/a.bin")
case("--gid=2089 {u}/a.bin")
case("--select-file=1-2 --index-out=1=x.bin --show-files=false {u}/a.bin")
case("--metalink-base-uri={u}/m/ --metalink-language=en --metalink-os=linux --metalink-version=1 --metalink-location=de,us "
     "--metalink-enable-unique-protocol=true -M m.meta4 -j1", META)
case("-x2 -s2 --max-overall-download-limit=10M --max-download-limit=5M --limit=1 {u}/a.bin")
case("--user-agent 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)' --header 'Accept-Language: en' --header 'Referer: {u}/x' "
     "--load-cookies cookies.txt --save-cookies cookies.txt -x 8 {u}/needs=Cookie=sid=1/a.bin",
     {"cookies.txt": "# Netscape HTTP Cookie File\n#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t2000000000\tsid\t1\n127.0.0.1\tFALSE\t/\tFALSE\t2000000000\tsid\t1\n"},
     ignored=("cookies.txt",))
# A configuration of the kind that is passed around.
case(
    "--conf-path=aria2.conf {u}/a.bin",
    {"aria2.conf": "## comment ##\ndir={d}/downloads\ndisk-cache=64M\nfile-allocation=none\nno-file-allocation-limit=64M\n"
     "continue=true\nalways-resume=false\nmax-resume-failure-tries=0\nremote-time=true\nsave-session={d}/aria2.session\n"
     "save-session-interval=1\nauto-save-interval=20\nforce-save=false\nmax-file-not-found=10\nmax-tries=0\nretry-wait=10\n"
     "connect-timeout=10\ntimeout=10\nmax-concurrent-downloads=5\nmax-connection-per-server=16\nsplit=64\nmin-split-size=4M\n"
     "piece-length=1M\nallow-piece-length-change=true\nlowest-speed-limit=0\nmax-overall-download-limit=0\n"
     "max-download-limit=0\ndisable-ipv6=true\nhttp-accept-gzip=true\nreuse-uri=false\nno-netrc=true\nallow-overwrite=false\n"
     "auto-file-renaming=true\ncontent-disposition-default-utf8=true\nmin-tls-version=TLSv1.2\nlisten-port=51413\n"
     "dht-listen-port=51413\nenable-dht=true\nenable-dht6=false\ndht-file-path={d}/dht.dat\n"
     "dht-entry-point=dht.transmissionbt.com:6881\nbt-enable-lpd=true\nenable-peer-exchange=true\nbt-max-peers=128\n"
     "bt-request-peer-speed-limit=10M\nmax-overall-upload-limit=2M\nmax-upload-limit=0\nseed-ratio=1.0\nseed-time=0\n"
     "bt-hash-check-seed=true\nbt-seed-unverified=false\nbt-tracker-connect-timeout=10\nbt-tracker-timeout=10\n"
     "bt-prioritize-piece=head=32M,tail=32M\nrpc-save-upload-metadata=true\nfollow-torrent=true\npause-metadata=false\n"
     "bt-save-metadata=true\nbt-load-saved-metadata=true\nbt-remove-unselected-file=true\nbt-force-encryption=true\n"
     "bt-detach-seed-only=true\nuser-agent=Mozilla/5.0\npeer-agent=Deluge 1.3.15\npeer-id-prefix=-DE13F0-\n"
     "enable-rpc=false\nrpc-allow-origin-all=true\nrpc-listen-all=true\nrpc-listen-port=6800\nrpc-max-request-size=10M\n"
     "rpc-secret=x\nasync-dns=true\nlog=\nlog-level=warn\nconsole-log-level=notice\nquiet=false\nsummary-interval=0\n"
     "show-console-readout=true\nbt-tracker=\n"},
    ignored=("dht.dat", "aria2.session"),
)
# 20. More command lines of scripts.
case("--continue --max-connection-per-server=8 --split=8 --min-split-size=1M --max-tries=5 --retry-wait=1 {u}/big.bin")
case("-q -c -o model.safetensors -d models/checkpoints {u}/a.bin")
case("--allow-overwrite -o a.bin {u}/a.bin", {"a.bin": "old"})
case("--allow-overwrite=true --auto-file-renaming=false --continue=true {u}/a.bin", {"a.bin": "old"})
case("--disable-ipv6=true --async-dns=false {u}/a.bin")
case("--async-dns-server=8.8.8.8 {u}/a.bin")
case("--check-certificate=false -k1M -x16 {u}/a.bin")
case("--file-allocation=falloc {u}/a.bin")
case("--file-allocation=prealloc --no-file-allocation-limit=1M {u}/big.bin", compares_output=False)
case("--enable-mmap=true --disk-cache=64M {u}/a.bin")
case("--piece-length=1M --stream-piece-selector=geom --uri-selector=adaptive {u}/big.bin -s4")
case("--realtime-chunk-checksum=false --optimize-concurrent-downloads=true {u}/a.bin")
case("--user-agent='' {u}/a.bin")
case("--header='Cookie: a=b; c=d' {u}/needs=Cookie=c=d/a.bin")
case("--header 'Authorization: Bearer t' {u}/needs=Authorization=Bearer/a.bin")
case("--header='Host: example.org' {u}/needs=Host=example.org/a.bin")
case("--header='Accept-Encoding: gzip' {u}/lacks=X-None/a.bin")
case("--http-auth-challenge=true --http-user=user --http-passwd=pass {u}/auth/a.bin")
case("--http-proxy= --all-proxy= {u}/a.bin")
case("--no-proxy='localhost,127.0.0.0/8' --all-proxy=http://127.0.0.1:1 {u}/a.bin")
case("--reuse-uri=true --max-file-not-found=5 {u}/a.bin {u}/m/a.bin {u}/n/a.bin")
case("-s 4 -x 1 {u}/mid.bin {u}/m/mid.bin")
case("{u}/404/a.bin {u}/500/a.bin {u}/a.bin -m1 --retry-wait=0")
case("{u}/404/a.bin {u}/404/m/a.bin -m1")
case("--checksum=sha-256=" + __import__("hashlib").sha256(whole("a.bin")).hexdigest() + " -o x {u}/redirect302/a.bin")
case("--checksum=SHA-256=" + __import__("hashlib").sha256(whole("a.bin")).hexdigest() + " {u}/a.bin")
case("--checksum=sha256=" + __import__("hashlib").sha256(whole("a.bin")).hexdigest() + " {u}/a.bin")
case("--checksum=md5=" + "0" * 32 + " --allow-overwrite=true -m2 {u}/a.bin")
case("-i list.txt -j1 --auto-save-interval=0", {"list.txt": "{u}/a.bin\n  out=sub/x.bin\n{u}/b.bin\n  out=sub/y.bin\n"})
case("-i list.txt -j1 -o ignored.bin", {"list.txt": "{u}/a.bin\n{u}/b.bin\n"})
case("-i list.txt -j1 --auto-file-renaming=false -c", {"list.txt": "{u}/a.bin\n{u}/b.bin\n", "a.bin": whole("a.bin")})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n\n\n\n{u}/b.bin"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n\tout=x.bin\n\tchecksum=sha-256=" + __import__("hashlib").sha256(whole("a.bin")).hexdigest() + "\n"})
case("-i list.txt -j1", {"list.txt": "{u}/needs=Cookie=k=v/needs=X-A=b/a.bin\n header=Cookie: k=v\n header=X-A: b\n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n out=\n"})
case("-i list.txt -j1", {"list.txt": "{u}/a.bin\n max-download-limit=5M\n split=2\n user-agent=x\n"})
case("-i list.txt -j1 --save-session=out.session", {"list.txt": "{u}/a.bin\n{u}/403/b.bin\n out=y.bin\n{u}/404/c.bin\n"})
case("-i list.txt -j1 --max-download-result=1", {"list.txt": "{u}/a.bin\n{u}/404/b.bin\n{u}/c.bin\n"})
case("-i list.txt -j1 --download-result=full", {"list.txt": "{u}/a.bin\n{u}/404/b.bin\n"})
case("-i list.txt -j1 -q", {"list.txt": "{u}/404/a.bin\n{u}/b.bin\n"})
case("-i - -j1 -d out", input="{u}/a.bin\n  out=n.bin\n")
case("-i - -j1", input="")
case("--input-file=list.txt --dry-run -j1", {"list.txt": "{u}/a.bin\n{u}/404/b.bin\n"})
case("--conf-path=a.conf -o x.bin {u}/a.bin", {"a.conf": "# x\ncontinue=true\nmax-connection-per-server=16\nsplit=16\nmin-split-size=1M\nfile-allocation=none\ndisk-cache=32M\nallow-overwrite=true\n"})
case("--conf-path=a.conf {u}/a.bin", {"a.conf": "dir = {d}/spaced\nout = y.bin\n"})
case("--conf-path=a.conf {u}/a.bin", {"a.conf": "enable-rpc=false\nrpc-listen-port=6800\nrpc-secret=x\nbt-tracker=udp://a:1\nseed-time=0\nlisten-port=51413\npeer-id-prefix=-TR2770-\n"})
case("--conf-path=a.conf {u}/a.bin", {"a.conf": "header=X-A: 1\nheader=X-B: 2\n"})
case("--conf-path=a.conf {u}/needs=X-A=1/needs=X-B=2/a.bin", {"a.conf": "header=X-A: 1\nheader=X-B: 2\n"})
case("--conf-path=a.conf --header='X-B: 2' {u}/needs=X-B=2/a.bin", {"a.conf": "header=X-A: 1\n"})
case("--conf-path=a.conf {u}/a.bin", {"a.conf": "log={d}/run.log\nlog-level=warn\nconsole-log-level=error\n"})
case("--seed-time=0 --bt-stop-timeout=60 --max-upload-limit=1K --follow-torrent=false {u}/a.bin")
case("--enable-dht=false --bt-enable-lpd=true --listen-port=6881-6999 {u}/a.bin")
case("--daemon=false {u}/a.bin")
case("--max-resume-failure-tries=3 --always-resume=true -c {u}/a.bin", {"a.bin": half("a.bin")})
case("--remove-control-file=true --allow-overwrite=true {u}/a.bin", {"a.bin": "old"})
case("--parameterized-uri=true -Z -j1 '{u}/v[01-03].bin' --dir=vid")
case("--max-overall-download-limit=0 --max-download-limit=10M {u}/a.bin")
case("-x4 -s4 --lowest-speed-limit=0 -t 30 -m 0 {u}/norange/mid.bin")
case("--connect-timeout=5 --timeout=5 --max-tries=1 http://no-such-host.invalid/a.bin", compares_output=False)
case("--version --quiet", compares_output=False)
case("--help=#http", compares_output=False)
case("--help=split", compares_output=False)
case("-h#nosuch", compares_output=False)
case("--out=/abs.bin --dir={d} {u}/a.bin", compares_output=False)
case("-o ../up.bin -d sub {u}/a.bin", compares_output=False)
case("-o 'sp ace/ü.bin' {u}/a.bin")
case("'{u}/%E4%BD%A0.bin'")
case("'{u}/a.bin#frag'")
case("'{u}/x;y=1/a+b.bin?q=a/b.zip'")
case("{u}/redirect302/404/a.bin")
case("{u}/redirect308/a.bin")
case("{u}/206/a.bin", compares_output=False, reason="an unrequested part is not taken for the file")
case("{u}/204/a.bin", compares_output=False)
case("{u}/416/a.bin", compares_output=False)
case("-m1 {u}/408/a.bin")
case("{u}/451/a.bin")
case("--split=0x10 {u}/a.bin")
case("--timeout=0 {u}/a.bin")
case("-j5 -x5 --summary-interval=60 --retry-wait=601 {u}/a.bin")
case("--min-split-size=2G {u}/a.bin")
case("--max-download-limit=-1 {u}/a.bin")
case("--log-level=verbose {u}/a.bin")
case("--continue=yes {u}/a.bin")
case("--dir= {u}/a.bin")
case("--out= {u}/a.bin")
