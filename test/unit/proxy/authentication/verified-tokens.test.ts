import { describe, expect, test } from '@jest/globals';

import {
  JWT_USE as JWT,
  KNOWN_TOKEN as TOKEN,
  OPAQUE_USE as OPAQUE,
  TOKENS_BEGIN as NOW,
  verifiedTokensFixture as aFixture,
} from '../../../support/verified-tokens-fixture.ts';

const SECOND = 1000;

describe('An accepted token', () => {
  test('is not verified again, and needs no promise', async () => {
    const fixture = aFixture();
    expect(await fixture.verdict()).toBe('user of a-token');
    expect(fixture.known()).toMatchObject({ kind: 'user', via: 'bearer-token' });
    expect(fixture.known()).toBe(fixture.known());
    expect(fixture.asked).toEqual([TOKEN]);
  });

  test('ends when it expires', async () => {
    const fixture = aFixture();
    fixture.words.set(TOKEN, { expiresAt: NOW + 90 * SECOND });
    expect(await fixture.verdict()).toBe('user of a-token');
    expect(fixture.known().session.expiresAt).toBe(NOW + 90 * SECOND);
    fixture.words.set(TOKEN, 'token-expired');
    fixture.clock.now = NOW + 90 * SECOND - 1;
    expect(await fixture.verdict()).toBe('user of a-token');
    fixture.clock.now = NOW + 90 * SECOND;
    expect(await fixture.verdict()).toBe('token-expired');
  });

  test('is verified again when its key may have been withdrawn', async () => {
    const fixture = aFixture();
    fixture.words.set(TOKEN, { countsUntil: NOW + 600 * SECOND });
    await fixture.verdict();
    fixture.words.set(TOKEN, 'unknown-key');
    fixture.clock.now = NOW + 600 * SECOND;
    expect(await fixture.verdict()).toBe('unknown-key');
  });

  test('that is opaque counts for the time in the settings, which can be shortened', async () => {
    const fixture = aFixture();
    fixture.words.set(TOKEN, { isOpaque: true });
    await fixture.verdict();
    fixture.words.set(TOKEN, 'inactive-token');
    fixture.clock.now = NOW + 59 * SECOND;
    expect(await fixture.verdict()).toBe('user of a-token');
    fixture.clock.now = NOW + 60 * SECOND;
    expect(await fixture.verdict()).toBe('inactive-token');
  });

  test('that is opaque and was refused later does not count again with a longer time', async () => {
    const fixture = aFixture();
    fixture.words.set(TOKEN, { isOpaque: true });
    await fixture.verdict();
    fixture.words.set(TOKEN, 'inactive-token');
    fixture.clock.now = NOW + 60 * SECOND;
    expect(await fixture.verdict()).toBe('inactive-token');
    fixture.configure(600);
    expect(await fixture.verdict()).toBe('inactive-token');
  });

  test('ends with a change of the providers', async () => {
    const fixture = aFixture();
    await fixture.verdict();
    fixture.words.set(TOKEN, 'groups-unreadable');
    fixture.configure(60, 'roles');
    expect(await fixture.verdict()).toBe('groups-unreadable');
  });

  test('is verified again if the clock was set back', async () => {
    const fixture = aFixture();
    await fixture.verdict();
    fixture.clock.now = NOW - 1;
    await fixture.verdict();
    expect(fixture.asked).toHaveLength(2);
  });

  test('is not accepted for another use', async () => {
    const fixture = aFixture();
    await fixture.verdict(TOKEN, JWT);
    fixture.words.set(TOKEN, 'wrong-token-type');
    expect(await fixture.verdict(TOKEN, OPAQUE)).toBe('wrong-token-type');
    expect(await fixture.verdict(TOKEN, JWT)).toBe('user of a-token');
  });
});

describe('Many accepted tokens of one network', () => {
  test('push each other out, and not the tokens of other networks', async () => {
    const fixture = aFixture();
    const tokenOf = (index: number): string => String(index).padEnd(8000, 'x');
    await fixture.verdict(TOKEN, JWT, '198.51.100.1');
    for (let index = 0; index < 4200; index += 1) {
      fixture.words.set(tokenOf(index), {});
      await fixture.verdict(tokenOf(index));
    }
    expect(() => fixture.known(tokenOf(0))).toThrow('not known');
    fixture.known(tokenOf(4199));
    fixture.known(TOKEN);
  });
});

describe('The session of a token', () => {
  test('has the same id whenever the token is verified, and another for another token', async () => {
    const fixture = aFixture();
    fixture.words.set('another', {});
    await fixture.verdict();
    const { id } = fixture.known().session;
    fixture.configure(60, 'roles');
    await fixture.verdict();
    expect(fixture.known().session.id).toBe(id);
    await fixture.verdict('another');
    expect(fixture.known('another').session.id).not.toBe(id);
    expect(id).not.toContain(TOKEN);
  });
});

describe('A refused token', () => {
  test('is refused again for ten seconds without being verified', async () => {
    const fixture = aFixture();
    fixture.words.set(TOKEN, 'unknown-key');
    expect(await fixture.verdict()).toBe('unknown-key');
    fixture.words.set(TOKEN, {});
    fixture.clock.now = NOW + 9 * SECOND;
    expect(await fixture.verdict()).toBe('unknown-key');
    expect(fixture.asked).toHaveLength(1);
    fixture.clock.now = NOW + 10 * SECOND;
    expect(await fixture.verdict()).toBe('user of a-token');
  });

  test('is verified again when the providers change', async () => {
    const fixture = aFixture();
    fixture.words.set(TOKEN, 'unknown-issuer');
    await fixture.verdict();
    fixture.words.set(TOKEN, {});
    fixture.configure(60, 'roles');
    expect(await fixture.verdict()).toBe('user of a-token');
  });

  test.each([
    ['is too long', 'x'.repeat(8193), 'token-too-long'],
    ['has a space', 'a b', 'malformed-token'],
    ['has a quote', 'a"b', 'malformed-token'],
    ['has a line break', 'a\nb', 'malformed-token'],
    ['is not ASCII', 'tökén', 'malformed-token'],
    ['has padding in the middle', 'a=b', 'malformed-token'],
  ])('that %s is not verified', async (_what, token, reason) => {
    const fixture = aFixture();
    expect(await fixture.verdict(token)).toBe(reason);
    expect(fixture.asked).toEqual([]);
  });
});

describe('A token whose provider is unavailable', () => {
  test('is verified at the next request', async () => {
    const fixture = aFixture();
    fixture.words.set(TOKEN, 'down');
    expect(await fixture.verdict()).toBe('identity-provider-unavailable');
    fixture.words.set(TOKEN, {});
    expect(await fixture.verdict()).toBe('user of a-token');
  });

  test('does not count on when the word of the provider is old', async () => {
    const fixture = aFixture();
    fixture.words.set(TOKEN, { isOpaque: true });
    await fixture.verdict();
    fixture.words.set(TOKEN, 'down');
    fixture.clock.now = NOW + 60 * SECOND;
    expect(await fixture.verdict()).toBe('identity-provider-unavailable');
  });
});

describe('Requests with one token', () => {
  test('share a verification', async () => {
    const fixture = aFixture();
    const release = fixture.hold();
    const verdicts = [fixture.verdict(), fixture.verdict(), fixture.verdict()];
    release();
    expect(new Set(await Promise.all(verdicts))).toEqual(new Set(['user of a-token']));
    expect(fixture.asked).toEqual([TOKEN]);
  });

  test('do not share a verification by other providers', async () => {
    const fixture = aFixture();
    const release = fixture.hold();
    const before = fixture.verdict();
    fixture.configure(60, 'roles');
    const after = fixture.verdict();
    release();
    await Promise.all([before, after]);
    expect(fixture.asked).toEqual([TOKEN, TOKEN]);
  });
});
