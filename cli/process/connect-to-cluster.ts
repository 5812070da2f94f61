import { connectKubernetes } from '../../controller/kubernetes/connect-kubernetes.ts';
import { findAccess, type KubeconfigChoice } from '../../controller/kubernetes/find-access.ts';
import type { KubernetesApi } from '../../controller/kubernetes/kubernetes-api.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import { CommandFailure } from '../command-failure.ts';

/** An API server, and the namespace that the pod or the kubeconfig names; undefined if neither does. */
export interface ReachableCluster {
  readonly api: KubernetesApi;
  readonly namespace: string | undefined;
}

/** Finds the API server of a command. Throws `CommandFailure` if there is no way to it. */
export async function connectToCluster(
  kubeconfig: KubeconfigChoice,
  environment: Environment,
  userAgent = 'gatehouse',
): Promise<ReachableCluster> {
  try {
    const access = await findAccess(kubeconfig, environment);
    return { api: connectKubernetes(access, { userAgent }), namespace: access.namespace };
  } catch (error) {
    throw new CommandFailure(error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
}
