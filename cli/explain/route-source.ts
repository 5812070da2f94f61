import type { Arguments } from '../arguments.ts';

/** Where the routes are. */
export type RouteSource =
  | { readonly kind: 'files'; readonly paths: readonly string[] }
  | { readonly kind: 'cluster'; readonly cluster: ClusterFlags };

/** The cluster to read from. */
export interface ClusterFlags {
  readonly kubeconfig: string | undefined;
  /** The namespace of the Routes. */
  readonly namespace: string;
  readonly settings: { readonly namespace: string; readonly name: string };
  readonly gatewayClass: string;
}

/**
 * Reads where the routes are: files, or else the namespace of a cluster. Undefined if neither is given.
 */
export function readRouteSource(
  flags: Arguments,
  namespace: string | undefined,
): RouteSource | undefined {
  const paths = flags.list('file');
  if (paths.length > 0) return { kind: 'files', paths };
  if (namespace === undefined) return undefined;
  return {
    kind: 'cluster',
    cluster: {
      kubeconfig: flags.text('kubeconfig'),
      namespace,
      settings: {
        namespace: flags.text('settings-namespace') ?? '',
        name: flags.text('settings') ?? '',
      },
      gatewayClass: flags.text('gateway-class') ?? '',
    },
  };
}
