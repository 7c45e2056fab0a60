"""A headless Chromium that tests open pages in, by its own protocol over two pipes: no driver and no package is needed."""

import json
import os
import shutil
import subprocess
import tempfile

NAMES = ('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome')


def program():
    """Its path, or None."""
    return next(filter(None, map(shutil.which, [os.environ.get('TENFOLD_CHROMIUM', ''), *NAMES])), None)


class Browser:
    """One page. `errors` is what its console and its scripts complained of since it was opened."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.to = os.pipe()
        self.back, from_write = os.pipe()
        self.errors, self.asked, self.session, self.rest = [], 0, None, b''
        self.loaded = False

        def pipes():   # it reads 3 and writes 4; the copies are above both, so that neither is closed by the other
            read, write = os.dup2(to_read, 98), os.dup2(from_write, 99)
            os.dup2(read, 3)
            os.dup2(write, 4)

        flags = ['--headless', '--remote-debugging-pipe', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
                 '--disable-background-networking', '--hide-scrollbars', f'--user-data-dir={self.folder.name}']
        self.process = subprocess.Popen(
            [program(), *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=pipes, close_fds=False
        )
        os.close(to_read)
        os.close(from_write)
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log'):
            self.call(domain + '.enable')

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        self.folder.cleanup()

    def message(self):
        while b'\0' not in self.rest:
            piece = os.read(self.back, 1 << 20)
            if not piece:
                raise EOFError('the browser ended')
            self.rest += piece
        one, self.rest = self.rest.split(b'\0', 1)
        return json.loads(one)

    def hear(self, event):
        method, details = event.get('method'), event.get('params', {})
        if method == 'Page.loadEventFired':
            self.loaded = True
        elif method == 'Runtime.exceptionThrown':
            self.errors.append(json.dumps(details['exceptionDetails']))
        elif method == 'Runtime.consoleAPICalled' and details['type'] in ('error', 'warning', 'assert'):
            self.errors.append(json.dumps(details['args']))
        elif method == 'Log.entryAdded' and details['entry']['level'] in ('error', 'warning'):
            self.errors.append(details['entry']['text'])

    def call(self, method, **arguments):
        self.asked += 1
        request = {'id': self.asked, 'method': method, 'params': arguments}
        if self.session:
            request['sessionId'] = self.session
        os.write(self.to, json.dumps(request).encode() + b'\0')
        while True:
            answer = self.message()
            if answer.get('id') != self.asked:
                self.hear(answer)
            elif 'error' in answer:
                raise RuntimeError(f'{method}: {answer["error"]}')
            else:
                return answer['result']

    def open(self, url):
        """Returns when the page has been loaded and has run its scripts."""
        for place in ('about:blank', url):   # another fragment alone would not load the page anew
            self.errors.clear()
            self.loaded = False
            self.call('Page.navigate', url=place)
            while not self.loaded:
                self.hear(self.message())

    def value(self, script):
        """What the script gives, as data; a promise is awaited."""
        result = self.call('Runtime.evaluate', expression=script, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(json.dumps(result['exceptionDetails']))
        return result['result'].get('value')
