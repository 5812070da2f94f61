import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';

import { describe, expect, test } from '@jest/globals';

import { startHttpsServer } from '../../../support/https-server.ts';
import {
  HOST,
  LOOPBACK,
  OPTIONS,
  guardedFetchWith,
  answerOk,
} from '../../../support/guarded-fetch-fixture.ts';

describe('a guarded fetch bounds the size of a response', () => {
  const chunk = 'x'.repeat(60);

  test('and accepts one of exactly the maximum', async () => {
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
    // The connection is closed: the rest of the body is not read.
    await closed.promise;
  });
});

describe('a guarded fetch bounds the time of everything together', () => {
  const hurried = { ...OPTIONS, timeoutMs: 50 };

  test('when the name server does not respond', async () => {
    const guardedFetch = guardedFetchWith({ lookup: () => new Promise(() => undefined) });
    await expect(guardedFetch('https://client.example/', hurried)).rejects.toMatchObject({
      name: 'OutboundFailedError',
      kind: 'timeout',
    });
  });

  test('when the server does not respond', async () => {
    await using server = await startHttpsServer([HOST], () => undefined);
    const guardedFetch = guardedFetchWith({ ca: server.ca });
    await expect(guardedFetch(server.url(HOST, '/'), hurried)).rejects.toMatchObject({
      kind: 'timeout',
    });
  });

  test('when the body arrives slowly', async () => {
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

  test('and ends when its caller aborts', async () => {
    await using server = await startHttpsServer([HOST], () => {
      caller.abort();
    });
    const caller = new AbortController();
    const guardedFetch = guardedFetchWith({ ca: server.ca });
    await expect(
      guardedFetch(server.url(HOST, '/'), { ...OPTIONS, signal: caller.signal }),
    ).rejects.toMatchObject({ name: 'OutboundFailedError', kind: 'aborted' });
  });

  test('and does not begin if its caller has aborted', async () => {
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

  test.each([['8.8.8.8'], ['10.0.0.1']])('does not use http for %s', async (address) => {
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

test('a guarded fetch ignores a proxy and a disabled TLS check in the environment', async () => {
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
