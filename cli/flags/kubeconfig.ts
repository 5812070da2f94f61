import type { Flag } from '../arguments.ts';

/** `--kubeconfig` of programs that run in a pod or beside a cluster. */
export const KUBECONFIG: Flag = {
  kind: 'text',
  environment: 'GATEHOUSE_KUBECONFIG',
  value: 'FILE',
  description:
    'How to reach the API server. Defaults to KUBECONFIG, or to the API server of the pod.',
};
