import { isList, isObject, mapMembers, type Json } from './json.ts';
import { memberSchema, type Schema } from './schema.ts';

/** Sets the defaults of a schema for absent members. */
export function withDefaults<Value extends Json>(schema: Schema, value: Value): Value {
  // Members are only added.
  return defaulted(schema, value) as Value;
}

function defaulted(schema: Schema, value: Json): Json {
  if (isList(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => defaulted(items, item));
  }
  if (!isObject(value)) return value;
  const missing = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    member.default !== undefined && value[name] === undefined ? [[name, member.default]] : [],
  );
  // Pairs of a name and a default.
  const complete = { ...value, ...(Object.fromEntries(missing) as Record<string, Json>) };
  return mapMembers(complete, (member, name) =>
    defaulted(memberSchema(schema, name) ?? {}, member),
  );
}
