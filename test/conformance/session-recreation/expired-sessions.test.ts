import { describe, expect, test } from '@jest/globals';

import { BrowserJar } from '../../support/browser-jar.ts';
import { membersOf, send } from '../../support/http-client.ts';
import {
  errorIn,
  refresh,
  signInOf,
  startSessionWorld,
  tokensIn,
} from '../../support/session-world.ts';
import { signInClient, type SignedInClient } from '../../support/signed-in-client.ts';
import { verifies } from '../../requirements/verifies.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const OVER = { status: 400, error: 'invalid_grant' };

describe('A refresh after the session has expired', () => {
  verifies(
    [
      'states.session-recreated',
      'states.recreation-steps',
      'states.outlives-cookie',
      'tokens.external-represents-session',
      'tokens.external-refreshed',
    ],
    'the gateway recreates the session with the provider’s refresh token, and issues new tokens',
    async () => {
      await using world = await startSessionWorld();
      const client = await signInClient(world.url);
      const before = await signInOf(client, world);
      expect(await world.statusWith(client.accessToken)).toBe(200);
      world.expireSessions();
      expect(await world.statusWith(client.accessToken)).toBe(401);

      let tokens = { accessToken: '', refreshToken: '' };
      const asked = await world.tokenRequestsDuring(async () => {
        tokens = tokensIn(await refresh(client));
      });
      expect(asked).toBe(1);
      expect(tokens.accessToken).not.toBe(client.accessToken);
      expect(tokens.refreshToken).not.toBe(client.refreshToken);
      expect(await world.statusWith(tokens.accessToken)).toBe(200);

      const after = await signInOf({ ...client, ...tokens }, world);
      expect(after.signIn.id).toBe(before.signIn.id);
      expect(after.signIn.sessionId).not.toBe(before.signIn.sessionId);
      const record = { message: 'session renewed', user: 'alice', provider: 'test' };
      expect(world.gateway.logs()).toContainEqual(expect.objectContaining(record));
    },
  );

  verifies(
    ['states.session-recreated', 'tokens.external-refreshed'],
    'a recreated session has its full lifetime, in which the provider is not asked again',
    async () => {
      await using world = await startSessionWorld();
      const client = await signInClient(world.url);
      world.expireSessions();
      let tokens = tokensIn(await refresh(client));
      world.advance(14 * HOUR - MINUTE);
      const asked = await world.tokenRequestsDuring(async () => {
        tokens = tokensIn(await refresh(client, { token: tokens.refreshToken }));
      });
      expect(asked).toBe(0);
      expect(await world.statusWith(tokens.accessToken)).toBe(200);
      world.advance(MINUTE);
      expect(await world.statusWith(tokens.accessToken)).toBe(401);
    },
  );

  test('the provider is not asked while the session is valid', async () => {
    await using world = await startSessionWorld();
    const client = await signInClient(world.url);
    world.advance(13 * HOUR);
    expect(await world.tokenRequestsDuring(() => refresh(client))).toBe(0);
  });

  verifies(
    'states.session-recreated',
    'the session is recreated at a provider that does not rotate refresh tokens',
    async () => {
      await using world = await startSessionWorld({ refreshTokens: 'kept' });
      const client = await signInClient(world.url);
      let { refreshToken } = client;
      for (let count = 0; count < 3; count += 1) {
        world.expireSessions();
        ({ refreshToken } = tokensIn(await refresh(client, { token: refreshToken })));
      }
    },
  );

  verifies(
    ['states.current-policies', 'states.session-recreated'],
    'a recreated session is subject to the current policies, with the current groups',
    async () => {
      await using world = await startSessionWorld();
      await world.serve({ policy: { allow: { and: [{ groups: { is: 'engineering' } }] } } });
      const client = await signInClient(world.url);
      expect(await world.statusWith(client.accessToken)).toBe(200);
      const { users } = world.identityProvider;
      const { groups, ...others } = users.get('alice') ?? {};
      expect(groups).toEqual(['engineering']);

      users.set('alice', { ...others, groups: ['sales'] });
      world.expireSessions();
      const moved = tokensIn(await refresh(client));
      expect(await world.statusWith(moved.accessToken)).toBe(403);

      await world.serve({ policy: { allow: { and: [{ groups: { is: 'sales' } }] } } });
      expect(await world.statusWith(moved.accessToken)).toBe(200);

      users.set('alice', { ...others, groups: [] });
      world.expireSessions();
      const without = tokensIn(await refresh(client, { token: moved.refreshToken }));
      expect(await world.statusWith(without.accessToken)).toBe(403);
    },
  );

  verifies(
    'states.outlives-cookie',
    'the session is recreated after the browser has signed out',
    async () => {
      await using world = await startSessionWorld();
      const client = await signInClient(world.url);
      const page = await client.browser.open(`${world.url}/.gateway/sign_out`);
      expect((await client.browser.submit(page)).status).toBe(200);
      world.expireSessions();
      const { accessToken } = tokensIn(await refresh(client));
      expect(await world.statusWith(accessToken)).toBe(200);
    },
  );

  verifies(
    'states.session-recreated',
    'a refresh that is refused for another reason does not ask the provider',
    async () => {
      await using world = await startSessionWorld();
      const client = await signInClient(world.url);
      const other = await signInClient(world.url);
      world.expireSessions();
      const asked = await world.tokenRequestsDuring(async () => {
        const { refreshToken: token } = client;
        expect(errorIn(await refresh(other, { token }))).toEqual(OVER);
        for (const [parameters, error] of [
          [{ scope: 'more' }, 'invalid_scope'],
          [{ resource: 'https://elsewhere.example/' }, 'invalid_target'],
        ] as const) {
          expect(errorIn(await refresh(client, { parameters }))).toEqual({ status: 400, error });
        }
      });
      expect(asked).toBe(0);
      expect((await refresh(client)).status).toBe(200);
    },
  );

  verifies(
    'as.replay-detection',
    'a replayed refresh token ends its family without asking the provider',
    async () => {
      await using world = await startSessionWorld();
      const stolen = await signInClient(world.url);
      const { refreshToken: token } = tokensIn(await refresh(stolen));
      world.expireSessions();
      const asked = await world.tokenRequestsDuring(async () => {
        expect(errorIn(await refresh(stolen))).toEqual(OVER);
      });
      expect(asked).toBe(0);
      expect(errorIn(await refresh(stolen, { token }))).toEqual(OVER);
    },
  );
});

describe('A provider that rotates refresh tokens', () => {
  verifies(
    ['renewal.one-copy', 'states.outlives-cookie'],
    'two clients of one sign-in stay connected for weeks without a sign-in',
    async () => {
      await using world = await startSessionWorld({ refreshTokens: 'rotated' });
      const browser = new BrowserJar();
      const clients = [
        await signInClient(world.url, { browser }),
        await signInClient(world.url, { browser }),
      ].map((client) => ({ client, token: client.refreshToken }));
      const logins = world.identityProvider.authorizationRequests.length;
      expect(logins).toBe(1);
      let refreshes = 0;
      for (let count = 0; count < 30; count += 1) {
        world.expireSessions();
        const refreshing = clients[count % clients.length];
        if (refreshing === undefined) throw new Error('there are two clients');
        refreshes += await world.tokenRequestsDuring(async () => {
          const tokens = tokensIn(await refresh(refreshing.client, { token: refreshing.token }));
          expect(await world.statusWith(tokens.accessToken)).toBe(200);
          refreshing.token = tokens.refreshToken;
        });
      }
      expect(refreshes).toBe(30);
      expect(world.identityProvider.authorizationRequests).toHaveLength(logins);
    },
  );

  for (const [how, respell] of [
    ['in capitals', (url: string) => url.replace('http:', 'HTTP:')],
    ['with a detour', (url: string) => url.replace('/token', '/elsewhere/../token')],
  ] as const) {
    verifies(
      ['renewal.rotated-token-kept', 'states.session-recreated'],
      `a client stays connected if the metadata spell the token endpoint ${how}`,
      async () => {
        await using world = await startSessionWorld();
        const { identityProvider } = world;
        const { answers, issuer, changeTokens } = identityProvider;
        const url = `${issuer}/.well-known/openid-configuration`;
        const document = membersOf(await send(url));
        const token_endpoint = respell(String(document['token_endpoint']));
        answers.set('discovery', { status: 200, body: { ...document, token_endpoint } });
        const client = await signInClient(world.url);
        let { refreshToken } = client;
        for (let count = 0; count < 3; count += 1) {
          world.expireSessions();
          ({ refreshToken } = tokensIn(await refresh(client, { token: refreshToken })));
        }
        // The invalid identity token fails the renewal after the new refresh token was stored.
        identityProvider.changeTokens = (response) => ({ ...response, id_token: 'no' });
        world.expireSessions();
        expect((await refresh(client, { token: refreshToken })).status).toBe(503);
        identityProvider.changeTokens = changeTokens;
        world.advance(3 * SECOND);
        expect((await refresh(client, { token: refreshToken })).status).toBe(200);
      },
    );
  }

  verifies(
    'renewal.single-flight',
    'the provider is asked once if five clients of a sign-in refresh fifty times at once',
    async () => {
      await using world = await startSessionWorld();
      const browser = new BrowserJar();
      const clients: SignedInClient[] = [];
      for (let count = 0; count < 5; count += 1) {
        clients.push(await signInClient(world.url, { browser }));
      }
      world.expireSessions();
      const asked = await world.tokenRequestsDuring(async () => {
        const requests = clients.flatMap((client) => Array.from({ length: 10 }, () => client));
        const answers = await Promise.all(requests.map((client) => refresh(client)));
        const successors = new Set(answers.map((answer) => tokensIn(answer).refreshToken));
        expect(successors.size).toBe(clients.length);
        for (const answer of answers) {
          expect(await world.statusWith(tokensIn(answer).accessToken)).toBe(200);
        }
      });
      expect(asked).toBe(1);
    },
  );

  verifies(
    'renewal.single-flight',
    'the provider is asked once by two proxies that share stores',
    async () => {
      await using world = await startSessionWorld();
      const browser = new BrowserJar();
      const [first, second] = [
        await signInClient(world.url, { browser }),
        await signInClient(world.url, { browser }),
      ];
      await using peer = await world.startPeer();
      const { port } = peer;
      let tokens = [first, second].map(({ refreshToken }) => refreshToken);
      for (let count = 0; count < 3; count += 1) {
        world.expireSessions();
        const asked = await world.tokenRequestsDuring(async () => {
          const answers = await Promise.all([
            refresh(first, { token: tokens[0] ?? '' }),
            refresh(second, { token: tokens[1] ?? '', port }),
          ]);
          tokens = answers.map((answer) => tokensIn(answer).refreshToken);
        });
        expect(asked).toBe(1);
      }
    },
  );
});
