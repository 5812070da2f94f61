import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once, type EventEmitter } from 'node:events';
import { request } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';

import { open } from '../../support/http-client.ts';
import { type RecordedSpan } from '../../support/tracing/recorded-spans.ts';
import { startTracedGateway, type TracedGateway } from '../../support/tracing/traced-gateway.ts';

let world: TracedGateway;

beforeEach(async () => {
  world = await startTracedGateway();
});

afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** Returns the spans of a stream: none may end before the function says that the stream ends. */
async function spansOf(
  run: (noneHasEnded: () => void) => Promise<unknown>,
): Promise<readonly [RecordedSpan | undefined, RecordedSpan | undefined]> {
  const spans = await world.spansOf(() =>
    run(() => expect(world.spans().filter(({ kind }) => kind !== 'internal')).toEqual([])),
  );
  const ofKind = (kind: RecordedSpan['kind']): RecordedSpan | undefined =>
    spans.find((span) => span.kind === kind);
  return [ofKind('server'), ofKind('client')];
}

/** Waits for the end of a connection that fails. */
function closed(stream: EventEmitter): Promise<void> {
  return new Promise((resolve) => {
    stream.on('error', () => undefined).on('close', resolve);
  });
}

describe('the spans of an event stream', () => {
  it('end with the stream', async () => {
    world.answerWith((_message, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    });
    const spans = await spansOf(async (noneHasEnded) => {
      const stream = await open(world.web);
      await once(stream, 'data');
      noneHasEnded();
      world.upstream.requests[0]?.response.end();
      await once(stream.resume(), 'end');
    });
    for (const span of spans) {
      expect(span).toMatchObject({ error: undefined, events: [] });
      expect(span?.attributes).toMatchObject({ 'http.response.status_code': 200 });
    }
  });

  it('end when the client leaves, which is no failure', async () => {
    world.answerWith((_message, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    });
    const spans = await spansOf(async (noneHasEnded) => {
      const stream = await open(world.web);
      await once(stream, 'data');
      noneHasEnded();
      stream.destroy();
    });
    for (const span of spans) {
      expect(span?.error).toBeUndefined();
      expect(span?.attributes).toMatchObject({
        'error.type': 'client-gone',
        'http.response.status_code': 200,
      });
    }
  });

  it('end when the upstream breaks off, which is one', async () => {
    world.answerWith((_message, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    });
    const spans = await spansOf(async () => {
      const stream = await open(world.web);
      await once(stream, 'data');
      world.upstream.connections[0]?.destroy();
      await closed(stream);
    });
    for (const span of spans) {
      expect(span?.error).toMatch(/./);
      expect(span?.attributes['error.type']).toBe('upstream-unreachable');
    }
  });
});

describe('the spans of a request whose client leaves', () => {
  it('end while its body is awaited', async () => {
    const [server] = await spansOf(async () => {
      const headers = { host: new URL(world.web).host, 'content-length': 10 };
      const { port } = world.gateway;
      const outgoing = request({ host: '127.0.0.1', port, method: 'POST', headers });
      outgoing.on('error', () => undefined).write('{');
      await once(outgoing, 'socket');
      setTimeout(() => outgoing.destroy(), 50);
    });
    expect(server?.error).toBeUndefined();
    expect(server?.attributes).toMatchObject({ 'error.type': 'client-gone' });
  });

  it('end while the upstream is awaited', async () => {
    world.answerWith(() => undefined);
    const spans = await spansOf(async () => {
      const headers = { host: new URL(world.web).host };
      const outgoing = request({ host: '127.0.0.1', port: world.gateway.port, headers });
      outgoing.on('error', () => undefined).end();
      await world.upstream.request(0);
      outgoing.destroy();
    });
    for (const span of spans) {
      expect(span?.attributes).toMatchObject({ 'error.type': 'client-gone' });
      expect(span?.attributes['http.response.status_code']).toBeUndefined();
    }
  });
});

describe('the spans of a WebSocket', () => {
  it('end with it, and the handshake carries the trace', async () => {
    const sockets = new WebSocketServer({ server: world.upstream.server });
    sockets.on('connection', (socket) => socket.on('message', () => socket.send('hello')));
    let traceparent: string | undefined;
    sockets.on('headers', (_headers, message) => {
      traceparent = message.headersDistinct['traceparent']?.join();
    });
    const [server, client] = await spansOf(async (noneHasEnded) => {
      const url = `ws://127.0.0.1:${String(world.gateway.port)}/echo?secret=1`;
      const socket = new WebSocket(url, { headers: { host: new URL(world.web).host } });
      await once(socket, 'open');
      socket.send('hello');
      await once(socket, 'message');
      noneHasEnded();
      socket.close();
      await once(socket, 'close');
    });
    sockets.close();
    expect(server).toMatchObject({ name: 'GET /', error: undefined });
    expect(server?.attributes).toMatchObject({
      'http.response.status_code': 101,
      'url.path': '/echo',
    });
    expect(client?.attributes).toMatchObject({ 'http.response.status_code': 101 });
    expect(traceparent).toBe(`00-${String(server?.traceId)}-${String(client?.spanId)}-01`);
  });

  it('say that the upstream declined', async () => {
    world.upstream.server.on('upgrade', (_message, socket) => {
      socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    });
    const [server, client] = await spansOf(async () => {
      const url = `ws://127.0.0.1:${String(world.gateway.port)}/`;
      const socket = new WebSocket(url, { headers: { host: new URL(world.web).host } });
      await closed(socket);
    });
    for (const span of [server, client]) {
      expect(span?.attributes).toMatchObject({
        'error.type': 'websocket-declined',
        'http.response.status_code': 403,
      });
    }
  });
});
