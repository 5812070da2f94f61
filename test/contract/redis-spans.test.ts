import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { RedisConnection } from '../../proxy/store/redis/connection/redis-connection.ts';
import { withTrace } from '../../shared/telemetry/tracing/active-trace.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis, type TestRedis } from '../support/redis/start-redis.ts';
import { recordSpans } from '../support/tracing/recorded-spans.ts';
import { connectionTo } from './redis-stores-under-test.ts';

const SCRIPT = { keyCount: 1, lua: `return redis.call('GET', KEYS[1])` };

describeWithRedis('A command that a request waits for', () => {
  let redis: TestRedis;
  let connection: RedisConnection;

  beforeAll(async () => {
    redis = await startRedis();
    connection = await connectionTo(redis.url);
  });

  afterAll(async () => {
    await connection[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  async function spansOf(work: () => Promise<unknown>) {
    const { tracer, spans } = recordSpans();
    const trace = tracer.start('request', 'server');
    await withTrace(trace, work).catch(() => undefined);
    trace?.span?.end();
    const commands = spans.filter(({ kind }) => kind === 'client');
    return commands.map((span) => ({
      ...{ name: span.name, error: span.error, all: JSON.stringify(span) },
      command: span.attributes['db.operation.name'],
      isChild: span.parentSpanId === trace?.context.spanId,
    }));
  }

  test('is a span with its name, and neither key nor value', async () => {
    const spans = await spansOf(async () => {
      await connection.send('SET', `${connection.prefix}the-key`, 'the-value');
      await connection.run(SCRIPT, [`${connection.prefix}the-key`], ['the-argument']);
    });
    expect(spans.map(({ command, isChild }) => [command, isChild])).toEqual([
      ['SET', true],
      // Also when the server does not know the script yet.
      ['EVALSHA', true],
    ]);
    expect(spans.map(({ all }) => all).join()).not.toMatch(/the-(key|value|argument)/);
  });

  test('that fails says so without its arguments', async () => {
    const [span] = await spansOf(async () => {
      await connection.send('SET', `${connection.prefix}number`, 'the-value', 'NONSENSE');
    });
    expect(span?.error).toContain('Redis failed: ERR');
    expect(span?.all).not.toMatch(/the-value|NONSENSE|number/);
  });

  test('outside of a request is no span', async () => {
    const { spans } = recordSpans();
    await connection.send('GET', `${connection.prefix}the-key`);
    expect(spans).toEqual([]);
  });
});
