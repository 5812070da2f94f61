import { stringify } from 'yaml';

import type { GatewaySettings, Route } from '../../../crds/types.ts';
import type { Upstream } from '../upstream.ts';

/** Namespace of the gateway. */
export const INSTALL_NAMESPACE = 'gatehouse';
/** Namespace of the proxies, where the controllers may read no Secrets. */
export const PROXY_NAMESPACE = 'gatehouse-proxy';
/** Default namespace of routes. */
export const TEAM = 'team';

/** Host of the route that `routeManifest` makes for a name. */
export function hostOf(route: string): string {
  return `${route}.example.test`;
}

/** A Route, in namespace `team`, public and to an upstream by default. */
export function routeManifest(
  name: string,
  spec: Partial<Route['spec']>,
  upstream: Pick<Upstream, 'origin'>,
  namespace = TEAM,
): string {
  return stringify({
    apiVersion: 'gatehouse.dev/v1alpha1',
    kind: 'Route',
    metadata: { name, namespace },
    spec: {
      from: `http://${hostOf(name)}`,
      ...(spec.backendRefs === undefined && { to: upstream.origin }),
      ...(spec.policy === undefined && { allowPublicUnauthenticatedAccess: true }),
      ...spec,
    },
  });
}

/** The settings of the gateway. */
export function settingsManifest(spec: GatewaySettings['spec']): string {
  return stringify({
    apiVersion: 'gatehouse.dev/v1alpha1',
    kind: 'GatewaySettings',
    metadata: { name: 'gatehouse', namespace: INSTALL_NAMESPACE },
    spec,
  });
}

/** Namespaces of these names. */
export function namespaceManifests(...names: readonly string[]): string {
  const documents = names.map((name) =>
    stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
  );
  return documents.join('---\n');
}
