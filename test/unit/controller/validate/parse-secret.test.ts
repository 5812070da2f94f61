import { describe, expect, test } from '@jest/globals';

import { validateResource } from '../../../../controller/validate/validate-resource.ts';

const METADATA = { name: 'keys', labels: { 'gatehouse.dev/referable': 'true' } };

function secretWith(content: object): unknown {
  return { apiVersion: 'v1', kind: 'Secret', metadata: METADATA, ...content };
}

describe('a Secret', () => {
  test('is decoded from data and stringData, and stringData wins', () => {
    const document = secretWith({
      type: 'Opaque',
      data: { a: 'b25l', b: 'dHdv', folded: 'b2\n5l' },
      stringData: { b: 'three' },
    });
    const validation = validateResource(document, 'test');

    expect(validation).toEqual({
      kind: 'valid',
      resource: {
        kind: 'Secret',
        metadata: { name: 'keys', namespace: 'default' },
        values: new Map([
          ['a', Buffer.from('one')],
          ['b', Buffer.from('three')],
          ['folded', Buffer.from('one')],
        ]),
      },
    });
  });

  test('without the label that lets settings refer to it is valid, and its values are dropped', () => {
    const document = secretWith({ metadata: { name: 'keys' }, stringData: { a: 'one' } });
    const metadata = { name: 'keys', namespace: 'default' };
    const resource = { kind: 'Secret', metadata, values: 'unlabelled' };
    expect(validateResource(document, 'test')).toEqual({ kind: 'valid', resource });
  });

  test.each([
    ['data that is not base64', { data: { a: 'hunter-2' } }, 'data.a', 'must be base64'],
    ['base64 that is cut off', { data: { a: 'aGVsb' } }, 'data.a', 'must be base64'],
    ['a value that is no text', { stringData: { a: 7 } }, 'stringData.a', 'must be a string'],
    [
      'a key that cannot be one',
      { stringData: { 'a b': 'hunter-2' } },
      'stringData.a b',
      'must consist of letters, digits, "-", "_" and "."',
    ],
    [
      'an unknown field',
      { stringdata: { a: 'hunter-2' } },
      'stringdata',
      'is not a known field; did you mean "stringData"?',
    ],
  ])('with %s is invalid', (_case, content, path, message) => {
    expect(validateResource(secretWith(content), 'test')).toEqual({
      kind: 'invalid',
      problems: [{ resource: 'Secret default/keys', reason: 'InvalidManifest', path, message }],
    });
  });

  test.each([
    { data: { a: 'hunter-2' } },
    { stringData: { 'a b': 'hunter-2' } },
    { a: 'hunter-2' },
  ])('never has a problem that contains a value', (content) => {
    const validation = validateResource(secretWith(content), 'test');

    expect(validation.kind).toBe('invalid');
    expect(JSON.stringify(validation)).not.toContain('hunter-2');
  });
});
