import { expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import { startFleet, type GatewayFleet } from '../support/gateway-fleet.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis } from '../support/redis/start-redis.ts';
import { signInClient, type SignedInClient } from '../support/signed-in-client.ts';
import { call, expectJsonRpcUnavailable } from '../support/fleet-outage.ts';

describeWithRedis('The outage grace', () => {
  test('the outage grace decides how long checked tokens are valid while Redis is unreachable', async () => {
    await using redis = await startRedis();
    await using strict = await startFleet({
      ...{ redisUrls: [redis.url], settings: { outageGrace: '0s' } },
    });
    await using lenient = await startFleet({
      ...{ redisUrls: [redis.url], settings: { outageGrace: '10s' } },
    });
    const [strictClient, lenientClient] = [
      await signInClient(strict.mcpUrl),
      await signInClient(lenient.mcpUrl),
    ];
    const isRefused = async (fleet: GatewayFleet, client: SignedInClient): Promise<boolean> => {
      const answer = await call(fleet, client);
      if (answer.status !== 200) expectJsonRpcUnavailable(answer);
      return answer.status !== 200;
    };
    expect(await isRefused(lenient, lenientClient)).toBe(false);
    expect(await isRefused(strict, strictClient)).toBe(false);
    await redis.stop();

    expect(await isRefused(strict, strictClient)).toBe(false);
    await eventually('the gateway without a grace refuses', () => isRefused(strict, strictClient));
    expect(await isRefused(lenient, lenientClient)).toBe(false);
    await eventually('the gateway with a grace refuses', () => isRefused(lenient, lenientClient));
    await redis.start();
  });
});
