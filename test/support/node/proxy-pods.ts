import { kubectl } from './kubectl.ts';
import { PROXIES_NAMESPACE } from './node-manifests.ts';

/** A pod of the proxies. */
export interface ProxyPod {
  readonly name: string;
  /** It was deleted, and may still finish its requests. */
  readonly isEnding: boolean;
}

/** Lists all pods of the proxies. */
export async function proxyPods(): Promise<readonly ProxyPod[]> {
  const select = ['get', 'pods', '--selector', 'app.kubernetes.io/component=proxy'];
  const list = await kubectl('--namespace', PROXIES_NAMESPACE, ...select, '--output', 'json');
  // The form of every list of objects.
  const { items } = JSON.parse(list) as {
    readonly items: readonly {
      readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
    }[];
  };
  return items.map(({ metadata: { name, deletionTimestamp } }) => {
    return { name, isEnding: deletionTimestamp !== undefined };
  });
}

/** Returns the names of those that do not end. */
export async function namesOfProxies(): Promise<readonly string[]> {
  return (await proxyPods()).filter(({ isEnding }) => !isEnding).map(({ name }) => name);
}
