import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates, TLSSocket } from 'node:tls';

import { afterAll, describe, expect, test } from '@jest/globals';

import { startHttpsServer } from '../../../support/https-server.ts';
import { MEBIBYTE } from '../../../support/forwarder-wire.ts';
import { sendThrough, TestPool } from '../../../support/pool-request.ts';
import { startRawUpstream } from '../../../support/upstream.ts';
import { createThrowawayAuthority } from '../../../support/throwaway-authority.ts';

const trusted = getCACertificates('default');

afterAll(() => setDefaultCACertificates(trusted));

function trust(ca: string): void {
  setDefaultCACertificates([...trusted, ca]);
}

describe('An upstream with TLS', () => {
  test('is asked by its name, and its connection is used again', async () => {
    await using server = await startHttpsServer(['localhost'], (message, response) => {
      message.pipe(response);
    });
    trust(server.ca);
    using pool = new TestPool(server.port, { isTls: true, host: 'localhost' });
    for (const text of ['a', 'b', 'c'.repeat(100_000)]) {
      const request = sendThrough(pool, { method: 'POST', body: Buffer.from(text) });
      expect((await request.response).body.toString()).toBe(text);
    }
    expect(server.serverNames).toStrictEqual(['localhost']);
  });

  test('with a certificate for its address is asked without a name', async () => {
    await using server = await startHttpsServer(['127.0.0.1'], (_message, response) => {
      response.end('ok');
    });
    trust(server.ca);
    using pool = new TestPool(server.port, { isTls: true });
    expect((await sendThrough(pool).response).status).toBe(200);
    expect(server.serverNames).toStrictEqual(['']);
  });

  test('sends large responses unchanged, several at a time', async () => {
    const sent = Buffer.alloc(5 * MEBIBYTE);
    for (let at = 0; at < sent.length; at += 4) sent.writeUInt32LE(at, at);
    await using server = await startHttpsServer(['localhost'], (_message, response) => {
      response.end(sent);
    });
    trust(server.ca);
    using pool = new TestPool(server.port, { isTls: true, host: 'localhost' });
    const all = await Promise.all([1, 2, 3, 4].map(() => sendThrough(pool).response));
    for (const { body } of all) expect(body.equals(sent)).toBe(true);
  });

  test.each<[string, string[], boolean, Date | undefined]>([
    ['of an unknown authority', ['localhost'], false, undefined],
    ['for another name', ['other.test'], true, undefined],
    ['that has expired', ['localhost'], true, new Date('2021-01-01T00:00:00Z')],
  ])('and a certificate %s gets no request', async (_what, names, isTrusted, validTo) => {
    const authority = createThrowawayAuthority();
    const requests: string[] = [];
    const issued = authority.issue(names, validTo && { validTo });
    const server = createServer(issued, ({ url = '' }, response) => {
      requests.push(url);
      response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    if (isTrusted) trust(authority.ca);
    const { port } = server.address() as AddressInfo; // a TCP server has one of this type
    using pool = new TestPool(port, { isTls: true, host: 'localhost' });
    const { response, events } = sendThrough(pool);
    await expect(response).rejects.toMatchObject({ code: 'connect-failed' });
    expect(events).toStrictEqual(['error']);
    expect(requests).toStrictEqual([]);
    server.close();
  });

  test('continues the session of an earlier connection', async () => {
    const isReused: boolean[] = [];
    await using server = await startHttpsServer(['localhost'], ({ socket }, response) => {
      isReused.push(socket instanceof TLSSocket && socket.isSessionReused());
      response.setHeader('Connection', 'close').end('ok');
    });
    trust(server.ca);
    using pool = new TestPool(server.port, { isTls: true, host: 'localhost' });
    for (let count = 0; count < 3; count += 1) await sendThrough(pool).response;
    expect(isReused).toStrictEqual([false, true, true]);
  });

  test('that is plain is no upstream', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    });
    using pool = new TestPool(upstream.port, { isTls: true });
    await expect(sendThrough(pool).response).rejects.toMatchObject({ code: 'connect-failed' });
  });
});
