import { isObject, type Json } from './json.ts';
import type { Schema } from './schema.ts';
import { StatusError } from './status-error.ts';

/**
 * Returns the items of a set, or of a list with keys, by their path element; undefined for other
 * lists, which are owned as a whole.
 */
export function listItems(
  schema: Schema | undefined,
  list: readonly Json[],
): ReadonlyMap<string, { readonly value: Json; readonly schema: Schema | undefined }> | undefined {
  const type = schema?.['x-kubernetes-list-type'] ?? 'atomic';
  if (type === 'atomic') return undefined;
  const keys = schema?.['x-kubernetes-list-map-keys'] ?? [];
  const items = list.map((value, index) => {
    const element = type === 'set' ? `v:${JSON.stringify(value)}` : keyOf(keys, value, index);
    return [element, { value, schema: schema?.items }] as const;
  });
  const byElement = new Map(items);
  if (byElement.size < items.length) throw untyped('duplicate entries for key');
  return byElement;
}

function keyOf(keys: readonly string[], item: Json, index: number): string {
  const values = keys.map((key) => {
    const value = isObject(item) ? item[key] : undefined;
    if (value === undefined) {
      throw untyped(
        `element ${String(index)}: associative list with keys has an element that omits key field "${key}"`,
      );
    }
    return [key, value] as const;
  });
  return `k:${JSON.stringify(Object.fromEntries(values))}`;
}

function untyped(why: string): StatusError {
  return new StatusError(500, '', `failed to create typed patch object: ${why}`);
}
