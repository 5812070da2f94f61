import { hash } from 'node:crypto';

import { SnapshotDigest } from './snapshot-digest.ts';
import type { CompiledResource, Snapshot, SnapshotResource } from './snapshot.ts';
import { isRecord } from '../runtime/is-record.ts';

/** Hashes a compiled resource: the order of members does not matter. */
export function hashResource(key: string, value: CompiledResource): SnapshotResource {
  return { key, hash: hash('sha256', canonicalJson(value)), value };
}

/** Creates a snapshot of resources with unique keys. */
export function snapshotOf(resources: Iterable<SnapshotResource>): Snapshot {
  const sorted = [...resources].sort((a, b) => (a.key < b.key ? -1 : 1));
  return {
    version: SnapshotDigest.of(sorted).version(),
    resources: new Map(sorted.map((resource) => [resource.key, resource])),
  };
}

/** Written by hand, because `JSON.stringify` with a replacer takes twice as long. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`);
  return `{${members.join(',')}}`;
}
