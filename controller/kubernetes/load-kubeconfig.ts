import { KubeConfig } from '@kubernetes/client-node';

import { errorCode } from '../../shared/runtime/error-code.ts';

/** The context that client-node invents when it finds no configuration. */
const INVENTED_CONTEXT = 'loaded-context';

/**
 * Loads the address of the API server and the credentials: from the given file, else from where
 * `kubectl` finds them (`KUBECONFIG`, `~/.kube/config`), else from the pod.
 *
 * Throws if there is no configuration, or if it names no server.
 */
export function loadKubeconfig(file?: string): KubeConfig {
  const config = new KubeConfig();
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch (error) {
    const path = file ?? process.env['KUBECONFIG'] ?? 'of the user';
    const why = errorCode(error) ?? 'it is not a kubeconfig';
    // eslint-disable-next-line preserve-caught-error -- the parser quotes the file, which holds tokens
    throw new Error(`cannot read the kubeconfig ${path}: ${why}`);
  }
  if (file === undefined && config.getCurrentContext() === INVENTED_CONTEXT) {
    throw new Error('no API server: not in a pod, and no kubeconfig is given (--kubeconfig FILE)');
  }
  if (config.getCurrentCluster() == null) {
    throw new Error('the kubeconfig names no cluster in its current context');
  }
  return config;
}

/** The namespace of this pod, or of the current context of the kubeconfig. */
export function ownNamespace({ kubeconfig }: { readonly kubeconfig?: string }): string | undefined {
  const config = loadKubeconfig(kubeconfig);
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace?.trim();
  return namespace === '' ? undefined : namespace;
}
