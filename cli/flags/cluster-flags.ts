import type { CommandLine } from '../arguments.ts';

/** Flags of commands that read Routes and GatewaySettings of a cluster. */
export const CLUSTER_FLAGS = {
  kubeconfig: {
    kind: 'text',
    environment: 'GATEHOUSE_KUBECONFIG',
    value: 'FILE',
    description: 'How to reach the cluster, with your own rights. Defaults to that of kubectl.',
  },
  'settings-namespace': {
    kind: 'text',
    defaultValue: 'gatehouse',
    value: 'NAME',
    description: 'Namespace of the GatewaySettings in the cluster.',
  },
  settings: {
    kind: 'text',
    environment: 'GATEHOUSE_SETTINGS',
    defaultValue: 'gatehouse',
    value: 'NAME',
    description: 'Name of the GatewaySettings in the cluster.',
  },
  'gateway-class': {
    kind: 'text',
    environment: 'GATEHOUSE_GATEWAY_CLASS',
    defaultValue: 'gatehouse',
    value: 'NAME',
    description: 'Class of the gateway in the cluster.',
  },
} satisfies CommandLine['flags'];
