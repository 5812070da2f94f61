import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';

import { hashToken, randomToken } from '../../../../proxy/crypto/tokens.ts';
import { SessionCookieAuthenticator } from '../../../../proxy/authentication/session-cookie-authenticator.ts';
import type { Session } from '../../../../proxy/records/session.ts';
import { createMemoryStores } from '../../../../proxy/store/memory/memory-stores.ts';
import { StoreUnavailableError } from '../../../../proxy/store/store-unavailable-error.ts';
import type { BrowserSession } from '../../../../proxy/records/browser-session.ts';
import type { Stores } from '../../../../proxy/store/stores.ts';
import { anOrigin } from '../../../support/an-origin.ts';

const ORIGIN = anOrigin('https://app.example');
const START = 1_000_000;

describe('SessionCookieAuthenticator', () => {
  let time: number;
  let grace: number;
  let stores: Stores;
  let lookups: jest.SpiedFunction<Stores['browserSessions']['get']>;
  let browsers: SessionCookieAuthenticator;
  let session: Session;
  let cookie: string;

  beforeEach(async () => {
    time = START;
    grace = 20;
    const now = (): number => time;
    stores = createMemoryStores(now);
    lookups = jest.spyOn(stores.browserSessions, 'get');
    browsers = new SessionCookieAuthenticator({
      ...{ stores, now, isOfProvider: () => true },
      outageGraceSeconds: () => grace,
    });
    session = {
      id: randomToken(),
      signInId: 'sign-in-1',
      identity: { provider: 'corp', subject: 'u1', groups: [], claims: {} },
      createdAt: time,
      expiresAt: time + 60_000,
    };
    await stores.sessions.create(session);
    cookie = await signIn();
  });

  afterEach(() => {
    browsers[Symbol.dispose]();
  });

  async function signIn(): Promise<string> {
    const value = randomToken();
    const browserSession = { sessionId: session.id, origin: ORIGIN };
    await stores.browserSessions.save(hashToken(value), browserSession, session.expiresAt);
    return value;
  }

  test('recognises a cookie at the origin where it was set', async () => {
    expect(await browsers.callerOf(cookie, ORIGIN)).toEqual({
      kind: 'user',
      session,
      via: 'session-cookie',
    });
  });

  test('recognises a cached cookie without a promise and without the stores', async () => {
    await browsers.callerOf(cookie, ORIGIN);
    time += 4999;

    expect(browsers.callerOf(cookie, ORIGIN)).toMatchObject({ kind: 'user' });
    expect(lookups).toHaveBeenCalledTimes(1);
  });

  test('asks the stores again after five seconds', async () => {
    await browsers.callerOf(cookie, ORIGIN);
    await stores.browserSessions.deleteAll(session.id);
    time += 5000;

    expect(await browsers.callerOf(cookie, ORIGIN)).toBeNull();
  });

  test('does not recognise a cookie at another origin, cached or not', async () => {
    const elsewhere = anOrigin('https://other.example');
    expect(await browsers.callerOf(cookie, elsewhere)).toBeNull();
    await browsers.callerOf(cookie, ORIGIN);
    expect(browsers.callerOf(cookie, elsewhere)).toBeNull();
  });

  test('checks the session’s expiry every time', async () => {
    time = session.expiresAt - 1;
    expect(await browsers.callerOf(cookie, ORIGIN)).not.toBeNull();
    time = session.expiresAt;
    expect(await browsers.callerOf(cookie, ORIGIN)).toBeNull();
  });

  test.each(['browser', 'session'] as const)(
    'forgets a cookie as soon as its %s is revoked',
    async (kind) => {
      await browsers.callerOf(cookie, ORIGIN);
      await stores.browserSessions.deleteAll(session.id);
      await stores.revocations.publish({ kind, sessionId: session.id });

      expect(await browsers.callerOf(cookie, ORIGIN)).toBeNull();
    },
  );

  test('keeps cookies that a revocation does not affect', async () => {
    await browsers.callerOf(cookie, ORIGIN);
    await stores.revocations.publish({ kind: 'browser', sessionId: 'another' });
    await stores.revocations.publish({ kind: 'grant', grantId: session.id });

    expect(browsers.callerOf(cookie, ORIGIN)).toMatchObject({ kind: 'user' });
  });

  test('does not cache or return a session that was read before its revocation', async () => {
    const slow = Promise.withResolvers<BrowserSession | null>();
    lookups.mockReturnValueOnce(slow.promise);
    const asked = browsers.callerOf(cookie, ORIGIN);
    await stores.browserSessions.deleteAll(session.id);
    await stores.revocations.publish({ kind: 'browser', sessionId: session.id });
    slow.resolve({ sessionId: session.id, origin: ORIGIN });

    expect(await asked).toBeNull();
    expect(await browsers.callerOf(cookie, ORIGIN)).toBeNull();
  });

  test('recognises a later cookie of a session whose browsers were signed out', async () => {
    await browsers.callerOf(cookie, ORIGIN);
    await stores.revocations.publish({ kind: 'browser', sessionId: session.id });

    expect(await browsers.callerOf(await signIn(), ORIGIN)).toMatchObject({ kind: 'user' });
  });

  test('asks the stores once for concurrent requests', async () => {
    const callers = await Promise.all([1, 2, 3].map(async () => browsers.callerOf(cookie, ORIGIN)));

    expect(callers).toEqual(Array(3).fill(expect.objectContaining({ kind: 'user' })));
    expect(lookups).toHaveBeenCalledTimes(1);
  });

  test('asks again after the stores failed', async () => {
    lookups.mockRejectedValueOnce(new Error('down'));
    await expect(browsers.callerOf(cookie, ORIGIN)).rejects.toThrow('down');

    expect(await browsers.callerOf(cookie, ORIGIN)).not.toBeNull();
  });

  test('recognises a cookie for the grace period while the stores are unavailable, and no longer', async () => {
    await browsers.callerOf(cookie, ORIGIN);
    lookups.mockRejectedValue(new StoreUnavailableError('down'));
    time += 19_999;
    expect(await browsers.callerOf(cookie, ORIGIN)).toMatchObject({ kind: 'user' });
    time += 1;
    await expect(browsers.callerOf(cookie, ORIGIN)).rejects.toThrow(StoreUnavailableError);
  });

  test('recognises no cookie of an expired session while the stores are unavailable', async () => {
    grace = 3600;
    await browsers.callerOf(cookie, ORIGIN);
    lookups.mockRejectedValue(new StoreUnavailableError('down'));
    time = session.expiresAt;
    await expect(browsers.callerOf(cookie, ORIGIN)).rejects.toThrow(StoreUnavailableError);
  });

  test('forgets a cookie of a browser that signs out while the stores are unavailable', async () => {
    await browsers.callerOf(cookie, ORIGIN);
    lookups.mockRejectedValue(new StoreUnavailableError('down'));
    await stores.revocations.publish({ kind: 'browser', sessionId: session.id });
    await expect(browsers.callerOf(cookie, ORIGIN)).rejects.toThrow(StoreUnavailableError);
  });

  test.each([
    ['nothing', ''],
    ['what is too short', 'x'],
    ['what is too long', 'A'.repeat(44)],
    ['other characters', `${'A'.repeat(42)}=`],
  ])('does not ask the stores about %s', async (_case, value) => {
    expect(await browsers.callerOf(value, ORIGIN)).toBeNull();
    expect(lookups).not.toHaveBeenCalled();
  });

  test('recognises no cookie that was never set', async () => {
    expect(await browsers.callerOf(randomToken(), ORIGIN)).toBeNull();
  });
});
