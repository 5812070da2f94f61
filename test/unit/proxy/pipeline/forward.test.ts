import { describe, expect, test } from '@jest/globals';

import { ClientGoneError } from '../../../../proxy/errors/request-errors.ts';
import { UpstreamUnreachableError } from '../../../../proxy/errors/upstream-errors.ts';
import type { RelayPlan } from '../../../../proxy/forwarding/response/response-plan.ts';
import { startFront } from '../../../support/front.ts';
import { RawClient } from '../../../support/raw-http.ts';
import { GET, later, refuseFirst, RELAY, repeatRefused } from '../../../support/response-plans.ts';
import { startRawUpstream, startUpstream } from '../../../support/upstream.ts';

describe('forwarding', () => {
  test('reports what happened once the response is over', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('served'));
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    await client.response();
    expect(await front.forwarded(0)).toEqual({
      status: 200,
      bytes: 6,
      sentAt: expect.any(Number),
      firstByteMs: expect.any(Number),
      upstream: upstream.origin,
      ended: 'complete',
      failure: undefined,
    });
  });

  test('reports a client that left, and the bytes that it had got', async () => {
    await using upstream = await startUpstream((_message, response) => response.write('part'));
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    await client.receives('part');
    client.socket.destroy();
    expect(await front.forwarded(0)).toMatchObject({ ended: 'client-gone', bytes: 4 });
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
  });

  test('reports an upstream that broke off, and the bytes that it had sent', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(200, { 'content-length': 10 });
      response.write('part', () => setTimeout(() => response.destroy(), 20));
    });
    await using front = await startFront({ upstream: upstream.origin });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect(await front.forwarded(0)).toMatchObject({ status: 200, ended: 'cut-off', bytes: 4 });
    expect(await front.outcome(0)).toBeInstanceOf(UpstreamUnreachableError);
  });
});

describe('while a plan is pending', () => {
  test('the whole answer of an upstream that closes its connection is kept', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => {
        socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nserved until the end');
      });
    });
    await using front = await startFront({
      upstream: upstream.origin,
      plan: () => later(() => RELAY),
    });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect((await client.response()).body).toBe('served until the end');
  });

  test('an upstream that breaks off causes 502', async () => {
    const reset = Promise.withResolvers<undefined>();
    await using upstream = await startRawUpstream((socket) => {
      socket.once('close', () => reset.resolve(undefined));
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\npart', () => {
          socket.resetAndDestroy();
        });
      });
    });
    await using front = await startFront({
      upstream: upstream.origin,
      plan: () => async (answer) => {
        await reset.promise;
        return later(() => RELAY)(answer);
      },
    });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect((await client.response()).status).toBe(502);
    expect(await front.outcome(0)).toBeInstanceOf(UpstreamUnreachableError);
  });

  test('a client that leaves aborts the request at the upstream', async () => {
    await using upstream = await startUpstream((_message, response) => response.write('part'));
    const planned = Promise.withResolvers<RelayPlan>();
    const asked = Promise.withResolvers<undefined>();
    await using front = await startFront({
      upstream: upstream.origin,
      plan: () => () => {
        asked.resolve(undefined);
        return planned.promise;
      },
    });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    await asked.promise;
    client.socket.destroy();
    expect(await front.outcome(0)).toBeInstanceOf(ClientGoneError);
    expect(await (await upstream.request(0)).finished).toBe(false);
    planned.resolve(RELAY);
    await planned.promise;
  });

  test('a client that leaves prevents a repeated request', async () => {
    await using upstream = await startUpstream(refuseFirst());
    const proceed = Promise.withResolvers<undefined>();
    const asked = Promise.withResolvers<undefined>();
    await using front = await startFront({
      upstream: upstream.origin,
      plan: (again) => async (answer) => {
        asked.resolve(undefined);
        await proceed.promise;
        return repeatRefused(again)(answer);
      },
    });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    await asked.promise;
    client.socket.destroy();
    await front.outcome(0);
    proceed.resolve(undefined);
    await new Promise((resolve) => setImmediate(resolve));
    expect(upstream.requests).toHaveLength(1);
  });
});
