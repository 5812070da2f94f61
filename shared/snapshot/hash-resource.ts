import { createHash } from 'node:crypto';

import type { CompiledResource, Snapshot, SnapshotResource } from './snapshot.ts';

/** Names a compiled resource by its content: equal values, equal hash, whatever their key order. */
export function hashResource(key: string, value: CompiledResource): SnapshotResource {
  return { key, hash: sha256(canonicalJson(value)), value };
}

/** Makes a snapshot of resources whose keys are unique. */
export function snapshotOf(resources: Iterable<SnapshotResource>): Snapshot {
  const sorted = [...resources].sort((a, b) => (a.key < b.key ? -1 : 1));
  const manifest = sorted.map(({ key, hash }) => `${key}\t${hash}\n`).join('');
  return {
    version: sha256(manifest),
    resources: new Map(sorted.map((resource) => [resource.key, resource])),
  };
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isRecord(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
