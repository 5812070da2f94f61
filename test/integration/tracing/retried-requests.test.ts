import { once } from 'node:events';
import { text } from 'node:stream/consumers';

import { expect, test } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';

import { inSpan } from '../../../shared/telemetry/tracing/active-trace.ts';
import { aCompiledRoute, aSnapshot } from '../../support/compiled-resources.ts';
import { compiledSettings } from '../../support/compiled-settings.ts';
import { eventually } from '../../support/eventually.ts';
import { FILES, filesAt } from '../../support/files-service.ts';
import { freePort } from '../../support/free-port.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { send } from '../../support/http-client.ts';
import { mcpHeaders } from '../../support/signed-in-client.ts';
import { recordSpans, type RecordedSpan } from '../../support/tracing/recorded-spans.ts';
import { startTokenPipeline } from '../../support/upstream-oauth/token-pipeline.ts';
import { startUpstream, type Upstream } from '../../support/upstream.ts';

const CALL = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'list' } };

/** Serves two targets, the first of which refuses connections, and sends one request there. */
async function serveWithDeadTarget(gateway: TestGateway, upstream: Upstream): Promise<void> {
  const services = [filesAt(upstream, { port: await freePort() })];
  const route = aCompiledRoute({
    ...{ scheme: 'http', host: 'localhost', port: gateway.port, allowWebsockets: true },
    ...{ upstream: 'http://files.team.svc:8080', backends: [FILES] },
  });
  await gateway.gateway.apply(aSnapshot(compiledSettings(), route, ...services));
}

/** Returns the spans of requests to upstreams that had an event. */
function retried(spans: readonly RecordedSpan[]): readonly RecordedSpan[] {
  return spans.filter(({ kind, events }) => kind === 'client' && events.length > 0);
}

const MOVED = [{ name: 'sent to another target', attributes: { 'error.type': 'no-connection' } }];

test('a request that moves on to another target says so, and which one it got', async () => {
  await using upstream = await startUpstream((message, response) => {
    message.resume().on('end', () => response.end());
  });
  const { tracer, spans } = recordSpans();
  await using gateway = await startGateway({ tracing: { tracer, apply: () => undefined } });
  await serveWithDeadTarget(gateway, upstream);
  // Targets are chosen at random, until one refused a connection.
  while (retried(spans).length === 0) await send(gateway.origin);
  const [span] = retried(spans);
  expect(span).toMatchObject({ error: undefined, events: MOVED });
  expect(span?.attributes).toMatchObject({
    'server.address': 'files.team.svc',
    'server.port': 8080,
    'network.peer.address': '127.0.0.1',
    'network.peer.port': upstream.port,
  });
});

test('a WebSocket that moves on to another target says so, and which one it got', async () => {
  await using upstream = await startUpstream((message) => void message.resume());
  const sockets = new WebSocketServer({ server: upstream.server });
  const { tracer, spans } = recordSpans();
  await using gateway = await startGateway({ tracing: { tracer, apply: () => undefined } });
  await serveWithDeadTarget(gateway, upstream);
  for (let count = 1; retried(spans).length === 0; count += 1) {
    const client = new WebSocket(gateway.origin.replace('http:', 'ws:'));
    await once(client, 'open');
    client.close();
    await once(client, 'close');
    await eventually('the span of the WebSocket ends', () => {
      return spans.filter(({ kind }) => kind === 'server').length === count;
    });
  }
  sockets.close();
  const [span] = retried(spans);
  expect(span).toMatchObject({ error: undefined, events: MOVED });
  expect(span?.attributes).toMatchObject({ 'network.peer.port': upstream.port });
});

test('a request that is sent again with a refreshed token has one span, and the refresh is in its trace', async () => {
  const traceparents: (string | undefined)[] = [];
  await using upstream = await startUpstream((message, response) => {
    traceparents.push(message.headersDistinct['traceparent']?.join());
    const status = traceparents.length === 1 ? 401 : 200;
    void text(message).then(() => response.writeHead(status).end());
  });
  const { tracer, spans, spanOf } = recordSpans();
  await using pipeline = await startTokenPipeline(upstream.origin, { tracer });
  const { tokens } = pipeline;
  tokens.connect();
  tokens.refreshes = ['refreshed'];
  pipeline.internalTokens = {
    tokenFor: tokens.tokenFor.bind(tokens),
    drop: tokens.drop.bind(tokens),
    requireScopes: tokens.requireScopes.bind(tokens),
    replacementOf: (refused) =>
      inSpan('upstream token renewal', 'internal', {}, () => tokens.replacementOf(refused)),
  };
  const headers = mcpHeaders('gte_external');
  const body = JSON.stringify(CALL);
  const { status } = await send(pipeline.url, { method: 'POST', headers, body });
  expect(status).toBe(200);
  await eventually('the span of the request ends', () => {
    return spans.some(({ kind }) => kind === 'server');
  });
  const request = spanOf('tools/call list');
  const sent = spanOf('POST');
  expect(sent).toMatchObject({
    error: undefined,
    events: [{ name: 'sent again with a new token', attributes: {} }],
  });
  expect(sent.attributes['http.response.status_code']).toBe(200);
  expect(spanOf('upstream token renewal')).toMatchObject({
    traceId: request.traceId,
    parentSpanId: request.spanId,
  });
  const context = `00-${request.traceId}-${sent.spanId}-01`;
  expect(traceparents).toEqual([context, context]);
});
