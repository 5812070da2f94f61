import type { Attributes } from '../shared/telemetry/tracing/names.ts';
import type { Changes } from './compile/compilation.ts';

/** The most Routes that a span names. */
const MAX_NAMED = 10;

/** Describes changes for their trace: how many there are, and which Routes, without any content. */
export function describeChanges(changes: Changes): Attributes {
  const { routes = new Map(), secrets, configMaps, services, endpointSlices } = changes;
  const { referenceGrants, namespaces } = changes;
  const referred = [secrets, configMaps, services, endpointSlices, referenceGrants, namespaces];
  const maps = [routes, ...referred];
  const ofMaps = maps.reduce((sum, map) => sum + (map?.size ?? 0), 0);
  return {
    'gatehouse.change.size': ofMaps + (changes.settings === undefined ? 0 : 1),
    ...(routes.size > 0 && { 'gatehouse.change.routes': [...routes.keys()].slice(0, MAX_NAMED) }),
  };
}
