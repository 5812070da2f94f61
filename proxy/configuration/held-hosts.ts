import type { CompiledHeldHost, CompiledResource } from '../../shared/snapshot/snapshot.ts';
import type { ResourceChange } from './snapshot-changes.ts';

/** Held hosts and wildcards, with the ports on which they are held. */
export type HeldHosts = ReadonlyMap<string, readonly number[]>;

/** No held hosts: the value before the first snapshot. */
export const NO_HELD_HOSTS: HeldHosts = new Map();

/** Returns the held hosts after these changes; the same map if they are the same. */
export function heldHostsAfter(before: HeldHosts, changes: readonly ResourceChange[]): HeldHosts {
  let held: Map<string, readonly number[]> | undefined;
  for (const { before: removed, after: added } of changes) {
    const [from, to] = [heldHost(removed?.value), heldHost(added?.value)];
    if (from === undefined && to === undefined) continue;
    held ??= new Map(before);
    if (from !== undefined) held.delete(from.host);
    if (to !== undefined) held.set(to.host, to.ports);
  }
  return held ?? before;
}

/** Whether these ports have one that is written `:443`. */
export function hasPort(ports: readonly number[] | undefined, port: string): boolean {
  return ports?.includes(Number(port.slice(1))) === true;
}

function heldHost(value: CompiledResource | undefined): CompiledHeldHost | undefined {
  return value?.kind === 'held-host' ? value : undefined;
}
