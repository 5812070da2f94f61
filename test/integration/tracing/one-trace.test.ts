import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import { BrowserJar } from '../../support/browser-jar.ts';
import type { LogRecord } from '../../support/cli.ts';
import { Collector } from '../../support/collector/collector.ts';
import { expectGoldenTrace } from '../../support/collector/expect-golden-trace.ts';
import type { ReceivedSpan } from '../../support/collector/received-span.ts';
import { ClientWithUser } from '../../support/client-with-user.ts';
import { startFleet, type GatewayFleet } from '../../support/gateway-fleet.ts';
import { toolCall } from '../../support/policy-world.ts';
import { describeWithRedis } from '../../support/redis/describe-with-redis.ts';
import { startRedis } from '../../support/redis/start-redis.ts';
import { SecretScanner } from '../../support/redis/suite/secret-scanner.ts';
import { callMcp, signInClient } from '../../support/signed-in-client.ts';

/** Value of a query of the browser. */
const OF_QUERY = 'what-the-user-looked-for';

/** Cookies and tokens that the tests got. */
const secrets: string[] = [];

const started = new AsyncDisposableStack();
let collector: Collector;
let fleet: GatewayFleet;

describeWithRedis('Tracing by two proxies that share a Redis', () => {
  beforeAll(async () => {
    collector = started.use(await Collector.start());
    const redis = started.use(await startRedis());
    const tracing = {
      tracesExporter: 'otlp',
      endpoint: collector.endpoint('grpc'),
      protocol: 'grpc',
      bspScheduleDelayMilliseconds: 100,
    } as const;
    fleet = started.use(
      await startFleet({
        redisUrls: [redis.url, redis.url],
        settings: { tracing },
        environment: (index) => ({
          OTEL_RESOURCE_ATTRIBUTES: `service.instance.id=proxy-${String(index + 1)}`,
        }),
      }),
    );
  });

  beforeEach(() => fleet.balancer.alternate());

  afterAll(() => started.disposeAsync());

  test('has one trace from the first request of a browser through its sign-in to the page', async () => {
    const browser = new BrowserJar();
    const provider = await browser.open(`${fleet.webUrl}/page?private=${OF_QUERY}`);
    const page = await browser.submit(provider, { login: 'alice' });
    expect(page.status).toBe(200);
    const first = await collector.span('the first request', ({ name }) => name === 'GET /');
    await expectGoldenTrace(collector, first.traceId, new URL('sign-in.txt', import.meta.url));
    secrets.push(...browser.cookies.map(({ value }) => value));
  });

  test('has one tree of an authorization, its sign-in at another host, and the first calls', async () => {
    const client = await signInClient(fleet.mcpUrl, { login: 'bob' });
    for (const id of [1, 2]) {
      const answer = await callMcp(fleet.mcpUrl, client.accessToken, toolCall('read', id));
      expect(answer.status).toBe(200);
    }
    const isAuthorization = ({ attributes }: ReceivedSpan): boolean =>
      attributes['http.route'] === '/.gateway/mcp/authorize';
    const { traceId } = await collector.span('the authorization request', isAuthorization);
    await expectGoldenTrace(collector, traceId, new URL('tool-call.txt', import.meta.url));
    secrets.push(client.accessToken, client.refreshToken);
    secrets.push(...client.browser.cookies.map(({ value }) => value));
  });

  test('links the first call of an official client to the sign-in that its 401 started', async () => {
    await using client = new ClientWithUser(fleet.sdkUrl, {
      mode: 'legacy',
      loginAt: () => 'carol',
    });
    expect(await client.listTools()).not.toEqual([]);
    expect(client.authorizations).toBe(1);
    const refused = await collector.span(
      'the 401',
      (span) => span.attributes['http.response.status_code'] === 401 && isOfSdk(span),
    );
    const first = await collector.span(
      'the first call',
      (span) => span.name === 'initialize' && isOfSdk(span) && span.links.length > 0,
    );
    const link = first.links[0];
    const issued = await collector.span(
      'what it links to',
      ({ spanId }) => spanId === link?.spanId,
    );
    expect(issued.attributes['http.route']).toBe('/.gateway/mcp/token');
    const authorization = await collector.span(
      'the authorization request',
      (span) =>
        span.traceId === link?.traceId &&
        span.attributes['http.route'] === '/.gateway/mcp/authorize',
    );
    expect(refused.start).toBeLessThan(authorization.start);
    expect(authorization.parentSpanId).toBeUndefined();
    secrets.push(client.accessToken);
  });

  test('has nothing of users and clients in spans, metrics and the log', async () => {
    const metrics = await Promise.all(fleet.members.map((member) => member.metrics()));
    const scanner = new SecretScanner(
      [...secrets, OF_QUERY].map((value) => ({ kind: 'secret', value })),
      { 'the address of a client': /\b127\.0\.0\.9\b/g },
    );
    const spans = collector.spans.map((span) => JSON.stringify(span, withoutBigints));
    expect(secrets.length).toBeGreaterThan(5);
    expect(spans.length).toBeGreaterThan(50);
    expect(scanner.scan(spans.join('\n'))).toEqual([]);
    expect(metrics.join('').length).toBeGreaterThan(1_000);
    expect(scanner.scan(metrics.join('\n'))).toEqual([]);
    // The log of decisions and the audit log have the user, if the operator wants that.
    const log = fleet.members.flatMap((member) => member.log).map(withoutUser);
    expect(scanner.scan(log.join('\n')).filter(({ kind }) => kind === 'secret')).toEqual([]);
    expect(fleet.members.map(({ stderr }) => stderr).join('')).toBe('');
  });
});

function isOfSdk({ attributes }: ReceivedSpan): boolean {
  return attributes['gatehouse.route.name'] === 'default/sdk';
}

function withoutUser(record: LogRecord): string {
  const { email, user, ...others } = record;
  return JSON.stringify({ ...others, hasUser: email !== undefined || user !== undefined });
}

function withoutBigints(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
