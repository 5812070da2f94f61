import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { matchesDomainPattern } from '../../../../shared/snapshot/domain-pattern.ts';

const label = fc.stringMatching(/^[a-z0-9]{1,8}$/);

describe('a domain pattern', () => {
  test('with a wildcard never matches the bare domain', () => {
    fc.assert(
      fc.property(fc.domain(), (domain) => {
        expect(matchesDomainPattern(domain, [`*.${domain}`])).toBe(false);
      }),
    );
  });

  test('with a wildcard matches subdomains of any depth', () => {
    const labels = fc.array(label, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.domain(), labels, (domain, names) => {
        expect(matchesDomainPattern(`${names.join('.')}.${domain}`, [`*.${domain}`])).toBe(true);
      }),
    );
  });

  test('without a wildcard matches itself alone', () => {
    fc.assert(
      fc.property(fc.domain(), label, (domain, name) => {
        expect(matchesDomainPattern(domain, [domain])).toBe(true);
        expect(matchesDomainPattern(`${name}.${domain}`, [domain])).toBe(false);
      }),
    );
  });

  test.each([
    ['App.EXAMPLE.com', ['*.example.COM'], true],
    ['example.com', ['other.com', 'EXAMPLE.com'], true],
    // Attack: a name that merely ends like an allowed one.
    ['evilexample.com', ['*.example.com'], false],
    ['evilexample.com', ['example.com'], false],
    ['.example.com', ['*.example.com'], false],
    ['example.com.evil.com', ['*.example.com', 'example.com'], false],
    ['example.com', [], false],
  ])('%s against %j: %s', (host, patterns, isMatch) => {
    expect(matchesDomainPattern(host, patterns)).toBe(isMatch);
  });
});
