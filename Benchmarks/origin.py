"""The origin servers: nginx on loopback, and a link that all connections share."""
import os, socket, subprocess, sys, tempfile, threading, time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Scripts"))
import waiting

TAIL = 3 << 26  # the start offset of the fourth of eight connections in 512 MiB


class Origin:
    """nginx with one worker: plain, TLS with HTTP/2, 20 MB/s a connection, and the same with one slow connection."""

    def __init__(self, folder):
        self.folder = folder
        self.root = os.path.join(folder, "www")
        self.cert = f"{folder}/cert.pem"
        os.makedirs(self.root)
        self.plain, self.tls, self.capped, self.tail = (free_port() for _ in range(4))
        self.certificate()
        conf = os.path.join(folder, "nginx.conf")
        with open(conf, "w") as file:
            file.write(f"""{common(self.root, folder)}
  map $http_range $pace {{ default 20m; "~^bytes={TAIL}-" 20k; }}
  log_format pace "$pace $http_user_agent";
  server {{ listen 127.0.0.1:{self.plain} backlog=1024; }}
  server {{ listen 127.0.0.1:{self.tls} ssl http2 backlog=1024;
           ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem; }}
  server {{ listen 127.0.0.1:{self.capped}; limit_rate 20m; }}
  server {{ listen 127.0.0.1:{self.tail}; limit_rate $pace; access_log {folder}/tail.log pace; }}
}}""")
        # It ends with this program, even if that is killed.
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "nginx", "-c", conf,
                                         "-e", f"{folder}/error.log"])
        # nginx writes it when it listens.
        if not waiting.until_changed(folder, lambda: os.path.exists(f"{folder}/nginx.pid")):
            sys.exit("nginx does not start")
        self.line = Line(self.plain, 100 << 20)

    def certificate(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-keyout", f"{self.folder}/key.pem", "-out", self.cert,
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,IP:10.78.0.2,DNS:localhost"],
                       check=True, stderr=subprocess.DEVNULL)

    def file(self, name, size):
        with open(os.path.join(self.root, name), "wb") as file:
            for at in range(0, size, 1 << 24):
                file.write(os.urandom(min(size - at, 1 << 24)))

    def many(self, folder, count, size):
        os.makedirs(os.path.join(self.root, folder))
        for number in range(count):
            self.file(f"{folder}/f{number}", size)

    def slow(self, program):
        """The number of connections of a program at 20 KB/s."""
        with open(f"{self.folder}/tail.log") as file:
            return sum(line.startswith(f"20k {program}/") for line in file)

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Far:
    """nginx behind a link with delay, rate and loss, in a network namespace of its own: TLS with HTTP/2, and HTTP/1.1,
    and both once more for streams, with a log of the connection of each request."""

    HOST = "10.78.0.2"

    def __init__(self, origin, link, delay, rate, loss):
        self.name, self.folder = f"pawl-far-{os.getpid()}", tempfile.mkdtemp(prefix="far-", dir=origin.folder)
        self.tls, self.http1, self.logged, self.logged_http1 = 443, 444, 445, 446
        self.run("ip", "netns", "add", self.name)
        self.link = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", link, self.name, "pawl-near", "pawl-far",
                                      str(delay), str(rate), str(loss)], stdout=subprocess.PIPE)
        if self.link.stdout.readline() != b"ready\n":
            self.stop()
            sys.exit("the link cannot be made")
        self.set("pawl-near", "10.78.0.1/30")
        self.set("pawl-far", self.HOST + "/30", "ip", "netns", "exec", self.name)
        conf = f"{self.folder}/nginx.conf"
        with open(conf, "w") as file:
            file.write(f"""{common(origin.root, self.folder)}
  ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate {origin.cert}; ssl_certificate_key {origin.folder}/key.pem;
  server {{ listen {self.HOST}:{self.tls} ssl http2 backlog=1024; }}
  server {{ listen {self.HOST}:{self.http1} ssl backlog=1024; }}
  log_format connection "$server_port $connection $http_user_agent";
  server {{ listen {self.HOST}:{self.logged} ssl http2 backlog=1024; listen {self.HOST}:{self.logged_http1} ssl backlog=1024;
           access_log {self.folder}/connections.log connection; types {{ application/vnd.apple.mpegurl m3u8; video/mp2t ts; }} }}
}}""")
        self.nginx = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", "ip", "netns", "exec", self.name, "nginx", "-c", conf,
                                       "-e", f"{self.folder}/error.log"])
        if not waiting.until_changed(self.folder, lambda: os.path.exists(f"{self.folder}/nginx.pid")):
            sys.exit("nginx does not start behind the link")

    def connections(self, port, program):
        """The number of connections on which a program has sent requests to a port with a log."""
        with open(f"{self.folder}/connections.log") as file:
            lines = [line.split(" ", 2) for line in file]
        return len({number for to, number, agent in lines if to == str(port) and agent.startswith(f"{program}/")})

    def set(self, device, address, *inside):
        self.run(*inside, "ip", "addr", "add", address, "dev", device)
        self.run(*inside, "ip", "link", "set", device, "mtu", "1500", "txqueuelen", "4000", "up")

    def run(self, *command):
        subprocess.run(command, check=True)

    def stop(self):
        for process in (getattr(self, "nginx", None), self.link):
            if process:
                process.terminate()
                process.wait()
        self.run("ip", "netns", "del", self.name)


def common(root, folder):
    return f"""
worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; autoindex on; root {root}; keepalive_requests 1000000; client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fcgi; uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi; http2_max_concurrent_streams 128;"""


class Line:
    """Forwards connections to nginx, at `rate` bytes per second in total."""

    SLICE = 64 * 1024

    def __init__(self, target, rate):
        self.target, self.rate = target, rate
        self.lock = threading.Lock()
        self.free_at = 0.0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            far = socket.create_connection(("127.0.0.1", self.target))
            # Small buffers: the link must be the limit, not the queue before it.
            far.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2 * Line.SLICE)
            near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * Line.SLICE)
            threading.Thread(target=self.pass_on, args=(near, far, False), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(far, near, True), daemon=True).start()

    def pass_on(self, source, sink, is_paced):
        try:
            while piece := source.recv(Line.SLICE):
                if is_paced:
                    self.wait(len(piece))
                sink.sendall(piece)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def wait(self, count):
        with self.lock:
            now = time.monotonic()
            # Idle time is not credited, except for oversleeping.
            self.free_at = max(self.free_at, now - 0.005) + count / self.rate
            due = self.free_at
        if due > now:
            time.sleep(due - now)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
