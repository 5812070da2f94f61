import { describe, expect, test } from '@jest/globals';

import { endSignIn } from '../../proxy/identity/session/end-sign-in.ts';
import { BrowserJar } from '../support/browser-jar.ts';
import { membersOf, send } from '../support/http-client.ts';
import {
  errorIn,
  refresh,
  signInOf,
  startSessionWorld,
  tokensIn,
} from '../support/session-world.ts';
import { startGatewayWithUsers } from '../support/gateway-with-users.ts';
import { startIdentityProvider } from '../support/identity-provider.ts';
import { signInClient, type SignedInClient } from '../support/signed-in-client.ts';
import { verifies } from '../requirements/verifies.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const OVER = { status: 400, error: 'invalid_grant' };

describe('A refresh when the session has expired', () => {
  verifies(
    [
      'states.session-recreated',
      'states.recreation-steps',
      'states.outlives-cookie',
      'tokens.external-represents-session',
      'tokens.external-refreshed',
    ],
    'makes a new session by the provider’s refresh token, and issues new tokens',
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
    'gives the session a whole life, in which the provider is not asked again',
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

  test('asks the provider nothing before', async () => {
    await using world = await startSessionWorld();
    const client = await signInClient(world.url);
    world.advance(13 * HOUR);
    expect(await world.tokenRequestsDuring(() => refresh(client))).toBe(0);
  });

  verifies('states.session-recreated', 'works where refresh tokens are not rotated', async () => {
    await using world = await startSessionWorld({ refreshTokens: 'kept' });
    const client = await signInClient(world.url);
    let { refreshToken } = client;
    for (let count = 0; count < 3; count += 1) {
      world.expireSessions();
      ({ refreshToken } = tokensIn(await refresh(client, { token: refreshToken })));
    }
  });

  verifies(
    ['states.current-policies', 'states.session-recreated'],
    'puts the user under the policies of now, with the groups of now',
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

  verifies('states.outlives-cookie', 'does not need the browser to be signed in', async () => {
    await using world = await startSessionWorld();
    const client = await signInClient(world.url);
    const page = await client.browser.open(`${world.url}/.gateway/sign_out`);
    expect((await client.browser.submit(page)).status).toBe(200);
    world.expireSessions();
    const { accessToken } = tokensIn(await refresh(client));
    expect(await world.statusWith(accessToken)).toBe(200);
  });

  verifies(
    'states.session-recreated',
    'is not worth a question to the provider when the request is no good',
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
    'gives a replayed token nothing, and ends its family without a question to the provider',
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
    'keeps two clients of one sign-in connected for weeks, without a login',
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
      `keeps a client connected though its discovery spells the token endpoint ${how}`,
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
        // What came in place of the last one is kept before anything else can fail.
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
    'is asked once when five clients of a sign-in refresh fifty times at once',
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

  verifies('renewal.single-flight', 'is asked once by two proxies that share stores', async () => {
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
  });
});

describe('A session that is not made anew', () => {
  verifies(
    ['states.session-stays-expired', 'errors.refresh-invalid-grant'],
    'is that of a user who was disabled at the provider, even when enabled again',
    async () => {
      await using world = await startSessionWorld();
      const client = await signInClient(world.url);
      const { users } = world.identityProvider;
      const alice = users.get('alice') ?? {};
      users.delete('alice');
      world.expireSessions();
      expect(errorIn(await refresh(client))).toEqual(OVER);
      users.set('alice', alice);
      const asked = await world.tokenRequestsDuring(async () => {
        expect(errorIn(await refresh(client))).toEqual(OVER);
      });
      expect(asked).toBe(0);
      expect(world.gateway.logs()).toContainEqual(
        expect.objectContaining({
          message: 'sign-in ended',
          reason: 'invalid-grant',
          user: 'alice',
        }),
      );
      const again = await signInClient(world.url);
      expect(await world.statusWith(again.accessToken)).toBe(200);
    },
  );

  const REFUSALS = [
    [400, 'invalid_grant'],
    [403, 'invalid_grant'],
    [400, 'access_denied'],
    [400, 'interaction_required'],
    [400, 'login_required'],
    [400, 'consent_required'],
    [400, 'account_selection_required'],
  ] as const;

  for (const [status, error] of REFUSALS) {
    verifies(
      ['states.session-stays-expired', 'errors.refresh-invalid-grant'],
      `is that of a user for whom the provider answers ${String(status)} ${error}`,
      async () => {
        await using world = await startSessionWorld();
        const client = await signInClient(world.url);
        world.identityProvider.answers.set('token', { status, body: { error } });
        world.expireSessions();
        expect(errorIn(await refresh(client))).toEqual(OVER);
        world.identityProvider.answers.clear();
        expect(errorIn(await refresh(client))).toEqual(OVER);
        const reason = error.replaceAll('_', '-');
        expect(world.gateway.logs()).toContainEqual(
          expect.objectContaining({ message: 'sign-in ended', reason }),
        );
      },
    );
  }

  verifies(
    'states.session-stays-expired',
    'is that of a provider without refresh tokens, and the log says so',
    async () => {
      await using world = await startSessionWorld({ refreshTokens: 'none' });
      const client = await signInClient(world.url);
      const { refreshToken: token } = tokensIn(await refresh(client));
      world.expireSessions();
      const asked = await world.tokenRequestsDuring(async () => {
        expect(errorIn(await refresh(client, { token }))).toEqual(OVER);
      });
      expect(asked).toBe(0);
      expect(world.gateway.logs()).toContainEqual(
        expect.objectContaining({ message: 'session not renewed', reason: 'no-refresh-token' }),
      );
    },
  );

  verifies(
    ['states.bounded-lifetime', 'states.session-stays-expired'],
    'is that of a refresh token that has expired itself',
    async () => {
      await using world = await startSessionWorld();
      await world.serve(undefined, { tokens: { refreshTokenLifetime: '20h' } });
      const client = await signInClient(world.url);
      world.advance(19 * HOUR);
      const { refreshToken: token } = tokensIn(await refresh(client));
      world.advance(20 * HOUR);
      const asked = await world.tokenRequestsDuring(async () => {
        expect(errorIn(await refresh(client, { token }))).toEqual(OVER);
      });
      expect(asked).toBe(0);
    },
  );

  verifies('renewal.revoked', 'is one that was revoked, and not just expired', async () => {
    await using world = await startSessionWorld();
    const client = await signInClient(world.url);
    expect(await endSignIn(await signInOf(client, world), world.stores)).toBe(true);
    expect(await world.statusWith(client.accessToken)).toBe(401);
    const asked = await world.tokenRequestsDuring(async () => {
      expect(errorIn(await refresh(client))).toEqual(OVER);
      world.expireSessions();
      expect(errorIn(await refresh(client))).toEqual(OVER);
    });
    expect(asked).toBe(0);
  });

  const ELSEWHERE = [
    ['was renamed', { name: 'renamed' }],
    ['knows the gateway as another client', { clientId: 'other' }],
    ['is another one under the same name', { issuerUrl: 'other' }],
  ] as const;

  for (const [what, change] of ELSEWHERE) {
    verifies(
      ['renewal.same-provider', 'states.session-stays-expired'],
      `is that of a provider that ${what}: it gets no token of before`,
      async () => {
        await using world = await startSessionWorld();
        const client = await signInClient(world.url);
        await using other = await startIdentityProvider({ refreshTokens: 'rotated' });
        const { issuer, clientId } = world.identityProvider;
        const clientSecretRef = { name: 'identity-provider', key: 'client-secret' };
        const settings = { name: 'test', issuerUrl: issuer, clientId, clientSecretRef, ...change };
        const issuerUrl = 'issuerUrl' in change ? other.issuer : issuer;
        await world.serve(undefined, { identityProviders: [{ ...settings, issuerUrl }] });
        world.expireSessions();
        const asked = await world.tokenRequestsDuring(async () => {
          expect(errorIn(await refresh(client))).toEqual(OVER);
        });
        expect(asked).toBe(0);
        expect(other.hits.size).toBe(0);
      },
    );
  }
});

describe('Who the user is by then', () => {
  verifies('renewal.same-user', 'must be who signed in, by the ID token', async () => {
    await using world = await startSessionWorld();
    const { identityProvider, url } = world;
    const bob = await signInClient(url, { login: 'bob' });
    const alice = await signInClient(url, { login: 'alice' });
    let idToken: unknown;
    identityProvider.changeTokens = (response) => ({
      ...response,
      id_token: (idToken ??= response['id_token']),
    });
    world.expireSessions();
    expect((await refresh(bob)).status).toBe(200);
    expect(errorIn(await refresh(alice))).toEqual(OVER);
    expect(world.gateway.logs()).toContainEqual(
      expect.objectContaining({ message: 'sign-in ended', reason: 'other-subject', user: 'alice' }),
    );
  });

  verifies('renewal.same-user', 'must be who signed in, by userinfo', async () => {
    await using world = await startSessionWorld();
    const client = await signInClient(world.url);
    const body = { sub: 'bob', groups: ['engineering'] };
    world.identityProvider.answers.set('userinfo', { status: 200, body });
    world.expireSessions();
    expect(errorIn(await refresh(client))).toEqual(OVER);
  });

  type TokenResponse = Readonly<Record<string, unknown>>;

  function withoutIdToken(response: TokenResponse): TokenResponse {
    return { ...response, id_token: undefined };
  }

  verifies('states.current-policies', 'is what userinfo says when that is all', async () => {
    await using world = await startSessionWorld();
    const { identityProvider } = world;
    await world.serve({ policy: { allow: { and: [{ email: { is: 'alice@new.example' } }] } } });
    const client = await signInClient(world.url);
    identityProvider.changeTokens = withoutIdToken;
    const alice = identityProvider.users.get('alice') ?? {};

    identityProvider.users.set('alice', { ...alice, email: 'alice@new.example' });
    world.expireSessions();
    const moved = tokensIn(await refresh(client));
    expect(await world.statusWith(moved.accessToken)).toBe(200);

    const unverified = { email: 'alice@new.example', email_verified: false };
    identityProvider.users.set('alice', { ...alice, ...unverified });
    world.expireSessions();
    const { accessToken } = tokensIn(await refresh(client, { token: moved.refreshToken }));
    expect(await world.statusWith(accessToken)).toBe(403);
  });

  verifies(
    ['states.current-policies', 'states.session-stays-expired'],
    'is not said when there is no ID token, and userinfo lacks a claim of before',
    async () => {
      await using world = await startSessionWorld();
      const { answers } = world.identityProvider;
      const claims = { sub: 'alice', email: 'alice@example.com', groups: ['engineering'] };
      answers.set('userinfo', { status: 200, body: { ...claims, roles: ['admin'] } });
      await world.serve({ policy: { allow: { and: [{ 'claim/roles': 'admin' }] } } });
      const client = await signInClient(world.url);
      expect(await world.statusWith(client.accessToken)).toBe(200);
      world.identityProvider.changeTokens = withoutIdToken;
      world.expireSessions();
      const { refreshToken: token } = tokensIn(await refresh(client));

      answers.set('userinfo', { status: 200, body: claims });
      world.expireSessions();
      expect(errorIn(await refresh(client, { token }))).toEqual(OVER);
      expect(world.gateway.logs()).toContainEqual(
        expect.objectContaining({ message: 'sign-in ended', reason: 'claims-unknown' }),
      );
    },
  );

  verifies(
    ['states.current-policies', 'states.session-stays-expired'],
    'is not said when nobody says a word of the groups that the user had',
    async () => {
      await using world = await startSessionWorld();
      const allow = { and: [{ accept: true }] };
      await world.serve({ policy: { allow, deny: { or: [{ groups: { is: 'engineering' } }] } } });
      const client = await signInClient(world.url);
      expect(await world.statusWith(client.accessToken)).toBe(403);
      world.identityProvider.answers.set('userinfo', { status: 200, body: { sub: 'alice' } });
      world.expireSessions();
      expect(errorIn(await refresh(client))).toEqual(OVER);
      expect(world.gateway.logs()).toContainEqual(
        expect.objectContaining({ message: 'sign-in ended', reason: 'claims-unknown' }),
      );
    },
  );

  verifies(
    'states.session-stays-expired',
    'is not said with neither ID token nor userinfo',
    async () => {
      await using world = await startSessionWorld();
      const { identityProvider } = world;
      const client = await signInClient(world.url);
      const url = `${identityProvider.issuer}/.well-known/openid-configuration`;
      const document = membersOf(await send(url));
      const body = { ...document, userinfo_endpoint: undefined };
      identityProvider.answers.set('discovery', { status: 200, body });
      identityProvider.changeTokens = withoutIdToken;
      world.expireSessions();
      expect(errorIn(await refresh(client))).toEqual(OVER);
      expect(world.gateway.logs()).toContainEqual(
        expect.objectContaining({ message: 'sign-in ended', reason: 'no-fresh-identity' }),
      );
    },
  );
});

describe('The scopes of a sign-in', () => {
  const SCOPES = [
    ['ask for a refresh token where the provider has them', 'kept', ' offline_access'],
    ['do not where it has none', 'none', ''],
  ] as const;

  for (const [what, refreshTokens, more] of SCOPES) {
    verifies('renewal.offline-access', `${what}, unless set`, async () => {
      await using world = await startGatewayWithUsers({}, { refreshTokens });
      const { issuer, clientId, authorizationRequests } = world.identityProvider;
      const app = world.originOf('app');
      const clientSecretRef = { name: 'identity-provider', key: 'client-secret' };
      const asked = async (scopes?: string[]): Promise<string | null | undefined> => {
        const provider = { name: 'test', issuerUrl: issuer, clientId, clientSecretRef };
        await world.configure(
          { app: { from: app, to: 'http://127.0.0.1:1', allowAnyAuthenticatedUser: true } },
          { identityProviders: [{ ...provider, ...(scopes !== undefined && { scopes }) }] },
        );
        await new BrowserJar().open(app);
        return authorizationRequests.at(-1)?.get('scope');
      };
      expect(await asked()).toBe(`openid email profile${more}`);
      expect(await asked(['openid', 'groups'])).toBe('openid groups');
    });
  }
});
