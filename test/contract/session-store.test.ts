import { describe, expect, test } from '@jest/globals';

import { hashToken } from '../../proxy/crypto/tokens.ts';
import type { Session } from '../../proxy/records/session.ts';
import { MOMENT_SECONDS, STORE_IMPLEMENTATIONS } from './stores-under-test.ts';
import { anOrigin } from '../support/an-origin.ts';

const HASH_A = hashToken('hash-a');
const HASH_B = hashToken('hash-b');
const OTHER_HASH = hashToken('hash-other');

const HOUR = 3600;

function sessionAt(now: number): Session {
  return {
    id: 'session-1',
    signInId: 'sign-in-1',
    identity: {
      provider: 'corp',
      subject: 'u-1',
      email: 'alice@example.com',
      groups: ['engineering'],
      claims: { sub: 'u-1', nested: { level: 3 } },
    },
    createdAt: now,
    expiresAt: now + HOUR * 1000,
  };
}

describe.each(STORE_IMPLEMENTATIONS)('session store in $name', ({ create }) => {
  test('returns a session as it was created', async () => {
    await using under = await create();
    const { sessions } = under.stores;
    const session = sessionAt(under.now());
    await sessions.create(session);
    expect(await sessions.get('session-1')).toEqual(session);
  });

  test('keeps that the groups of a user are unknown', async () => {
    await using under = await create();
    const { sessions } = under.stores;
    const { identity, ...others } = sessionAt(under.now());
    const session = {
      ...others,
      identity: { ...identity, groups: [], groupsAreUnknown: true },
    } as const;
    await sessions.create(session);
    expect(await sessions.get('session-1')).toEqual(session);
  });

  test('knows no session that was not created', async () => {
    await using under = await create();
    expect(await under.stores.sessions.get('session-1')).toBeNull();
  });

  test('forgets a session when it expires, and not before', async () => {
    await using under = await create();
    const { sessions } = under.stores;
    await sessions.create(sessionAt(under.now()));
    await under.advance(HOUR - MOMENT_SECONDS);
    expect(await sessions.get('session-1')).not.toBeNull();
    await under.advance(MOMENT_SECONDS);
    expect(await sessions.get('session-1')).toBeNull();
  });

  test('forgets a revoked session', async () => {
    await using under = await create();
    const { sessions } = under.stores;
    await sessions.create(sessionAt(under.now()));
    await sessions.revoke('session-1');
    expect(await sessions.get('session-1')).toBeNull();
  });

  test('accepts the revocation of an unknown session', async () => {
    await using under = await create();
    await expect(under.stores.sessions.revoke('unknown')).resolves.toBeUndefined();
  });
});

describe.each(STORE_IMPLEMENTATIONS)('browser session store in $name', ({ create }) => {
  const onA = { sessionId: 'session-1', origin: anOrigin('https://a.example.com') };
  const onB = { sessionId: 'session-1', origin: anOrigin('https://b.example.com') };
  const other = { sessionId: 'session-2', origin: anOrigin('https://a.example.com') };

  test('finds a browser session by the hash of its cookie', async () => {
    await using under = await create();
    const { browserSessions } = under.stores;
    await browserSessions.save(HASH_A, onA, under.now() + HOUR * 1000);
    expect(await browserSessions.get(HASH_A)).toEqual(onA);
    expect(await browserSessions.get(HASH_B)).toBeNull();
  });

  test('forgets a browser session when it expires', async () => {
    await using under = await create();
    const { browserSessions } = under.stores;
    await browserSessions.save(HASH_A, onA, under.now() + HOUR * 1000);
    await under.advance(HOUR);
    expect(await browserSessions.get(HASH_A)).toBeNull();
  });

  test('expires each browser session of a session separately', async () => {
    await using under = await create();
    const { browserSessions } = under.stores;
    await browserSessions.save(HASH_A, onA, under.now() + 2 * HOUR * 1000);
    await browserSessions.save(HASH_B, onB, under.now() + HOUR * 1000);
    await under.advance(HOUR);
    expect(await browserSessions.get(HASH_A)).toEqual(onA);
    expect(await browserSessions.get(HASH_B)).toBeNull();
  });

  test('ends the browser sessions of a session on every host, and no others', async () => {
    await using under = await create();
    const { browserSessions } = under.stores;
    const expiresAt = under.now() + HOUR * 1000;
    await browserSessions.save(HASH_A, onA, expiresAt);
    await browserSessions.save(HASH_B, onB, expiresAt);
    await browserSessions.save(OTHER_HASH, other, expiresAt);
    await browserSessions.deleteAll('session-1');
    expect(await browserSessions.get(HASH_A)).toBeNull();
    expect(await browserSessions.get(HASH_B)).toBeNull();
    expect(await browserSessions.get(OTHER_HASH)).toEqual(other);
  });

  test('keeps the session itself for its grants', async () => {
    await using under = await create();
    const { browserSessions, sessions } = under.stores;
    await sessions.create(sessionAt(under.now()));
    await browserSessions.save(HASH_A, onA, under.now() + HOUR * 1000);
    await browserSessions.deleteAll('session-1');
    expect(await sessions.get('session-1')).not.toBeNull();
  });
});
