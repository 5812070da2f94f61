import { describe, expect } from '@jest/globals';

import { endSignIn } from '../../../proxy/identity/session/end-sign-in.ts';
import { StoreUnavailableError } from '../../../proxy/store/store-unavailable-error.ts';
import type { Stores } from '../../../proxy/store/stores.ts';
import { eventually } from '../../support/eventually.ts';
import { failingStores } from '../../support/failing-stores.ts';
import {
  errorIn,
  refresh,
  signInOf,
  startSessionWorld,
  tokensIn,
} from '../../support/session-world.ts';
import { signInClient } from '../../support/signed-in-client.ts';
import { verifies } from '../../requirements/verifies.ts';
import {
  startExpired,
  expectUnavailable,
  type Answer,
  type ExpiredWorld,
} from '../../support/renewal-failures.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Longer than the pause after a failure of the provider. */
const REST = 3 * SECOND;

/** How long a proxy that has stopped keeps the lease on the provider's refresh token. */
const LEASE = 15 * SECOND;

const YEAR = 365 * 24 * 3600 * SECOND;

const PATHS = {
  discovery: '/.well-known/openid-configuration',
  token: '/token',
  userinfo: '/me',
} as const;

const OVER = { status: 400, error: 'invalid_grant' };

describe('A renewal that is interrupted', () => {
  verifies(
    'renewal.rotated-token-kept',
    'another proxy completes a renewal whose proxy has stopped, with the tokens of the provider',
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
    'a renewal survives a short outage of the store with the tokens of the provider',
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
    'a renewal that a store outage interrupted is repeated long before its lease ends',
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
    'a proxy that was suspended for longer than its lease does not use the earlier token',
    async () => {
      await using world = await startSessionWorld();
      await world.serve(undefined, { cookie: { expiration: '10m' } });
      const client = await signInClient(world.url);
      // The sessions have expired. This proxy knows the provider's endpoints, and the next one does not.
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
    'others wait no longer than the lease for a proxy that has stopped',
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
    'a renewal uses the session of another one that was completed before it began',
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

  verifies(
    'renewal.revoked',
    'a renewal creates no session after the sign-in has ended',
    async () => {
      await using world = await startExpired();
      const { client } = world;
      const { stores } = world;
      const { answer, release } = await refreshHeldAt('userinfo', world);
      expect(await endSignIn(await signInOf(client, world), stores)).toBe(true);
      release();
      expect(errorIn(await answer)).toEqual(OVER);
      expect(errorIn(await refresh(client))).toEqual(OVER);
    },
  );

  verifies(
    'renewal.single-flight',
    'a renewal uses the session of another one that overtook it',
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
    'a renewal that is refused continues with the token that another holder received',
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

/** Starts a refresh that waits at an endpoint of the provider until it is released. */
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

/** Returns the same store with some methods replaced. */
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
