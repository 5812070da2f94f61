import { connect } from 'node:http2';
import { connect as connectTls } from 'node:tls';

import { describe, expect, it, jest } from '@jest/globals';

import { LONGEST_PROXY_LINE_BYTES } from '../../../../shared/snapshot/push-frames.ts';
import { eventually } from '../../../support/eventually.ts';
import { pushedRoute, pushedRoutes } from '../../../support/push/push-resources.ts';
import { aLeadership, startPushWorld } from '../../../support/push/push-world.ts';

const SECRET = 'very-secret-value';

describe('a request for a stream', () => {
  it.each([
    ['of another path', { ':path': '/v2/stream' }, 404],
    ['with another method', { ':method': 'GET' }, 405],
    ['of an older protocol version', { 'x-proto': '2' }, 400],
    ['of a newer protocol version', { 'x-proto': '5' }, 400],
    ['without a protocol version', { 'x-proto': '' }, 400],
    ['without a token', { authorization: '' }, 401],
    ['with basic credentials', { authorization: 'Basic YTpi' }, 401],
    ['with a wrong token', { authorization: 'Bearer other' }, 401],
    ['without a name', { 'x-proxy-id': '' }, 400],
    ['with a malformed name', { 'x-proxy-id': 'proxy 0\t{}' }, 400],
    ['with a malformed snapshot', { 'x-have': '1.2:abc' }, 400],
    ['with a position that overflows', { 'x-have': `1${'0'.repeat(15)}.1:${'a'.repeat(64)}` }, 400],
    ['with a malformed number of routes', { 'x-routes': '-1' }, 400],
  ])('%s is refused', async (_, headers, status) => {
    await using world = await startPushWorld({ timing: { closeMs: 50 } });
    world.lead(aLeadership(1)).publish({ put: [pushedRoute('a')], deleted: [] });
    const proxy = await world.connect({ id: 'proxy-0', headers });
    expect(proxy.status).toBe(status);
    await eventually('the end of the connection', () => proxy.isDisconnected);
    expect(proxy.bytes).toBe(0);
  });

  it('of another protocol version is refused with the reason, before its token is read', async () => {
    const authenticate = jest.fn<() => Promise<never>>();
    await using world = await startPushWorld({ authenticate });
    world.lead(aLeadership(1)).publish({ put: [pushedRoute('a')], deleted: [] });
    const proxy = await world.connect({ id: 'proxy-0', headers: { 'x-proto': '2' } });
    expect(proxy.headers['x-reason']).toBe('unknown-protocol');
    expect(authenticate).not.toHaveBeenCalled();
  });

  it('is refused with `no-leader` by a controller that knows no leader', async () => {
    await using world = await startPushWorld();
    const proxy = await world.connect({ id: 'proxy-0' });
    expect(proxy.status).toBe(503);
    expect(proxy.headers['x-leader']).toBeUndefined();
    expect(proxy.headers['x-reason']).toBe('no-leader');
  });

  it('is refused with a reason, and the holder of the token is logged once', async () => {
    const detail = { tokenOf: 'finance/gatehouse-proxy', expected: 'gatehouse/gatehouse-proxy' };
    await using world = await startPushWorld({
      authenticate: () =>
        Promise.resolve({ kind: 'refused', status: 403, reason: 'not-a-proxy', detail }),
    });
    world.lead(aLeadership(1));
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const proxy = await world.connect({ id: 'proxy-0', token: SECRET });
      expect([proxy.status, proxy.headers['x-reason']]).toEqual([403, 'not-a-proxy']);
    }
    await world.connect({ id: 'proxy-1', token: SECRET });
    expect(world.logger.records).toEqual(
      ['proxy-0', 'proxy-1'].map((proxy) => ({
        level: 'warn',
        message: 'push stream refused',
        fields: { proxy, reason: 'not-a-proxy', ...detail },
      })),
    );
  });

  it('is refused at once when the proxy cannot be authenticated', async () => {
    await using world = await startPushWorld({
      authenticate: () => Promise.resolve({ kind: 'refused', status: 503, reason: 'away' }),
    });
    world.lead(aLeadership(1));
    expect((await world.connect({ id: 'proxy-0' })).status).toBe(503);
  });

  it('is accepted over HTTP/2 and TLS 1.2 or later only', async () => {
    await using world = await startPushWorld();
    const { port, authority } = world;
    const tried = async (options: object): Promise<string> => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const socket = connectTls({ port, host: '127.0.0.1', ca: authority.ca, ...options });
      socket.once('secureConnect', () => resolve(`connected ${String(socket.alpnProtocol)}`));
      socket.once('error', () => resolve('refused'));
      const outcome = await promise;
      socket.destroy();
      return outcome;
    };
    expect(await tried({ ALPNProtocols: ['h2'] })).toBe('connected h2');
    expect(await tried({ ALPNProtocols: ['http/1.1'] })).toBe('refused');
    expect(await tried({ ALPNProtocols: ['h2'], maxVersion: 'TLSv1.1', minVersion: 'TLSv1' })).toBe(
      'refused',
    );
  });
});

describe('a connection', () => {
  it('without an authenticated proxy is closed soon', async () => {
    await using world = await startPushWorld({ timing: { authenticationMs: 50 } });
    world.lead(aLeadership(1)).publish({ put: [pushedRoute('a')], deleted: [] });
    const session = connect(`https://127.0.0.1:${String(world.port)}`, { ca: world.authority.ca });
    session.on('error', () => undefined);
    const proxy = await world.connect({ id: 'proxy-0' });
    await eventually('its end', () => session.destroyed);
    expect(proxy.isClosed).toBe(false);
  });

  it('without an authenticated proxy makes room for others', async () => {
    await using world = await startPushWorld({ timing: { authenticationMs: 600_000 } });
    world.lead(aLeadership(1)).publish({ put: [pushedRoute('a')], deleted: [] });
    const good = await world.connect({ id: 'proxy-0' });
    const strangers = Array.from({ length: 150 }, () => {
      const session = connect(`https://127.0.0.1:${String(world.port)}`, {
        ca: world.authority.ca,
      });
      return session.on('error', () => undefined);
    });
    await eventually('the end of most', () => {
      return strangers.filter(({ destroyed }) => destroyed).length >= 150 - 64;
    });
    const late = await world.connect({ id: 'proxy-1' });
    expect(late.status).toBe(200);
    expect(good.isClosed).toBe(false);
    for (const session of strangers) session.destroy();
  });
});

describe('a stream', () => {
  it.each([
    ['is not JSON', `{"t":"${SECRET}\n`],
    ['is of an unknown type', `{"t":"${SECRET}"}\n`],
    ['lacks members', `{"t":"ack","epoch":1,"seq":"${SECRET}"}\n`],
    ['answers what was not sent', `{"t":"nack","epoch":1,"seq":9,"rejected":[],"version":null}\n`],
    ['is not UTF-8', Buffer.from(`{"t":"status","x":"${SECRET}\xe4"}\n`, 'latin1')],
    ['is too long', 'x'.repeat(LONGEST_PROXY_LINE_BYTES + 1)],
  ])('ends with a line that %s', async (_, line) => {
    await using world = await startPushWorld();
    world.lead(aLeadership(1)).publish({ put: [pushedRoute('a')], deleted: [] });
    const proxy = await world.connect({ id: 'proxy-0' });
    await eventually('a snapshot', () => proxy.serving !== undefined);
    proxy.send(line);
    await eventually('its end', () => proxy.isClosed);
    const record = world.logger.records.find(({ level }) => level !== 'info');
    expect(record).toMatchObject({ level: 'warn', message: 'proxy broke the push protocol' });
    expect(record?.fields['proxy']).toBe('proxy-0');
    expect(JSON.stringify(world.logger.records)).not.toContain(SECRET);
  });

  it('ends when the proxy acknowledges a snapshot that it was not sent', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    const proxy = await world.connect({ id: 'proxy-0', answer: () => 'silence' });
    await eventually('a snapshot', () => proxy.received.length === 1);
    proxy.send({ t: 'ack', epoch: 1, seq: 1, version: 'a'.repeat(64), appliedMs: 1 });
    await eventually('its end', () => proxy.isClosed);
    expect(publication.rolloutState('route/default/a')).toEqual({ kind: 'no-proxies' });
  });

  it('ends when the proxy sends too many status frames', async () => {
    await using world = await startPushWorld();
    world.lead(aLeadership(1)).publish({ put: [pushedRoute('a')], deleted: [] });
    const proxy = await world.connect({ id: 'proxy-0' });
    for (let index = 0; index < 50; index += 1) {
      proxy.send({ t: 'status', ready: true, draining: index % 2 === 0, conns: 0 });
    }
    await eventually('its end', () => proxy.isClosed);
    expect(world.logger.records.find(({ level }) => level === 'warn')?.fields).toEqual({
      proxy: 'proxy-0',
      reason: 'too many status frames',
    });
  });

  it('replaces the stream that the same proxy had', async () => {
    await using world = await startPushWorld({ timing: { closeMs: 50 } });
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    const first = await world.connect({ id: 'proxy-0' });
    await eventually('a snapshot', () => first.serving !== undefined);
    const second = await world.connect({ id: 'proxy-0', serving: first.serving });
    await eventually('the end of the first', () => first.isDisconnected);
    expect(first.frames.at(-1)).toEqual({ t: 'goaway', reason: 'replaced' });
    publication.publish({ put: [pushedRoute('a', 2)], deleted: [] });
    await eventually('the newest', () => second.serving?.position.sequence === 2);
    expect(publication.proxies).toMatchObject([{ id: 'proxy-0', isConnected: true }]);
  });

  it('is logged once per minute as a duplicate while two proxies have the same id', async () => {
    await using world = await startPushWorld({ timing: { closeMs: 50 } });
    world.lead(aLeadership(1)).publish({ put: [pushedRoute('a')], deleted: [] });
    for (let turn = 0; turn < 10; turn += 1) await world.connect({ id: 'proxy-0' });

    expect(world.logger.records.map(({ message }) => message)).toEqual([
      'proxy connected',
      'duplicate proxy id',
    ]);
  });

  it('ends at its age, and the proxy still counts', async () => {
    await using world = await startPushWorld({ timing: { streamLifeMs: 100 } });
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: [pushedRoute('a')], deleted: [] });
    const proxy = await world.connect({ id: 'proxy-0' });
    await eventually('its end', () => proxy.isDisconnected);
    expect(proxy.frames.at(-1)).toEqual({ t: 'goaway', reason: 'age' });
    expect(publication.rolloutState('route/default/a')).toEqual({ kind: 'programmed' });
  });

  it('stays open while the proxy answers pings', async () => {
    await using world = await startPushWorld({ timing: { pingMs: 15 } });
    world.lead(aLeadership(1)).publish({ put: [pushedRoute('a')], deleted: [] });
    const proxy = await world.connect({ id: 'proxy-0' });
    await eventually('pings', () => proxy.frames.filter(({ t }) => t === 'ping').length > 10);
    expect(proxy.isClosed).toBe(false);
  });

  it('ends with a `goaway` when the server closes', async () => {
    await using world = await startPushWorld();
    world.lead(aLeadership(1)).publish({ put: [pushedRoute('a')], deleted: [] });
    const proxy = await world.connect({ id: 'proxy-0' });
    await eventually('a snapshot', () => proxy.serving !== undefined);
    await world.server.close();
    await eventually('its end', () => proxy.isDisconnected);
    expect(proxy.frames.at(-1)).toEqual({ t: 'goaway', reason: 'shutdown' });
  });

  it('buffers little for a proxy that does not read', async () => {
    await using world = await startPushWorld();
    const publication = world.lead(aLeadership(1));
    publication.publish({ put: pushedRoutes(2000), deleted: [] });
    const deaf = await world.connect({ id: 'proxy-0' });
    deaf.pause();
    const other = await world.connect({ id: 'proxy-1' });
    await eventually('the first', () => other.serving?.position.sequence === 1);
    const before = process.memoryUsage().arrayBuffers;
    for (let generation = 2; generation < 60; generation += 1) {
      const put = pushedRoutes(200).map((_, index) =>
        pushedRoute(`route-${String(index)}`, generation),
      );
      publication.publish({ put, deleted: [] });
      await eventually('all but one', () => other.serving?.position.sequence === generation);
    }
    globalThis.gc?.();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10 * 1024 * 1024);
    deaf.resume();
    await eventually('the newest', () => deaf.serving?.position.sequence === 59);
    expect(deaf.received.map(({ position }) => position.sequence)).toEqual([1, 59]);
  });
});
