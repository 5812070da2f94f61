import { member } from '../../../json/json-object.ts';
import { isRecord } from '../../../../shared/runtime/is-record.ts';

/** Checks whether a value of parsed JSON is a `Value`. */
export type Guard<Value> = (value: unknown) => value is Value;

/** A guard for every member; that of an optional member accepts `undefined` too. */
export type Shape<Value> = { readonly [Name in keyof Value]-?: Guard<Value[Name]> };

/** Accepts strings. */
export const isString: Guard<string> = (value) => typeof value === 'string';

/** Accepts numbers. */
export const isNumber: Guard<number> = (value) => typeof value === 'number';

/** Accepts booleans. */
export const isBoolean: Guard<boolean> = (value) => typeof value === 'boolean';

/** Accepts texts that match. */
export function isTextLike(pattern: RegExp): Guard<string> {
  return (value): value is string => isString(value) && pattern.test(value);
}

/** Accepts these values only. */
export function isOneOf<Value>(values: readonly Value[]): Guard<Value> {
  const known: ReadonlySet<unknown> = new Set(values);
  return (value): value is Value => known.has(value);
}

/** Accepts lists of such elements. */
export function isListOf<Element>(isElement: Guard<Element>): Guard<readonly Element[]> {
  return (value): value is readonly Element[] =>
    Array.isArray(value) && value.every((element) => isElement(element));
}

/** Accepts lists of texts. */
export const isStringList = isListOf(isString);

/** Accepts such a value, or undefined. */
export function isOptional<Value>(isValue: Guard<Value>): Guard<Value | undefined> {
  return (value): value is Value | undefined => value === undefined || isValue(value);
}

/** Accepts objects with further members, because a newer release may have written them. */
export function hasShape<Value>(shape: Shape<Value>): Guard<Value> {
  const guards = Object.entries<Guard<unknown>>(shape);
  return (value): value is Value =>
    isRecord(value) && guards.every(([name, isValid]) => isValid(member(value, name)));
}
