import { type IncomingMessage } from 'node:http';

import { describe, expect, test } from '@jest/globals';

import { startHttpsServer } from '../../../support/https-server.ts';
import {
  HOST,
  LOOPBACK,
  PUBLIC,
  OPTIONS,
  guardedFetchWith,
  answerOk,
} from '../../../support/guarded-fetch-fixture.ts';

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

  test('sends only the headers that the request needs', async () => {
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

  test.each([404, 500])('returns status %i like any other', async (status) => {
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
  ])('in the response of the name server: %s', async (_title, addresses) => {
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

  test('and resolves a name only once (DNS rebinding)', async () => {
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
