import { isRecord } from '../../shared/runtime/is-record.ts';

/** Returns a member of a parsed value; undefined if the value has none of that name. */
export function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
