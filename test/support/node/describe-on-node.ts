import { describe } from '@jest/globals';

/** `describe` for tests that run inside a cluster, where `npm run test:cluster` runs them; elsewhere they are skipped. */
export function describeOnNode(title: string, suite: () => void): void {
  const isOnNode = process.env['CLUSTER_NODE_IP'] !== undefined;
  if (!isOnNode) console.warn(`skipped outside of a cluster, use npm run test:cluster: ${title}`);
  (isOnNode ? describe : describe.skip)(title, suite);
}
