import { isRecord } from '../../shared/runtime/is-record.ts';
import type { KubernetesObject } from './objects.ts';

/** Parses an object of type ConfigMap. Its `binaryData` are no texts, and are left out. */
export function parseConfigMapValues({ data }: KubernetesObject): ReadonlyMap<string, string> {
  const entries = Object.entries(isRecord(data) ? data : {});
  return new Map(
    entries.flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
  );
}
