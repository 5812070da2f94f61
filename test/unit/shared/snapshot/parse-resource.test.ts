import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import { hashResource } from '../../../../shared/snapshot/hash-resource.ts';
import {
  DamagedResourceError,
  InvalidResourceError,
  parseResource,
} from '../../../../shared/snapshot/parse-resource.ts';
import { resourceKey } from '../../../../shared/snapshot/resource-key.ts';
import type { CompiledResource } from '../../../../shared/snapshot/snapshot.ts';
import { aCompiledService, AN_IDENTITY_PROVIDER } from '../../../support/compiled-resources.ts';
import { compiledSettings } from '../../../support/compiled-settings.ts';
import { aFullRoute, SOME_SIGNING_KEYS } from '../../../support/push/some-resources.ts';
import { anOrigin } from '../../../support/an-origin.ts';

const GOLDEN = new URL('../../../golden/compile/', import.meta.url);

/** One of each kind, with every optional member. */
const ONE_OF_EACH: readonly CompiledResource[] = [
  compiledSettings({
    authenticateOrigin: anOrigin('https://auth.example.com'),
    allowedOrigins: [anOrigin('https://chat.example.com')],
    authorizeLogFields: ['time', 'mcp-tool'],
  }),
  SOME_SIGNING_KEYS,
  AN_IDENTITY_PROVIDER,
  aFullRoute(),
  aCompiledService(),
];

const CASES = ONE_OF_EACH.map((value) => ({ kind: value.kind, value }));

/** What everything that the compiler is known to make looks like. */
function goldenResources(): readonly (readonly [string, unknown])[] {
  return readdirSync(GOLDEN)
    .filter((file) => file.endsWith('.out.yaml'))
    .flatMap((file) => {
      const golden = parse(readFileSync(new URL(file, GOLDEN), 'utf8')) as {
        readonly snapshot?: Readonly<Record<string, unknown>>;
      };
      return Object.entries(golden.snapshot ?? {});
    });
}

/** The value with one change in one object of it, for every object and every change of it. */
function variants(
  value: unknown,
  change: (holder: Readonly<Record<string, unknown>>) => readonly unknown[],
): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const entries = Object.entries(value);
  const inside = entries.flatMap(([name, member]) =>
    variants(member, change).map((changed) =>
      Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed },
    ),
  );
  if (Array.isArray(value)) return inside;
  return [...change(Object.fromEntries(entries)), ...inside];
}

function parsing(value: unknown, key: string): () => unknown {
  return () => parseResource({ key, value });
}

describe('a resource of a snapshot', () => {
  test.each(CASES)('of kind $kind is parsed as it was compiled', ({ value }) => {
    const resource = hashResource(resourceKey(value), value);
    const { key, hash } = resource;

    expect(parseResource({ key, hash, value: JSON.parse(JSON.stringify(value)) })).toEqual(
      resource,
    );
  });

  test('is accepted whatever the compiler makes', () => {
    const resources = goldenResources();
    for (const [key, value] of resources) {
      expect(parseResource({ key, value })).toMatchObject({ key, value });
    }
    expect(resources.length).toBeGreaterThan(30);
  });

  // A newer controller may mean a restriction by it.
  test.each(CASES)('of kind $kind is refused with an unknown member at any depth', ({ value }) => {
    const unknown = variants(value, (holder) =>
      // Its members may have any name.
      'prompt' in holder ? [] : [{ ...holder, onlyOnMondays: true }],
    );
    expect(unknown.length).toBeGreaterThan(0);
    for (const each of unknown) {
      expect(parsing(each, resourceKey(value))).toThrow(InvalidResourceError);
      expect(parsing(each, resourceKey(value))).toThrow('onlyOnMondays');
    }
  });

  test.each(CASES)(
    'of kind $kind is refused with a member of a different type at any depth',
    ({ value }) => {
      const wrong = variants(value, (holder) =>
        Object.keys(holder).map((name) => ({ ...holder, [name]: null })),
      );
      for (const each of wrong) {
        expect(parsing(each, resourceKey(value))).toThrow(InvalidResourceError);
      }
    },
  );

  test('is refused without a required member', () => {
    const settings = Object.entries(compiledSettings());
    for (const [name] of settings) {
      const rest = Object.fromEntries(settings.filter(([other]) => other !== name));
      expect(parsing(rest, 'settings')).toThrow(InvalidResourceError);
    }
  });

  test.each([
    ['a kind that there is not', { kind: 'quota', name: 'team/app' }],
    ['no kind', {}],
    ['no object', 'route'],
    ['a block with nothing in it', withPolicy({ deny: {} })],
    ['a list with nothing in it', withPolicy({ deny: { or: [] } })],
    ['a criterion that there is not', withPolicy({ deny: { or: [{ kind: 'country' }] } })],
    ['a matcher that matches nothing', withCriterion({ kind: 'user', matcher: {} })],
    ['an operator that there is not', withCriterion({ kind: 'user', matcher: { matches: 'a' } })],
    ['a criterion without its matcher', withCriterion({ kind: 'mcp_tool' })],
    ['a claim without a path', withCriterion({ kind: 'claim', path: [], matcher: { is: 'a' } })],
    ['an access that there is not', { ...aFullRoute(), access: { kind: 'anyone' } }],
    ['a path match that there is not', { ...aFullRoute(), path: { kind: 'glob', value: '' } }],
    ['a port that there is not', { ...aFullRoute(), port: 65_536 }],
    ['a weight below zero', { ...aFullRoute(), backends: [{ port: 1, weight: -1 }] }],
    ['an endpoint that is none', aCompiledService('team/app', ['http://10.0.0.1:80'])],
    ['an endpoint without a port', aCompiledService('team/app', ['10.0.0.1'])],
    ['a name with a line break', { ...aFullRoute(), name: 'team/a\nb' }],
  ])('is refused with %s', (_what, value) => {
    expect(parsing(value, 'route/team/app')).toThrow(InvalidResourceError);
  });

  test('is refused with the key of a different resource', () => {
    for (const { value } of CASES) {
      expect(parsing(value, `${resourceKey(value)}2`)).toThrow(InvalidResourceError);
    }
    expect(parsing(aFullRoute('team/a'), 'route/team/b')).toThrow('route/team/a');
  });

  test('is refused with a wrong hash', () => {
    const value = aFullRoute();
    const { key, hash } = hashResource(resourceKey(value), value);
    const other = { ...value, upstream: 'http://other.internal:8080' };

    expect(() => parseResource({ key, hash, value: other })).toThrow(DamagedResourceError);
  });

  test('is refused without an error that quotes its values', () => {
    const secrets = [
      { ...AN_IDENTITY_PROVIDER, clientSecret: ['hunter2'] },
      { ...SOME_SIGNING_KEYS, keys: [{ keyId: 'a', algorithm: 'hunter2', privateKey: 'hunter2' }] },
      { ...SOME_SIGNING_KEYS, keys: [{ keyId: 'a', algorithm: 'ES256', privateKey: 'hunter2' }] },
      { ...AN_IDENTITY_PROVIDER, issuer: 'hunter2' },
    ];
    for (const value of secrets) {
      expect(parsing(value, resourceKey(value as CompiledResource))).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
      );
    }
  });
});

function withPolicy(policy: unknown): unknown {
  return { ...aFullRoute(), access: { kind: 'policy', policy } };
}

function withCriterion(criterion: unknown): unknown {
  return withPolicy({ deny: { or: [criterion] } });
}
