import { connectKubernetes } from '../../../controller/kubernetes/connect-kubernetes.ts';
import type { ClusterAccess } from '../../../controller/kubernetes/cluster-access.ts';
import { findAccess } from '../../../controller/kubernetes/find-access.ts';
import type { KubernetesApi } from '../../../controller/kubernetes/kubernetes-api.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';
import { CommandFailure } from '../../command-failure.ts';
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
): Promise<FoundCluster> {
  const access = await find(kubeconfig, environment);
  const own = namespace ?? access.namespace;
  if (own !== undefined) return { api: connectKubernetes(access), namespace: own };
  throw new CommandFailure('--namespace is needed: neither a pod nor the kubeconfig names one');
}

async function find(
  kubeconfig: string | undefined,
  environment: Environment,
): Promise<ClusterAccess> {
  try {
    return await findAccess(kubeconfig, environment);
  } catch (error) {
    throw new CommandFailure(error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
}
