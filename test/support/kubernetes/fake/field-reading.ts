import { isList, isObject, type Json, type JsonObject } from './json.ts';

/** A member that is an object; the empty object when it is something else. */
export function objectAt(value: Json | undefined, name: string): JsonObject {
  const member = isObject(value) ? value[name] : undefined;
  return isObject(member) ? member : {};
}

/** A member that is a list; the empty list when it is something else. */
export function listAt(value: Json | undefined, name: string): readonly Json[] {
  const member = isObject(value) ? value[name] : undefined;
  return isList(member) ? member : [];
}

/** A member that is text; empty when it is something else. */
export function textAt(value: Json | undefined, name: string): string {
  const member = isObject(value) ? value[name] : undefined;
  return typeof member === 'string' ? member : '';
}
