import { isRecord } from '../../shared/runtime/is-record.ts';

/** Identifies a resource. */
export interface ResourceId {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Reads the id of a manifest; undefined if a part of it is missing. */
export function readResourceId(manifest: unknown): ResourceId | undefined {
  if (!isRecord(manifest) || !isRecord(manifest['metadata'])) return undefined;
  const { kind } = manifest;
  const { name, namespace = 'default' } = manifest['metadata'];
  if (typeof kind !== 'string' || typeof name !== 'string' || typeof namespace !== 'string') {
    return undefined;
  }
  return { kind, namespace, name };
}

/** The name of a resource in problems: `Route team-a/files`. */
export function displayName({ kind, namespace, name }: ResourceId): string {
  return `${kind} ${namespace}/${name}`;
}
