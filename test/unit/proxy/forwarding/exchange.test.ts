import { describe, expect, test } from '@jest/globals';

import { ForbiddenError } from '../../../../proxy/errors/denial-errors.ts';
import type {
  BodyFilter,
  ResponsePlanner,
} from '../../../../proxy/forwarding/response/response-plan.ts';
import { startFront } from '../../../support/front.ts';
import type { UpstreamRequest } from '../../../../proxy/forwarding/request/upstream-request.ts';
import { headerOf, RawClient } from '../../../support/raw-http.ts';
import { GET, later, refuseFirst, RELAY, repeatRefused } from '../../../support/response-plans.ts';
import { startUpstream } from '../../../support/upstream.ts';

const HEAD = GET.replace('GET', 'HEAD');
const POST = 'POST /x HTTP/1.1\r\nHost: app.test\r\nContent-Length: 4\r\n\r\nbody';
const STREAMED_POST =
  'POST /x HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n';

const DENY = { kind: 'answer', error: new ForbiddenError('no-websockets') } as const;

/** Writes in capitals, and how many chunks there were at the end. */
function capitals(): BodyFilter {
  let chunks = 0;
  return {
    write: (chunk) => {
      chunks += 1;
      return Buffer.from(chunk.toString().toUpperCase());
    },
    end: () => Buffer.from(`;${String(chunks)}`),
  };
}

describe.each([
  ['at once', (plan: ResponsePlanner) => plan],
  ['later', later],
])('a plan that is made %s', (_when, timed) => {
  test('relays the body through a filter, without the length of the original', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(200, { 'content-length': 6 });
      response.end('served');
    });
    await using front = await startFront({
      upstream: upstream.origin,
      plan: () => timed(() => ({ ...RELAY, body: capitals() })),
    });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    const response = await client.response();
    expect(response.body).toBe('SERVED;1');
    expect(headerOf(response, 'content-length')).toBeUndefined();
    expect(await front.forwarded(0)).toMatchObject({ bytes: 8, ended: 'complete' });
  });

  test('filters a stream chunk by chunk', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: a\n\n');
    });
    await using front = await startFront({
      upstream: upstream.origin,
      plan: () => timed(() => ({ ...RELAY, body: capitals() })),
    });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    await client.receives('DATA: A');
    const { response } = await upstream.request(0);
    response.end('data: b\n\n');
    expect((await client.response()).body).toBe('DATA: A\n\nDATA: B\n\n;2');
  });

  test('does not filter the answer to HEAD', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeHead(200, { 'content-length': 6 });
      response.end();
    });
    await using front = await startFront({
      upstream: upstream.origin,
      plan: () => timed(() => ({ ...RELAY, body: capitals() })),
    });
    await using client = await RawClient.connect(front.port);
    client.send(HEAD);
    const response = await client.response({ toHead: true });
    expect(response).toMatchObject({ status: 200, body: '' });
    expect(await front.forwarded(0)).toMatchObject({ bytes: 0, ended: 'complete' });
  });

  test('cuts the response off when the filter fails', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('served'));
    const error = new Error('cannot be filtered');
    const failing: BodyFilter = {
      write: () => {
        throw error;
      },
      end: () => Buffer.alloc(0),
    };
    await using front = await startFront({
      upstream: upstream.origin,
      plan: () => timed(() => ({ ...RELAY, body: failing })),
    });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect(await front.forwarded(0)).toMatchObject({ ended: 'cut-off', failure: error });
  });

  test.each([
    ['without a body', GET, 'ok '],
    ['with a short body', POST, 'ok body'],
  ])('sends a request %s again, and relays the second answer', async (_name, bytes, expected) => {
    await using upstream = await startUpstream(refuseFirst());
    await using front = await startFront({
      upstream: upstream.origin,
      plan: (again) => timed(repeatRefused(again)),
    });
    await using client = await RawClient.connect(front.port);
    client.send(bytes);
    expect(await client.response()).toMatchObject({ status: 200, body: expected });
    expect(upstream.requests).toHaveLength(2);
    expect(await front.forwarded(0)).toMatchObject({ status: 200, ended: 'complete' });
  });

  test('sends a body again that was read before forwarding', async () => {
    await using upstream = await startUpstream(refuseFirst());
    await using front = await startFront({
      upstream: upstream.origin,
      buffers: true,
      plan: (again) => timed(repeatRefused(again)),
    });
    await using client = await RawClient.connect(front.port);
    client.send(STREAMED_POST);
    expect((await client.response()).body).toBe('ok body');
  });

  test('can send a request again only once', async () => {
    await using upstream = await startUpstream((message, response) => {
      message.resume();
      response.writeHead(401).end('still not');
    });
    await using front = await startFront({
      upstream: upstream.origin,
      plan: (again) => timed(repeatRefused(again)),
    });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect(await client.response()).toMatchObject({ status: 401, body: 'still not' });
    expect(upstream.requests).toHaveLength(2);
  });

  test('cannot send a request again whose body was passed on as a stream', async () => {
    await using upstream = await startUpstream(refuseFirst());
    await using front = await startFront({
      upstream: upstream.origin,
      plan: (again) => timed(repeatRefused(again)),
    });
    await using client = await RawClient.connect(front.port);
    client.send(STREAMED_POST);
    expect(await client.response()).toMatchObject({ status: 401, body: 'who are you?' });
    expect(upstream.requests).toHaveLength(1);
  });

  test('cannot send the upstream request of a different client request', async () => {
    await using upstream = await startUpstream((message, response) => {
      message.resume();
      response.writeHead(401).end('still not');
    });
    let first: UpstreamRequest | undefined;
    await using front = await startFront({
      upstream: upstream.origin,
      plan: (again) => timed(repeatRefused((first ??= again))),
    });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect(await client.response()).toMatchObject({ status: 401 });
    client.send(GET);
    expect(await client.response()).toMatchObject({ status: 500 });
    expect(upstream.requests).toHaveLength(3);
  });

  test('answers in the place of the upstream, whose endless body is given up', async () => {
    await using upstream = await startUpstream((_message, response) => response.write('secret'));
    await using front = await startFront({
      upstream: upstream.origin,
      plan: () => timed(() => DENY),
    });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    const response = await client.response();
    expect(response.status).toBe(403);
    expect(response.body).not.toContain('secret');
    expect(await (await upstream.request(0)).finished).toBe(false);
    expect(await front.forwarded(0)).toBeUndefined();
    expect(await front.outcome(0)).toBe(DENY.error);
  });

  test('is made for the final answer, after early hints', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' }, () => response.end('served'));
    });
    const statuses: number[] = [];
    await using front = await startFront({
      upstream: upstream.origin,
      plan: () =>
        timed(({ status }) => {
          statuses.push(status);
          return DENY;
        }),
    });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect(await client.response()).toMatchObject({ status: 103 });
    expect(await client.response()).toMatchObject({ status: 403 });
    expect(statuses).toEqual([200]);
  });

  test('fails the request when it throws', async () => {
    await using upstream = await startUpstream((_message, response) => response.end('served'));
    const error = new ForbiddenError('no-websockets');
    await using front = await startFront({
      upstream: upstream.origin,
      plan: () =>
        timed(() => {
          throw error;
        }),
    });
    await using client = await RawClient.connect(front.port);
    client.send(GET);
    expect((await client.response()).status).toBe(403);
    expect(await front.outcome(0)).toBe(error);
  });
});
