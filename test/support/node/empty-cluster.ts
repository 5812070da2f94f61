import { kubectl } from './kubectl.ts';
import { PROXIES_NAMESPACE, RELEASE_NAMESPACE, ROUTES_NAMESPACE } from './node-manifests.ts';
import { release } from './release.ts';

const NAMESPACES = [RELEASE_NAMESPACE, PROXIES_NAMESPACE, ROUTES_NAMESPACE];

/** Removes what tests left in the cluster, and waits until it is gone. Pods do not get the time to drain. */
export async function emptyCluster(): Promise<void> {
  await release.uninstall();
  const pods = ['delete', 'pods', '--all', '--grace-period=0', '--force'];
  for (const namespace of NAMESPACES) await kubectl('--namespace', namespace, ...pods);
  await kubectl('delete', 'namespace', ...NAMESPACES, '--ignore-not-found');
  const definitions = ['routes.gatehouse.dev', 'gatewaysettings.gatehouse.dev'];
  await kubectl('delete', 'customresourcedefinition', ...definitions, '--ignore-not-found');
}
