import { describe, expect } from '@jest/globals';

import { verifies } from '../../requirements/verifies.ts';
import { startAuthorizationServer } from '../../support/authorization-server.ts';
import {
  callResource,
  logIn,
  refresh,
  register,
  tokensOf,
  type Tokens,
} from '../../support/client-flow.ts';
import { expectError, MINUTE, STRICT } from '../../support/token-cases.ts';

describe('A refresh token that was rotated', () => {
  verifies(
    'as.refresh-grace',
    'a rotated refresh token returns the same successor within the grace',
    async () => {
      await using server = await startAuthorizationServer();
      const { refreshToken, client } = await logIn(server);
      const first = tokensOf(await refresh(server, refreshToken, client));
      server.clock.now += MINUTE - 1;
      const again = tokensOf(await refresh(server, refreshToken, client));
      expect(again.refreshToken).toBe(first.refreshToken);
      expect(again.accessToken).not.toBe(first.accessToken);
      expect(await callResource(server, again.accessToken)).toMatchObject({ status: 200 });
    },
  );

  verifies('as.refresh-grace', 'fifty refreshes at once return one successor', async () => {
    await using server = await startAuthorizationServer();
    const { refreshToken, client } = await logIn(server);
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => refresh(server, refreshToken, client)),
    );
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    const successors = new Set(replies.map((reply) => tokensOf(reply).refreshToken));
    expect(successors.size).toBe(1);
    const [successor = ''] = successors;
    expect(await refresh(server, successor, client)).toMatchObject({ status: 200 });
  });

  const REPLAYS: readonly (readonly [string, Replay])[] = [
    ['after the grace', { afterMs: MINUTE }],
    ['once its successor was used', { useSuccessor: true }],
    ['when there is no grace', { tokens: STRICT }],
  ];

  for (const [when, { afterMs = 0, useSuccessor = false, tokens }] of REPLAYS) {
    verifies(
      'as.replay-detection',
      `a refresh token that is replayed ${when} ends the whole family, and the log reports it`,
      async () => {
        await using server = await startAuthorizationServer(
          tokens === undefined ? {} : { settings: { tokens } },
        );
        const stolen = await logIn(server);
        let latest = tokensOf(await refresh(server, stolen.refreshToken, stolen.client));
        if (useSuccessor) {
          latest = tokensOf(await refresh(server, latest.refreshToken, stolen.client));
        }
        server.clock.now += afterMs;
        expect(await callResource(server, latest.accessToken)).toMatchObject({ status: 200 });
        expectError(
          await refresh(server, stolen.refreshToken, stolen.client),
          400,
          'invalid_grant',
        );
        expectError(
          await refresh(server, latest.refreshToken, stolen.client),
          400,
          'invalid_grant',
        );
        for (const { accessToken } of [stolen, latest]) {
          expect(await callResource(server, accessToken)).toMatchObject({ status: 401 });
        }
        expect(server.logged).toContainEqual({
          message: 'refresh token replayed',
          fields: expect.objectContaining({
            reason: 'refresh-token-replayed',
            'grant-id': expect.any(String),
            'client-id': stolen.client.id,
          }) as unknown,
        });
      },
    );
  }

  // A thief could rotate until the record of the victim's token is gone.
  verifies(
    'as.replay-detection',
    'a replayed refresh token ends the family after any number of rotations',
    async () => {
      await using server = await startAuthorizationServer();
      const stolen = await logIn(server);
      let latest: Omit<Tokens, 'client'> = stolen;
      for (let index = 0; index < 40; index += 1) {
        latest = tokensOf(await refresh(server, latest.refreshToken, stolen.client));
      }
      expectError(await refresh(server, stolen.refreshToken, stolen.client), 400, 'invalid_grant');
      expect(await callResource(server, latest.accessToken)).toMatchObject({ status: 401 });
      expectError(await refresh(server, latest.refreshToken, stolen.client), 400, 'invalid_grant');
      expect(server.logged.map(({ message }) => message)).toContain('refresh token replayed');
    },
  );

  verifies(
    'as.refresh-token-bound',
    'a rotated refresh token is bound to its client within the grace',
    async () => {
      await using server = await startAuthorizationServer();
      const { refreshToken, client } = await logIn(server);
      await refresh(server, refreshToken, client);
      expectError(
        await refresh(server, refreshToken, await register(server)),
        400,
        'invalid_grant',
      );
    },
  );

  verifies(
    'as.replay-detection',
    'a replayed refresh token does not end the grants of other sign-ins',
    async () => {
      await using server = await startAuthorizationServer({ settings: { tokens: STRICT } });
      const stolen = await logIn(server);
      const other = await logIn(server);
      await refresh(server, stolen.refreshToken, stolen.client);
      await refresh(server, stolen.refreshToken, stolen.client);
      expect(await refresh(server, other.refreshToken, other.client)).toMatchObject({
        status: 200,
      });
    },
  );

  verifies(
    'as.secrets-unreadable',
    'the store contains neither a rotated refresh token nor its successor',
    async () => {
      await using server = await startAuthorizationServer();
      const kept: string[] = [];
      const { refreshTokens } = server.stores;
      const rotate = refreshTokens.rotate.bind(refreshTokens);
      refreshTokens.rotate = (reference, rotation) => {
        kept.push(JSON.stringify([reference, rotation]));
        return rotate(reference, rotation);
      };
      const { refreshToken, client } = await logIn(server);
      const successor = tokensOf(await refresh(server, refreshToken, client)).refreshToken;
      expect(kept).toHaveLength(1);
      expect(kept.join()).not.toContain(refreshToken.slice(4));
      expect(kept.join()).not.toContain(successor.slice(4));
    },
  );
});

interface Replay {
  readonly afterMs?: number;
  readonly useSuccessor?: boolean;
  readonly tokens?: typeof STRICT;
}
