import { describe, expect, test } from '@jest/globals';

import { accept, BASE, good, hosts, route, upstreams, type Files } from './configured-files.ts';

describe('a configuration of files', () => {
  test('serves valid resources, and reports the others', () => {
    const { served, problems } = accept(undefined, {
      ...BASE,
      'good.yaml': route('good', 'a.example'),
      'bad.yaml': route('bad', 'b.example', 'policy: {allow: {or: [{emial: x}]}}'),
    });
    expect(upstreams(served)).toEqual({ 'default/good': 'http://up' });
    expect(problems).toEqual([
      expect.stringMatching(/^bad\.yaml:\d+ \(document 1\) Route default\/bad: spec\.policy\./),
    ]);
  });

  describe('that changed', () => {
    test('serves new resources, and removes deleted ones', () => {
      const before = good({ 'a.yaml': route('a', 'a.example'), 'b.yaml': route('b', 'b.example') });
      const { served, problems } = accept(before, {
        ...BASE,
        'b.yaml': route('b', 'b.example', '', 'http://other'),
        'c.yaml': route('c', 'c.example'),
      });
      expect(problems).toEqual([]);
      expect(upstreams(served)).toEqual({
        'default/b': 'http://other',
        'default/c': 'http://up',
      });
    });

    test.each([
      { fault: 'the schema refuses', more: 'timeouts: {request: soon}' },
      { fault: 'the compiler refuses', more: 'policy: {allow: {or: []}}' },
    ])('keeps the last good version of a route that $fault, and applies the rest', ({ more }) => {
      const before = good({ 'a.yaml': route('a', 'a.example'), 'b.yaml': route('b', 'b.example') });
      const { served, problems } = accept(before, {
        ...BASE,
        'a.yaml': route('a', 'a.example', more, 'http://new'),
        'b.yaml': route('b', 'b.example', '', 'http://new'),
      });
      expect(upstreams(served)).toEqual({
        'default/a': 'http://up',
        'default/b': 'http://new',
      });
      expect(problems).toHaveLength(1);
      expect(problems[0]).toMatch(/^a\.yaml:\d+ \(document 1\) Route default\/a: spec\./);
    });

    test('keeps the last good version through further changes, until the route is valid again or deleted', () => {
      const bad = { 'a.yaml': route('a', 'a.example', 'timeouts: {request: soon}', 'http://new') };
      const first = accept(good({ 'a.yaml': route('a', 'a.example') }), { ...BASE, ...bad });
      const second = accept(first, { ...BASE, ...bad, 'b.yaml': route('b', 'b.example') });
      expect(upstreams(second.served)).toEqual({
        'default/a': 'http://up',
        'default/b': 'http://up',
      });
      expect(second.problems).toHaveLength(1);
      const mended = accept(second, {
        ...BASE,
        'a.yaml': route('a', 'a.example', '', 'http://new'),
      });
      expect(upstreams(mended.served)).toEqual({ 'default/a': 'http://new' });
      const gone = accept(second, { ...BASE, 'b.yaml': route('b', 'b.example') });
      expect(upstreams(gone.served)).toEqual({ 'default/b': 'http://up' });
    });

    test('keeps everything of a file that cannot be parsed', () => {
      const before = good({
        'two.yaml': `${route('a', 'a.example')}---\n${route('b', 'b.example')}`,
        'c.yaml': route('c', 'c.example'),
      });
      const { served, problems } = accept(before, { ...BASE, 'two.yaml': 'kind: [' });
      expect(Object.keys(upstreams(served))).toEqual(['default/a', 'default/b']);
      expect(problems).toEqual([
        expect.stringMatching(/^two\.yaml:1 \(document 1\) .* \[InvalidManifest\]$/),
      ]);
    });

    test('lets a resource move out of a file that cannot be parsed', () => {
      const before = good({ 'a.yaml': route('a', 'a.example') });
      const { served } = accept(before, {
        ...BASE,
        'a.yaml': '{',
        'b.yaml': route('a', 'a.example', '', 'http://new'),
      });
      expect(upstreams(served)).toEqual({ 'default/a': 'http://new' });
    });

    test('keeps the resources of a file in which a document lost its name', () => {
      const before = good({ 'a.yaml': route('a', 'a.example') });
      const nameless = route('a', 'a.example').replace('{name: a}', '{nam: a}');
      const { served, problems } = accept(before, { ...BASE, 'a.yaml': nameless });
      expect(upstreams(served)).toEqual({ 'default/a': 'http://up' });
      expect(problems.join()).toContain('metadata.name: is required');
    });

    test('keeps an unnamed plain route whose address cannot be read', () => {
      const plain = (from: string): Files => ({
        'plain.yaml': `
routes:
  - {from: "${from}", to: http://up, allow_public_unauthenticated_access: true}
  - {from: "https://b.example", to: http://up, allow_public_unauthenticated_access: true}
`,
      });
      const before = accept(undefined, plain('https://a.example'));
      const { served, problems } = accept(before, plain('a.example'));
      expect(Object.keys(upstreams(served))).toEqual(['default/a-example', 'default/b-example']);
      expect(problems).toEqual([expect.stringContaining('routes[0]: routes[0].from: must be')]);
    });

    test('uses neither of two resources with the same name, and keeps the one that serves', () => {
      const before = good({ 'a.yaml': route('a', 'a.example') });
      const { served, problems } = accept(before, {
        ...BASE,
        'a.yaml': route('a', 'a.example', '', 'http://new'),
        'copy.yaml': route('a', 'a.example', '', 'http://newer'),
      });
      expect(upstreams(served)).toEqual({ 'default/a': 'http://up' });
      expect(problems).toEqual([
        'a.yaml:2 (document 1) Route default/a: there are 2 resources with this name [InvalidManifest]',
        'copy.yaml:2 (document 1) Route default/a: there are 2 resources with this name [InvalidManifest]',
      ]);
    });
  });

  describe('in which two routes ask for the same address', () => {
    test('keeps the older one in service, whatever the names are', () => {
      const before = good({ 'z.yaml': route('z', 'a.example') });
      const files = { 'z.yaml': route('z', 'a.example'), 'a.yaml': route('a', 'a.example') };
      const { served, problems } = accept(before, { ...BASE, ...files });
      expect(upstreams(served)).toEqual({ 'default/z': 'http://up' });
      expect(problems).toEqual([expect.stringMatching(/^a\.yaml.*\[HostConflict\]$/)]);
    });

    test('gives the address to an older route that moves there, as in a cluster', () => {
      const first = good({ 'a.yaml': route('a', 'a.example') });
      const files = { 'a.yaml': route('a', 'a.example'), 'b.yaml': route('b', 'b.example') };
      const second = accept(first, { ...BASE, ...files });
      const third = accept(second, { ...BASE, ...files, 'a.yaml': route('a', 'b.example') });
      expect(hosts(third.served)).toEqual(['b.example']);
      expect(third.problems).toEqual([expect.stringMatching(/^b\.yaml.*\[HostConflict\]$/)]);
    });

    test('keeps the last good version of both if one cannot move away for the other', () => {
      const before = good({ 'a.yaml': route('a', 'a.example'), 'b.yaml': route('b', 'b.example') });
      const { served, problems } = accept(before, {
        ...BASE,
        'a.yaml': route('a', 'c.example', 'policy: {allow: {or: []}}'),
        'b.yaml': route('b', 'a.example'),
      });
      expect(hosts(served)).toEqual(['a.example', 'b.example']);
      expect(problems).toEqual([
        expect.stringMatching(/^a\.yaml.*\[InvalidPolicy\]$/),
        expect.stringMatching(/^b\.yaml.*\[HostConflict\]$/),
      ]);
    });

    test('lets two routes swap their addresses', () => {
      const before = good({ 'a.yaml': route('a', 'a.example'), 'b.yaml': route('b', 'b.example') });
      const { served, problems } = accept(before, {
        ...BASE,
        'a.yaml': route('a', 'b.example', '', 'http://a'),
        'b.yaml': route('b', 'a.example', '', 'http://b'),
      });
      expect(problems).toEqual([]);
      expect(upstreams(served)).toEqual({ 'default/a': 'http://a', 'default/b': 'http://b' });
    });
  });
});
