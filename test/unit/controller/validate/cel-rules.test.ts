import { describe, expect, test } from '@jest/globals';

import { validateResource } from '../../../../controller/validate/validate-resource.ts';
import type { CrdSchema } from '../../../../crds/crd-schema.ts';
import { readCrdSchema } from '../../../../crds/read-crd-schema.ts';
import { BROKEN_ROUTES, BROKEN_SETTINGS } from '../../../support/manifests/broken-rules.ts';
import { routeWith, settingsWith } from '../../../support/manifests/manifest-with.ts';

describe('every CEL rule', () => {
  test('of Route is broken by a manifest', () => {
    expect(Object.keys(BROKEN_ROUTES).sort()).toEqual(messagesIn(readCrdSchema('Route')));
  });

  test('of GatewaySettings is broken by a manifest', () => {
    expect(Object.keys(BROKEN_SETTINGS).sort()).toEqual(
      messagesIn(readCrdSchema('GatewaySettings')),
    );
  });

  test.each(flatten(BROKEN_ROUTES))('"%s" rejects a Route with %s', (message, yaml) => {
    expect(messagesOf(routeWith(yaml))).toEqual([message]);
  });

  test.each(flatten(BROKEN_SETTINGS))('"%s" rejects settings with %s', (message, yaml) => {
    expect(messagesOf(settingsWith(yaml))).toEqual([message]);
  });
});

function messagesOf(document: unknown): readonly string[] {
  const validation = validateResource(document, 'test');
  return validation.kind === 'valid' ? [] : validation.problems.map(({ message }) => message);
}

function messagesIn(schema: CrdSchema): readonly string[] {
  return [...new Set(rulesIn(schema))].sort();
}

function rulesIn(schema: CrdSchema): readonly string[] {
  const { properties = {}, items, additionalProperties } = schema;
  const members = [...Object.values(properties), items, additionalProperties];
  return [
    ...(schema['x-kubernetes-validations'] ?? []).map(({ message }) => message),
    ...members.flatMap((member) => (member === undefined ? [] : rulesIn(member))),
  ];
}

function flatten(
  broken: Readonly<Record<string, readonly string[]>>,
): readonly (readonly [message: string, yaml: string])[] {
  return Object.entries(broken).flatMap(([message, manifests]) =>
    manifests.map((yaml) => [message, yaml] as const),
  );
}
