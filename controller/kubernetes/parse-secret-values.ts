import { isRecord } from '../../shared/runtime/is-record.ts';
import { keptValues, type SecretValues } from '../validate/secret.ts';
import type { KubernetesObject } from './objects.ts';

/** Parses an object of type Secret. */
export function parseSecretValues({ metadata, data, type }: KubernetesObject): SecretValues {
  const entries = Object.entries(isRecord(data) ? data : {});
  const values = new Map(
    entries.flatMap(([key, value]) =>
      typeof value === 'string' ? [[key, Buffer.from(value, 'base64')]] : [],
    ),
  );
  return keptValues({ type, labels: metadata.labels, values });
}
