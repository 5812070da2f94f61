import type { CrdSchema } from '../../crds/crd-schema.ts';

/** A value in a document, with the schema that describes it and its path. */
export interface DescribedValue {
  readonly schema: CrdSchema;
  readonly value: unknown;
  readonly path: string;
}

/** Returns the schema of a member, by its name in an object or its index in a list. */
export function memberSchema(
  { properties, additionalProperties, items }: CrdSchema,
  member: string | number,
): CrdSchema | undefined {
  if (typeof member === 'number') return items;
  return properties && Object.hasOwn(properties, member)
    ? properties[member]
    : additionalProperties;
}

/** Returns the members of an object by name, or those of a list by index; none of any other value. */
export function membersOf(value: unknown): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return [...value.entries()];
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}
