import type { KubeconfigChoice } from '../../controller/kubernetes/find-access.ts';
import type { Arguments, CommandLine } from '../arguments.ts';
import { UsageError } from '../usage-error.ts';

/** Flags of commands that read Routes and GatewaySettings of a cluster. */
export const CLUSTER_FLAGS = {
  kubeconfig: {
    kind: 'text',
    environment: 'GATEHOUSE_KUBECONFIG',
    value: 'FILE',
    description: 'How to reach the cluster, with your own rights. Defaults to that of kubectl.',
  },
  context: {
    kind: 'text',
    value: 'NAME',
    description: 'Context of the kubeconfig. Defaults to the current one.',
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

/** The cluster to read from, and the gateway in it. */
export interface ClusterFlags extends KubeconfigChoice {
  readonly settings: { readonly namespace: string; readonly name: string };
  readonly gatewayClass: string;
}

/** Reads `CLUSTER_FLAGS`. */
export function readClusterFlags(flags: Arguments): ClusterFlags {
  return {
    kubeconfig: flags.text('kubeconfig'),
    context: flags.text('context'),
    settings: {
      namespace: flags.text('settings-namespace') ?? '',
      name: flags.text('settings') ?? '',
    },
    gatewayClass: flags.text('gateway-class') ?? '',
  };
}

/** Flags of commands that read the Routes of a namespace, as `kubectl` has them. */
export const NAMESPACE_FLAGS = {
  namespace: {
    kind: 'text',
    short: 'n',
    value: 'NAME',
    description: 'Namespace of the Routes. Defaults to that of the context.',
  },
  'all-namespaces': { kind: 'switch', short: 'A', description: 'Routes of all namespaces.' },
} satisfies CommandLine['flags'];

/** The namespaces that a user names. */
export type NamespaceChoice =
  | { readonly kind: 'none' }
  | { readonly kind: 'all' }
  | { readonly kind: 'one'; readonly namespace: string };

/** Reads `NAMESPACE_FLAGS`. Throws `UsageError` if they contradict each other. */
export function readNamespaceFlags(flags: Arguments): NamespaceChoice {
  const namespace = flags.text('namespace');
  if (!flags.isOn('all-namespaces')) {
    return namespace === undefined ? { kind: 'none' } : { kind: 'one', namespace };
  }
  if (namespace === undefined) return { kind: 'all' };
  throw new UsageError('--namespace and --all-namespaces: give one of them');
}
