import type { KubernetesApi } from '../../controller/kubernetes/kubernetes-api.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import type { Arguments } from '../arguments.ts';
import { CommandFailure } from '../command-failure.ts';
import { readClusterFlags, type ClusterFlags } from '../flags/cluster-flags.ts';

/** Where the routes are. */
export type RouteSource =
  { readonly kind: 'files'; readonly paths: readonly string[] } | ClusterSource;

/** A cluster, and the gateway in it. */
export interface ClusterSource extends Pick<ClusterFlags, 'settings' | 'gatewayClass'> {
  readonly kind: 'cluster';
  readonly api: KubernetesApi;
  /** The namespace that the context names; undefined if it names none. */
  readonly namespace: string | undefined;
}

/**
 * Opens where the routes are: files if some are given, or else a cluster. Throws `CommandFailure` if there is
 * no way to a cluster.
 */
export async function openRouteSource(
  flags: Arguments,
  environment: Environment,
): Promise<RouteSource> {
  const paths = flags.list('file');
  if (paths.length > 0) return { kind: 'files', paths };
  try {
    return await openClusterSource(flags, environment);
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    // Who wants to read files may have forgotten the flag for them.
    throw new CommandFailure(`${error.message}; to read files, give --file`, { cause: error });
  }
}

/** Finds the cluster of a command, without a request to it. Throws `CommandFailure` if there is no way to it. */
export async function openClusterSource(
  flags: Arguments,
  environment: Environment,
): Promise<ClusterSource> {
  const { settings, gatewayClass, ...kubeconfig } = readClusterFlags(flags);
  const { connectToCluster } = await import('../process/connect-to-cluster.ts');
  const { api, namespace } = await connectToCluster(kubeconfig, environment);
  return { kind: 'cluster', api, namespace, settings, gatewayClass };
}
