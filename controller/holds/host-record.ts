import { isRecord } from '../../shared/runtime/is-record.ts';
import type { HostOwner } from '../compile/routes/host-holds.ts';

/** Owners of hosts that another controller has to know, by host. */
export type HostRecord = ReadonlyMap<string, HostOwner>;

/** An API server refuses a ConfigMap with more than 1 MiB of data. */
const MAX_BYTES = 900_000;

/** Returns the data of the ConfigMap, and how many hosts have no room. Held hosts come first. */
export function formatHostRecord(record: HostRecord): {
  readonly data: Readonly<Record<string, string>>;
  readonly omitted: number;
} {
  const isHeld = ([, { vacantSince }]: readonly [string, HostOwner]): boolean =>
    vacantSince !== undefined;
  const owners = [...record];
  const entries = [...owners.filter(isHeld), ...owners.filter((owner) => !isHeld(owner))].map(
    ([host, owner]) => [keyOf(host), valueOf(owner)] as const,
  );
  let bytes = 0;
  const fitting = entries.filter(([key, value]) => {
    bytes += key.length + value.length;
    return bytes <= MAX_BYTES;
  });
  return { data: Object.fromEntries(fitting), omitted: entries.length - fitting.length };
}

/** Parses the data of the ConfigMap. Leaves out entries that are not ours. */
export function parseHostRecord(data: unknown): HostRecord {
  const entries = Object.entries(isRecord(data) ? data : {});
  return new Map(
    entries.flatMap(([key, value]) => {
      const owner = parseOwner(value);
      return owner === undefined ? [] : [[hostOf(key), owner] as const];
    }),
  );
}

/** Keys of a ConfigMap have letters, digits, `-`, `.` and `_` only. No host has a `_`. */
function keyOf(host: string): string {
  return host.replaceAll(/[*:[\]]/g, '_');
}

function hostOf(key: string): string {
  if (key.startsWith('_.')) return `*${key.slice(1)}`;
  if (!key.startsWith('_')) return key;
  return `[${key.slice(1, -1).replaceAll('_', ':')}]`;
}

function valueOf({ namespace, vacantSince }: HostOwner): string {
  const since = vacantSince === undefined ? undefined : new Date(vacantSince).toISOString();
  return JSON.stringify({ namespace, vacantSince: since });
}

function parseOwner(value: unknown): HostOwner | undefined {
  const owner = parseJson(value);
  const { namespace, vacantSince } = isRecord(owner) ? owner : {};
  if (typeof namespace !== 'string' || namespace === '') return undefined;
  if (vacantSince === undefined) return { namespace };
  const since = typeof vacantSince === 'string' ? Date.parse(vacantSince) : NaN;
  return Number.isNaN(since) ? undefined : { namespace, vacantSince: since };
}

function parseJson(value: unknown): unknown {
  try {
    return typeof value === 'string' ? JSON.parse(value) : undefined;
  } catch {
    return undefined;
  }
}
