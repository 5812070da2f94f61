import { describe, expect } from '@jest/globals';

import { endSignIn } from '../../proxy/identity/session/end-sign-in.ts';
import { StoreUnavailableError } from '../../proxy/store/store-unavailable-error.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import { eventually } from '../support/eventually.ts';
import { failingStores } from '../support/failing-stores.ts';
import type { IdentityProviderOptions } from '../support/identity-provider.ts';
import {
  errorIn,
  refresh,
  signInOf,
  startSessionWorld,
  tokensIn,
  type SessionWorld,
} from '../support/session-world.ts';
import { signInClient, type SignedInClient } from '../support/signed-in-client.ts';
import { verifies } from '../requirements/verifies.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

// One of the tests lasts as long as the gateway waits for the provider.
/** Longer than nobody asks a provider again that has failed. */
const REST = 3 * SECOND;

/** How long a proxy that says no more holds the provider's refresh token. */
const LEASE = 15 * SECOND;

/** Longer than any answer of a provider may be. */
const TOO_LONG = 'x'.repeat(2 ** 20);

const YEAR = 365 * 24 * 3600 * SECOND;

const ALICE = { sub: 'alice', groups: ['engineering'] };

const PATHS = {
  discovery: '/.well-known/openid-configuration',
  token: '/token',
  userinfo: '/me',
} as const;

const OVER = { status: 400, error: 'invalid_grant' };

type Fault = (world: SessionWorld) => unknown;
type Answer = Awaited<ReturnType<typeof refresh>>;

/** A world in which a client's session has expired. */
interface ExpiredWorld extends SessionWorld {
  readonly client: SignedInClient;
  /** Every token that the provider gave. */
  readonly secrets: readonly string[];
}

async function startExpired(options?: IdentityProviderOptions): Promise<ExpiredWorld> {
  const world = await startSessionWorld(options);
  const secrets: string[] = [];
  world.identityProvider.changeTokens = (response) => {
    secrets.push(String(response['refresh_token']), String(response['access_token']));
    return response;
  };
  const client = await signInClient(world.url);
  world.expireSessions();
  return { ...world, client, secrets };
}

function expectUnavailable(answer: Answer): void {
  expect(errorIn(answer)).toEqual({ status: 503, error: 'temporarily_unavailable' });
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  expect(answer.headers['cache-control']).toBe('no-store');
}

describe('A provider that does not say who the user is', () => {
  const FAULTS: readonly (readonly [string, Fault])[] = [
    ['is down', ({ identityProvider }) => identityProvider.stop()],
    ['fails', failing('token')],
    ['has too many requests', answering(429, { error: 'slow_down' })],
    ['has too many requests, and says invalid_grant', answering(429, { error: 'invalid_grant' })],
    ['is unavailable, and says invalid_grant', answering(503, { error: 'invalid_grant' })],
    ['does not know the gateway', answering(401, { error: 'invalid_client' })],
    ['does not let the gateway refresh', answering(400, { error: 'unauthorized_client' })],
    ['refuses the request', answering(400, { error: 'invalid_request' })],
    ['refuses the request in other words', answering(400, 'no')],
    ['answers no JSON', answering(200, 'no')],
    ['answers without tokens', answering(200, {})],
    ['has no userinfo', failing('userinfo')],
    ['has no keys', failing('keys')],
    [
      'describes the user at too great length',
      ({ identityProvider: { answers } }) =>
        answers.set('userinfo', { status: 200, body: { ...ALICE, TOO_LONG } }),
    ],
    ['signs badly', changing({ id_token: (token) => `${token.slice(0, -20)}${'A'.repeat(20)}` })],
    ['sends an ID token that is none', changing({ id_token: () => 'no' })],
    ['sends an access token that is none', changing({ access_token: () => 7 })],
  ];

  for (const [what, breakDown] of FAULTS) {
    verifies(
      ['renewal.provider-unavailable', 'renewal.rotated-token-kept'],
      `because it ${what}, is 503, and the same refresh token works once it does`,
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
    'because its token response is too long, is 503, and the same refresh token works later',
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
    'because it does not answer, is 503 after ten seconds, and the same refresh token works later',
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
    'is not asked again for two seconds, whoever refreshes',
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

describe('A renewal that is cut short', () => {
  verifies(
    'renewal.rotated-token-kept',
    'by the end of its proxy is taken up by another one, with what the provider gave',
    async () => {
      await using world = await startExpired();
      const { client } = world;
      const dies = (): Promise<never> => Promise.reject(new Error('the proxy has died'));
      await using dying = await world.startPeer({
        ...world.stores,
        sessions: withMethods(world.stores.sessions, { create: dies }),
        signIns: withMethods(world.stores.signIns, { releaseRenewal: dies }),
      });
      expect((await refresh(client, { port: dying.port })).status).toBe(500);

      world.advance(LEASE);
      const { accessToken } = tokensIn(await refresh(client));
      expect(await world.statusWith(accessToken)).toBe(200);
    },
  );

  verifies(
    'renewal.rotated-token-kept',
    'by a store that is away for a moment loses nothing that the provider gave',
    async () => {
      await using world = await startExpired();
      const { stores, client } = world;
      let failures = 0;
      const update: Stores['signIns']['update'] = (...change) => {
        failures += 1;
        if (failures <= 2) return Promise.reject(new StoreUnavailableError('it is away'));
        return stores.signIns.update(...change);
      };
      await using peer = await world.startPeer({
        ...stores,
        signIns: withMethods(stores.signIns, { update }),
      });
      const { accessToken } = tokensIn(await refresh(client, { port: peer.port }));
      expect(failures).toBeGreaterThan(2);
      expect(await world.statusWith(accessToken)).toBe(200);
    },
  );

  verifies(
    'renewal.provider-unavailable',
    'by a store that is away for a moment is begun anew long before its lease ends',
    async () => {
      await using world = await startExpired();
      const { client, stores } = world;
      const { signIn } = await signInOf(client, world);
      const failing = failingStores(stores);
      await using peer = await world.startPeer(failing.stores);
      const { answer, release } = await refreshHeldAt('userinfo', world, peer.port);
      failing.setAway(true);
      release();
      expectUnavailable(await answer);
      failing.setAway(false);
      const isFree = async (): Promise<boolean> => {
        const claim = await stores.signIns.claimRenewal(signIn.id, 1);
        return claim?.kind !== 'busy';
      };
      await eventually('it is given back', isFree, LEASE / 2);
      world.advance(REST);
      expect((await refresh(client)).status).toBe(200);
    },
  );

  verifies(
    ['renewal.single-flight', 'renewal.one-copy'],
    'by a proxy that stood still for longer than its lease does not use the token of before',
    async () => {
      await using world = await startSessionWorld();
      world.serve(undefined, { cookie: { expiration: '10m' } });
      const client = await signInClient(world.url);
      // Sessions are over, and this proxy still knows the provider's endpoints: the next one does not.
      world.advance(10 * MINUTE);
      await using peer = await world.startPeer();
      const held = await refreshHeldAt('discovery', { ...world, client }, peer.port);
      const asked = await world.tokenRequestsDuring(async () => {
        world.advance(LEASE);
        expect((await refresh(client)).status).toBe(200);
        held.release();
        const { accessToken } = tokensIn(await held.answer);
        expect(await world.statusWith(accessToken)).toBe(200);
      });
      expect(asked).toBe(1);
    },
  );

  verifies(
    'renewal.single-flight',
    'by the end of its proxy keeps the others waiting no longer than its lease',
    async () => {
      await using world = await startExpired();
      const { client } = world;
      const { stores } = world;
      const { signIn } = await signInOf(client, world);
      await stores.signIns.claimRenewal(signIn.id, LEASE / SECOND);
      let claims = 0;
      const claimRenewal: Stores['signIns']['claimRenewal'] = (...claim) => {
        claims += 1;
        return stores.signIns.claimRenewal(...claim);
      };
      await using peer = await world.startPeer({
        ...stores,
        signIns: withMethods(stores.signIns, { claimRenewal }),
      });
      const waiting = refresh(client, { port: peer.port });
      await eventually('another proxy claims it', () => claims > 1);
      world.advance(LEASE);
      expect((await waiting).status).toBe(200);
    },
  );

  verifies(
    'renewal.single-flight',
    'by another that was done before this one began uses the session of that one',
    async () => {
      await using world = await startExpired();
      const { stores, client } = world;
      const { promise: isDone, resolve: done } = Promise.withResolvers<undefined>();
      let claims = 0;
      const claimRenewal: Stores['signIns']['claimRenewal'] = async (...claim) => {
        claims += 1;
        await isDone;
        return stores.signIns.claimRenewal(...claim);
      };
      await using peer = await world.startPeer({
        ...stores,
        signIns: withMethods(stores.signIns, { claimRenewal }),
      });
      const asked = await world.tokenRequestsDuring(async () => {
        const late = refresh(client, { port: peer.port });
        await eventually('another proxy claims it', () => claims > 0);
        expect((await refresh(client)).status).toBe(200);
        done(undefined);
        expect((await late).status).toBe(200);
      });
      expect(asked).toBe(1);
    },
  );

  verifies('renewal.revoked', 'by the end of the sign-in makes no session', async () => {
    await using world = await startExpired();
    const { client } = world;
    const { stores } = world;
    const { answer, release } = await refreshHeldAt('userinfo', world);
    expect(await endSignIn(await signInOf(client, world), stores)).toBe(true);
    release();
    expect(errorIn(await answer)).toEqual(OVER);
    expect(errorIn(await refresh(client))).toEqual(OVER);
  });

  verifies(
    'renewal.single-flight',
    'by another that overtook it uses the session of that one',
    async () => {
      await using world = await startExpired();
      const { client } = world;
      const { stores } = world;
      const { answer, release } = await refreshHeldAt('userinfo', world);
      const { signIn, version } = await signInOf(client, world);
      const [id, createdAt] = ['the-session-of-another', Date.now()];
      const { id: signInId, identity } = signIn;
      const expiresAt = createdAt + YEAR;
      await stores.sessions.create({ id, signInId, identity, createdAt, expiresAt });
      await stores.signIns.update({ ...signIn, sessionId: id }, version);
      release();

      const { accessToken } = tokensIn(await answer);
      expect(await world.statusWith(accessToken)).toBe(200);
      expect((await signInOf(client, world)).signIn.sessionId).toBe(id);
    },
  );

  verifies(
    'renewal.single-flight',
    'by a refusal goes on with the token that another holder got in the meantime',
    async () => {
      await using world = await startExpired();
      const { client } = world;
      const { stores, identityProvider } = world;
      const { answer, release } = await refreshHeldAt('token', world);
      const { signIn, version } = await signInOf(client, world);
      await stores.signIns.update(signIn, version);
      identityProvider.answers.set('token', { status: 400, body: { error: 'invalid_grant' } });
      release();
      expectUnavailable(await answer);

      identityProvider.answers.clear();
      world.advance(REST);
      expect((await refresh(client)).status).toBe(200);
    },
  );
});

/** A refresh that waits for an endpoint of the provider, until it is released. */
async function refreshHeldAt(
  endpoint: keyof typeof PATHS,
  { client, identityProvider, gateway }: Omit<ExpiredWorld, 'secrets'>,
  port = gateway.port,
): Promise<{ readonly answer: Promise<Answer>; readonly release: () => void }> {
  const arrivals = (): number => identityProvider.hits.get(PATHS[endpoint]) ?? 0;
  const before = arrivals();
  const release = identityProvider.hold(endpoint);
  const answer = refresh(client, { port });
  await eventually('the provider is asked', () => arrivals() > before);
  return { answer, release };
}

/** Makes an endpoint fail. */
function failing(endpoint: 'token' | 'userinfo' | 'keys'): Fault {
  return ({ identityProvider }) => {
    identityProvider.fail(endpoint);
  };
}

/** Makes the token endpoint answer this. */
function answering(status: number, body: unknown): Fault {
  return ({ identityProvider }) => void identityProvider.answers.set('token', { status, body });
}

/** Changes members of token responses, which are otherwise good. */
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

/** The same store, but for some methods. */
function withMethods<Store extends Stores['sessions' | 'signIns']>(
  store: Store,
  methods: Partial<Store>,
): Store {
  return new Proxy(store, {
    get(target, name) {
      const own: unknown = Reflect.get(methods, name);
      const value: unknown = own ?? Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
