import type { Arguments, CommandLine } from '../../arguments.ts';
import { CLUSTER_FLAGS } from '../../flags/cluster-flags.ts';
import { readDuration } from '../../flags/duration-flag.ts';
import { UsageError } from '../../usage-error.ts';

const { kubeconfig, context, settings } = CLUSTER_FLAGS;

/** Flags of `gatehouse test-install`. */
export const TEST_INSTALL_LINE: CommandLine = {
  name: 'test-install',
  summary: 'Check that an installed gateway has its settings, and answers through its Service',
  flags: {
    kubeconfig,
    context,
    'settings-namespace': CLUSTER_FLAGS['settings-namespace'],
    settings,
    url: {
      kind: 'text',
      value: 'URL',
      description:
        'Service of the proxies with plain HTTP: http://gatehouse-proxy.gatehouse-proxy.svc',
      isRequired: true,
    },
    'tls-url': {
      kind: 'text',
      value: 'URL',
      description: 'The same with TLS, for a gateway that redirects there.',
    },
    route: {
      kind: 'text',
      value: 'NAMESPACE/NAME',
      description: 'A Route of an MCP server whose challenge and metadata are looked at.',
    },
    timeout: {
      kind: 'text',
      defaultValue: '60s',
      value: 'DURATION',
      description: 'How long to wait until the gateway is ready.',
    },
  },
};

/** Values of the flags of `gatehouse test-install`. */
export interface TestInstallFlags {
  readonly url: URL;
  readonly tlsUrl: URL | undefined;
  readonly settings: { readonly namespace: string; readonly name: string };
  readonly route: { readonly namespace: string; readonly name: string } | undefined;
  readonly timeoutMs: number;
}

/** Reads the flags of `gatehouse test-install`. Throws `UsageError`. */
export function readTestInstallFlags(flags: Arguments): TestInstallFlags {
  const tlsUrl = flags.text('tls-url');
  const route = flags.text('route');
  return {
    url: readUrl('url', flags.text('url') ?? '', 'http:'),
    tlsUrl: tlsUrl === undefined ? undefined : readUrl('tls-url', tlsUrl, 'https:'),
    settings: {
      namespace: flags.text('settings-namespace') ?? '',
      name: flags.text('settings') ?? '',
    },
    route: route === undefined ? undefined : readRouteName(route),
    timeoutMs: readDuration(flags, 'timeout'),
  };
}

function readUrl(flag: string, text: string, protocol: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === protocol) return url;
  throw new UsageError(`--${flag}: "${text}" is not a URL that begins with ${protocol}//`);
}

function readRouteName(text: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = '', ...others] = text.split('/');
  if (namespace !== '' && name !== '' && others.length === 0) return { namespace, name };
  throw new UsageError(`--route: "${text}" is not NAMESPACE/NAME`);
}
