import type { KubernetesApi } from '../../../controller/kubernetes/kubernetes-api.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';
import { CommandFailure } from '../../command-failure.ts';
import { connectToCluster } from '../../process/connect-to-cluster.ts';
import type { ControllerFlags } from './controller-flags.ts';

/** The cluster of a controller, and its namespace there. */
export interface FoundCluster {
  readonly api: KubernetesApi;
  readonly namespace: string;
}

/** Finds the API server and the namespace of a controller. Throws `CommandFailure`. */
export async function findCluster(
  { kubeconfig, namespace }: Pick<ControllerFlags, 'kubeconfig' | 'namespace'>,
  environment: Environment,
  userAgent?: string,
): Promise<FoundCluster> {
  const { api, namespace: named } = await connectToCluster({ kubeconfig }, environment, userAgent);
  const own = namespace ?? named;
  if (own !== undefined) return { api, namespace: own };
  throw new CommandFailure('--namespace is needed: neither a pod nor the kubeconfig names one');
}
