import { expect, test } from '@jest/globals';

import { refresh, startSessionWorld } from '../../support/session-world.ts';
import { signInClient } from '../../support/signed-in-client.ts';
import { attributeOf, startTracing } from '../../support/tracing/test-tracing.ts';

test('a request that waits for the renewal of its session shows it, with the calls to the provider', async () => {
  const tracing = startTracing();
  await using world = await startSessionWorld({}, tracing.process);
  const client = await signInClient(world.url);
  world.expireSessions();
  tracing.traceBy({});
  expect((await refresh(client)).status).toBe(200);

  const [request] = await tracing.requests(1);
  const [renewal, ...others] = tracing.spans().filter(({ name }) => name === 'session renewal');
  expect(others).toEqual([]);
  expect(renewal).toMatchObject({ traceId: request?.traceId, parentSpanId: request?.spanId });
  const calls = tracing.spans().filter(({ parentSpanId }) => parentSpanId === renewal?.spanId);
  const operations = calls.map((span) => attributeOf(span, 'gatehouse.call.operation'));
  expect(operations).toEqual(expect.arrayContaining(['token', 'userinfo']));
});
