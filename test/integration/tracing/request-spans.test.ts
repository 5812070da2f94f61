import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hash } from 'node:crypto';

import { verifies } from '../../requirements/verifies.ts';
import { send } from '../../support/http-client.ts';
import { sessionResult } from '../../support/mcp-route.ts';
import { openMcpSession } from '../../support/open-mcp-session.ts';
import { type RecordedSpan } from '../../support/tracing/recorded-spans.ts';
import { startTracedGateway, type TracedGateway } from '../../support/tracing/traced-gateway.ts';

const LIST = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'list_invoices' } };
const DELETE = { ...LIST, params: { name: 'delete_invoice' } };

let world: TracedGateway;

beforeAll(async () => {
  world = await startTracedGateway();
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** Returns the span of the one request that a function makes. */
async function spanOf(run: () => Promise<unknown>): Promise<RecordedSpan> {
  const spans = await world.spansOf(run);
  const [span, ...others] = spans.filter(({ kind }) => kind === 'server');
  if (span === undefined || others.length > 0) throw new Error('not one request');
  return span;
}

describe('the trace of a tool call', () => {
  verifies(
    'tracing.requests',
    'has the request, and below it authentication, policy and the upstream',
    async () => {
      const spans = await world.spansOf(() => world.call(LIST));
      const [request] = spans.filter(({ kind }) => kind === 'server');
      expect(spans.map(({ name, kind }) => `${kind} ${name}`).sort()).toEqual([
        'client POST',
        'internal authenticate',
        'internal policy',
        'server tools/call list_invoices',
      ]);
      for (const span of spans) {
        expect(span).toMatchObject({
          traceId: request?.traceId,
          parentSpanId: span === request ? undefined : request?.spanId,
          error: undefined,
        });
        expect(span.endedAt).toBeGreaterThanOrEqual(span.startedAt);
      }
    },
  );

  it("has the attributes of OpenTelemetry's conventions for HTTP and MCP, and the gateway's own", async () => {
    const answer = await world.call(LIST, { 'mcp-protocol-version': '2025-11-25' });
    const span = await spanOf(() => world.call(LIST, { 'mcp-protocol-version': '2025-11-25' }));
    expect(answer.status).toBe(200);
    const { 'gatehouse.request.id': requestId, ...attributes } = span.attributes;
    expect(requestId).toMatch(/^[\da-f-]{36}$/);
    expect(attributes).toEqual({
      'gatehouse.decision': 'allow',
      'gatehouse.decision.reasons': ['domain-ok', 'mcp-tool-ok'],
      'gatehouse.route.name': 'default/mcp',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'list_invoices',
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'http.route': '/mcp',
      'jsonrpc.request.id': '7',
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': '2025-11-25',
      'server.address': 'mcp.localhost',
      'server.port': world.gateway.port,
      'url.path': '/mcp',
      'url.scheme': 'http',
    });
  });

  it('names the request by the id that the client gets', async () => {
    let id: unknown;
    const span = await spanOf(async () => {
      id = (await world.call(LIST)).headers['x-request-id'];
    });
    expect(span.attributes['gatehouse.request.id']).toBe(id);
  });

  it('names the MCP session by a hash of its id', async () => {
    world.answerWith(sessionResult);
    const session = await openMcpSession(world.mcp, world.accessToken);
    const span = await spanOf(() => world.call(LIST, session));
    const { 'mcp.session.id': named } = span.attributes;
    expect(named).toBe(hash('sha256', session['mcp-session-id']).slice(0, 32));
  });

  it('says why policy refused it, and is no failure of the gateway', async () => {
    const spans = await world.spansOf(() => world.call(DELETE));
    const [request] = spans.filter(({ kind }) => kind === 'server');
    expect(spans.map(({ name }) => name)).not.toContain('POST');
    expect(request).toMatchObject({ name: 'tools/call delete_invoice', error: undefined });
    expect(request?.attributes).toMatchObject({
      'gatehouse.decision': 'deny',
      'error.type': 'mcp-tool-unauthorized',
      'http.response.status_code': 200,
    });
    expect(request?.events).toMatchObject([{ name: 'exception' }]);
  });

  it('is refused in the span of authentication if the token is not valid', async () => {
    const spans = await world.spansOf(() => world.call(LIST, { authorization: 'Bearer gte_x' }));
    const authenticate = spans.find(({ name }) => name === 'authenticate');
    const [request] = spans.filter(({ kind }) => kind === 'server');
    // The message of a stranger is not read.
    expect(request?.name).toBe('POST /mcp');
    for (const span of [authenticate, request]) {
      expect(span?.attributes['error.type']).toBe('malformed');
    }
    expect(request?.attributes['http.response.status_code']).toBe(401);
  });
});

describe('the span of a request', () => {
  it('has the path, and nothing of the query', async () => {
    const spans = await world.spansOf(() => world.visit('/reports/42?month=11&code=secret'));
    const [request] = spans.filter(({ kind }) => kind === 'server');
    const upstream = spans.find(({ kind }) => kind === 'client');
    expect(request?.name).toBe('GET /');
    expect(request?.attributes['url.path']).toBe('/reports/42');
    expect(upstream?.attributes['url.full']).toBe(`${world.upstream.origin}/reports/42`);
    expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toMatch(/secret|month/);
  });

  it('has no e-mail address and no token of a path', async () => {
    const spans = await world.spansOf(() =>
      world.visit('/users/alice@example.com/bob%40example.com/gte_secret/@scope/end'),
    );
    const request = spans.find(({ kind }) => kind === 'server');
    expect(request?.attributes['url.path']).toBe('/users/***/***/***/@scope/end');
    expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toMatch(
      /alice|bob|secret/,
    );
  });

  it('is named by the endpoint, not by what follows its path', async () => {
    const paths = {
      '/.gateway/jwks.json': '/.gateway/jwks.json',
      '/.gateway/callback/company-42?code=secret': '/.gateway/callback/{provider}',
      '/.well-known/oauth-protected-resource/mcp':
        '/.well-known/oauth-protected-resource/{resource}',
    };
    for (const [path, template] of Object.entries(paths)) {
      const span = await spanOf(() => send(new URL(path, world.mcp).href));
      expect(span.name).toBe(`GET ${template}`);
      expect(span.attributes).toMatchObject({ 'http.route': template, 'url.path': template });
    }
    const nothing = await spanOf(() => world.visit('/.gateway/alice-42'));
    expect(nothing.name).toBe('GET');
    expect(nothing.attributes).toMatchObject({
      'url.path': '/.gateway/*',
      'error.type': 'route-not-found',
      'http.response.status_code': 404,
    });
  });

  it('begins when a request cannot be parsed, too', async () => {
    const span = await spanOf(() => send(`${world.web}/a/../b`));
    expect(span.name).toBe('request');
    const line = world.gateway.logs().findLast(({ message }) => message === 'request refused');
    expect(line).toMatchObject({ reason: 'dot-segment', 'trace-id': span.traceId });
    expect(span.attributes).toMatchObject({
      'error.type': 'dot-segment',
      'http.response.status_code': 400,
    });
  });

  it('has one name for methods that the conventions do not know', async () => {
    const span = await spanOf(() => world.visit('/', { method: 'PROPFIND' }));
    expect(span.name).toBe('HTTP /');
    expect(span.attributes).toMatchObject({
      'http.request.method': '_OTHER',
      'http.request.method_original': 'PROPFIND',
    });
  });

  it('is an error if the upstream fails, and so is the one of the upstream', async () => {
    world.answerWith((_message, response) => response.writeHead(503).end());
    const spans = await world.spansOf(() => world.visit('/'));
    for (const kind of ['server', 'client']) {
      const span = spans.find((each) => each.kind === kind);
      expect(span?.error).toBe('');
      expect(span?.attributes).toMatchObject({
        'error.type': '503',
        'http.response.status_code': 503,
      });
    }
  });

  it('is no error if the upstream refuses the request, which is an error of the one of the upstream', async () => {
    world.answerWith((_message, response) => response.writeHead(404).end());
    const spans = await world.spansOf(() => world.visit('/'));
    expect(spans.find(({ kind }) => kind === 'server')?.error).toBeUndefined();
    expect(spans.find(({ kind }) => kind === 'client')?.error).toBe('');
  });

  it('does not exist while tracing is off', async () => {
    world.traceBy(undefined);
    const { status } = await world.visit('/');
    expect(status).toBe(404);
    world.traceBy({});
    const spans = await world.spansOf(() => world.visit('/'));
    expect(spans.filter(({ kind }) => kind === 'server')).toHaveLength(1);
  });
});
