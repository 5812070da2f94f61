import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import {
  validateResource,
  type Resource,
} from '../../../../controller/validate/validate-resource.ts';
import { routeWith, settingsWith } from '../../../support/manifests/manifest-with.ts';
import {
  INVALID_NULLS,
  INVALID_ROUTES,
  INVALID_SETTINGS,
} from '../../../support/manifests/invalid-manifests.ts';
import { VALID_ROUTES, VALID_SETTINGS } from '../../../support/manifests/valid-manifests.ts';
import { aRoute, aSettings } from '../../../support/resources.ts';

const PLACE = 'gateway.yaml, document 1';

function problemsOf(document: unknown): readonly string[] {
  const validation = validateResource(document, PLACE);
  if (validation.kind === 'valid') return [];
  return validation.problems.map(({ path, message }) => `${path}: ${message}`);
}

function resourceOf(document: unknown): Resource {
  const validation = validateResource(document, PLACE);
  if (validation.kind === 'valid') return validation.resource;
  throw new Error(JSON.stringify(validation.problems));
}

describe('a valid manifest', () => {
  test('becomes a resource', () => {
    expect(resourceOf(aRoute())).toEqual(aRoute());
    expect(resourceOf(aSettings())).toEqual(aSettings());
  });

  test('is in the namespace "default" if it names none', () => {
    const { metadata } = resourceOf({ ...aRoute(), metadata: { name: 'app' } });

    expect(metadata).toEqual({ name: 'app', namespace: 'default' });
  });

  test('may have the metadata of an API server, and loses its status', () => {
    const metadata = { name: 'app', resourceVersion: '7', managedFields: [{}], uid: 'u' };
    const resource = resourceOf({ ...aRoute(), metadata, status: { whatever: 1 } });

    expect(resource).not.toHaveProperty('status');
    expect(resource.metadata).toMatchObject({ uid: 'u' });
  });

  test.each(VALID_ROUTES)('may be a Route with %s', (yaml) => {
    expect(problemsOf(routeWith(yaml))).toEqual([]);
  });

  test.each(VALID_SETTINGS)('may be GatewaySettings with %s', (yaml) => {
    expect(problemsOf(settingsWith(yaml))).toEqual([]);
  });
});

describe('a character that no value can mean', () => {
  const POLICY = (name: string): object => ({ allow: { or: [{ groups: { is: name } }] } });

  test.each([
    { name: 'U+0000', character: '\0', why: 'which is not allowed' },
    { name: 'U+001B', character: '\x1b', why: 'which is not allowed' },
    { name: 'U+007F', character: '\x7f', why: 'which is not allowed' },
    { name: 'U+009F', character: '\x9f', why: 'which is not allowed' },
    { name: 'U+D800', character: '\ud800', why: 'which is not allowed' },
    { name: 'U+DFFF', character: '\udfff', why: 'which is not allowed' },
    { name: 'U+FEFF', character: '\ufeff', why: 'which is not allowed' },
    { name: 'U+FFFD', character: '\ufffd', why: 'a trace of a wrong encoding; save it as UTF-8' },
    { name: 'U+FFFF', character: '\uffff', why: 'which is not allowed' },
  ])('is a problem with its place: $name', ({ name, character, why }) => {
    const spec = { ...aRoute().spec, policy: POLICY(`Gesch${character}ft`) };
    expect(problemsOf({ ...aRoute(), spec })).toEqual([
      `spec.policy.allow.or[0].groups.is: has ${name} as character 6, ${why}`,
    ]);
  });

  test('is a problem in a name too, which is shown escaped', () => {
    const policy = { allow: { or: [{ 'claim/a\x1bb': { is: 'x' } }] } };
    expect(problemsOf({ ...aRoute(), spec: { ...aRoute().spec, policy } })).toEqual([
      String.raw`spec.policy.allow.or[0].claim/a\u001bb: has U+001B as character 8, which is not allowed`,
    ]);
  });

  test('does not hide in a value that nests deeply', () => {
    let value: unknown = '\0';
    for (let depth = 0; depth < 50_000; depth += 1) value = [value];
    const policy = { allow: { or: [{ groups: value }] } };
    const problems = problemsOf({ ...aRoute(), spec: { ...aRoute().spec, policy } });
    expect(problems).toEqual([expect.stringMatching(/U\+0000 as character 1/)]);
  });

  test.each(['Geschäftsführung', '🚪', 'a\tb', '日本'])('may be in any language: %s', (name) => {
    const spec = { ...aRoute().spec, policy: POLICY(name) };
    expect(problemsOf({ ...aRoute(), spec })).toEqual([]);
  });
});

describe('a document that is not a resource', () => {
  test.each([
    ['null', ': must be a manifest: an object with a kind'],
    ['[]', ': must be a manifest: an object with a kind'],
    ['{ spec: {} }', 'kind: must be one of Route, GatewaySettings, Secret, ConfigMap'],
    [
      '{ kind: Rout }',
      'kind: must be one of Route, GatewaySettings, Secret, ConfigMap; did you mean "Route"?',
    ],
    ['{ apiVersion: apps/v1, kind: Secret }', 'apiVersion: must be v1 for a Secret'],
  ])('%s is invalid', (yaml, problem) => {
    expect(problemsOf(parse(yaml))).toEqual([problem]);
  });

  test('is named by its place if it has no name', () => {
    const validation = validateResource({ kind: 'Route' }, PLACE);

    expect(validation).toMatchObject({ problems: [{ resource: PLACE }, {}, {}] });
  });

  test('must have the apiVersion of the definitions', () => {
    const problems = problemsOf({ ...aRoute(), apiVersion: 'gatehouse.dev/v1' });

    expect(problems).toEqual(['apiVersion: must be gatehouse.dev/v1alpha1']);
  });
});

describe('metadata', () => {
  test.each([
    ['{}', 'metadata.name: is required'],
    ['{ name: My_App }', 'metadata.name: must consist of lower-case letters, digits, "-" and "."'],
    [
      '{ name: a, namespace: B }',
      'metadata.namespace: must consist of lower-case letters, digits and "-"',
    ],
    ['{ name: a, lables: {} }', 'metadata.lables: is not a known field; did you mean "labels"?'],
    ['{ name: a, labels: { tier: 1 } }', 'metadata.labels.tier: must be a string'],
  ])('%s is invalid', (yaml, problem) => {
    expect(problemsOf({ ...aRoute(), metadata: parse(yaml) as unknown })).toEqual([problem]);
  });

  test('names the resource in problems', () => {
    const metadata = { name: 'files', namespace: 'team-a' };
    const validation = validateResource({ ...aRoute(), metadata, spec: {} }, PLACE);

    expect(validation).toMatchObject({
      problems: [
        { resource: 'Route team-a/files', path: 'spec', reason: 'InvalidSpec' },
        { resource: 'Route team-a/files', path: 'spec.from', reason: 'InvalidSpec' },
      ],
    });
  });
});

describe('a Route', () => {
  test.each([...INVALID_ROUTES, ...INVALID_NULLS])('with %s is invalid', (yaml, problem) => {
    expect(problemsOf(routeWith(yaml))).toEqual([problem]);
  });

  test('has all its problems reported', () => {
    const document = routeWith(`
      to: ftp://files
      prefix: a
      path: b
      mcp: { server: { path: c } }
      policy: { allow: { or: [1, 2] } }
    `);

    expect(problemsOf(document).map((problem) => problem.split(':')[0])).toEqual([
      'spec',
      'spec.mcp.server.path',
      'spec.path',
      'spec.policy.allow.or[0]',
      'spec.policy.allow.or[1]',
      'spec.prefix',
      'spec.to',
    ]);
  });

  test('has the reason InvalidPolicy for problems of its policy', () => {
    const validation = validateResource(routeWith('policy: { allow: [] }'), PLACE);

    expect(validation).toMatchObject({ problems: [{ reason: 'InvalidPolicy' }] });
  });
});

describe('GatewaySettings', () => {
  test.each(INVALID_SETTINGS)('with %s are invalid', (yaml, problem) => {
    expect(problemsOf(settingsWith(yaml))).toContain(problem);
  });
});

describe('a rule in CEL', () => {
  test('that cannot be evaluated is not reported beside the cause', () => {
    expect(problemsOf(settingsWith('cookie: { expiration: soon }'))).toEqual([
      'spec.cookie.expiration: must be a duration such as 90s, 1h30m or 500ms (Gateway API, GEP-2257)',
    ]);
  });
});
