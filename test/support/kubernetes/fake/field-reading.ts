import { isList, isObject, type Json, type JsonObject } from './json.ts';

/** Returns a member that is an object, else the empty object. */
export function objectAt(value: Json | undefined, name: string): JsonObject {
  const member = isObject(value) ? value[name] : undefined;
  return isObject(member) ? member : {};
}

/** Returns a member that is a list, else the empty list. */
export function listAt(value: Json | undefined, name: string): readonly Json[] {
  const member = isObject(value) ? value[name] : undefined;
  return isList(member) ? member : [];
}

/** Returns a member that is text, else the empty text. */
export function textAt(value: Json | undefined, name: string): string {
  const member = isObject(value) ? value[name] : undefined;
  return typeof member === 'string' ? member : '';
}
