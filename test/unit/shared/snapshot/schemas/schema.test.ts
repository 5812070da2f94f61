import { describe, expect, test } from '@jest/globals';

import {
  constant,
  objectOf,
  oneOfKinds,
  optional,
  string,
} from '../../../../../shared/snapshot/schemas/schema.ts';

interface Fruit {
  readonly kind: 'fruit';
  readonly name: string;
  readonly color?: string;
}

interface Stone {
  readonly kind: 'stone';
}

const fruit = { kind: constant('fruit'), name: string(), color: optional(string()) };

describe('a schema that does not describe its type', () => {
  test('does not compile', () => {
    // @ts-expect-error -- `name` is missing
    objectOf<Fruit>({ kind: fruit.kind, color: fruit.color });
    // @ts-expect-error -- there is no `size`
    objectOf<Fruit>({ ...fruit, size: string() });
    // @ts-expect-error -- `color` is optional
    objectOf<Fruit>({ ...fruit, color: string() });
    // @ts-expect-error -- `name` is not optional
    objectOf<Fruit>({ ...fruit, name: optional(string()) });
    // @ts-expect-error -- any kind would do
    objectOf<Fruit>({ ...fruit, kind: string() });
    // @ts-expect-error -- only one name would do
    objectOf<Fruit>({ ...fruit, name: constant('apple') });
    // @ts-expect-error -- stones are missing
    oneOfKinds<Fruit | Stone>({ fruit: objectOf<Fruit>(fruit) });

    expect(objectOf<Fruit>(fruit).json).toMatchObject({ required: ['kind', 'name'] });
  });
});
