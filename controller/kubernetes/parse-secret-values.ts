import { isRecord } from '../../shared/runtime/is-record.ts';
import type { KubernetesObject } from './objects.ts';

/** Parses an object of type Secret: its values by key. */
export function parseSecretValues({ data }: KubernetesObject): ReadonlyMap<string, Buffer> {
  const values = Object.entries(isRecord(data) ? data : {});
  return new Map(
    values.flatMap(([key, value]) =>
      typeof value === 'string' ? [[key, Buffer.from(value, 'base64')]] : [],
    ),
  );
}
