import { expect } from '@jest/globals';

import { Sealer } from '../../proxy/crypto/sealer.ts';
import type { Caller } from '../../proxy/authentication/caller.ts';
import {
  ExternalTokenAuthenticator,
  type ExternalTokenUse,
} from '../../proxy/authentication/external-token-authenticator.ts';
import {
  ExternalTokens,
  type ExternalTokenClaims,
} from '../../proxy/authentication/external-tokens.ts';
import { createMemoryStores } from '../../proxy/store/memory/memory-stores.ts';
import { StoreUnavailableError } from '../../proxy/store/store-unavailable-error.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import { aSession } from './authorization-server.ts';
import { AN_IDENTITY_PROVIDER } from './compiled-resources.ts';
import { NO_APPLICATIONS } from './no-applications.ts';

/** Time at which the fixture begins. */
export const NOW = 1_800_000_000_000;
/** Resource identifier of the called route. */
export const RESOURCE = 'https://mcp.example.com/mcp';
/** The use that tokens are issued for. */
export const USE: ExternalTokenUse = {
  resource: RESOURCE,
  gatewayId: 'gatehouse/main',
  provider: {
    ...AN_IDENTITY_PROVIDER,
    name: aSession(NOW).identity.provider,
    issuer: aSession(NOW).identity.issuer ?? '',
  },
};
/** How long a check stays valid. */
export const FRESH_MS = 5_000;
/** How long a check stays valid while the stores are unavailable. */
export const GRACE_MS = 60_000;

/** An authenticator over memory stores that a test can delay or make fail. */
export interface Fixture extends Disposable {
  /** Authenticates a token at a time. */
  readonly authenticate: (
    token: string,
    now?: number,
    use?: ExternalTokenUse,
  ) => Caller | Promise<Caller>;
  readonly stores: Stores;
  readonly externalTokens: ExternalTokens;
  /** How often the stores were asked about a session. */
  lookups(): number;
  /** Makes the next look-up of a session wait until the returned function is called. */
  holdNextLookup(): { readonly began: Promise<void>; readonly release: () => void };
  /** Makes look-ups of sessions fail, or succeed again. */
  setAway(isAway: boolean): void;
}

/** Makes a fixture. */
export function aFixture(): Fixture {
  const stores = createMemoryStores(() => NOW);
  let lookups = 0;
  let isAway = false;
  let time = NOW;
  let gate: { readonly began: () => void; readonly released: Promise<void> } | undefined;
  const sessions: Stores['sessions'] = {
    create: (session) => stores.sessions.create(session),
    revoke: (id) => stores.sessions.revoke(id),
    get: async (id) => {
      lookups += 1;
      if (isAway) throw new StoreUnavailableError('down');
      const session = await stores.sessions.get(id);
      const held = gate;
      gate = undefined;
      held?.began();
      await held?.released;
      return session;
    },
  };
  const externalTokens = new ExternalTokens(new Sealer([{ secret: Buffer.alloc(32) }]));
  const authenticator = new ExternalTokenAuthenticator({
    externalTokens,
    applications: NO_APPLICATIONS,
    stores: { ...stores, sessions },
    isOfProvider: () => true,
    outageGraceSeconds: () => GRACE_MS / 1000,
    now: () => time,
  });
  return {
    authenticate: (token, now = NOW, use = USE) => {
      time = now;
      return authenticator.callerOf(token, use);
    },
    setAway: (value) => void (isAway = value),
    stores,
    externalTokens,
    lookups: () => lookups,
    holdNextLookup: () => {
      const began = Promise.withResolvers<undefined>();
      const released = Promise.withResolvers<undefined>();
      gate = { began: () => began.resolve(undefined), released: released.promise };
      return { began: began.promise, release: () => released.resolve(undefined) };
    },
    [Symbol.dispose]: () => authenticator[Symbol.dispose](),
  };
}

/** Issues a token of a live grant and session of its own. */
export async function aToken(
  { stores, externalTokens }: Fixture,
  claims: Partial<ExternalTokenClaims> = {},
): Promise<{ readonly token: string; readonly claims: ExternalTokenClaims }> {
  const session = { ...aSession(NOW), ...(claims.sessionId && { id: claims.sessionId }) };
  const grant = {
    ...{ id: `grant of ${session.id}`, issuer: 'https://mcp.example.com', clientId: 'client' },
    ...{ signInId: session.signInId, resource: RESOURCE, scopes: [] },
  };
  await stores.sessions.create(session);
  await stores.grants.create(grant, 3600);
  const token = externalTokens.issue({
    ...{ gatewayId: USE.gatewayId, issuer: grant.issuer, sessionId: session.id },
    ...{ grantId: grant.id, clientId: 'client', audience: RESOURCE },
    ...{ issuedAt: NOW, expiresAt: NOW + 900_000 },
    ...claims,
  });
  const opened = externalTokens.open(token);
  if (opened === null) throw new Error('the token was issued here');
  return { token, claims: opened };
}

/** Returns the reason for which a token is refused, or `accepted`. */
export async function verdict(
  { authenticate }: Fixture,
  token: string,
  { now = NOW, ...use }: Partial<typeof USE> & { readonly now?: number } = {},
): Promise<string> {
  try {
    await authenticate(token, now, { ...USE, ...use });
    return 'accepted';
  } catch (error) {
    expect(error).toMatchObject({ name: 'TokenRequiredError', status: 401, tokenWasSent: true });
    return (error as { readonly reason: string }).reason;
  }
}
