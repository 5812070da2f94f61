import { isMapping, type Mapping } from './translate-keys.ts';

const MANIFEST_KEYS = ['apiVersion', 'kind', 'metadata', 'spec'];

/** Tells the plain form from a manifest, also from one that forgot a part of itself. */
export function isPlainForm(value: unknown): value is Mapping {
  return isMapping(value) && !MANIFEST_KEYS.some((key) => Object.hasOwn(value, key));
}
