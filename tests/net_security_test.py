#!/usr/bin/env python3
"""Keys, restricted families, TLS and certificates of tenfold-server, over HTTP and gRPC: net_security_test.py TENFOLD"""

import http.client
import json
import os
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

import cli_case
import http2_frames as h2
from serve_case import INFER, Server, json_request, rows, save_tanh

UNAVAILABLE, UNAUTHENTICATED, OK = b'\x0214', b'\x0216', b'\x010'   # values of grpc-status as headers have them
NO_TABLE = struct.pack('>HI', 1, 0)   # so that each header stands where it is sent
V2 = '/inference.GRPCInferenceService/'


def openssl(*arguments):
    subprocess.run(['openssl', *arguments], check=True, capture_output=True)


class Authority:
    """Signs certificates for 127.0.0.1, in a folder."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.certificate, self.key = f'{folder}/{name}.pem', f'{folder}/{name}.key'
        openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', f'/CN={name}',
                '-keyout', self.key, '-out', self.certificate)

    def sign(self, name):
        """Paths of a certificate and its key."""
        path = f'{self.folder}/{name}'
        openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', f'/CN={name}', '-keyout', path + '.key',
                '-out', path + '.csr')
        with open(path + '.ext', 'w') as f:
            f.write('subjectAltName=IP:127.0.0.1\n')
        openssl('x509', '-req', '-in', path + '.csr', '-CA', self.certificate, '-CAkey', self.key, '-CAcreateserial', '-days', '2',
                '-extfile', path + '.ext', '-out', path + '.pem')
        return path + '.pem', path + '.key'

    def context(self, alpn, certificate=None):
        """Of a client that trusts this authority."""
        context = ssl.create_default_context(cafile=self.certificate)
        context.set_alpn_protocols([alpn])
        if certificate:
            context.load_cert_chain(*certificate)
        return context


class Https(http.client.HTTPSConnection):
    def __init__(self, port, context):
        super().__init__('127.0.0.1', port, timeout=30, context=context)

    def ask(self, method='GET', path='/v2/health/live', body=None, headers=None):
        self.request(method, path, body, headers or {})
        response = self.getresponse()
        return response.status, response.read()


class Grpc(h2.Connection):
    """A connection under TLS, or without, which asks one call after the other."""

    def __init__(self, port, context=None):
        super().__init__(port, hello=False)
        if context:
            self.socket = context.wrap_socket(self.socket, server_hostname='127.0.0.1')
        self.send(h2.PREFACE + h2.frame(h2.SETTINGS, payload=NO_TABLE))
        self.next_stream = 1

    def status(self, method, *metadata, body=b''):
        """grpc-status of a call that is refused, or answers: the text of its last headers."""
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        self.call(stream, V2 + method, h2.message(body), *metadata)
        got = self.until(lambda f: f[2] == stream and f[1] & h2.END_STREAM)
        return got[-1][3] if got else b''


def grpc_port(server):
    return int(server.start.split('gRPC on ')[1].split(':')[1].split()[0].strip('"'))


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = cls.temporary.name
        cls.model = save_tanh(os.path.join(cls.folder, 'm.onnx'))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def serve(self, *flags):
        server = Server(self.model, f'--plan-cache-dir={self.folder}/plans', *flags)
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))
        return server

    def hang_up(self, server, words):
        """SIGHUP, until the server says that it has read its files."""
        server.process.send_signal(signal.SIGHUP)
        line = server.process.stderr.readline()
        self.assertIn(words, line)
        return line

    def start_fails(self, code, words, *flags):
        done = subprocess.run([cli_case.TENFOLD, 'serve', self.model, '--device=cpu', '--http-port=0', '--metrics-port=0', *flags],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(words, done.stderr)
        return done.stderr


class Keys(Case):
    def test_keys_and_their_reload(self):
        path = os.path.join(self.folder, 'keys')
        with open(path, 'w') as f:
            f.write('first-key\n')
        server = self.serve(f'--api-key-file={path}')
        request = json.dumps(json_request(rows(1)))
        for headers in ({}, {'Authorization': 'Bearer wrong'}, {'Authorization': 'Basic first-key'}):
            status, got, body = server.send('POST', INFER, request, headers)
            self.assertEqual((status, got['WWW-Authenticate']), (401, 'Bearer'), body)
        self.assertEqual(server.send('POST', INFER, request, {'Authorization': 'Bearer first-key'})[0], 200)
        for path_without in ('/v2/health/live', '/v2/health/ready', '/v2/models/m/ready', '/metrics'):
            self.assertEqual(server.send('GET', path_without)[0], 200, path_without)
        for path_with in ('/v2', '/v2/models/m', '/v2/models/m/config', '/v2/models/stats', '/v2/%6dodels/m', '/nothing', '/'):
            self.assertEqual(server.send('GET', path_with)[0], 401, path_with)
        grpc = Grpc(grpc_port(server))
        self.assertIn(UNAUTHENTICATED, grpc.status('ServerMetadata'))
        self.assertIn(OK, grpc.status('ServerMetadata', (b'authorization', b'Bearer first-key')))
        self.assertIn(OK, grpc.status('ServerLive'))
        with open(path, 'w') as f:
            f.write('second-key\n')
        self.assertNotIn('key\n', self.hang_up(server, 'read API keys again')[:-1])
        self.assertEqual(server.send('POST', INFER, request, {'Authorization': 'Bearer first-key'})[0], 401)
        self.assertEqual(server.send('POST', INFER, request, {'Authorization': 'Bearer second-key'})[0], 200)
        self.assertIn(UNAUTHENTICATED, grpc.status('ServerMetadata', (b'authorization', b'Bearer first-key')))
        os.remove(path)
        self.hang_up(server, 'kept API keys as they were')
        self.assertEqual(server.send('POST', INFER, request, {'Authorization': 'Bearer second-key'})[0], 200)

    def test_refused_before_the_body(self):
        path = os.path.join(self.folder, 'keys2')
        with open(path, 'w') as f:
            f.write('k\n')
        server = self.serve(f'--api-key-file={path}')
        with socket.create_connection(('127.0.0.1', server.port), timeout=10) as s:
            s.sendall(b'POST %s HTTP/1.1\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n' % INFER.encode())
            self.assertTrue(s.recv(4096).startswith(b'HTTP/1.1 401 '))
        with socket.create_connection(('127.0.0.1', server.port), timeout=10) as s:   # without a body the connection goes on
            for _ in range(2):
                s.sendall(b'GET /v2 HTTP/1.1\r\n\r\n')
                self.assertTrue(s.recv(4096).startswith(b'HTTP/1.1 401 '))

    def test_restricted(self):
        server = self.serve('--http-restricted-api=metadata,statistics:admin=se=cret', '--grpc-restricted-protocol=metadata:admin=secret')
        status, _, body = server.send('GET', '/v2')
        self.assertEqual((status, json.loads(body)['error']), (403, "This API is restricted, expecting header 'admin'"))
        self.assertEqual(server.send('GET', '/v2', headers={'Admin': 'wrong'})[0], 403)
        self.assertEqual(server.send('GET', '/v2', headers={'Admin': 'se=cret'})[0], 200)
        self.assertEqual(server.send('GET', '/v2/models/m/stats')[0], 403)
        self.assertEqual(server.infer(json_request(rows(1)))[0], 200)
        grpc = Grpc(grpc_port(server))
        self.assertIn(UNAVAILABLE, grpc.status('ServerMetadata'))
        self.assertIn(OK, grpc.status('ServerMetadata', (b'triton-grpc-protocol-admin', b'secret')))
        self.assertIn(OK, grpc.status('ServerReady'))

    def test_starts_that_fail(self):
        empty = os.path.join(self.folder, 'empty')
        with open(empty, 'w'):
            pass
        self.start_fails(1, 'has no keys', f'--api-key-file={empty}')
        self.start_fails(1, 'cannot read', f'--api-key-file={self.folder}/nothing')
        self.start_fails(1, 'unknown restricted', '--http-restricted-api=infer:key=value')
        self.assertNotIn('hidden', self.start_fails(1, 'is expected', '--grpc-restricted-protocol=hidden'))
        self.start_fails(1, '--http-server-cert=FILE', '--http-use-ssl=true')
        files = (f'--grpc-server-cert={empty}', f'--grpc-server-key={empty}')
        self.start_fails(1, 'cannot use the certificate', '--grpc-use-ssl=true', *files)


class TlsCase(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.authority = Authority(cls.folder, 'ours')
        cls.certificate, cls.key = cls.authority.sign('server')

    def flags(self, mutual=False):
        flags = []
        for port in ('http', 'grpc'):
            flags += [f'--{port}-use-ssl{"-mutual" if mutual else ""}=true', f'--{port}-server-cert={self.certificate}',
                      f'--{port}-server-key={self.key}', f'--{port}-root-cert={self.authority.certificate}']
        return flags

    def test_answers(self):
        server = self.serve(*self.flags())
        self.assertIn('ready on https://', server.start)
        https = Https(server.port, self.authority.context('http/1.1'))
        for seed in range(3):
            status, body = https.ask('POST', INFER, json.dumps(json_request(rows(seed, 4))))
            self.assertEqual(status, 200, body)
        self.assertEqual(https.sock.selected_alpn_protocol(), 'http/1.1')
        long = json.dumps({'inputs': [], 'parameters': {'padding': 'x' * 3_000_000}})
        self.assertEqual(https.ask('POST', INFER, long)[0], 400)
        self.assertEqual(https.ask()[0], 200)
        grpc = Grpc(grpc_port(server), self.authority.context('h2'))
        self.assertEqual(grpc.socket.selected_alpn_protocol(), 'h2')
        self.assertIn(OK, grpc.status('ServerLive'))
        self.assertNotEqual(grpc.status('ModelInfer', body=b'\x0a\x01m' + b'\x22\x00' * 500_000), b'')   # a megabyte, of empty outputs

    def test_what_it_refuses(self):
        server = self.serve(*self.flags())
        for port, alpn, wrong in ((server.port, 'http/1.1', 'h2'), (grpc_port(server), 'h2', 'http/1.1')):
            with self.assertRaises(ssl.SSLError):
                Grpc(port, self.authority.context(wrong))
            old = self.authority.context(alpn)
            with warnings.catch_warnings(action='ignore'):   # Python's, that it is too old
                old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
            old.set_ciphers('DEFAULT:@SECLEVEL=0')
            with self.assertRaises((ssl.SSLError, OSError)):
                Grpc(port, old)
            with socket.create_connection(('127.0.0.1', port), timeout=10) as plain:
                plain.sendall(b'GET /v2 HTTP/1.1\r\n\r\n')
                try:
                    self.assertNotIn(b'HTTP/', plain.recv(4096))
                except ConnectionResetError:
                    pass
        self.assertEqual(Https(server.port, self.authority.context('http/1.1')).ask()[0], 200)

    def test_clients_that_leave(self):
        server = self.serve(*self.flags(), '--max-queue-delay-us=1500000', '--max-batch=4')
        https = Https(server.port, self.authority.context('http/1.1'))
        https.request('POST', INFER, json.dumps(json_request(rows(1))))
        time.sleep(0.3)
        https.close()
        time.sleep(0.3)
        other = Https(server.port, self.authority.context('http/1.1'))
        statistics = json.loads(other.ask(path='/v2/models/m/stats')[1])['model_stats'][0]
        self.assertEqual(statistics['inference_stats']['success']['count'], 0)
        self.assertEqual(statistics['inference_stats']['fail']['count'], 1)

    def test_mutual(self):
        server = self.serve(*self.flags(mutual=True))
        known, stranger = self.authority.sign('client'), Authority(self.folder, 'other').sign('stranger')
        self.assertEqual(Https(server.port, self.authority.context('http/1.1', known)).ask()[0], 200)
        self.assertIn(OK, Grpc(grpc_port(server), self.authority.context('h2', known)).status('ServerLive'))
        for certificate in (None, stranger):
            with self.assertRaises(OSError):
                Https(server.port, self.authority.context('http/1.1', certificate)).ask()
            # TLS 1.3 tells a client of it after its handshake.
            try:
                self.assertEqual(Grpc(grpc_port(server), self.authority.context('h2', certificate)).status('ServerLive'), b'')
            except OSError:
                pass

    def test_certificates_are_read_again(self):
        server = self.serve(*self.flags())
        context = self.authority.context('http/1.1')
        before = Https(server.port, context)
        self.assertEqual(before.ask()[0], 200)
        number = before.sock.getpeercert()['serialNumber']
        grpc = Grpc(grpc_port(server), self.authority.context('h2'))
        self.assertIn(OK, grpc.status('ServerLive'))
        self.authority.sign('server')                       # in place of the old files
        self.hang_up(server, 'read certificates of HTTP again')
        self.assertIn('read certificates of gRPC again', server.process.stderr.readline())
        after = Https(server.port, context)
        self.assertEqual(after.ask()[0], 200)
        self.assertNotEqual(after.sock.getpeercert()['serialNumber'], number)
        self.assertEqual(before.ask()[0], 200)              # open connections go on
        self.assertIn(OK, grpc.status('ServerLive'))
        with open(self.certificate, 'w') as f:
            f.write('nothing')
        self.hang_up(server, 'kept certificates of HTTP as they were')
        server.process.stderr.readline()
        self.assertEqual(Https(server.port, context).ask()[0], 200)
        self.certificate, self.key = self.authority.sign('server')   # for other tests


if __name__ == '__main__':
    if not os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), 'tenfold-server')):
        print('skipped: tenfold-server is not built (script/bootstrap build installs what it needs)')
        sys.exit(77)
    cli_case.main()
