import type { Route } from '../../crds/types.ts';
import type { Selected, Selection } from './selection.ts';

/**
 * Gives each route an age, as an API server would: where two routes ask for the same address, the
 * one that served it first keeps it, so that a change to one never takes the other's requests.
 *
 * `round` counts acceptances. A route is as old as the round since which it asks for its address.
 */
export function dateRoutes(serving: Selection, selection: Selection, round: number): Selection {
  const dated = [...selection.routes].map(([name, selected]) => {
    const before = serving.routes.get(name)?.resource;
    const isSame = before !== undefined && addressOf(before) === addressOf(selected.resource);
    const date = isSame ? before.metadata.creationTimestamp : undefined;
    const creationTimestamp = date ?? new Date(round).toISOString();
    return [name, withDate(selected, creationTimestamp)] as const;
  });
  return { ...selection, routes: new Map(dated) };
}

function withDate(selected: Selected<Route>, creationTimestamp: string): Selected<Route> {
  const { resource } = selected;
  const metadata = { ...resource.metadata, creationTimestamp };
  return { ...selected, resource: { ...resource, metadata } };
}

function addressOf({ spec: { from, prefix, path, regex } }: Route): string {
  return JSON.stringify([from, prefix, path, regex]);
}
