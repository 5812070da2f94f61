import type { CompiledService, SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { Target } from '../forwarding/targets/target.ts';
import { rankOf } from '../forwarding/targets/rank.ts';
import { oncePerObject } from '../cache/once-per-object.ts';
import type { ResourceChange } from './snapshot-changes.ts';

/** Targets of a Service by port. */
export type ServicePorts = ReadonlyMap<number, readonly Target[]>;

/** Services by `namespace/name`. */
export type Services = ReadonlyMap<string, ServicePorts>;

/** No Services: the value before the first snapshot. */
export const NO_SERVICES: Services = new Map();

/** Returns the Services after these changes. Throws if one cannot be served. */
export function servicesAfter(before: Services, changes: readonly ResourceChange[]): Services {
  if (!changes.some((change) => isService(change.before) || isService(change.after))) {
    return before;
  }
  const services = new Map(before);
  for (const { before: removed, after: added } of changes) {
    if (removed?.value.kind === 'service') services.delete(removed.value.name);
    if (added?.value.kind === 'service') services.set(added.value.name, servicePorts(added.value));
  }
  return services;
}

function isService(resource: SnapshotResource | undefined): boolean {
  return resource?.value.kind === 'service';
}

/** Makes a Service ready to serve. Throws if a target is not a `host:port`. */
export const servicePorts = oncePerObject(({ ports }: CompiledService): ServicePorts => {
  return new Map(ports.map(({ port, targets }) => [port, targets.map(targetAt)]));
});

/** IPv4, or IPv6 in brackets, or a name; and a port. */
const ADDRESS = /^(?:[\da-z.-]+|\[[\da-f:.]+\]):\d{1,5}$/i;

function targetAt(address: string): Target {
  const origin = `http://${address}`;
  if (!ADDRESS.test(address) || !URL.canParse(origin)) {
    throw new Error(`${JSON.stringify(address)} is not a target address`);
  }
  return { origin, rank: rankOf(address) };
}
