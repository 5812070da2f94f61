import { expect, test } from '@jest/globals';

import { startBearerWorld } from '../../support/bearer-world.ts';
import { BrowserJar } from '../../support/browser-jar.ts';
import { startGithubWorld } from '../../support/github/github-world.ts';
import { send } from '../../support/http-client.ts';
import { attributeOf, startTracing, type TestTracing } from '../../support/tracing/test-tracing.ts';
import type { RecordedSpan } from '../../support/tracing/recorded-spans.ts';

/** Returns what the provider was asked below a span, in this order. */
function askedBelow(parent: RecordedSpan | undefined, tracing: TestTracing): readonly unknown[] {
  return tracing
    .spans()
    .filter(({ name, parentSpanId }) => {
      return name === 'identity provider request' && parentSpanId === parent?.spanId;
    })
    .map((span) => attributeOf(span, 'gatehouse.call.operation'));
}

test('the verification of a bearer token shows what the provider was asked, the first time', async () => {
  const tracing = startTracing();
  await using world = await startBearerWorld({ tracing: tracing.process });
  await world.signIn('alice');
  tracing.traceBy({});
  const headers = { authorization: `Bearer ${world.accessToken()}` };
  for (const status of [200, 200]) {
    expect((await send(world.access, { headers })).status).toBe(status);
  }
  await tracing.requests(2);
  const [first, second] = tracing.spans().filter(({ name }) => name === 'authenticate');
  expect(askedBelow(first, tracing)).toEqual(['introspection', 'userinfo']);
  expect(askedBelow(second, tracing)).toEqual([]);
});

test('a sign-in with GitHub shows what GitHub was asked', async () => {
  const tracing = startTracing();
  await using world = await startGithubWorld(undefined, { tracing: tracing.process });
  const browser = new BrowserJar();
  await browser.submit(await browser.open(`${world.app}/`), { login: 'octocat' });
  const [, , callback] = await tracing.requests(5);
  expect(askedBelow(callback, tracing)).toEqual(['token', 'userinfo', 'emails']);
});
