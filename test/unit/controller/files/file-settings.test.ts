import { describe, expect, test } from '@jest/globals';

import {
  accept,
  BASE,
  clientSecret,
  good,
  hosts,
  publicRoute,
  route,
  SECRET,
  SETTINGS,
  upstreams,
} from './configured-files.ts';

describe('a configuration of files with settings', () => {
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
      fault: 'name a Secret that lost the label',
      files: { 'secret.yaml': SECRET.replace('gatehouse.dev/referable', 'referable') },
      problem: /^settings\.yaml:8 .*gatehouse\.dev\/referable: "true" \[SecretNotReferable\]$/,
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

  test('that change while the file of their Secret cannot be parsed, serve with that Secret', () => {
    const { served, problems } = accept(good(route1), {
      ...BASE,
      ...route1,
      'settings.yaml': SETTINGS.replace('1h', '2h'),
      'secret.yaml': '{',
    });
    expect(served?.snapshot.resources.get('settings')?.value).toMatchObject({
      cookie: { expirationSeconds: 2 * 3600 },
    });
    expect(clientSecret(served)).toBe('one');
    expect(problems).toEqual([expect.stringMatching(/^secret\.yaml/)]);
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
