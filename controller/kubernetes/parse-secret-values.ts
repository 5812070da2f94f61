import { isRecord } from '../../shared/runtime/is-record.ts';
import { isReferable, type SecretValues } from '../validate/secret.ts';
import type { KubernetesObject } from './objects.ts';

/** Parses an object of type Secret. */
export function parseSecretValues({ metadata, data }: KubernetesObject): SecretValues {
  if (!isReferable(metadata.labels)) return 'unlabelled';
  const values = Object.entries(isRecord(data) ? data : {});
  return new Map(
    values.flatMap(([key, value]) =>
      typeof value === 'string' ? [[key, Buffer.from(value, 'base64')]] : [],
    ),
  );
}
