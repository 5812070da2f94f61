import { isRecord } from '../../../shared/runtime/is-record.ts';
import type { Mapping } from './translate-keys.ts';

const MANIFEST_KEYS = ['apiVersion', 'kind', 'metadata', 'spec'];

/** Whether a document is in the plain form, and not a manifest, even an incomplete one. */
export function isPlainForm(value: unknown): value is Mapping {
  return isRecord(value) && !MANIFEST_KEYS.some((key) => Object.hasOwn(value, key));
}
