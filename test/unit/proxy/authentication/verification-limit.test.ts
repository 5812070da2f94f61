import { describe, expect, test } from '@jest/globals';

import {
  JWT_USE as JWT,
  KNOWN_TOKEN as TOKEN,
  OPAQUE_USE as OPAQUE,
  TOKENS_BEGIN as NOW,
  verifiedTokensFixture as aFixture,
} from '../../../support/verified-tokens-fixture.ts';

const SECOND = 1000;

describe('A flood of bad tokens', () => {
  const bad = (index: number): string => `bad-${String(index)}`;

  async function flood(
    { verdict }: ReturnType<typeof aFixture>,
    from: string,
    use = OPAQUE,
  ): Promise<string> {
    let last = '';
    for (let index = 0; index < 60; index += 1) last = await verdict(bad(index), use, from);
    return last;
  }

  test('of one network is refused without asking the provider, for a minute', async () => {
    const fixture = aFixture();
    expect(await flood(fixture, '2001:db8::1')).toBe('unknown-issuer');
    expect(await fixture.verdict('new', OPAQUE, '2001:db8::2')).toBe('too-many-requests');
    expect(fixture.asked).not.toContain('new');
    fixture.clock.now = NOW + 60 * SECOND;
    expect(await fixture.verdict('new', OPAQUE, '2001:db8::2')).toBe('unknown-issuer');
  });

  test('of one end site is refused at four times the limit of a network', async () => {
    const fixture = aFixture();
    const from = (index: number): string => `2001:db8:0:${index.toString(16)}::1`;
    for (let index = 0; index < 240; index += 1) {
      expect(await fixture.verdict(bad(index), OPAQUE, from(index))).toBe('unknown-issuer');
    }
    expect(await fixture.verdict('new', OPAQUE, from(240))).toBe('too-many-requests');
    expect(await fixture.verdict('new', OPAQUE, '2001:db8:1::1')).toBe('unknown-issuer');
  });

  test('does not affect other networks, other uses, or tokens that are known', async () => {
    const fixture = aFixture();
    await fixture.verdict(TOKEN, OPAQUE);
    await flood(fixture, '192.0.2.1');
    expect(await fixture.verdict(TOKEN, OPAQUE)).toBe('user of a-token');
    fixture.words.set('good', {});
    expect(await fixture.verdict('good', OPAQUE)).toBe('too-many-requests');
    expect(await fixture.verdict('good', OPAQUE, '192.0.2.2')).toBe('user of good');
    expect(await fixture.verdict(TOKEN, JWT)).toBe('user of a-token');
  });

  test('that its provider is not asked about has no limit', async () => {
    const fixture = aFixture();
    await flood(fixture, '192.0.2.1', JWT);
    expect(await fixture.verdict('new', JWT)).toBe('unknown-issuer');
  });

  test('that its provider is not asked about does not keep others from being verified', async () => {
    const fixture = aFixture();
    const release = fixture.hold();
    const flooding = Array.from({ length: 300 }, (_, index) => fixture.verdict(bad(index), JWT));
    const verdict = fixture.verdict(TOKEN, JWT, '192.0.2.2');
    release();
    expect(await verdict).toBe('user of a-token');
    expect(new Set(await Promise.all(flooding))).toEqual(new Set(['unknown-issuer']));
  });

  test('from everywhere has a limit of verifications at the same time', async () => {
    const fixture = aFixture();
    const release = fixture.hold();
    const first = Array.from({ length: 256 }, (_, index) =>
      fixture.verdict(bad(index), OPAQUE, `198.51.100.${String(index)}`),
    );
    expect(await fixture.verdict('one more', OPAQUE)).toBe('malformed-token');
    expect(await fixture.verdict('one-more', OPAQUE)).toBe('verification-busy');
    release();
    expect(new Set(await Promise.all(first))).toEqual(new Set(['unknown-issuer']));
    expect(await fixture.verdict('one-more', OPAQUE)).toBe('unknown-issuer');
  });

  test('of one network leaves places for others while its provider is slow', async () => {
    const fixture = aFixture();
    const release = fixture.hold();
    const flooding = Array.from({ length: 300 }, (_, index) =>
      fixture.verdict(bad(index), OPAQUE, '192.0.2.1'),
    );
    const verdict = fixture.verdict(TOKEN, OPAQUE, '192.0.2.2');
    release();
    expect(await verdict).toBe('user of a-token');
    const verdicts = await Promise.all(flooding);
    expect(verdicts.filter((each) => each === 'unknown-issuer')).toHaveLength(128);
    expect(new Set(verdicts.slice(128))).toEqual(new Set(['verification-busy']));
  });
});
