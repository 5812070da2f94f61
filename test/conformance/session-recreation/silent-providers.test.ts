import { describe, expect } from '@jest/globals';

import { refresh, tokensIn } from '../../support/session-world.ts';
import { verifies } from '../../requirements/verifies.ts';
import {
  type Fault,
  failing,
  startExpired,
  expectUnavailable,
} from '../../support/renewal-failures.ts';

const SECOND = 1000;

/** Longer than the pause after a failure of the provider. */
const REST = 3 * SECOND;

/** More bytes than a response of a provider may have. */
const TOO_LONG = 'x'.repeat(2 ** 20);

const ALICE = { sub: 'alice', groups: ['engineering'] };

describe('A provider that does not answer for the user', () => {
  const FAULTS: readonly (readonly [string, Fault])[] = [
    ['is down', ({ identityProvider }) => identityProvider.stop()],
    ['fails', failing('token')],
    ['answers 429', answering(429, { error: 'slow_down' })],
    ['answers 429 with invalid_grant', answering(429, { error: 'invalid_grant' })],
    ['answers 503 with invalid_grant', answering(503, { error: 'invalid_grant' })],
    ['does not know the gateway', answering(401, { error: 'invalid_client' })],
    ['does not let the gateway refresh', answering(400, { error: 'unauthorized_client' })],
    ['refuses the request', answering(400, { error: 'invalid_request' })],
    ['refuses the request without an error code', answering(400, 'no')],
    ['does not answer in JSON', answering(200, 'no')],
    ['answers without tokens', answering(200, {})],
    ['fails to serve userinfo', failing('userinfo')],
    ['fails to serve its keys', failing('keys')],
    [
      'sends too many claims',
      ({ identityProvider: { answers } }) =>
        answers.set('userinfo', { status: 200, body: { ...ALICE, TOO_LONG } }),
    ],
    [
      'sends an invalid signature',
      changing({ id_token: (token) => `${token.slice(0, -20)}${'A'.repeat(20)}` }),
    ],
    ['sends an identity token that is not a JWT', changing({ id_token: () => 'no' })],
    ['sends an access token that is not a string', changing({ access_token: () => 7 })],
  ];

  for (const [what, breakDown] of FAULTS) {
    verifies(
      ['renewal.provider-unavailable', 'renewal.rotated-token-kept'],
      `a refresh gets 503 if the provider ${what}, and the same refresh token works later`,
      async () => {
        await using world = await startExpired();
        const { client, secrets } = world;
        const { identityProvider } = world;
        const { changeTokens } = identityProvider;
        await breakDown(world);
        expectUnavailable(await refresh(client));

        identityProvider.answers.clear();
        identityProvider.changeTokens = changeTokens;
        await identityProvider.start();
        world.advance(REST);
        const { accessToken } = tokensIn(await refresh(client));
        expect(await world.statusWith(accessToken)).toBe(200);

        const logs = world.gateway.logs();
        const failures = logs.filter(({ reason }) => reason === 'identity-provider-unavailable');
        expect(failures).toEqual([expect.objectContaining({ level: 'warn' })]);
        for (const secret of secrets) expect(JSON.stringify(logs)).not.toContain(secret);
      },
    );
  }

  verifies(
    'renewal.provider-unavailable',
    'a refresh gets 503 if the token response is too long, and the same refresh token works later',
    async () => {
      await using world = await startExpired({ refreshTokens: 'kept' });
      const { client, identityProvider } = world;
      const { changeTokens } = identityProvider;
      changing({ padding: () => TOO_LONG })(world);
      expectUnavailable(await refresh(client));
      identityProvider.changeTokens = changeTokens;
      world.advance(REST);
      expect((await refresh(client)).status).toBe(200);
    },
  );

  verifies(
    'renewal.provider-unavailable',
    'a refresh gets 503 after ten seconds without a response, and the same refresh token works later',
    async () => {
      await using world = await startExpired({ refreshTokens: 'kept' });
      const { client } = world;
      const release = world.identityProvider.hold('token');
      expectUnavailable(await refresh(client));
      release();
      world.advance(REST);
      expect((await refresh(client)).status).toBe(200);
    },
  );

  verifies(
    'renewal.provider-unavailable',
    'the provider is not asked again for two seconds, whoever refreshes',
    async () => {
      await using world = await startExpired();
      const { client } = world;
      await using peer = await world.startPeer();
      world.identityProvider.fail('token');
      const asked = await world.tokenRequestsDuring(async () => {
        for (const port of [world.gateway.port, peer.port, world.gateway.port]) {
          expectUnavailable(await refresh(client, { port }));
        }
      });
      expect(asked).toBe(1);
    },
  );
});

/** Makes the token endpoint answer with this status and body. */
function answering(status: number, body: unknown): Fault {
  return ({ identityProvider }) => void identityProvider.answers.set('token', { status, body });
}

/** Changes members of valid token responses. */
function changing(changes: Readonly<Record<string, (value: string) => unknown>>): Fault {
  return ({ identityProvider }) => {
    const { changeTokens } = identityProvider;
    identityProvider.changeTokens = (response) => {
      const good = changeTokens(response);
      const changed = Object.entries(changes).map(([name, to]) => [name, to(String(good[name]))]);
      // Made of pairs of names and values, as above.
      return { ...good, ...(Object.fromEntries(changed) as Record<string, unknown>) };
    };
  };
}
