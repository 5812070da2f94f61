import { text } from 'node:stream/consumers';

import { describe, expect, test } from '@jest/globals';

import { ANY_ADDRESS } from '../../../../proxy/outbound/guarded-fetch.ts';
import {
  answerOk,
  guardedFetchWith,
  HOST,
  LOOPBACK,
  OPTIONS,
} from '../../../support/guarded-fetch-fixture.ts';
import { startHttpsServer } from '../../../support/https-server.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const POST = { ...OPTIONS, method: 'POST', headers: FORM, body: 'code=ü&x=1' } as const;

describe('a guarded fetch sends', () => {
  test('a body with its length, and the fields that it is given', async () => {
    const received: unknown[] = [];
    await using server = await startHttpsServer([HOST], (request, response) => {
      void text(request).then((body) => {
        received.push({ method: request.method, headers: request.headers, body });
        response.end();
      });
    });
    await guardedFetchWith({ ca: server.ca })(server.url(HOST, '/token'), POST);
    expect(received).toEqual([
      {
        method: 'POST',
        body: POST.body,
        headers: {
          ...FORM,
          accept: 'application/json',
          'accept-encoding': 'identity',
          'content-length': '11',
          'user-agent': 'gatehouse',
          connection: 'close',
          host: `${HOST}:${String(server.port)}`,
        },
      },
    ]);
  });

  test.each([0, OPTIONS.maxBytes])(
    'nothing to a server that changes the protocol, and wants %i bytes of it',
    async (maxBytes) => {
      await using server = await startHttpsServer([HOST], ({ socket }) => {
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
        );
      });
      const guardedFetch = guardedFetchWith({ ca: server.ca });
      await expect(
        guardedFetch(server.url(HOST, '/'), { ...OPTIONS, maxBytes }),
      ).rejects.toMatchObject({ kind: 'connection', message: 'the server changed the protocol' });
    },
  );

  test.each([301, 302, 303, 307, 308])('a body nowhere else, after a %i', async (status) => {
    await using server = await startHttpsServer([HOST], (_request, response) => {
      response.writeHead(status, { location: '/elsewhere' }).end();
    });
    const guardedFetch = guardedFetchWith({ ca: server.ca });
    expect(await guardedFetch(server.url(HOST, '/token'), POST)).toMatchObject({ status });
    expect(server.requests).toEqual(['/token']);
  });

  test('nothing to a host that is on no allowed domain, and does not even look it up', async () => {
    const lookups: string[] = [];
    const guardedFetch = guardedFetchWith({
      lookup: (hostname) => {
        lookups.push(hostname);
        return Promise.resolve([LOOPBACK]);
      },
    });
    const fetchOn = (...allowedDomains: readonly string[]) =>
      guardedFetch(`https://${HOST}/`, { ...POST, allowedDomains });
    const refused = { name: 'OutboundRefusedError', kind: 'domain' };
    await expect(fetchOn()).rejects.toMatchObject(refused);
    await expect(fetchOn(`*.${HOST}`, 'other.example')).rejects.toMatchObject(refused);
    await expect(fetchOn('example')).rejects.toMatchObject(refused);
    expect(lookups).toEqual([]);
  });
});

test('a guarded fetch reaches a host on an allowed domain', async () => {
  await using server = await startHttpsServer([HOST], answerOk);
  const options = { ...OPTIONS, allowedDomains: ['*.example'] };
  const response = await guardedFetchWith({ ca: server.ca })(server.url(HOST, '/'), options);
  expect(response.status).toBe(200);
});

test('a guarded fetch leaves a body unread that is not wanted', async () => {
  await using server = await startHttpsServer([HOST], (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
  });
  const options = { ...OPTIONS, maxBytes: 0 };
  const response = await guardedFetchWith({ ca: server.ca })(server.url(HOST, '/'), options);
  expect(response).toMatchObject({ status: 200, body: Buffer.alloc(0) });
});

test.each(['10.0.0.1', '127.0.0.1', '169.254.169.254', '::1', 'fd00::1', '::ffff:10.0.0.1'])(
  'a guarded fetch may be allowed every address: %s',
  async (address) => {
    const family = address.includes(':') ? 6 : 4;
    const lookup = () => Promise.resolve([{ address, family }]);
    const fetchAt = (allowedCidrs: readonly string[]) =>
      guardedFetchWith({ lookup })('https://client.example:1/', {
        ...OPTIONS,
        allowedCidrs,
        timeoutMs: 50,
      });
    await expect(fetchAt([])).rejects.toMatchObject({ kind: 'address' });
    await expect(fetchAt(ANY_ADDRESS)).rejects.toMatchObject({ name: 'OutboundFailedError' });
  },
);

test.each(['x.localhost', 'x.y.LOCALHOST'])(
  'the name %s is this machine, whatever a name server says',
  async (name) => {
    const lookup = () => Promise.reject(new Error('no such name'));
    await expect(
      guardedFetchWith({ lookup })(`https://${name}:1/`, { ...OPTIONS, allowedCidrs: [] }),
    ).rejects.toMatchObject({
      kind: 'address',
      message: `${name.toLowerCase()} is at 127.0.0.1, which is off limits`,
    });
  },
);
