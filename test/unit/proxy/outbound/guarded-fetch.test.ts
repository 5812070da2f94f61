import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';

import { describe, expect, test } from '@jest/globals';

import {
  createGuardedFetch,
  type GuardedFetchOptions,
  type GuardedFetchSettings,
} from '../../../../proxy/outbound/guarded-fetch.ts';
import { startHttpsServer } from '../../../support/https-server.ts';

const HOST = 'client.example';
const LOOPBACK = { address: '127.0.0.1', family: 4 };
const PUBLIC = { address: '8.8.8.8', family: 4 };

const OPTIONS: GuardedFetchOptions = {
  accept: 'application/json',
  maxBytes: 100,
  timeoutMs: 10_000,
  allowedCidrs: ['127.0.0.0/8'],
};

function guardedFetchWith(settings: Partial<GuardedFetchSettings> = {}) {
  return createGuardedFetch({
    devAllowLoopback: false,
    lookup: () => Promise.resolve([LOOPBACK]),
    ...settings,
  });
}

const answerOk: RequestListener = (_request, response) => {
  response.end('{"ok":true}');
};

describe('a guarded fetch', () => {
  test('gets a document over TLS, under the name of the host', async () => {
    await using server = await startHttpsServer([HOST], (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=9' });
      response.end('{"ok":true}');
    });
    const guardedFetch = guardedFetchWith({ ca: server.ca });
    const { status, headers, body } = await guardedFetch(server.url(HOST, '/a?b=c'), OPTIONS);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'max-age=9',
    });
    expect(body.toString()).toBe('{"ok":true}');
    expect(server.requests).toEqual(['/a?b=c']);
    expect(server.serverNames).toEqual([HOST]);
  });

  test('sends nothing of its own but what the request needs', async () => {
    const received = Promise.withResolvers<IncomingMessage>();
    await using server = await startHttpsServer([HOST], (request, response) => {
      received.resolve(request);
      response.end();
    });
    await guardedFetchWith({ ca: server.ca })(server.url(HOST, '/'), OPTIONS);
    const { method, headers } = await received.promise;
    expect(method).toBe('GET');
    expect(headers).toEqual({
      host: `${HOST}:${String(server.port)}`,
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'gatehouse',
      connection: 'close',
    });
  });

  test.each([404, 500])('gives back status %i like any other', async (status) => {
    await using server = await startHttpsServer([HOST], (_request, response) => {
      response.writeHead(status).end('no');
    });
    const guardedFetch = guardedFetchWith({ ca: server.ca });
    await expect(guardedFetch(server.url(HOST, '/'), OPTIONS)).resolves.toMatchObject({ status });
  });

  test.each([301, 302, 303, 307, 308])(
    'does not follow a redirect to a private address (%i)',
    async (status) => {
      await using server = await startHttpsServer([HOST, '127.0.0.1'], (_request, response) => {
        const location = `https://127.0.0.1:${String(server.port)}/secret`;
        response.writeHead(status, { location }).end();
      });
      const guardedFetch = guardedFetchWith({ ca: server.ca });
      const response = await guardedFetch(server.url(HOST, '/start'), OPTIONS);
      expect(response.status).toBe(status);
      expect(server.requests).toEqual(['/start']);
    },
  );

  test('does not trust a certificate for another host', async () => {
    await using server = await startHttpsServer(['other.example'], answerOk);
    const guardedFetch = guardedFetchWith({ ca: server.ca });
    await expect(guardedFetch(server.url(HOST, '/'), OPTIONS)).rejects.toMatchObject({
      name: 'OutboundFailedError',
      kind: 'connection',
      cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    });
    expect(server.requests).toEqual([]);
  });

  test('does not trust an unknown certificate authority', async () => {
    await using server = await startHttpsServer([HOST], answerOk);
    await expect(guardedFetchWith()(server.url(HOST, '/'), OPTIONS)).rejects.toMatchObject({
      kind: 'connection',
    });
    expect(server.requests).toEqual([]);
  });
});

describe('a guarded fetch refuses without a look-up', () => {
  test.each([
    ['url', ''],
    ['url', '/relative'],
    ['url', 'https://'],
    ['url', 'https://host:99999/'],
    ['scheme', 'http://client.example/'],
    ['scheme', 'file:///etc/passwd'],
    ['scheme', 'ftp://client.example/'],
    ['scheme', 'data:application/json,{}'],
    ['scheme', 'gopher://client.example/'],
    ['userinfo', 'https://user@client.example/'],
    ['userinfo', 'https://user:secret@client.example/'],
    ['userinfo', 'https://:secret@client.example/'],
  ])('%s: %s', async (kind, url) => {
    const guardedFetch = guardedFetchWith({ lookup: () => Promise.reject(new Error('asked')) });
    await expect(guardedFetch(url, OPTIONS)).rejects.toMatchObject({
      name: 'OutboundRefusedError',
      kind,
    });
  });
});

describe('a guarded fetch refuses addresses that are not public', () => {
  test.each([
    ['https://127.0.0.1/'],
    ['https://127.1/'],
    ['https://2130706433/'],
    ['https://0x7f.0.0.1/'],
    ['https://0177.0.0.1/'],
    ['https://10.0.0.1/'],
    ['https://169.254.169.254/latest/meta-data/'],
    ['https://[::1]/'],
    ['https://[::ffff:127.0.0.1]/'],
    ['https://[::ffff:a9fe:a9fe]/'],
    ['https://[64:ff9b::7f00:1]/'],
    ['https://[fd00::1]/'],
    ['https://0/'],
  ])('written as %s', async (url) => {
    const guardedFetch = guardedFetchWith({ lookup: () => Promise.reject(new Error('asked')) });
    await expect(guardedFetch(url, { ...OPTIONS, allowedCidrs: [] })).rejects.toMatchObject({
      name: 'OutboundRefusedError',
      kind: 'address',
    });
  });

  test.each([
    ['one private address', ['10.0.0.1']],
    ['a private address after a public one', ['8.8.8.8', '10.0.0.1']],
    ['a private address before a public one', ['192.168.0.1', '8.8.8.8']],
    ['a private IPv6 address after a public IPv4 one', ['8.8.8.8', 'fd00::1']],
    ['a mapped loopback address after public ones', ['2606:4700::1111', '::ffff:127.0.0.1']],
    ['what is no address', ['8.8.8.8', 'internal']],
  ])('among the answers of the name server: %s', async (_title, addresses) => {
    const answers = addresses.map((address) => ({ address, family: 4 }));
    const guardedFetch = guardedFetchWith({ lookup: () => Promise.resolve(answers) });
    await expect(
      guardedFetch('https://client.example/', { ...OPTIONS, allowedCidrs: [] }),
    ).rejects.toMatchObject({ name: 'OutboundRefusedError', kind: 'address' });
  });

  test('unless every one of them is in an allowed network', async () => {
    await using server = await startHttpsServer([HOST], answerOk);
    const url = server.url(HOST, '/');
    const guardedFetch = guardedFetchWith({
      ca: server.ca,
      lookup: () => Promise.resolve([LOOPBACK, { address: '10.0.0.1', family: 4 }]),
    });
    await expect(guardedFetch(url, OPTIONS)).rejects.toMatchObject({ kind: 'address' });
    const allowedCidrs = ['127.0.0.0/8', '10.0.0.0/8'];
    await expect(guardedFetch(url, { ...OPTIONS, allowedCidrs })).resolves.toMatchObject({
      status: 200,
    });
  });

  test('and does not resolve a name twice, so that DNS rebinding gets nowhere', async () => {
    await using server = await startHttpsServer([HOST], answerOk);
    const asked: string[] = [];
    const guardedFetch = guardedFetchWith({
      ca: server.ca,
      lookup: (hostname) => {
        asked.push(hostname);
        return Promise.resolve([asked.length === 1 ? LOOPBACK : PUBLIC]);
      },
    });
    const { status } = await guardedFetch(server.url(HOST, '/'), OPTIONS);
    expect(status).toBe(200);
    expect(asked).toEqual([HOST]);
  });
});

describe('a guarded fetch bounds the size of a response', () => {
  const chunk = 'x'.repeat(60);

  test('and accepts one that is just as long', async () => {
    await using server = await startHttpsServer([HOST], (_request, response) => {
      response.end('x'.repeat(100));
    });
    const { body } = await guardedFetchWith({ ca: server.ca })(server.url(HOST, '/'), OPTIONS);
    expect(body).toHaveLength(100);
  });

  test.each<[string, RequestListener]>([
    [
      'announced',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '101' }).write('secret');
      },
    ],
    [
      'streamed without an end',
      (_request, response) => {
        const more = (): void => {
          if (response.write(chunk)) setImmediate(more);
        };
        more();
      },
    ],
  ])('when it is %s', async (_title, listener) => {
    const closed = Promise.withResolvers<undefined>();
    await using server = await startHttpsServer([HOST], (request, response) => {
      response.on('close', () => {
        closed.resolve(undefined);
      });
      listener(request, response);
    });
    const guardedFetch = guardedFetchWith({ ca: server.ca });
    await expect(guardedFetch(server.url(HOST, '/'), OPTIONS)).rejects.toMatchObject({
      name: 'OutboundFailedError',
      kind: 'too-large',
      message: 'the response is longer than 100 bytes',
    });
    // The connection is gone: nobody goes on reading what nobody wants.
    await closed.promise;
  });
});

describe('a guarded fetch bounds the time of everything together', () => {
  const hurried = { ...OPTIONS, timeoutMs: 50 };

  test('when the name server does not answer', async () => {
    const guardedFetch = guardedFetchWith({ lookup: () => new Promise(() => undefined) });
    await expect(guardedFetch('https://client.example/', hurried)).rejects.toMatchObject({
      name: 'OutboundFailedError',
      kind: 'timeout',
    });
  });

  test('when the server does not answer', async () => {
    await using server = await startHttpsServer([HOST], () => undefined);
    const guardedFetch = guardedFetchWith({ ca: server.ca });
    await expect(guardedFetch(server.url(HOST, '/'), hurried)).rejects.toMatchObject({
      kind: 'timeout',
    });
  });

  test('when the body comes drop by drop', async () => {
    await using server = await startHttpsServer([HOST], (_request, response) => {
      const drip = setInterval(() => response.write('x'), 10);
      response.on('close', () => {
        clearInterval(drip);
      });
    });
    const guardedFetch = guardedFetchWith({ ca: server.ca });
    await expect(guardedFetch(server.url(HOST, '/'), hurried)).rejects.toMatchObject({
      kind: 'timeout',
    });
  });

  test('and ends when its caller gives up', async () => {
    await using server = await startHttpsServer([HOST], () => {
      caller.abort();
    });
    const caller = new AbortController();
    const guardedFetch = guardedFetchWith({ ca: server.ca });
    await expect(
      guardedFetch(server.url(HOST, '/'), { ...OPTIONS, signal: caller.signal }),
    ).rejects.toMatchObject({ name: 'OutboundFailedError', kind: 'aborted' });
  });

  test('and does not begin for a caller that has given up', async () => {
    const signal = AbortSignal.abort();
    await expect(
      guardedFetchWith()('https://client.example/', { ...OPTIONS, signal }),
    ).rejects.toMatchObject({ kind: 'aborted' });
  });
});

describe('a guarded fetch fails', () => {
  test.each([
    ['is not known', () => Promise.reject(new Error('ENOTFOUND'))],
    ['has no address', () => Promise.resolve([])],
  ])('for a host that %s', async (_title, lookup) => {
    await expect(
      guardedFetchWith({ lookup })('https://client.example/', OPTIONS),
    ).rejects.toMatchObject({ name: 'OutboundFailedError', kind: 'dns' });
  });

  test('when the connection breaks in the middle of the body', async () => {
    await using server = await startHttpsServer([HOST], (_request, response) => {
      response.writeHead(200, { 'content-length': '50' }).write('secret', () => {
        response.destroy();
      });
    });
    const guardedFetch = guardedFetchWith({ ca: server.ca });
    const failure = guardedFetch(server.url(HOST, '/'), OPTIONS);
    await expect(failure).rejects.toMatchObject({
      kind: 'connection',
      message: `${HOST}:${String(server.port)} could not be fetched from`,
    });
  });
});

describe('with the development flag, a guarded fetch', () => {
  async function startHttpServer() {
    const server = createServer(answerOk).listen(0, '127.0.0.1');
    await once(server, 'listening');
    // A TCP server's address is one.
    const { port } = server.address() as AddressInfo;
    return {
      port,
      [Symbol.asyncDispose]: async () => {
        server.close();
        await once(server, 'close');
      },
    };
  }

  test.each(['127.0.0.1', 'localhost'])('reaches http on %s', async (host) => {
    await using server = await startHttpServer();
    const guardedFetch = guardedFetchWith({ devAllowLoopback: true });
    const url = `http://${host}:${String(server.port)}/`;
    await expect(guardedFetch(url, { ...OPTIONS, allowedCidrs: [] })).resolves.toMatchObject({
      status: 200,
    });
  });

  test('reaches https on loopback', async () => {
    await using server = await startHttpsServer([HOST], answerOk);
    const guardedFetch = guardedFetchWith({ devAllowLoopback: true, ca: server.ca });
    await expect(
      guardedFetch(server.url(HOST, '/'), { ...OPTIONS, allowedCidrs: [] }),
    ).resolves.toMatchObject({ status: 200 });
  });

  test.each([['8.8.8.8'], ['10.0.0.1']])('does not speak http to %s', async (address) => {
    const guardedFetch = guardedFetchWith({
      devAllowLoopback: true,
      lookup: () => Promise.resolve([LOOPBACK, { address, family: 4 }]),
    });
    await expect(
      guardedFetch('http://client.example/', { ...OPTIONS, allowedCidrs: ['10.0.0.0/8'] }),
    ).rejects.toMatchObject({ name: 'OutboundRefusedError', kind: 'address' });
  });

  test('does not reach other private addresses', async () => {
    const guardedFetch = guardedFetchWith({ devAllowLoopback: true });
    await expect(
      guardedFetch('https://10.0.0.1/', { ...OPTIONS, allowedCidrs: [] }),
    ).rejects.toMatchObject({ kind: 'address' });
  });
});

test('a guarded fetch heeds no proxy and no disabled TLS check of the environment', async () => {
  await using server = await startHttpsServer([HOST], answerOk);
  const module = new URL('../../../../proxy/outbound/guarded-fetch.ts', import.meta.url).href;
  const program = `
    import { createGuardedFetch } from ${JSON.stringify(module)};
    const lookup = async () => [{ address: '127.0.0.1', family: 4 }];
    const options = ${JSON.stringify(OPTIONS)};
    const attempt = (ca) => createGuardedFetch({ devAllowLoopback: false, lookup, ca })(
      ${JSON.stringify(server.url(HOST, '/'))}, options,
    ).then(({ status }) => String(status), ({ kind }) => kind);
    console.log(await attempt(${JSON.stringify(server.ca)}), await attempt());
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program],
    {
      env: {
        NODE_USE_ENV_PROXY: '1',
        HTTPS_PROXY: 'http://127.0.0.1:1',
        HTTP_PROXY: 'http://127.0.0.1:1',
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
      },
    },
  );
  expect(stdout.trim()).toBe('200 connection');
});
