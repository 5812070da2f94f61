import { expect, test } from '@jest/globals';

import { BrowserJar } from '../support/browser-jar.ts';
import { expectCleanOutput } from '../support/expect-clean-output.ts';
import { startFleet } from '../support/gateway-fleet.ts';
import { send } from '../support/http-client.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis } from '../support/redis/start-redis.ts';
import { discover, signInClient } from '../support/signed-in-client.ts';
import {
  call,
  expectOAuthUnavailable,
  expectUnavailablePage,
  recovered,
  register,
} from '../support/fleet-outage.ts';

describeWithRedis('A proxy that starts without Redis', () => {
  test('the proxy is ready, serves everything that needs no Redis, and recovers when Redis starts', async () => {
    await using redis = await startRedis();
    await redis.stop();
    await using fleet = await startFleet({ redisUrls: [redis.url] });
    expect(await fleet.members[0]?.readiness()).toBe(200);
    expect(await send(fleet.publicUrl)).toMatchObject({ status: 200 });
    expect((await discover(fleet.mcpUrl)).issuer).toBe(fleet.mcpUrl);
    expectOAuthUnavailable(await register(fleet));
    expectUnavailablePage(await new BrowserJar().open(fleet.webUrl));
    await redis.start();
    await recovered(fleet);

    expect(await call(fleet, await signInClient(fleet.mcpUrl))).toMatchObject({ status: 200 });
    expectCleanOutput(fleet);
  });
});
