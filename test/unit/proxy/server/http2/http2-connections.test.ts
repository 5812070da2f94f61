import { once } from 'node:events';
import type { ClientHttp2Session } from 'node:http2';
import { connect } from 'node:net';

import { describe, expect, test } from '@jest/globals';

import { answerOk, silent } from '../../../../support/forwarder-wire.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FrameClient, GET_FIELDS, GOAWAY } from '../../../../support/http2/frame-client.ts';
import { answerOn, Http2Client } from '../../../../support/http2/http2-client.ts';
import { startHttp2Front } from '../../../../support/http2/http2-front.ts';
import { startUpstream } from '../../../../support/upstream.ts';

async function goawayOf(session: ClientHttp2Session): Promise<readonly unknown[]> {
  return (await once(session, 'goaway')) as readonly unknown[];
}

/** The last stream that a GOAWAY allows. */
async function lastStream(client: FrameClient): Promise<number> {
  return (await client.receives(({ type }) => type === GOAWAY)).payload.readUInt32BE(0);
}

describe('A connection before a drain', () => {
  test('ends at a pause, after the streams that are open', async () => {
    await using upstream = await startUpstream(silent);
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = await FrameClient.connect(front.port);
    client.headers(1, GET_FIELDS);
    client.headers(3, GET_FIELDS);
    await upstream.request(1);
    front.listener.announceClose();
    expect(await lastStream(client)).toBe(3);
    for (const { response } of upstream.requests) response.end('ok');
    expect(await client.outcome(1)).toStrictEqual({ status: 200 });
    expect(await client.outcome(3)).toStrictEqual({ status: 200 });
    await client.closed;
  });

  test('ends while its client waits for a response, so that no stream crosses its end', async () => {
    await using upstream = await startUpstream((_message, response) => {
      setTimeout(() => response.end('ok'), 20);
    });
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = await FrameClient.connect(front.port);
    front.listener.announceClose();
    let stream = -1;
    const isTold = (): boolean => client.frames.some(({ type }) => type === GOAWAY);
    while (!isTold()) {
      stream += 2;
      client.headers(stream, GET_FIELDS);
      expect(await client.outcome(stream)).toStrictEqual({ status: 200 });
    }
    expect(await lastStream(client)).toBe(stream);
    await client.closed;
  });

  test('is told only after its first stream, so that its client does not connect in a loop', async () => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using other = await FrameClient.connect(front.port);
    await using client = await FrameClient.connect(front.port);
    front.listener.announceClose();
    client.headers(1, GET_FIELDS);
    expect(await lastStream(client)).toBe(1);
    expect(other.frames.map(({ type }) => type)).not.toContain(GOAWAY);
  });
});

describe('A drain', () => {
  test('lets open streams end, then closes the connection', async () => {
    await using upstream = await startUpstream(silent);
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = new Http2Client(front.port);
    const stream = client.open();
    const { response } = await upstream.request(0);
    const closed = front.listener.close(60_000);
    response.end('whole');
    expect((await answerOn(stream)).body.toString()).toBe('whole');
    await Promise.all([client.closed, closed]);
    expect(await front.outcome(0)).toBeUndefined();
  });

  test('closes a connection without streams at once', async () => {
    await using upstream = await startUpstream(answerOk);
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = new Http2Client(front.port);
    await client.send();
    await front.listener.close(60_000);
    await client.closed;
    expect(await front.outcome(0)).toBeUndefined();
  });

  test('tells the client which streams were not served, so that it can repeat them', async () => {
    await using upstream = await startUpstream(silent);
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = await FrameClient.connect(front.port);
    client.headers(1, GET_FIELDS);
    await upstream.request(0);
    const closed = front.listener.close(300);
    expect(await lastStream(client)).toBe(1);
    client.headers(3, GET_FIELDS);
    await closed;
    expect(upstream.requests).toHaveLength(1);
  });

  test('ends a connection that is made while it lasts', async () => {
    await using upstream = await startUpstream(silent);
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using early = await FrameClient.connect(front.port);
    early.headers(1, GET_FIELDS);
    const { response } = await upstream.request(0);
    const late = connect(front.port, '127.0.0.1');
    await once(late, 'connect');
    // The listener accepts it before it handles what was sent later.
    await early.settled();
    const closed = front.listener.close(60_000);
    await using client = await FrameClient.connect(late);
    client.headers(1, GET_FIELDS);
    expect(await lastStream(client)).toBe(1);
    for (const request of [response, (await upstream.request(1)).response]) request.end('ok');
    expect(await client.outcome(1)).toStrictEqual({ status: 200 });
    await Promise.all([closed, client.closed]);
  });

  test('does not wait for a client that keeps its connection open', async () => {
    await using upstream = await startUpstream(answerOk);
    const limits = { lingerMs: 20 };
    await using front = await startHttp2Front({ upstream: upstream.origin, limits });
    await using client = await FrameClient.connect(front.port);
    await client.settled();
    client.socket.allowHalfOpen = true;
    await front.listener.close(60_000);
    expect(upstream.requests).toHaveLength(0);
  });

  test('resets the streams that are left at its end', async () => {
    await using upstream = await startUpstream((_message, response) => {
      response.write('part');
    });
    await using front = await startHttp2Front({ upstream: upstream.origin });
    await using client = new Http2Client(front.port);
    const stream = client.open();
    const answer = answerOn(stream);
    await once(stream, 'response');
    let endings = 0;
    await front.listener.close(20, () => (endings += 1));
    expect(endings).toBe(1);
    expect(await (await upstream.request(0)).finished).toBe(false);
    expect(stream.aborted || (await answer).code !== 0).toBe(true);
  });
});

describe('A connection that is not used', () => {
  test('is closed in order after its last stream', async () => {
    await using upstream = await startUpstream(answerOk);
    const limits = { keepAliveMs: 40 };
    await using front = await startHttp2Front({ upstream: upstream.origin, limits });
    await using client = new Http2Client(front.port);
    const goaway = goawayOf(client.session);
    await client.send();
    const [code] = await goaway;
    expect(code).toBe(0);
    await client.closed;
    await eventually('the connection is gone', () => front.listener.connections() === 0);
  });

  test.each(['before its first byte', 'before its first stream'])('%s is closed', async (when) => {
    await using upstream = await startUpstream(answerOk);
    const limits = { headersMs: 40 };
    await using front = await startHttp2Front({ upstream: upstream.origin, limits });
    await using client =
      when === 'before its first byte'
        ? await FrameClient.connectSilently(front.port)
        : await FrameClient.connect(front.port);
    await client.closed;
    expect(upstream.requests).toHaveLength(0);
  });

  test('is not idle while a stream is open', async () => {
    await using upstream = await startUpstream(silent);
    const limits = { keepAliveMs: 8, headersMs: 8 };
    await using front = await startHttp2Front({ upstream: upstream.origin, limits });
    await using client = new Http2Client(front.port);
    const stream = client.open();
    const { response } = await upstream.request(0);
    setTimeout(() => response.end('late'), 100);
    expect((await answerOn(stream)).body.toString()).toBe('late');
  });
});
