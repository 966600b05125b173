"""Waits for what other programs do, on events of the kernel; a time limit is a failure.

Python has no inotify(7) of its own, hence ctypes.
"""

import ctypes
import os
import select
import socket
import tempfile
import time

# A program that takes longer has failed.
PATIENCE = 60

MODIFIED, CLOSED_AFTER_WRITING, MOVED_HERE, CREATED = 0x2, 0x8, 0x80, 0x100
libc = ctypes.CDLL(None, use_errno=True)


class Changes:
    """Changes of the files in one folder, from now on."""

    def __init__(self, folder):
        self.descriptor = libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        kinds = MODIFIED | CLOSED_AFTER_WRITING | MOVED_HERE | CREATED
        if self.descriptor < 0 or libc.inotify_add_watch(self.descriptor, os.fsencode(folder), kinds) < 0:
            raise OSError(ctypes.get_errno(), "cannot watch", folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.descriptor)

    def fileno(self):
        return self.descriptor

    def take(self):
        os.read(self.descriptor, 1 << 16)


def until_changed(folder, condition, seconds=PATIENCE):
    """Whether the condition holds, now or after a change in the folder."""
    end = time.monotonic() + seconds
    with Changes(folder) as changes:
        while not condition():
            if not select.select([changes], [], [], max(0, end - time.monotonic()))[0]:
                return False
            changes.take()
    return True


def until_ended(processes, seconds=PATIENCE):
    """Whether all these processes, by number, have ended; they need not be children."""
    end = time.monotonic() + seconds
    for process in processes:
        try:
            descriptor = os.pidfd_open(process)
        except ProcessLookupError:
            continue
        try:
            if not select.select([descriptor], [], [], max(0, end - time.monotonic()))[0]:
                return False
        finally:
            os.close(descriptor)
    return True


class Readiness:
    """The moment when a server accepts connections, which `pawl` reports as to systemd (sd_notify(3))."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.environment = {"NOTIFY_SOCKET": self.folder.name + "/notify"}
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.environment["NOTIFY_SOCKET"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.folder.cleanup()

    def wait(self, process, log=None, text=b"", seconds=PATIENCE):
        """Whether the process got ready; `False` when it ended or took too long.

        A server that reports nothing shows it by `text` in the file `log`.
        """
        end = time.monotonic() + seconds
        descriptor = os.pidfd_open(process.pid)
        try:
            with Changes(os.path.dirname(log) if log else self.folder.name) as changes:
                while not (log and text in open(log, "rb").read()):
                    ready = select.select([self.socket, descriptor, changes], [], [], max(0, end - time.monotonic()))[0]
                    if self.socket in ready:
                        return self.socket.recv(1000) == b"READY=1"
                    if not ready or descriptor in ready:
                        return False
                    changes.take()
            return True
        finally:
            os.close(descriptor)
