import type { KubernetesApi } from '../../../controller/kubernetes/kubernetes-api.ts';
import { CommandFailure } from '../../command-failure.ts';
import type { ControllerOptions } from './controller-options.ts';

/** Where a controller runs. */
export interface FoundCluster {
  readonly api: KubernetesApi;
  readonly namespace: string;
}

/** Finds the API server, and the namespace to work for. Throws `CommandFailure`. */
export async function findCluster({
  kubeconfig,
  namespace,
}: Pick<ControllerOptions, 'kubeconfig' | 'namespace'>): Promise<FoundCluster> {
  const source = kubeconfig === undefined ? {} : { kubeconfig };
  // Loaded here, because it is large, and other commands do without.
  const { connectKubernetes } =
    await import('../../../controller/kubernetes/connect-kubernetes.ts');
  const { ownNamespace } = await import('../../../controller/kubernetes/load-kubeconfig.ts');
  let api;
  let own;
  try {
    api = connectKubernetes(source);
    own = namespace ?? ownNamespace(source);
  } catch (error) {
    throw new CommandFailure(error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
  if (own !== undefined) return { api, namespace: own };
  throw new CommandFailure('--namespace is needed: neither a pod nor the kubeconfig names one');
}
