import { expect, test } from '@jest/globals';

import { eventually } from '../support/eventually.ts';
import { expectCleanOutput } from '../support/expect-clean-output.ts';
import { startFleet } from '../support/gateway-fleet.ts';
import { describeWithRedis } from '../support/redis/describe-with-redis.ts';
import { startRedis } from '../support/redis/start-redis.ts';
import { callMcp, signInClient } from '../support/signed-in-client.ts';
import { refresh, tokensOf, type Tokens } from '../support/token-requests.ts';
import { BALANCER_SEED } from '../support/balancer-seed.ts';

const PING = { jsonrpc: '2.0', id: 7, method: 'ping' };

describeWithRedis('Two proxies with short sessions', () => {
  test('the session of a sign-in is renewed once for all its clients, again and again', async () => {
    await using store = await startRedis();
    await using short = await startFleet({
      redisUrls: [store.url, store.url],
      seed: BALANCER_SEED,
      settings: { cookie: { expiration: '2s' }, tokens: { refreshTokenGrace: '0s' } },
      identityProvider: { refreshTokens: 'rotated' },
    });
    const { identityProvider, balancer, mcpUrl } = short;
    const first = await signInClient(mcpUrl);
    const second = await signInClient(mcpUrl, { browser: first.browser });
    let tokens: readonly Tokens[] = [first, second];
    balancer.alternate();
    for (let renewal = 0; renewal < 2; renewal += 1) {
      const isOver = async ({ accessToken }: Tokens): Promise<boolean> =>
        (await callMcp(mcpUrl, accessToken, PING)).status === 401;
      for (const each of tokens) await eventually('the session is over', () => isOver(each));
      const before = identityProvider.tokenRequests();
      const goOn = identityProvider.hold('token');
      const answers = [first, second].map((client, index) =>
        refresh(client, tokens[index]?.refreshToken ?? ''),
      );
      await eventually('the provider is asked', () => identityProvider.tokenRequests() > before);
      goOn();
      tokens = (await Promise.all(answers)).map(tokensOf);

      expect(identityProvider.tokenRequests() - before).toBe(1);
      for (const { accessToken } of tokens) {
        expect(await callMcp(mcpUrl, accessToken, PING)).toMatchObject({ status: 200 });
      }
    }
    expectCleanOutput(short);
  });
});
