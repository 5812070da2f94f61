declare const DESCRIBED: unique symbol;

interface AnySchema {
  readonly json: Readonly<Record<string, unknown>>;
}

type AnyMember = AnySchema | { readonly optional: AnySchema };

/**
 * A JSON schema that describes exactly the values of a type.
 *
 * The functions below create schemas, and TypeScript checks them against the type: a member that is
 * missing, superfluous, optional on one side only or of a different type does not compile.
 */
export interface Schema<Value> extends AnySchema {
  /** Never present. Both parameter and result, so that neither a wider nor a narrower type fits. */
  readonly [DESCRIBED]?: (value: Value) => Value;
}

/** The schema of a member that may be absent. */
export interface OptionalMember<Value> {
  readonly optional: Schema<Value>;
}

/** Schemas of all members of an object. */
export type Members<Value> = {
  readonly [Name in keyof Value]-?: object extends Pick<Value, Name>
    ? OptionalMember<Exclude<Value[Name], undefined>>
    : Schema<Value[Name]>;
};

/** Describes an object with exactly these members. */
export function objectOf<Value>(
  members: Members<Value>,
  { notEmpty = false }: { readonly notEmpty?: boolean } = {},
): Schema<Value> {
  // Every member is one of the two.
  const entries = Object.entries(members as Readonly<Record<string, AnyMember>>);
  const schemas = entries.map(
    ([name, member]) => [name, 'optional' in member ? member.optional.json : member.json] as const,
  );
  const required = entries.flatMap(([name, member]) => ('optional' in member ? [] : [name]));
  return {
    json: {
      type: 'object',
      properties: Object.fromEntries(schemas),
      required,
      additionalProperties: false,
      ...(notEmpty ? { minProperties: 1 } : {}),
    },
  };
}

/** Describes a union by one schema for each `kind`. */
export function oneOfKinds<Value extends { readonly kind: string }>(arms: {
  readonly [Kind in Value['kind']]: Schema<Extract<Value, { readonly kind: Kind }>>;
}): Schema<Value> {
  return {
    json: {
      type: 'object',
      required: ['kind'],
      discriminator: { propertyName: 'kind' },
      // A schema for every kind.
      oneOf: Object.values(arms as Readonly<Record<string, AnySchema>>).map(({ json }) => json),
    },
  };
}

/** Describes a member that may be absent. */
export function optional<Value>(schema: Schema<Value>): OptionalMember<Value> {
  return { optional: schema };
}

/** Describes a list. */
export function listOf<Element>(
  element: Schema<Element>,
  { notEmpty = false }: { readonly notEmpty?: boolean } = {},
): Schema<readonly Element[]> {
  return { json: { type: 'array', items: element.json, ...(notEmpty ? { minItems: 1 } : {}) } };
}

/** Describes an object with members of any name. */
export function recordOf<Value>(value: Schema<Value>): Schema<Readonly<Record<string, Value>>> {
  return { json: { type: 'object', required: [], additionalProperties: value.json } };
}

/** Describes one string. */
export function constant<const Value extends string>(value: Value): Schema<Value> {
  return { json: { type: 'string', const: value } };
}

/** Describes one of several strings. */
export function anyOf<const Value extends string>(values: readonly Value[]): Schema<Value> {
  return { json: { type: 'string', enum: values } };
}

/** Describes a string that matches a regular expression (with the flag `u`). */
export function string(pattern?: string): Schema<string> {
  return { json: pattern === undefined ? { type: 'string' } : { type: 'string', pattern } };
}

/** Describes a number. */
export function number(minimum = 0): Schema<number> {
  return { json: { type: 'number', minimum } };
}

/** Describes an integer. */
export function integer(minimum: number, maximum: number): Schema<number> {
  return { json: { type: 'integer', minimum, maximum } };
}

/** Describes a boolean. */
export const boolean: Schema<boolean> = { json: { type: 'boolean' } };

/** Describes the value `true`, of a member that is otherwise absent. */
export const constantTrue: Schema<true> = { json: { type: 'boolean', const: true } };

/** Describes any value, which is checked elsewhere. */
export const unknown: Schema<unknown> = { json: {} };

/** Describes a string or null. */
export function nullable(schema: Schema<string>): Schema<string | null> {
  return { json: { ...schema.json, type: ['string', 'null'] } };
}
