import { KUBECONFIG } from '../../flags/kubeconfig.ts';
import { hostname } from 'node:os';

import type { ProxyObject } from '../../../controller/watch/cluster-watch.ts';
import type { ListenAddress } from '../../../shared/runtime/listen-address.ts';
import type { Arguments, CommandLine } from '../../arguments.ts';
import { ADMIN_LISTEN, readAdminListen } from '../../flags/admin-listen.ts';
import { readDuration } from '../../flags/duration-flag.ts';
import { parseListen } from '../../flags/listen-addresses.ts';
import { formatAddress } from '../../../shared/runtime/listen-address.ts';
import { UsageError } from '../../usage-error.ts';

/** Flags of `gatehouse controller`. */
export const CONTROLLER_LINE: CommandLine = {
  name: 'controller',
  summary: 'Compile the Routes of a cluster, push them to the proxies, and report in their status',
  flags: {
    'push-listen': {
      kind: 'text',
      environment: 'GATEHOUSE_PUSH_LISTEN',
      defaultValue: ':8444',
      value: 'HOST:PORT',
      description: 'Where proxies connect to, over HTTP/2 with TLS.',
    },
    'push-tls-dir': {
      kind: 'text',
      environment: 'GATEHOUSE_PUSH_TLS_DIR',
      value: 'DIR',
      description: 'Certificate (tls.crt) for the name of the push Service, and its key (tls.key).',
      isRequired: true,
    },
    'push-address': {
      kind: 'text',
      environment: 'GATEHOUSE_PUSH_ADDRESS',
      value: 'HOST:PORT',
      description: 'Where proxies reach this controller: its pod IP. Defaults to its host name.',
    },
    namespace: {
      kind: 'text',
      environment: 'GATEHOUSE_NAMESPACE',
      value: 'NAME',
      description:
        'Namespace of the GatewaySettings, its Secrets and the Lease. Defaults to that of the pod, or of the context of the kubeconfig.',
    },
    'watch-namespaces': {
      kind: 'text',
      environment: 'GATEHOUSE_WATCH_NAMESPACES',
      value: 'NAMES',
      description: 'Namespaces of Routes, separated by commas. Defaults to all namespaces.',
    },
    'gateway-class': {
      kind: 'text',
      environment: 'GATEHOUSE_GATEWAY_CLASS',
      defaultValue: 'gatehouse',
      value: 'NAME',
      description: 'Class of this gateway: it serves the Routes with this gatewayClassName.',
    },
    settings: {
      kind: 'text',
      environment: 'GATEHOUSE_SETTINGS',
      defaultValue: 'gatehouse',
      value: 'NAME',
      description: 'Name of the GatewaySettings.',
    },
    'proxy-service-account': {
      kind: 'text',
      environment: 'GATEHOUSE_PROXY_SERVICE_ACCOUNT',
      defaultValue: 'gatehouse-proxy',
      value: '[NAMESPACE/]NAME',
      description: 'ServiceAccount of the proxies: nobody else gets the configuration.',
    },
    'proxy-service': {
      kind: 'text',
      environment: 'GATEHOUSE_PROXY_SERVICE',
      defaultValue: 'gatehouse-proxy',
      value: '[NAMESPACE/]NAME',
      description: 'Service of the proxies. The status of the settings shows its addresses.',
    },
    'deletion-delay': {
      kind: 'text',
      environment: 'GATEHOUSE_DELETION_DELAY',
      defaultValue: '30s',
      value: 'DURATION',
      description:
        'How long to hold back a configuration that lost nine tenths of its routes at once.',
    },
    kubeconfig: KUBECONFIG,
    'admin-listen': ADMIN_LISTEN,
  },
};

/** Values of the flags of `gatehouse controller`. */
export interface ControllerFlags {
  readonly pushListen: ListenAddress;
  readonly pushTlsDirectory: string;
  /** `host:port` that proxies dial. */
  readonly pushAddress: string;
  /** Undefined: the namespace of the pod. */
  readonly namespace: string | undefined;
  /** Undefined: all namespaces. */
  readonly watchNamespaces: readonly string[] | undefined;
  readonly gatewayClass: string;
  readonly settingsName: string;
  readonly proxyServiceAccount: ProxyObject;
  readonly proxyService: ProxyObject;
  readonly deletionDelayMs: number;
  readonly kubeconfig: string | undefined;
  readonly adminListen: ListenAddress;
}

/** Reads the flags of `gatehouse controller`. Throws `UsageError`. */
export function readControllerFlags(flags: Arguments): ControllerFlags {
  const [pushListen, ...others] = parseListen('push-listen', flags.text('push-listen') ?? '');
  if (pushListen === undefined || others.length > 0) {
    throw new UsageError('--push-listen takes one address');
  }
  return {
    pushListen,
    pushTlsDirectory: flags.text('push-tls-dir') ?? '',
    pushAddress: pushAddress(flags.text('push-address'), pushListen),
    namespace: name(flags, 'namespace'),
    watchNamespaces: names(flags, 'watch-namespaces'),
    gatewayClass: name(flags, 'gateway-class') ?? '',
    settingsName: name(flags, 'settings') ?? '',
    proxyServiceAccount: proxyObject(flags, 'proxy-service-account'),
    proxyService: proxyObject(flags, 'proxy-service'),
    deletionDelayMs: readDuration(flags, 'deletion-delay'),
    kubeconfig: flags.text('kubeconfig'),
    adminListen: readAdminListen(flags),
  };
}

/** Returns the address that proxies dial: the listening address, unless that is every interface. */
function pushAddress(given: string | undefined, listen: ListenAddress): string {
  if (given !== undefined) {
    const [address, ...others] = parseListen('push-address', given);
    if (address === undefined || others.length > 0 || isEveryInterface(address)) {
      throw new UsageError('--push-address takes one address, with a host');
    }
    return formatAddress(address);
  }
  return formatAddress(isEveryInterface(listen) ? { ...listen, host: hostname() } : listen);
}

function isEveryInterface({ host }: ListenAddress): boolean {
  return host === '::' || host === '0.0.0.0';
}

/** Names of Kubernetes (RFC 1123). */
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function name(flags: Arguments, flag: string): string | undefined {
  const text = flags.text(flag);
  if (text === undefined || NAME.test(text)) return text;
  throw new UsageError(`--${flag}: "${text}" is not a name in Kubernetes`);
}

/** Reads `NAMESPACE/NAME`, or a name in the namespace of the controller. */
function proxyObject(flags: Arguments, flag: string): ProxyObject {
  const text = flags.text(flag) ?? '';
  const parts = text.split('/');
  if (parts.length > 2 || !parts.every((part) => NAME.test(part))) {
    throw new UsageError(`--${flag}: "${text}" is not NAME or NAMESPACE/NAME in Kubernetes`);
  }
  const [first = '', second] = parts;
  return second === undefined ? { name: first } : { namespace: first, name: second };
}

function names(flags: Arguments, flag: string): readonly string[] | undefined {
  const list = flags
    .text(flag)
    ?.split(',')
    .map((part) => part.trim());
  const wrong = list?.find((part) => !NAME.test(part));
  if (wrong === undefined) return list;
  throw new UsageError(`--${flag}: "${wrong}" is not a name in Kubernetes`);
}
