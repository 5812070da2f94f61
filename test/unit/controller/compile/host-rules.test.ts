import { describe, expect, test } from '@jest/globals';

import { isHostNamed, mayHaveHost } from '../../../../controller/compile/host-rules.ts';

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

  test('is named by a rule only in the same words', () => {
    expect(isHostNamed(RULES, 'ops', '*.example.com')).toBe(true);
    expect(isHostNamed(RULES, 'a', '*.example.com')).toBe(false);
    expect(isHostNamed(RULES, 'ops', '*.x.example.com')).toBe(false);
  });
});
