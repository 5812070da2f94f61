import { describe, expect, test } from '@jest/globals';

import { Sealer } from '../../../../proxy/crypto/sealer.ts';
import type { Caller } from '../../../../proxy/authentication/caller.ts';
import { ExternalTokenAuthenticator } from '../../../../proxy/authentication/external-token-authenticator.ts';
import {
  ExternalTokens,
  type ExternalTokenClaims,
} from '../../../../proxy/authentication/external-tokens.ts';
import { createMemoryStores } from '../../../../proxy/store/memory/memory-stores.ts';
import type { Revocation } from '../../../../proxy/store/revocations.ts';
import { StoreUnavailableError } from '../../../../proxy/store/store-unavailable-error.ts';
import type { Stores } from '../../../../proxy/store/stores.ts';
import { verifies } from '../../../requirements/verifies.ts';
import { aSession } from '../../../support/authorization-server.ts';

const NOW = 1_800_000_000_000;
const RESOURCE = 'https://mcp.example.com/mcp';
const USE = { resource: RESOURCE, gatewayId: 'gatehouse/main' };
const FRESH_MS = 5_000;
const GRACE_MS = 60_000;

interface Fixture extends Disposable {
  /** Asks whose a token is, at a time. */
  readonly authenticate: (
    token: string,
    now?: number,
    use?: typeof USE,
  ) => Caller | Promise<Caller>;
  readonly stores: Stores;
  readonly externalTokens: ExternalTokens;
  /** How often the stores were asked about a session. */
  lookups(): number;
  /** Makes the next look-up of a session wait until the returned function is called. */
  holdNextLookup(): { readonly began: Promise<void>; readonly release: () => void };
  /** Makes look-ups of sessions fail from now on, or no longer. */
  setAway(isAway: boolean): void;
}

function aFixture(): Fixture {
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
    stores: { ...stores, sessions },
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
async function aToken(
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

/** The reason a token is refused for; `accepted` when it is not. */
async function verdict(
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

describe('A token', () => {
  test('stands for the user of its session', async () => {
    using fixture = aFixture();
    const { token, claims } = await aToken(fixture);
    const caller = await fixture.authenticate(token);
    expect(caller).toMatchObject({
      kind: 'user',
      via: 'external-token',
      session: { id: claims.sessionId },
    });
  });

  test.each<[string, Partial<typeof USE> & { now?: number }, string]>([
    ['after its expiry', { now: NOW + 900_000 }, 'expired'],
    ['at another route', { resource: `${RESOURCE}2` }, 'audience-mismatch'],
    ['at another gateway', { gatewayId: 'gatehouse/other' }, 'audience-mismatch'],
  ])('is refused %s, cold and warm, without a question to the stores', async (_when, use, why) => {
    using fixture = aFixture();
    const { token } = await aToken(fixture);
    expect(await verdict(fixture, token, use)).toBe(why);
    expect(fixture.lookups()).toBe(0);
    expect(await verdict(fixture, token)).toBe('accepted');
    expect(await verdict(fixture, token, use)).toBe(why);
    expect(fixture.lookups()).toBe(1);
  });

  test('that nobody sealed is refused without a question to the stores', async () => {
    using fixture = aFixture();
    const { token } = await aToken(fixture);
    for (const forged of [
      '',
      'gte_',
      'gte_x',
      `${token}x`,
      token.slice(4),
      `gtr_${token.slice(4)}`,
    ]) {
      expect(await verdict(fixture, forged)).toBe('malformed');
    }
    expect(fixture.lookups()).toBe(0);
  });

  const ENDS: readonly (readonly [
    string,
    (stores: Stores, claims: ExternalTokenClaims) => Promise<void>,
    string,
  ])[] = [
    ['the token', ({ revokedTokens }, { tokenId }) => revokedTokens.revoke(tokenId, 60), 'revoked'],
    ['the grant', ({ grants }, { grantId }) => grants.revoke(grantId), 'grant-gone'],
    ['the session', ({ sessions }, { sessionId }) => sessions.revoke(sessionId), 'session-gone'],
  ];

  for (const [what, end, why] of ENDS) {
    verifies('as.grant-active', `is refused when ${what} is gone`, async () => {
      using fixture = aFixture();
      const { token, claims } = await aToken(fixture);
      await end(fixture.stores, claims);
      expect(await verdict(fixture, token)).toBe(why);
    });
  }
});

describe('A warm token', () => {
  test('is answered without a promise and without the stores', async () => {
    using fixture = aFixture();
    const { token } = await aToken(fixture);
    const caller = await fixture.authenticate(token);
    const again = fixture.authenticate(token, NOW + FRESH_MS - 1);
    expect(again).toBe(caller);
    expect(fixture.lookups()).toBe(1);
  });

  test('is checked again five seconds after its last check', async () => {
    using fixture = aFixture();
    const { token, claims } = await aToken(fixture);
    expect(await verdict(fixture, token)).toBe('accepted');
    expect(await verdict(fixture, token, { now: NOW + FRESH_MS })).toBe('accepted');
    expect(fixture.lookups()).toBe(2);
    // The message was lost: the stores know, nobody said.
    await fixture.stores.sessions.revoke(claims.sessionId);
    expect(await verdict(fixture, token, { now: NOW + 2 * FRESH_MS - 1 })).toBe('accepted');
    expect(await verdict(fixture, token, { now: NOW + 2 * FRESH_MS })).toBe('session-gone');
  });

  test('stays warm beside 9,999 others', async () => {
    using fixture = aFixture();
    const first = await aToken(fixture);
    const others = [];
    for (let count = 1; count < 10_000; count += 1) others.push(await aToken(fixture));
    for (const { token } of [first, ...others]) {
      await fixture.authenticate(token);
    }
    expect(fixture.authenticate(first.token)).not.toBeInstanceOf(Promise);
    const oneMore = await aToken(fixture);
    await fixture.authenticate(oneMore.token);
    // The one whose check is oldest made room.
    expect(fixture.authenticate(first.token)).toBeInstanceOf(Promise);
    const { token = '' } = others.at(-1) ?? {};
    expect(fixture.authenticate(token)).not.toBeInstanceOf(Promise);
  });

  test('that was checked again is not the first to make room', async () => {
    using fixture = aFixture();
    const first = await aToken(fixture);
    await fixture.authenticate(first.token);
    const later = NOW + FRESH_MS;
    for (let count = 1; count < 10_000; count += 1) {
      const { token } = await aToken(fixture);
      await fixture.authenticate(token, later);
    }
    await fixture.authenticate(first.token, later);
    const oneMore = await aToken(fixture);
    await fixture.authenticate(oneMore.token, later);
    expect(fixture.authenticate(first.token, later)).not.toBeInstanceOf(Promise);
  });

  test('that failed a check stays refused when the clock steps back', async () => {
    using fixture = aFixture();
    const { token, claims } = await aToken(fixture);
    expect(await verdict(fixture, token)).toBe('accepted');
    await fixture.stores.sessions.revoke(claims.sessionId);
    expect(await verdict(fixture, token, { now: NOW + FRESH_MS })).toBe('session-gone');
    expect(await verdict(fixture, token)).toBe('session-gone');
  });

  test('is looked up once for requests that come at once', async () => {
    using fixture = aFixture();
    const { token } = await aToken(fixture);
    const callers = await Promise.all(
      Array.from({ length: 50 }, async () => fixture.authenticate(token)),
    );
    expect(new Set<Caller>(callers).size).toBe(1);
    expect(fixture.lookups()).toBe(1);
  });
});

describe('A revocation', () => {
  const KINDS: readonly [string, (claims: ExternalTokenClaims) => Revocation][] = [
    ['session', ({ sessionId }) => ({ kind: 'session', sessionId })],
    ['grant', ({ grantId }) => ({ kind: 'grant', grantId })],
    ['token', ({ tokenId }) => ({ kind: 'token', tokenId: tokenId })],
  ];

  async function revokeInStores({ stores }: Fixture, claims: ExternalTokenClaims): Promise<void> {
    await stores.revokedTokens.revoke(claims.tokenId, 60);
  }

  test.each(KINDS)('of a %s that is heard of ends its warm tokens', async (_kind, revocationOf) => {
    using fixture = aFixture();
    const { token, claims } = await aToken(fixture);
    const other = await aToken(fixture);
    expect(await verdict(fixture, token)).toBe('accepted');
    expect(await verdict(fixture, other.token)).toBe('accepted');
    await revokeInStores(fixture, claims);
    await fixture.stores.revocations.publish(revocationOf(claims));
    expect(await verdict(fixture, token)).toBe('revoked');
    // Others stay warm.
    expect(fixture.authenticate(other.token)).not.toBeInstanceOf(Promise);
  });

  test.each(KINDS)('of a %s during a check ends the check', async (_kind, revocationOf) => {
    using fixture = aFixture();
    const { token, claims } = await aToken(fixture);
    const { began, release } = fixture.holdNextLookup();
    const early = verdict(fixture, token);
    await began;
    await revokeInStores(fixture, claims);
    await fixture.stores.revocations.publish(revocationOf(claims));
    const late = verdict(fixture, token);
    release();
    expect(await early).toBe('revoked');
    expect(await late).toBe('revoked');
    expect(await verdict(fixture, token)).toBe('revoked');
  });

  test('of browser sessions leaves tokens alone', async () => {
    using fixture = aFixture();
    const { token, claims } = await aToken(fixture);
    await fixture.authenticate(token);
    const { sessionId } = claims;
    await fixture.stores.revocations.publish({ kind: 'browser', sessionId });
    expect(fixture.authenticate(token)).not.toBeInstanceOf(Promise);
  });
});

describe('A store that fails', () => {
  test('refuses nobody for good', async () => {
    using fixture = aFixture();
    const { token } = await aToken(fixture);
    const { grants } = fixture.stores;
    const get = grants.get.bind(grants);
    grants.get = () => Promise.reject(new Error('the store is down'));
    await expect(fixture.authenticate(token)).rejects.toThrow('is down');
    grants.get = get;
    expect(await verdict(fixture, token)).toBe('accepted');
  });
});

describe('A warm token while the stores are away', () => {
  test('goes on for the grace, and no longer', async () => {
    using fixture = aFixture();
    const { token } = await aToken(fixture);
    await fixture.authenticate(token);
    fixture.setAway(true);
    await fixture.authenticate(token, NOW + GRACE_MS - 1);
    const late = fixture.authenticate(token, NOW + GRACE_MS);
    await expect(late).rejects.toThrow(StoreUnavailableError);
  });

  test('ends when it expires, and with its session', async () => {
    using fixture = aFixture();
    const { token } = await aToken(fixture, { expiresAt: NOW + 20_000 });
    const other = await aToken(fixture, { expiresAt: NOW + 24 * 3_600_000 });
    const session = await fixture.stores.sessions.get(other.claims.sessionId);
    const sessionEnd = session?.expiresAt ?? 0;
    await fixture.authenticate(token);
    await fixture.authenticate(other.token, sessionEnd - 1);
    fixture.setAway(true);
    expect(await verdict(fixture, token, { now: NOW + 19_999 })).toBe('accepted');
    expect(await verdict(fixture, token, { now: NOW + 20_000 })).toBe('expired');
    await expect(fixture.authenticate(other.token, sessionEnd)).rejects.toThrow(
      StoreUnavailableError,
    );
  });

  test('ends when one of the stores answers, and knows of its end', async () => {
    using fixture = aFixture();
    const { token, claims } = await aToken(fixture);
    await fixture.authenticate(token);
    await fixture.stores.grants.revoke(claims.grantId);
    fixture.setAway(true);
    expect(await verdict(fixture, token, { now: NOW + FRESH_MS })).toBe('grant-gone');
  });

  test('ends when its grant is revoked meanwhile', async () => {
    using fixture = aFixture();
    const { token, claims } = await aToken(fixture);
    await fixture.authenticate(token);
    fixture.setAway(true);
    await fixture.authenticate(token, NOW + FRESH_MS);
    await fixture.stores.revocations.publish({ kind: 'grant', grantId: claims.grantId });
    const after = fixture.authenticate(token, NOW + FRESH_MS);
    await expect(after).rejects.toThrow(StoreUnavailableError);
  });
});

test('An authenticator that is disposed of listens no more', () => {
  const stores = createMemoryStores(() => NOW);
  let subscribers = 0;
  const revocations: Stores['revocations'] = {
    publish: () => Promise.resolve(),
    subscribe: () => {
      subscribers += 1;
      return () => void (subscribers -= 1);
    },
  };
  const externalTokens = new ExternalTokens(new Sealer([{ secret: Buffer.alloc(32) }]));
  const authenticator = new ExternalTokenAuthenticator({
    externalTokens,
    stores: { ...stores, revocations },
    outageGraceSeconds: () => 0,
    now: () => NOW,
  });
  expect(subscribers).toBe(1);
  authenticator[Symbol.dispose]();
  expect(subscribers).toBe(0);
});
