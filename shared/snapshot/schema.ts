declare const DESCRIBED: unique symbol;

interface AnySchema {
  readonly json: Readonly<Record<string, unknown>>;
}

type AnyMember = AnySchema | { readonly optional: AnySchema };

/**
 * A JSON schema that describes exactly the values of a type.
 *
 * Made of the functions below, which TypeScript checks against the type: a member that is missing,
 * too many, optional on one side only or of another type does not compile.
 */
export interface Schema<Value> extends AnySchema {
  /** Never there. Takes and gives the type, so that neither a wider nor a narrower one fits. */
  readonly [DESCRIBED]?: (value: Value) => Value;
}

/** The schema of a member that may be absent. */
export interface OptionalMember<Value> {
  readonly optional: Schema<Value>;
}

/** A schema for every member. */
export type Members<Value> = {
  readonly [Name in keyof Value]-?: object extends Pick<Value, Name>
    ? OptionalMember<Exclude<Value[Name], undefined>>
    : Schema<Value[Name]>;
};

/** An object with these members and no others. */
export function objectOf<Value>(
  members: Members<Value>,
  { notEmpty = false }: { readonly notEmpty?: boolean } = {},
): Schema<Value> {
  // Each is one of the two, whatever its type.
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

/** One schema for each `kind` of a union. */
export function oneOfKinds<Value extends { readonly kind: string }>(arms: {
  readonly [Kind in Value['kind']]: Schema<Extract<Value, { readonly kind: Kind }>>;
}): Schema<Value> {
  return {
    json: {
      type: 'object',
      required: ['kind'],
      discriminator: { propertyName: 'kind' },
      // Each is a schema, whatever its type.
      oneOf: Object.values(arms as Readonly<Record<string, AnySchema>>).map(({ json }) => json),
    },
  };
}

export function optional<Value>(schema: Schema<Value>): OptionalMember<Value> {
  return { optional: schema };
}

export function listOf<Element>(
  element: Schema<Element>,
  { notEmpty = false }: { readonly notEmpty?: boolean } = {},
): Schema<readonly Element[]> {
  return { json: { type: 'array', items: element.json, ...(notEmpty ? { minItems: 1 } : {}) } };
}

/** An object whose members may have any name. */
export function recordOf<Value>(value: Schema<Value>): Schema<Readonly<Record<string, Value>>> {
  return { json: { type: 'object', required: [], additionalProperties: value.json } };
}

export function constant<const Value extends string>(value: Value): Schema<Value> {
  return { json: { type: 'string', const: value } };
}

export function anyOf<const Value extends string>(values: readonly Value[]): Schema<Value> {
  return { json: { type: 'string', enum: values } };
}

/** A string that a regular expression (with the flag `u`) finds something in. */
export function string(pattern?: string): Schema<string> {
  return { json: pattern === undefined ? { type: 'string' } : { type: 'string', pattern } };
}

export function number(minimum = 0): Schema<number> {
  return { json: { type: 'number', minimum } };
}

export function integer(minimum: number, maximum: number): Schema<number> {
  return { json: { type: 'integer', minimum, maximum } };
}

export const boolean: Schema<boolean> = { json: { type: 'boolean' } };

/** Anything, for what is looked at elsewhere. */
export const unknown: Schema<unknown> = { json: {} };

export function nullable(schema: Schema<string>): Schema<string | null> {
  return { json: { ...schema.json, type: ['string', 'null'] } };
}
