import { describe, expect, test } from '@jest/globals';

import fc from 'fast-check';

import { isHostNamed, mayHaveHost } from '../../../../controller/compile/host-rules.ts';

type Rules = Parameters<typeof mayHaveHost>[0];

const RULES = [
  { namespaces: ['a', 'ops'], hosts: ['*.a.example.com', 'a.example.org'] },
  { namespaces: ['ops'], hosts: ['*.example.com'] },
];

describe('a host', () => {
  test.each([
    { host: 'x.a.example.com', may: ['a', 'ops'] },
    { host: 'x.y.a.example.com', may: ['a', 'ops'] },
    { host: '*.a.example.com', may: ['a', 'ops'] },
    { host: '*.x.a.example.com', may: ['a', 'ops'] },
    { host: 'a.example.com', may: ['ops'] },
    { host: 'b.example.com', may: ['ops'] },
    { host: '*.example.com', may: ['ops'] },
    { host: '*.com', may: ['ops'] },
    { host: 'a.example.org', may: ['a', 'ops'] },
    { host: '*.example.org', may: ['a', 'ops'] },
    { host: 'b.example.org', may: ['a', 'b', 'ops'] },
    { host: 'xa.example.org', may: ['a', 'b', 'ops'] },
    { host: '[::1]', may: ['a', 'b', 'ops'] },
  ])('$host is for the namespaces of its rules only: $may', ({ host, may }) => {
    const found = ['a', 'b', 'ops'].filter((namespace) => mayHaveHost(RULES, namespace, host));
    expect(found).toEqual(may);
  });

  test('is for the namespaces of every rule that names it', () => {
    const hosts = ['app.example.com', '*.apps.example.com'];
    const rules = [
      { namespaces: ['a'], hosts },
      { namespaces: ['b'], hosts },
    ];
    for (const host of [...hosts, 'x.apps.example.com']) {
      const found = ['a', 'b', 'c'].filter((namespace) => mayHaveHost(rules, namespace, host));
      expect({ host, found }).toEqual({ host, found: ['a', 'b'] });
    }
  });

  test('is found among any rules as by comparing it with each of them', () => {
    const anyHost = fc
      .tuple(fc.boolean(), fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 4 }))
      .map(([isWildcard, labels]) => `${isWildcard ? '*.' : ''}${labels.join('.')}`);
    const anyRule = fc.record({
      namespaces: fc.subarray(['x', 'y'], { minLength: 1 }),
      hosts: fc.uniqueArray(anyHost, { minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 4 }), anyHost, (rules, host) => {
        expect(mayHaveHost(rules, 'x', host)).toBe(mayHaveByComparison(rules, host));
      }),
    );
  });

  test('is named by a rule only in the same words', () => {
    expect(isHostNamed(RULES, 'ops', '*.example.com')).toBe(true);
    expect(isHostNamed(RULES, 'a', '*.example.com')).toBe(false);
    expect(isHostNamed(RULES, 'ops', '*.x.example.com')).toBe(false);
  });
});

/** Whether namespace x may have a host, without an index. */
function mayHaveByComparison(rules: Rules, host: string): boolean {
  const isBelow = (name: string, pattern: string): boolean =>
    name !== pattern &&
    pattern.startsWith('*.') &&
    `.${name}`.endsWith(pattern.slice(1)) &&
    name.replace('*.', '').length >= pattern.length - 1 &&
    name.replace('*.', '') !== pattern.slice(2);
  const covering = rules.filter(({ hosts }) =>
    hosts.some((one) => one === host || isBelow(host, one)),
  );
  const under = rules.filter(({ hosts }) => hosts.some((one) => isBelow(one, host)));
  const allows = ({ namespaces }: Rules[number]): boolean => namespaces.includes('x');
  return (covering.length === 0 || covering.some(allows)) && under.every(allows);
}
