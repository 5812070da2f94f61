import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';

import { patternInWords } from '../../../../controller/validate/patterns-in-words.ts';
import { validateResource } from '../../../../controller/validate/validate-resource.ts';
import type { CrdSchema } from '../../../../crds/crd-schema.ts';
import { readCrdSchema } from '../../../../crds/read-crd-schema.ts';
import {
  ACCESS_LOG_FIELDS,
  AUTHORIZE_LOG_FIELDS,
  logFieldPattern,
} from '../../../../shared/snapshot/log-fields.ts';

const CRDS = new URL('../../../../crds/', import.meta.url);
const EXAMPLES = new URL('examples/', CRDS);

interface Named {
  readonly path: string;
  readonly schema: CrdSchema;
}

const FIELDS: readonly Named[] = [
  ...fieldsIn(readCrdSchema('Route'), 'Route'),
  ...fieldsIn(readCrdSchema('GatewaySettings'), 'GatewaySettings'),
];

/** All fields except `metadata`, which Kubernetes describes. */
function fieldsIn(schema: CrdSchema, path: string): readonly Named[] {
  const { properties = {}, items, additionalProperties } = schema;
  const members = Object.entries(properties).filter(([name]) => name !== 'metadata');
  return [
    { path, schema },
    ...members.flatMap(([name, member]) => fieldsIn(member, `${path}.${name}`)),
    ...(items ? fieldsIn(items, `${path}[]`) : []),
    ...(additionalProperties ? fieldsIn(additionalProperties, `${path}{}`) : []),
  ];
}

function pathsWhere(isOdd: (schema: CrdSchema) => boolean): readonly string[] {
  return FIELDS.filter(({ schema }) => isOdd(schema)).map(({ path }) => path);
}

describe('the definitions', () => {
  test('describe every field', () => {
    const paths = pathsWhere(({ description = '' }) => !description.endsWith('.'));

    expect(paths.filter((path) => !path.endsWith('{}'))).toEqual([]);
  });

  test('bound every text, list and map, so that an API server accepts the rules', () => {
    const unbounded = pathsWhere(
      ({ type, enum: choice, maxLength, maxItems, additionalProperties, maxProperties }) =>
        (type === 'string' && maxLength === undefined && choice === undefined) ||
        (type === 'array' && maxItems === undefined) ||
        (additionalProperties !== undefined && maxProperties === undefined),
    );

    expect(unbounded).toEqual([
      'Route.apiVersion',
      'Route.kind',
      'GatewaySettings.apiVersion',
      'GatewaySettings.kind',
    ]);
  });

  test('give every list a type, which determines how its changes merge', () => {
    const untyped = pathsWhere(
      (schema) => schema.type === 'array' && schema['x-kubernetes-list-type'] === undefined,
    );

    expect(untyped).toEqual([]);
  });

  test('have a description in words for each pattern', () => {
    const wordless = FIELDS.filter(({ path }) => !path.includes('.status.')).flatMap(
      ({ schema: { pattern } }) =>
        pattern !== undefined && patternInWords(pattern).includes(pattern) ? [pattern] : [],
    );

    expect(wordless).toEqual([]);
  });

  test('preserve unknown fields of a policy, so that the compiler can reject them', () => {
    // Attack: pruning a deny clause with a misspelt name would let through what it names.
    const policy = FIELDS.filter(({ path }) => path.startsWith('Route.spec.policy'));
    const pruned = policy.filter(
      ({ schema }) =>
        schema.type === 'object' && schema['x-kubernetes-preserve-unknown-fields'] !== true,
    );

    expect(policy.length).toBeGreaterThan(1);
    expect(pruned).toEqual([]);
  });

  test.each([
    ['authorizeLogFields', AUTHORIZE_LOG_FIELDS],
    ['accessLog.fields', ACCESS_LOG_FIELDS],
  ])('have the same %s as the snapshot', (field, names) => {
    const fields = FIELDS.find(({ path }) => path.endsWith(`.${field}[]`));

    expect(fields?.schema.pattern).toEqual(logFieldPattern(names));
  });

  test.each(['routes', 'gatewaysettings'])('are named %s.gatehouse.dev', (plural) => {
    const text = readFileSync(new URL(`${plural}.yaml`, CRDS), 'utf8');

    expect(parse(text)).toMatchObject({
      metadata: { name: `${plural}.gatehouse.dev` },
      spec: {
        group: 'gatehouse.dev',
        scope: 'Namespaced',
        names: { plural, categories: ['gatehouse'] },
        versions: [{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } }],
      },
    });
  });
});

describe('the examples', () => {
  const files = readdirSync(EXAMPLES).filter((name) => name.endsWith('.yaml'));
  test.each(files)('%s is valid', (file) => {
    const text = readFileSync(new URL(file, EXAMPLES), 'utf8');
    const validations = parseAllDocuments(text).map((document) =>
      validateResource(document.toJS(), file),
    );

    expect(validations.filter(({ kind }) => kind === 'invalid')).toEqual([]);
  });
});
