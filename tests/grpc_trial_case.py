"""What tests of gRPC's transport share: the program grpc_trial as a server."""

import contextlib
import signal
import subprocess

PROGRAM = ['']   # which main() of a test sets
NAMES = ('Echo', 'EchoAll', 'Slow', 'Never', 'Zeros', 'Seen', 'Refuse')
ECHO, STREAM, SLOW, NEVER, ZEROS, SEEN, REFUSE = (f'/trial.Trial/{name}' for name in NAMES)


@contextlib.contextmanager
def server(*options):
    process = subprocess.Popen([PROGRAM[0], *options], stdout=subprocess.PIPE, text=True)
    process.trial_port = int(process.stdout.readline())
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        process.stdout.close()
