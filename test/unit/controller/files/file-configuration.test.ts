import { describe, expect, test } from '@jest/globals';

import { readCandidates } from '../../../../controller/files/candidates.ts';
import type { ServedFiles } from '../../../../controller/files/file-compiler.ts';
import { FileConfiguration } from '../../../../controller/files/file-configuration.ts';
import { formatProblem } from '../../../../controller/files/located-problem.ts';
import { contentsOf } from './contents-of.ts';

type Files = Readonly<Record<string, string>>;

const SETTINGS = `
apiVersion: gatehouse.dev/v1alpha1
kind: GatewaySettings
metadata: {name: gatehouse}
spec:
  cookie: {expiration: 1h}
  identityProviders:
    - {name: corp, issuerUrl: https://idp.example, clientId: x, clientSecretRef: {name: corp, key: secret}}
`;

const SECRET = `
apiVersion: v1
kind: Secret
metadata: {name: corp}
stringData: {secret: one}
`;

const BASE: Files = { 'settings.yaml': SETTINGS, 'secret.yaml': SECRET };

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

  describe('with settings', () => {
    const route1 = { 'a.yaml': route('a', 'a.example') };

    test.each([
      {
        fault: 'are invalid',
        files: { 'settings.yaml': SETTINGS.replace('1h', 'soon') },
        problem: /^settings\.yaml:6 .*spec\.cookie\.expiration: must be a duration/,
      },
      {
        fault: 'are refused by the compiler',
        files: { 'settings.yaml': SETTINGS.replace('1h', '1500ms') },
        problem: /^settings\.yaml:6 .*spec\.cookie\.expiration: must be whole seconds/,
      },
      {
        fault: 'name a Secret that is gone',
        files: { 'secret.yaml': '# Nothing.' },
        problem: /^settings\.yaml:8 .*\[SecretNotFound\]$/,
      },
      {
        fault: 'name a key that their Secret lacks',
        files: { 'secret.yaml': SECRET.replace('{secret: one}', '{}') },
        problem: /^settings\.yaml:8 .*\[SecretNotFound\]$/,
      },
    ])('that $fault, keeps the last good ones with their Secrets', ({ files, problem }) => {
      const before = good(route1);
      const { served, problems } = accept(before, {
        ...BASE,
        'a.yaml': route('a', 'a.example', '', 'http://new'),
        ...files,
      });
      expect(upstreams(served)).toEqual({ 'default/a': 'http://new' });
      expect(served?.snapshot.resources.get('settings')).toEqual(
        before.served.snapshot.resources.get('settings'),
      );
      expect(clientSecret(served)).toBe('one');
      expect(problems).toEqual([expect.stringMatching(problem)]);
    });

    test('keeps the last good version of a Secret that is invalid', () => {
      const broken = SECRET.replace('stringData: {secret: one}', 'data: {secret: "?"}');
      const { served, problems } = accept(good(route1), {
        ...BASE,
        ...route1,
        'secret.yaml': broken,
      });
      expect(clientSecret(served)).toBe('one');
      expect(problems).toEqual([
        'secret.yaml:5 (document 1) Secret default/corp: data.secret: must be base64 [InvalidManifest]',
      ]);
    });

    test('uses the new value of a Secret', () => {
      const { served } = accept(good(route1), {
        ...BASE,
        ...route1,
        'secret.yaml': SECRET.replace('one', 'two'),
      });
      expect(clientSecret(served)).toBe('two');
    });

    test('never gives a new secret to the old identity provider', () => {
      const { served } = accept(good(route1), {
        ...route1,
        'settings.yaml': SETTINGS.replace('1h', 'soon'),
        'secret.yaml': SECRET.replace('one', 'two'),
      });
      expect(clientSecret(served)).toBe('one');
    });

    test('uses none of several GatewaySettings', () => {
      const before = good(route1);
      const { served, problems } = accept(before, {
        ...BASE,
        ...route1,
        'more.yaml': SETTINGS.replace('name: gatehouse', 'name: more').replace('1h', '2h'),
      });
      expect(served?.snapshot.version).toBe(before.served.snapshot.version);
      expect(problems).toEqual([
        expect.stringMatching(/^more\.yaml.*there can be only one GatewaySettings/),
        expect.stringMatching(/^settings\.yaml.*there can be only one GatewaySettings/),
      ]);
    });

    test('that are deleted, serves the defaults', () => {
      const open = { 'a.yaml': publicRoute('a', 'a.example') };
      const before = good(open);
      const { served } = accept(before, open);
      expect(served?.snapshot.resources.get('settings')?.value).toMatchObject({
        cookie: { expirationSeconds: 14 * 3600 },
      });
    });

    test('that come after the defaults and are invalid, keeps the defaults', () => {
      const open = { 'a.yaml': publicRoute('a', 'a.example') };
      const before = accept(undefined, open);
      const { served, problems } = accept(before, {
        'a.yaml': publicRoute('a', 'b.example'),
        'settings.yaml': SETTINGS.replace('1h', 'soon'),
      });
      expect(hosts(served)).toEqual(['b.example']);
      expect(problems).toEqual([expect.stringContaining('spec.cookie.expiration')]);
    });

    test('that may be in a file that cannot be parsed, keeps the last good ones', () => {
      const open = { 'a.yaml': publicRoute('a', 'a.example') };
      const before = good(open);
      const { served } = accept(before, { ...open, 'settings.yaml': '{' });
      expect(served?.snapshot.version).toBe(before.served.snapshot.version);
    });

    test.each([
      { fault: 'are invalid', text: SETTINGS.replace('1h', 'soon') },
      { fault: 'are refused by the compiler', text: SETTINGS.replace('1h', '1500ms') },
      { fault: 'do not parse', text: '{' },
      {
        fault: 'have a kind that is unknown',
        text: SETTINGS.replace('GatewaySettings', 'Setings'),
      },
    ])('that $fault at the start, serves nothing', ({ text }) => {
      const { served, problems } = accept(undefined, {
        ...BASE,
        'settings.yaml': text,
        'a.yaml': publicRoute('a', 'a.example'),
      });
      expect(served).toBeUndefined();
      expect(problems).toHaveLength(1);
    });

    test('that are invalid, still reports the problems of routes', () => {
      const { problems } = accept(undefined, {
        'settings.yaml': SETTINGS.replace('1h', 'soon'),
        'a.yaml': route('a', 'a.example', 'policy: {allow: {or: [{emial: x}]}}'),
      });
      expect(problems).toEqual([
        expect.stringMatching(/^a\.yaml.*emial/),
        expect.stringMatching(/^settings\.yaml.*expiration/),
      ]);
    });

    test.each([
      {
        what: 'no file has',
        files: { 'a.yaml': route('a', 'a.example') },
        problem:
          'a.yaml:2 (document 1) Route default/a: nobody can sign in: there is no GatewaySettings [SettingsNotFound]',
      },
      {
        what: 'a plain form leaves out',
        files: {
          'a.yaml':
            'routes: [{from: https://a.example, to: http://up, allow_any_authenticated_user: true}]',
        },
        problem:
          'a.yaml:1 (document 1) Route default/a-example: routes[0]: nobody can sign in: this file has no identity provider [IdentityProviderNotFound]',
      },
    ])('that $what, reports in matching words that they are missing', ({ files, problem }) => {
      expect(accept(undefined, files).problems).toEqual([problem]);
    });

    test('that have an unknown key, still reports the problems that the compiler finds', () => {
      const { problems } = accept(undefined, {
        'plain.yaml': `
cookie_expiration: 1500ms
shoe_size: 44
routes:
  - {from: "https://a.example", to: "http://up", regex: "(", hat: 1}
`,
      });
      expect(problems).toEqual([
        expect.stringMatching(/^plain\.yaml:2 .*cookie_expiration: must be whole seconds/),
        expect.stringMatching(/^plain\.yaml:3 .*shoe_size: unknown key/),
        expect.stringMatching(/^plain\.yaml:5 .*routes\[0\]\.hat: unknown key/),
        expect.stringMatching(/^plain\.yaml:5 .*routes\[0\]\.regex: .*\[InvalidRegex\]$/),
      ]);
    });
  });
});

interface State {
  readonly configuration: FileConfiguration;
  readonly served: ServedFiles | undefined;
  readonly problems: readonly string[];
}

/** Reads files, after those of an earlier state. */
function accept(before: State | undefined, files: Files): State {
  const configuration =
    before?.configuration ?? new FileConfiguration({ devAllowLoopback: false, services: 'none' });
  const { served, problems } = configuration.update(readCandidates(contentsOf(files), []));
  return { configuration, served, problems: problems.map(formatProblem) };
}

/** Reads files without problems, for the first time. */
function good(files: Files): State & { readonly served: ServedFiles } {
  const { served, ...state } = accept(undefined, { ...BASE, ...files });
  if (served === undefined || state.problems.length > 0) {
    throw new Error(state.problems.join('\n'));
  }
  return { served, ...state };
}

function route(name: string, host: string, more = '', to = 'http://up'): string {
  const access = more.startsWith('policy') ? '' : 'allowAnyAuthenticatedUser: true';
  return `
apiVersion: gatehouse.dev/v1alpha1
kind: Route
metadata: {name: ${name}}
spec:
  from: https://${host}
  to: ${to}
  ${access}
  ${more}
`;
}

function publicRoute(name: string, host: string): string {
  const access = 'allowAnyAuthenticatedUser: true';
  return route(name, host).replace(access, 'allowPublicUnauthenticatedAccess: true');
}

function routesOf(
  served: ServedFiles | undefined,
): readonly { readonly name: string; readonly host: string; readonly upstream: string }[] {
  const values = [...(served?.snapshot.resources.values() ?? [])].map(({ value }) => value);
  return values.flatMap((value) => (value.kind === 'route' ? [value] : []));
}

function upstreams(served: ServedFiles | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(routesOf(served).map(({ name, upstream }) => [name, upstream]));
}

function hosts(served: ServedFiles | undefined): readonly string[] {
  return routesOf(served).map(({ host }) => host);
}

function clientSecret(served: ServedFiles | undefined): string | undefined {
  const provider = served?.snapshot.resources.get('identity-provider/corp')?.value;
  return provider?.kind === 'identity-provider' ? provider.clientSecret : undefined;
}
