import { appendFile } from 'node:fs/promises';

/** Address of the node, at which its pods reach servers of the tests. */
export const NODE_IP = process.env['CLUSTER_NODE_IP'] ?? '';
/** Address that tests give to the Service of the proxies, as the controller of a load balancer does. */
export const BALANCER_IP = '10.243.0.9';

/** Lets pods and tests find these names at an address. */
export async function nameHosts(address: string, hosts: readonly string[]): Promise<void> {
  const file = process.env['CLUSTER_HOSTS'];
  if (file === undefined) throw new Error('this is not inside of a cluster');
  await appendFile(file, `${address} ${hosts.join(' ')}\n`);
}
